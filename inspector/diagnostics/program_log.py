"""Log file of the program: one per running instance, secrets masked, at most 2 MB.

The first instance writes `context-inspector.log`, a second one `context-inspector-2.log` and so on: two writers that
rotate one file would lose lines. Messages are not logged. A line that quotes the wire is masked and cannot imitate
several lines.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from typing_extensions import override

from inspector.base.file_lock import lock_descriptor
from inspector.base.paths import log_folder

Mask = Callable[[str], str]
"""Returns text with its secrets masked."""

STEM = "context-inspector"
# With the earlier part this makes 2 MB for each instance.
_MAX_BYTES = 1 << 20
_INSTANCES = 16
_TAIL_BYTES = 512 << 10
# Control and bidi characters except line ends and tabs: a terminal would execute them.
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


class LineFormatter(logging.Formatter):
    """Formats as `2026-11-22 11:05:26.123 WARNING inspector.ui.app.application: words`; later lines are indented."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask

    @override
    def format(self, record: logging.LogRecord) -> str:
        words = record.getMessage()
        if record.exc_info:
            words = f"{words}\n{self.formatException(record.exc_info)}"
        words = _CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", self._mask(words))
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
        head = f"{when}.{int(record.msecs):03} {record.levelname} {record.name}: "
        return head + words.rstrip("\n").replace("\n", "\n    ")


class LogFile(logging.Handler):
    """Writes records to this instance's file; keeps one earlier part.

    Attributes:
        path: the file; None before the first record, or if it cannot be written.
    """

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self.setFormatter(LineFormatter(mask))
        self.path: Path | None = None
        self._file: int | None = None
        self._lock_descriptor: int | None = None
        self._tried = self._reported = False

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = f"{self.format(record)}\n".encode(errors="replace")
            # The file is opened at the first record, not at the import.
            if not self._tried:
                self._tried = True
                self._take_file()
            if self._file is None or self.path is None:
                return
            # The size on disk, since the file of an earlier run is continued.
            if os.fstat(self._file).st_size + len(line) > _MAX_BYTES:
                self._begin_anew(self.path)
            os.write(self._file, line)
        # The standard handler would print the record here, unmasked.
        except Exception as error:  # noqa: BLE001 - logging never fails whoever logs
            self._report_once(error)

    def _report_once(self, error: Exception) -> None:
        """Reports once that the log cannot be written; without the record, which is not masked."""
        if self._reported or sys.stderr is None:
            return
        self._reported = True
        why = error.strerror if isinstance(error, OSError) else None
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"The program's log cannot be written: {why or type(error).__name__}.\n")

    def _take_file(self) -> None:
        """Finds an unlocked name; the log is rotated, its lock file never."""
        folder = log_folder()
        for number in range(1, _INSTANCES + 1):
            stem = STEM if number == 1 else f"{STEM}-{number}"
            # The lock has a file of its own, since a rotation replaces the log.
            held = os.open(folder / f"{stem}.lock", os.O_CREAT | os.O_RDWR, 0o600)
            # A second instance gets a file of its own, so that their lines do not mix.
            if lock_descriptor(held):
                self._lock_descriptor = held
                self.path = folder / f"{stem}.log"
                self._file = _opened(self.path)
                return
            os.close(held)

    def _begin_anew(self, path: Path) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        path.replace(previous_part(path))
        self._file = _opened(path)

    @override
    def close(self) -> None:
        for descriptor in (self._file, self._lock_descriptor):
            if descriptor is not None:
                os.close(descriptor)
        self._file = self._lock_descriptor = None
        super().close()


if TYPE_CHECKING:
    _ToStream = logging.StreamHandler[TextIO]
else:
    _ToStream = logging.StreamHandler


class _Terminal(_ToStream):
    """Writes records to standard error and drops unwritable ones."""

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        """Overrides logging's own, which would print the unmasked record."""


def _opened(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)


def previous_part(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def start_logging(mask: Mask, *, detailed: bool = False) -> LogFile:
    """Starts logging to the file, and warnings to standard error as before.

    Args:
        mask: masks secrets.
        detailed: log the program's debug records too.
    """
    handler = LogFile(mask)
    root = logging.getLogger()
    root.addHandler(handler)
    if sys.stderr is not None:  # a packaged program without a terminal has none
        to_terminal = _Terminal()
        to_terminal.setLevel(logging.WARNING)
        to_terminal.setFormatter(LineFormatter(mask))
        root.addHandler(to_terminal)
    # Only the program's own loggers are detailed; libraries log too much.
    logging.getLogger("inspector").setLevel(logging.DEBUG if detailed else logging.INFO)
    logging.getLogger(_DEMO).setLevel(logging.INFO if detailed else logging.WARNING)
    return handler


_DEMO = "inspector.demo.gateway"
"""Logger of the websockets library, which logs frames at DEBUG; payloads must not be logged."""


def stop_logging(handler: LogFile) -> None:
    root = logging.getLogger()
    for other in [one for one in root.handlers if one is handler or isinstance(one, _Terminal)]:
        root.removeHandler(other)
        other.close()
    logging.getLogger("inspector").setLevel(logging.NOTSET)
    logging.getLogger(_DEMO).setLevel(logging.INFO)  # never lower: it would log frames with tokens


def last_lines(path: Path | None, most: int) -> list[str]:
    """Returns the last lines of a log, including its previous part; empty if it cannot be read."""
    if path is None:
        return []
    lines: list[str] = []
    for part in (path, previous_part(path)):
        if len(lines) >= most:
            break
        try:
            with part.open("rb") as file:
                # Only the end of the file is read; a log may have megabytes.
                file.seek(max(0, part.stat().st_size - _TAIL_BYTES))
                lines = [*file.read().decode(errors="replace").splitlines(), *lines]
        except OSError:
            # The previous part exists only after a rotation.
            continue
    return lines[-most:]
