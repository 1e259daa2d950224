"""Masks lines above 1 MB in a worker process, which reads them itself; 60 MB take more than a second.

Lines that are not JSON are wrapped there as well.
"""

from __future__ import annotations

import errno
import gc
import os
import pickle
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from inspector.export.redaction import Redaction
from inspector.protocol.secrets.masking import MaskCounts
from inspector.reading.workers.worker_process import WorkerProcess
from inspector.store.files.source_files import DERIVED_OFFSET, SourceFile
from inspector.store.messages.capture import Capture

# Below the window, but above counting (10), as the user waits for an export.
_NICENESS = 5
_PIECE_BYTES = 1 << 20
_WAIT_S = 0.004
"""Seconds to wait for the worker before other tasks run."""


def is_long_line(capture: Capture, message: int) -> bool:
    """Returns True if a message has a complete line of its own above 1 MB."""
    if not capture.records.is_big(message) or capture.records.is_overlong(message):
        return False
    return int(capture.columns["offset"][message]) < DERIVED_OFFSET


class MaskingWorker:
    """Masks lines in a worker process, started on first use; `end` ends it."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._failed = False

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
            if self._process is None and not self._failed:
                self._process = WorkerProcess(_serve, name="mask long lines", nice=_NICENESS)
            process = self._process
            if process is None:
                return
            process.connection.send((str(source.data_path), source.identity, *place, masked, pieces))
            left = None
            while left is None or left:
                while not process.connection.poll(_WAIT_S):
                    yield b""
                data = process.receive()
                if data is None:  # startup signal
                    continue
                if left is None:
                    tally, left = pickle.loads(data)
                    # The file was replaced or truncated, so the caller reads the line as it is now.
                    if tally is None:
                        return
                    yield tally
                else:
                    left, begun = left - 1, True
                    yield data
        except (OSError, EOFError) as error:  # no worker, or it has died: the caller masks the line itself
            # One failure is enough: a worker that ends at a line would end at it again.
            self._failed = True
            self.end()
            if begun:
                raise OSError(errno.EIO, "the process that masks long lines has ended") from error

    def end(self) -> None:
        """Ends the worker at once."""
        if self._process is not None:
            self._process.end_process()
            self._process = None


def _serve(connection: Connection) -> None:
    """Worker loop: receives places of lines, sends counts and masked pieces, until the pipe closes."""
    gc.disable()  # its work creates no cycles
    try:
        connection.send_bytes(b"")
        while True:
            path, identity, offset, length, masked, pieces = connection.recv()
            raw, redaction = _read(Path(path), identity, offset, length), Redaction(masked=masked)
            line = redaction.mask_long_line(raw.strip()) if raw is not None else b""
            starts = range(0, len(line) if pieces else 0, _PIECE_BYTES)
            connection.send_bytes(pickle.dumps((redaction.tally if line else None, len(starts)), protocol=5))
            for start in starts:
                connection.send_bytes(line[start : start + _PIECE_BYTES])
    except (EOFError, OSError):  # the parent has gone
        os._exit(0)


def _read(path: Path, identity: tuple[int, int], offset: int, length: int) -> bytes | None:
    """Returns the line; None if its file was replaced or is shorter now."""
    try:
        source = SourceFile(path)
    except OSError:
        return None
    raw = source.read(offset, length) if source.identity == identity else b""
    source.close()
    return raw if len(raw) == length else None
