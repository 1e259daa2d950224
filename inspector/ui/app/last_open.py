"""What is open in all windows, kept up to date on disk, and opened again at the next start without arguments.

A window closed by itself is not opened again; the last one, and all that are open when the program quits, are. A start
with files opens those alone; they are what was open then, also those that the command line named. Until it ends, a
second start without files still opens what was open before.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer

from inspector.base.file_lock import Lock
from inspector.base.targets import path_in
from inspector.present.wire_text import plain
from inspector.settings.window_state import (
    MOST_ATTEMPTS,
    LastOpen,
    SavedWindow,
    encoded,
    last_open_path,
    load_last_open,
    save_last_open,
)
from inspector.sources.blocking_files import in_time
from inspector.survey import is_survey

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

EVERY_MS = 2_000
"""So much of what was done may be lost when the program is killed."""
GOOD_AFTER_S = 60.0
"""So long what was opened again has to stand before the start counts as a good one."""
_NOTICE = "restoring"
_LONGEST_NAME = 60


class OpensWindows(Protocol):
    """The program with its windows."""

    settings: Settings

    @property
    def windows(self) -> Sequence[MainWindow]:
        """The open ones."""
        ...

    def new_window(self, opening: str = "", *, saved: SavedWindow | None = None) -> MainWindow:
        """A new window, shown: on the start page, or on its way to what is named; `saved` is how it stood before."""
        ...


class LastOpenKeeper(QObject):
    """Keeps what is open of one application, which is the only one to do so."""

    def __init__(self, program: OpensWindows, lock: Lock, parent: QObject | None = None) -> None:
        """Read what was open before; nothing is opened yet.

        Args:
            program: whose windows they are.
            lock: from `last_open.take_last_open`.
            parent: owner.
        """
        super().__init__(parent)
        self._program = program
        self._lock = lock
        self._before = load_last_open()
        self._attempts = self._before.attempts
        self._waits = bool(self._before.windows)
        self._offered = False  # it went wrong twice: kept as it is until there is something else, or it is forgotten
        self._stands_since: float | None = None
        self._written = b""
        self._ended = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.note)
        self._timer.start()

    # Opening again

    @property
    def waits(self) -> bool:
        """Whether what was open before still waits for a start without files."""
        return self._waits and self._program.settings.start.restore_windows

    def open_before(self, *, asked: bool = False) -> bool:
        """Open what was open before; whether there is a window then.

        Args:
            asked: the user wants it, although it went wrong before.
        """
        before, self._waits = self._before, False
        if not self._program.settings.start.restore_windows:
            return False
        if before.attempts >= MOST_ATTEMPTS and before.windows and not asked:
            self._offered = True
            self._offer()
            return True
        self._offered, self._stands_since = False, None
        self._attempts = before.attempts + 1 if before.windows else 0
        self._write(LastOpen(before.windows, self._attempts))
        found = in_time([partial(_is_there, one.path) for one in before.windows])
        gone = [one for one, is_there in zip(before.windows, found, strict=True) if one.path and not is_there]
        there = [one for one in before.windows if one not in gone or one.connection is not None]
        for saved in there:
            self._open(saved, file=saved not in gone)
        self._say(before.trouble, [one.path for one in gone])
        return bool(self._program.windows)

    def _open(self, saved: SavedWindow, *, file: bool) -> None:
        reads = bool(saved.path) and file
        window = self._program.new_window(path_in(saved.path).name if reads else "", saved=saved)
        if reads:
            window.opening.open_target(saved.path)
        elif saved.connection is not None:
            self._offer_connection(window, saved)

    def _offer_connection(self, window: MainWindow, saved: SavedWindow) -> None:
        """Join again only where the settings say so and nothing is to be asked; else say what was watched here."""
        connection = saved.connection
        if connection is None:
            return
        settings = self._program.settings
        known = settings.named_connection(connection)
        if settings.start.reconnect and known is not None and known.token != "ask" and known.space:
            window.connections.join(known)
            return
        where = f"{connection.url}, space {connection.space}," if connection.space else connection.url
        again = partial(window.connections.join, known or connection)
        window.notices.show_notice(
            _NOTICE, "note", f"{plain(where)} was watched here before.", [("Connect again", again)], closable=True
        )

    def _offer(self) -> None:
        window = self._program.new_window()
        sentence = "The program ended twice soon after it had opened what was open before, so it only offers that now."
        window.notices.show_notice(
            _NOTICE, "warning", sentence,
            [("Open it all the same", partial(self._open_asked, window)), ("Forget it", partial(self._forget, window))],
            token="severity.warning", closable=True,
        )  # fmt: skip

    def _forget(self, window: MainWindow) -> None:
        self._before, self._attempts, self._offered = LastOpen(), 0, False
        window.notices.dismiss(_NOTICE)
        self.note()

    def _open_asked(self, window: MainWindow) -> None:
        self.open_before(asked=True)
        if window.panes is None and len(self._program.windows) > 1:
            window.close()

    def _say(self, trouble: str, gone: list[str]) -> None:
        if not trouble and not gone:
            return
        windows = self._program.windows
        window = windows[-1] if windows else self._program.new_window()
        names = [plain(Path(path).name, _LONGEST_NAME) for path in gone[:3]]
        more = f" and {len(gone) - 3:,} more" if len(gone) > 3 else ""
        missing = (
            f"What was open before is not there any more, or does not answer: {', '.join(names)}{more}." if gone else ""
        )
        sentence = " ".join(filter(None, (trouble, missing)))
        window.notices.show_notice(_NOTICE + "Trouble", "note", sentence, [], closable=True)

    # Keeping

    def note(self) -> None:
        """Write down what is open, where it is another than what is written; nothing where that is not wanted."""
        if self._ended:
            return
        if not self._program.settings.start.restore_windows:
            self._remove()
            return
        windows = self._program.windows
        found = [saved for window in windows if (saved := window.restoring.noted()) is not None]
        if self._waits:
            if found:  # else nothing has come in place of what was open before
                self._write(LastOpen(found))
            return
        if self._offered:
            if not found:
                return
            self._offered, self._attempts = False, 0  # none of these windows is what went wrong
        if self._attempts and self._has_stood():
            self._attempts = 0
        self._write(LastOpen(found, self._attempts))

    def _has_stood(self) -> bool:
        """Whether what was opened again has stood for so long that it is not what ends the program."""
        windows = self._program.windows
        if any(window.restoring.saved is not None and window.opening.reading for window in windows):
            self._stands_since = None
        elif self._stands_since is None:
            self._stands_since = time.monotonic()
        return self._stands_since is not None and time.monotonic() - self._stands_since >= GOOD_AFTER_S

    def window_closing(self, window: MainWindow) -> None:
        """A window is about to close; the last one is opened again at the next start."""
        if list(self._program.windows) == [window]:
            self.end()

    def end(self) -> None:
        """All windows close now: what is open is what shall be opened again."""
        if not self._offered:
            self._attempts = 0
        self.note()
        self._ended = True
        self._timer.stop()

    def close(self) -> None:
        """The application has ended."""
        self._ended = True
        self._timer.stop()
        self._lock.release()

    def _remove(self) -> None:
        """Leave nothing of what is, or was, open."""
        self._before, self._waits, self._offered = LastOpen(), False, False
        self._attempts, self._written = 0, b""
        try:
            last_open_path().unlink(missing_ok=True)
        except OSError as error:
            _log.info("What was open could not be removed: %s", error)

    def _write(self, last: LastOpen) -> None:
        content = encoded(last)
        if content == self._written:
            return
        try:
            save_last_open(last)
        except OSError as error:  # said nowhere: nothing is lost that was made
            _log.info("What is open could not be written down: %s", error)
        else:
            self._written = content


def _is_there(path: str) -> bool:
    try:
        found = path_in(path)
        return found.is_file() or is_survey(found)
    except (OSError, ValueError):
        return False
