"""Server for later starts of the program: opens their files in a free or new window.

Clients are limited in bytes, time and number; the only answer is that a request was accepted.
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

from PySide6.QtCore import QObject, QTimer
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from inspector.base.file_lock import FileLock
from inspector.base.instance_lock import (
    ACCEPTED,
    GREETING,
    MAX_REQUEST_BYTES,
    ListeningPlace,
    OpenRequest,
    decode_request,
    is_own_user,
)
from inspector.base.paths import is_same_file
from inspector.base.targets import is_session, target_path
from inspector.engine.log_files import is_stream
from inspector.engine.start_files import call_with_timeout

if TYPE_CHECKING:
    from inspector.ui.app.last_open import LastOpenKeeper
    from inspector.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

_LIMIT_MS = 5_000
_MAX_CALLERS = 16


class TakesRequests(Protocol):
    """The program that handles requests of later starts."""

    last_open: LastOpenKeeper | None

    @property
    def windows(self) -> Sequence[MainWindow]: ...

    def new_window(self, opening: str = "", *, alone: bool = False) -> MainWindow:
        """Opens a tab or window on the start page, or for a named document; a window if `alone`."""
        ...


class SingleInstance(QObject):
    """Listens for later starts while this program is the first one."""

    def __init__(
        self, program: TakesRequests, place: ListeningPlace, lock: FileLock, parent: QObject | None = None
    ) -> None:
        """Prepares the server; `listen` starts it.

        Args:
            program: handles the requests.
            place: socket address.
            lock: lock that makes this program the first.
            parent: owner.
        """
        super().__init__(parent)
        self._program = program
        self._place = place
        self._lock = lock
        self._callers: dict[QLocalSocket, QTimer] = {}
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.setMaxPendingConnections(_MAX_CALLERS)
        self._server.newConnection.connect(self._on_new_connection)

    def listen(self) -> bool:
        """Starts listening. Returns False if it cannot; then every start runs as its own program."""
        # The owner of an old socket has ended, since it held the lock that this program has now.
        self._place.socket.unlink(missing_ok=True)
        if not self._server.listen(str(self._place.socket)):
            _log.info("No second start can be taken: %s", self._server.errorString())
            self._lock.release()
            return False
        return True

    def close(self) -> None:
        """Stops listening; the next start becomes the first one."""
        for caller in list(self._callers):
            self._end(caller)
        self._server.close()
        with contextlib.suppress(OSError):
            self._place.socket.unlink(missing_ok=True)
        # The lock last: the next start may use the socket as soon as it has the lock.
        self._lock.release()

    def _on_new_connection(self) -> None:
        while self._server.hasPendingConnections():
            caller = self._server.nextPendingConnection()
            if len(self._callers) >= _MAX_CALLERS or not _is_own(caller):
                caller.abort()
                caller.deleteLater()
                continue
            # A silent caller must not hold a place for ever.
            timer = QTimer(self)
            timer.setSingleShot(True)
            timer.setInterval(_LIMIT_MS)
            timer.timeout.connect(partial(self._end, caller))
            self._callers[caller] = timer
            # Bounded: any program of the user can connect.
            # One byte more than allowed shows that a request is too long.
            caller.setReadBufferSize(MAX_REQUEST_BYTES + 1)
            caller.readyRead.connect(partial(self._on_words, caller))
            caller.disconnected.connect(partial(self._end, caller))
            timer.start()
            caller.write(GREETING)
            caller.flush()

    def _on_words(self, caller: QLocalSocket) -> None:
        if caller not in self._callers:
            return
        if not caller.canReadLine():
            if caller.bytesAvailable() > MAX_REQUEST_BYTES:
                self._end(caller)
            return
        request = decode_request(bytes(caller.readLine(MAX_REQUEST_BYTES + 1).data()))
        if request is not None:
            caller.write(ACCEPTED)
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
        # A duplicate, since closing this object would close Qt's socket.
        with socket.socket(fileno=os.dup(handle)) as connected:
            return is_own_user(connected)
    except OSError:  # a caller that has gone cannot be checked
        return False


def open_request(program: TakesRequests, request: OpenRequest) -> None:
    """Opens the files of a second start and raises their window."""
    if request.token:  # Qt passes it to the desktop once, when a window is raised
        os.environ["XDG_ACTIVATION_TOKEN"] = request.token
    shown = [_open(program, target, new_window=request.new_window) for target in request.targets]
    before = program.last_open
    if not shown and not request.new_window and before is not None and before.waits and before.open_before():
        shown = list(program.windows[-1:])
    if not shown:
        free = None if request.new_window else _free_window(program)
        shown = [free or program.new_window(alone=request.new_window)]
    come_to_front(shown[-1])


def _open(program: TakesRequests, target: str, *, new_window: bool) -> MainWindow:
    reads = "://" not in target and call_with_timeout([partial(_can_be_read, target_path(target))]) == [True]
    open_already = _window_on(program, target) if reads and not new_window else None
    if open_already is not None:
        return open_already
    window = (None if new_window else _free_window(program)) or program.new_window(alone=new_window)
    if "://" in target:
        window.gateway.ask_for_gateway(target)
        return window
    if not reads:
        window.notices.show_sentence(
            f"{target_path(target)} cannot be read: there is no such file, or it does not respond.", "severity.error"
        )
        return window
    window.opening.open_target(target)
    return window


def _can_be_read(path: Path) -> bool:
    """Returns True for a file or folder; pipes belong to the second start."""
    try:
        return path.exists() and not is_stream(path)
    except (OSError, ValueError):  # invalid file name
        return False


def _window_on(program: TakesRequests, target: str) -> MainWindow | None:
    """Returns a window that already shows this file in the same way: alone, or as a session with its sub-agents."""
    path = target_path(target)
    windows = [window for window in program.windows if window.shown.location.is_session == is_session(target)]
    shown = ((window, window.shown.location.kept_file(window.shown.state)) for window in windows if window.panes)
    return next((window for window, home in shown if home is not None and is_same_file(home, path)), None)


def _free_window(program: TakesRequests) -> MainWindow | None:
    """Returns an unused window on the start page, the active one first."""
    free = [one for one in program.windows if not one.is_in_use]
    return next((one for one in free if one.isActiveWindow()), free[-1] if free else None)


def come_to_front(window: MainWindow) -> None:
    """Raises a window; if the desktop forbids it, the window asks for attention."""
    window.application.tabs.bring_up(window)
