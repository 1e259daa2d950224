"""Masks lines above 1 MB in a worker process, which reads them itself; 60 MB take more than a second.

Lines that are not JSON are wrapped there as well.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from inspector.base.workers.pool import WorkerPool
from inspector.base.workers.serving import plain
from inspector.export.redaction import Redaction
from inspector.protocol.secrets.masking import MaskCounts
from inspector.store.files.source_files import DERIVED_OFFSET, SourceFile
from inspector.store.messages.capture import Capture

# Below the window, but above counting (10), as the user waits for an export.
_NICENESS = 5
_PIECE_BYTES = 1 << 20
_LARGE_BYTES = 1 << 16
_WAIT_S = 0.004
"""Seconds to wait for the worker before other tasks run."""


def is_large(capture: Capture, message: int) -> bool:
    """Returns True if a thread masks or formats the message, so that others go on."""
    return int(capture.columns["size"][message]) >= _LARGE_BYTES


def is_long_line(capture: Capture, message: int) -> bool:
    """Returns True if a message has a complete line of its own above 1 MB."""
    if not capture.records.is_big(message) or capture.records.is_overlong(message):
        return False
    return int(capture.columns["offset"][message]) < DERIVED_OFFSET


class MaskingWorker:
    """Masks lines in a worker process, started on first use; `end` ends it."""

    def __init__(self) -> None:
        self._pool = WorkerPool[object](plain, _masked_line, name="mask long lines", nice=_NICENESS)

    def mask_line(self, capture: Capture, message: int, redaction: Redaction) -> Iterator[bytes]:
        """Yields the line of a message in pieces, as `Redaction.mask_long_line`, and empty pieces while it is masked.

        Yields no piece if no worker can be started.

        Args:
            capture: the capture.
            message: a message with `is_long_line`.
            redaction: masks or not, and counts secrets.

        Raises:
            OSError: the worker ended in the middle of the line.
        """
        for heard in self._answers(capture, message, masked=redaction.masked, pieces=True):
            if isinstance(heard, Counter):
                redaction.tally.update(heard)
            else:
                yield heard

    def count_secrets(self, capture: Capture, message: int) -> Iterator[MaskCounts | None]:
        """Yields None while a message's secrets are counted, then the count; only None if no worker runs."""
        for heard in self._answers(capture, message, masked=True, pieces=False):
            yield heard if isinstance(heard, Counter) else None

    def _answers(self, capture: Capture, message: int, *, masked: bool, pieces: bool) -> Iterator[MaskCounts | bytes]:
        columns = capture.columns
        source = capture.sources[int(columns["source"][message])]
        place = int(columns["offset"][message]), int(columns["length"][message])
        begun = False
        try:
            for heard in self._pool.stream((str(source.data_path), source.identity, *place, masked, pieces), _WAIT_S):
                begun = begun or isinstance(heard, bytes)
                yield b"" if heard is None else heard
        except Exception as error:
            if begun:  # otherwise the caller masks the line itself
                raise OSError(errno.EIO, "the process that masks long lines has ended") from error

    def end(self) -> None:
        """Ends the worker at once."""
        self._pool.end()


def _masked_line(request: tuple[str, tuple[int, int], int, int, bool, bool]) -> Iterator[MaskCounts | bytes]:
    """Yields the count and the pieces of a line, neither if its file was replaced or truncated."""
    path, identity, offset, length, masked, pieces = request
    raw, redaction = _read(Path(path), identity, offset, length), Redaction(masked=masked)
    line = redaction.mask_long_line(raw.strip()) if raw is not None else b""
    if line:
        yield redaction.tally
    for start in range(0, len(line) if pieces else 0, _PIECE_BYTES):
        yield line[start : start + _PIECE_BYTES]


def _read(path: Path, identity: tuple[int, int], offset: int, length: int) -> bytes | None:
    """Returns the line; None if its file was replaced or is shorter now."""
    try:
        source = SourceFile(path)
    except OSError:
        return None
    raw = source.read(offset, length) if source.identity == identity else b""
    source.close()
    return raw if len(raw) == length else None
