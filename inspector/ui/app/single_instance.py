"""The first program's side of `inspector.base.instance_lock`: listens for second starts and does what they want.

Who speaks is bounded in bytes, time and number, and answered only with whether it was taken.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication

from inspector.base.file_lock import Lock
from inspector.base.instance_lock import GREETING, MOST_BYTES, TAKEN, Place, Request, decoded, is_own_user
from inspector.base.targets import is_session, path_in
from inspector.sources.blocking_files import in_time
from inspector.sources.inputs import is_stream

if TYPE_CHECKING:
    from inspector.ui.app.last_open import LastOpenKeeper
    from inspector.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

_LIMIT_MS = 5_000
_MOST_CALLERS = 16


class TakesRequests(Protocol):
    """The program with its windows, which opens what other starts of it are asked for."""

    last_open: LastOpenKeeper | None

    @property
    def windows(self) -> Sequence[MainWindow]:
        """The open ones."""
        ...

    def new_window(self, opening: str = "") -> MainWindow:
        """A new window, shown: on the start page, or on its way to what is named."""
        ...


class SingleInstance(QObject):
    """Listens while its program is the first one."""

    def __init__(self, program: TakesRequests, place: Place, lock: Lock, parent: QObject | None = None) -> None:
        """Make it; it does not listen yet.

        Args:
            program: opens what is asked for.
            place: where to listen.
            lock: by which this program is the first.
            parent: owner.
        """
        super().__init__(parent)
        self._program = program
        self._place = place
        self._lock = lock
        self._callers: dict[QLocalSocket, QTimer] = {}
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.setMaxPendingConnections(_MOST_CALLERS)
        self._server.newConnection.connect(self._on_new_connection)

    def listen(self) -> bool:
        """Begin; False where that is not possible, which is no fault: every start is a program of its own then."""
        # Whoever made a socket that lies here is gone: it held the lock that we hold.
        self._place.socket.unlink(missing_ok=True)
        if not self._server.listen(str(self._place.socket)):
            _log.info("No second start can be taken: %s", self._server.errorString())
            self._lock.release()
            return False
        return True

    def close(self) -> None:
        """Listen no more; the next start is the first one."""
        for caller in list(self._callers):
            self._end(caller)
        self._server.close()
        with contextlib.suppress(OSError):
            self._place.socket.unlink(missing_ok=True)
        self._lock.release()

    def _on_new_connection(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            if len(self._callers) >= _MOST_CALLERS or not _is_own(caller):
                caller.abort()
                caller.deleteLater()
                continue
            timer = QTimer(self)
            timer.setSingleShot(True)
            timer.setInterval(_LIMIT_MS)
            timer.timeout.connect(partial(self._end, caller))
            self._callers[caller] = timer
            caller.setReadBufferSize(MOST_BYTES + 1)
            caller.readyRead.connect(partial(self._on_words, caller))
            caller.disconnected.connect(partial(self._end, caller))
            timer.start()
            caller.write(GREETING)
            caller.flush()

    def _on_words(self, caller: QLocalSocket) -> None:
        if caller not in self._callers:
            return
        if not caller.canReadLine():
            if caller.bytesAvailable() > MOST_BYTES:
                self._end(caller)
            return
        request = decoded(bytes(caller.readLine(MOST_BYTES + 1).data()))
        if request is not None:
            caller.write(TAKEN)
            caller.flush()
        self._end(caller)
        if request is not None:
            _log.debug("A second start handed over %d files and addresses", len(request.targets))
            open_request(self._program, request)

    def _end(self, caller: QLocalSocket) -> None:
        timer = self._callers.pop(caller, None)
        if timer is None:
            return
        timer.stop()
        timer.deleteLater()
        caller.disconnectFromServer()
        caller.deleteLater()


def _is_own(caller: QLocalSocket) -> bool:
    handle = int(caller.socketDescriptor())
    if handle < 0:
        return False
    try:
        with socket.socket(fileno=os.dup(handle)) as connected:
            return is_own_user(connected)
    except OSError:
        return False


def open_request(program: TakesRequests, request: Request) -> None:
    """Do what a second start asked for, and come to the front."""
    if request.token:  # Qt asks the desktop with it, once, when a window comes to the front
        os.environ["XDG_ACTIVATION_TOKEN"] = request.token
    shown = [_open(program, target, new_window=request.new_window) for target in request.targets]
    before = program.last_open
    if not shown and not request.new_window and before is not None and before.waits and before.open_before():
        shown = list(program.windows[-1:])
    if not shown:
        free = None if request.new_window else _free_window(program)
        shown = [free or program.new_window()]
    come_to_front(shown[-1])


def _open(program: TakesRequests, target: str, *, new_window: bool) -> MainWindow:
    reads = "://" not in target and in_time([partial(_can_be_read, path_in(target))]) == [True]
    open_already = _window_on(program, target) if reads and not new_window else None
    if open_already is not None:
        return open_already
    window = (None if new_window else _free_window(program)) or program.new_window()
    if "://" in target:
        window.gateway.ask_for_gateway(target)
        return window
    if not reads:
        window.notices.say(
            f"{path_in(target)} cannot be read: there is no such file, or it does not answer.", "severity.error"
        )
        return window
    window.opening.open_target(target)
    return window


def _can_be_read(path: Path) -> bool:
    """Whether there is a file or a folder; a pipe is the second start's own."""
    try:
        return path.exists() and not is_stream(path)
    except (OSError, ValueError):  # a name that no file can have
        return False


def _window_on(program: TakesRequests, target: str) -> MainWindow | None:
    """A window that shows this file already, as what is asked for: alone, or a session with its sub-agents."""
    path = path_in(target)
    windows = [window for window in program.windows if window.shown.location.is_session == is_session(target)]
    shown = ((window, window.shown.location.kept_file(window.document)) for window in windows if window.panes)
    return next((window for window, home in shown if home is not None and _is_same(home, path)), None)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _free_window(program: TakesRequests) -> MainWindow | None:
    """A window on the start page that nothing is on its way to, the active one rather than another."""
    free = [one for one in program.windows if not one.taken]
    return next((one for one in free if one.isActiveWindow()), free[-1] if free else None)


def come_to_front(window: MainWindow) -> None:
    """Show a window before all others, as far as the desktop lets it; else it asks for attention."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
    QApplication.alert(window)
