"""Saves the open documents of all windows, and offers or opens them again at the next start.

A window closed on its own is not restored; the last one is, and all windows that are open when the program quits. A
start with files opens only these, and they are saved then. Until it ends, a second start without files still restores
the earlier windows.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer

from inspector.base.file_lock import FileLock
from inspector.base.targets import target_path
from inspector.engine.start_files import call_with_timeout
from inspector.present.wire_text import safe_line
from inspector.settings.window_state import (
    MAX_ATTEMPTS,
    SavedWindow,
    WindowState,
    encode_state,
    last_open_path,
    load_last_open,
    save_last_open,
)

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

EVERY_MS = 2_000
"""Longest time of changes lost if the program is killed, in milliseconds."""
GOOD_AFTER_S = 60.0
"""Seconds that restored documents must stay open for the start to count as good."""
_NOTICE = "restoring"
_MAX_NAME = 60


class OpensWindows(Protocol):
    """The program with its windows."""

    settings: Settings

    @property
    def windows(self) -> Sequence[MainWindow]: ...

    def new_window(self, opening: str = "", *, saved: SavedWindow | None = None) -> MainWindow:
        """Opens a window on the start page, or for a named document; `saved` is the state of an earlier window."""
        ...


class LastOpenKeeper(QObject):
    """Saves and restores open documents; one process at a time."""

    def __init__(self, program: OpensWindows, lock: FileLock, parent: QObject | None = None) -> None:
        """Loads the saved state; opens no window yet.

        Args:
            program: owner of the windows.
            lock: from `last_open.lock_window_state`.
            parent: owner.
        """
        super().__init__(parent)
        self._program = program
        self._lock = lock
        self._before = load_last_open()
        self._attempts = self._before.attempts
        self._waits = bool(self._before.windows)
        self._offered = False  # restoring failed twice: kept until other documents are open, or the user discards it
        self._stands_since: float | None = None
        self._written = b""
        self._ended = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.note)
        self._timer.start()

    # Restoring

    @property
    def waits(self) -> bool:
        """The saved state still waits for a start without files."""
        return self._waits and self._program.settings.start.restore_windows

    def open_before(self, *, asked: bool = False) -> bool:
        """Restores the saved windows. Returns True if a window is open then.

        Args:
            asked: the user requested it after earlier failures.
        """
        before, self._waits = self._before, False
        if not self._program.settings.start.restore_windows:
            return False
        if before.attempts >= MAX_ATTEMPTS and before.windows and not asked:
            self._offered = True
            self._offer_restore()
            return True
        self._offered, self._stands_since = False, None
        self._attempts = before.attempts + 1 if before.windows else 0
        # Written before the windows open, so that a crash while opening counts as an attempt.
        self._write(WindowState(before.windows, self._attempts))
        found = call_with_timeout([partial(_is_there, one.path) for one in before.windows])
        gone = [one for one, is_there in zip(before.windows, found, strict=True) if one.path and not is_there]
        there = [one for one in before.windows if one not in gone or one.connection is not None]
        for saved in there:
            self._open(saved, file=saved not in gone)
        self._report_missing(before.problem, [one.path for one in gone])
        return bool(self._program.windows)

    def _open(self, saved: SavedWindow, *, file: bool) -> None:
        reads = bool(saved.path) and file
        window = self._program.new_window(target_path(saved.path).name if reads else "", saved=saved)
        if reads:
            window.opening.open_target(saved.path)
        elif saved.connection is not None:
            self._offer_connection(window, saved)

    def _offer_connection(self, window: MainWindow, saved: SavedWindow) -> None:
        """Reconnects if the settings allow it and no input is needed; else shows a notice with a link."""
        connection = saved.connection
        if connection is None:
            return
        settings = self._program.settings
        known = settings.named_connection(connection)
        if settings.start.reconnect and known is not None and known.token != "ask" and known.space:
            window.connections.join(known)
            return
        where = f"{connection.url}, space {connection.space}" if connection.space else connection.url
        again = partial(window.connections.join, known or connection)
        window.notices.show_notice(
            _NOTICE, "note", f"This window was connected to {safe_line(where)}.", [("Reconnect", again)], closable=True
        )

    def _offer_restore(self) -> None:
        window = self._program.new_window()
        sentence = "The program ended twice soon after it had restored the last windows, so they were not restored."
        window.notices.show_notice(
            _NOTICE, "warning", sentence,
            [("Restore anyway", partial(self._open_asked, window)), ("Discard", partial(self._discard, window))],
            token="severity.warning", closable=True,
        )  # fmt: skip

    def _discard(self, window: MainWindow) -> None:
        self._before, self._attempts, self._offered = WindowState(), 0, False
        window.notices.dismiss(_NOTICE)
        self.note()

    def _open_asked(self, window: MainWindow) -> None:
        self.open_before(asked=True)
        if window.panes is None and len(self._program.windows) > 1:
            window.close()

    def _report_missing(self, trouble: str, gone: list[str]) -> None:
        if not trouble and not gone:
            return
        windows = self._program.windows
        window = windows[-1] if windows else self._program.new_window()
        names = [safe_line(Path(path).name, _MAX_NAME) for path in gone[:3]]
        more = f" and {len(gone) - 3:,} more" if len(gone) > 3 else ""
        missing = f"These files no longer exist or do not respond: {', '.join(names)}{more}." if gone else ""
        sentence = " ".join(filter(None, (trouble, missing)))
        window.notices.show_notice(_NOTICE + "Trouble", "note", sentence, [], closable=True)

    # Saving

    def note(self) -> None:
        """Saves the state if it has changed, or removes it if saving is disabled."""
        if self._ended:
            return
        if not self._program.settings.start.restore_windows:
            self._remove()
            return
        windows = self._program.windows
        found: list[SavedWindow] = []
        for window in windows:
            if (saved := window.restoring.noted()) is not None:
                window.application.tabs.note(window, saved)
                found.append(saved)
        if self._waits:
            if found:  # else the earlier state is kept
                self._write(WindowState(found))
            return
        if self._offered:
            if not found:
                return
            self._offered, self._attempts = False, 0  # no open window belongs to the failed state
        if self._attempts and self._is_stable():
            self._attempts = 0
        self._write(WindowState(found, self._attempts))

    def _is_stable(self) -> bool:
        """Returns True if the restored documents have been open for `GOOD_AFTER_S`."""
        windows = self._program.windows
        if any(window.restoring.saved is not None and window.opening.reading for window in windows):
            self._stands_since = None
        elif self._stands_since is None:
            self._stands_since = time.monotonic()
        return self._stands_since is not None and time.monotonic() - self._stands_since >= GOOD_AFTER_S

    def window_closing(self, window: MainWindow) -> None:
        """Saves the state before the last window closes."""
        if list(self._program.windows) == [window]:
            self.end()

    def end(self) -> None:
        """Saves the final state, since all windows close now."""
        if not self._offered:
            self._attempts = 0
        self.note()
        self._ended = True
        self._timer.stop()

    def close(self) -> None:
        """Called when the application has ended."""
        self._ended = True
        self._timer.stop()
        self._lock.release()

    def _remove(self) -> None:
        """Removes the saved state."""
        self._before, self._waits, self._offered = WindowState(), False, False
        self._attempts, self._written = 0, b""
        try:
            last_open_path().unlink(missing_ok=True)
        except OSError as error:
            _log.info("The saved state could not be removed: %s", error)

    def _write(self, last: WindowState) -> None:
        content = encode_state(last)
        if content == self._written:
            return
        try:
            save_last_open(last)
        except OSError as error:  # only logged: no user data is lost
            _log.info("The state could not be saved: %s", error)
        else:
            self._written = content


def _is_there(path: str) -> bool:
    from inspector.survey.file_runs import file_of_run  # the first paint waits for no msgspec

    try:
        found = target_path(path)
        return file_of_run(found).is_file() or found.is_dir()
    except (OSError, ValueError):
        return False
