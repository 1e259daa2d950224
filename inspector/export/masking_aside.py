"""Lines above 1 MB masked by another process, which reads them itself: one of 60 MB takes a second and more.

What is no JSON is wrapped there as well.
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
from inspector.protocol.secrets.masking import Tally
from inspector.reading.workers.worker_process import HelperProcess
from inspector.store.files.source_files import JOINED_FROM, SourceFile
from inspector.store.messages.capture import Capture

_NICE = 5
_PIECE_BYTES = 1 << 20
_WAIT_S = 0.004
"""So long it is waited for an answer before others have their turn."""


def is_long_line(capture: Capture, message: int) -> bool:
    """Whether a message is read from a line above 1 MB, whole, as it lies in its file."""
    if not capture.records.is_big(message) or capture.records.is_overlong(message):
        return False
    return int(capture.columns["offset"][message]) < JOINED_FROM


class MaskingAside:
    """Masks lines in a process that is started when it is needed first; `end` ends it."""

    def __init__(self) -> None:
        self._process: HelperProcess | None = None
        self._failed = False

    def line(self, capture: Capture, message: int, redaction: Redaction) -> Iterator[bytes]:
        """The line of a message as `Redaction.long_line` gives it, in pieces, after empty ones while it is masked.

        No pieces at all where no process is to be had.

        Args:
            capture: has the message.
            message: whose line `is_long_line`.
            redaction: says whether anything is masked, and counts it.

        Raises:
            OSError: the process has ended in the middle of the line.
        """
        for heard in self._heard(capture, message, masked=redaction.masked, pieces=True):
            if isinstance(heard, Counter):
                redaction.tally.update(heard)
            else:
                yield heard

    def tally(self, capture: Capture, message: int) -> Iterator[Tally | None]:
        """None while the secrets in the line of a message are counted, then those; no more where no process does."""
        for heard in self._heard(capture, message, masked=True, pieces=False):
            yield heard if isinstance(heard, Counter) else None

    def _heard(self, capture: Capture, message: int, *, masked: bool, pieces: bool) -> Iterator[Tally | bytes]:
        columns = capture.columns
        source = capture.sources[int(columns["source"][message])]
        place = int(columns["offset"][message]), int(columns["length"][message])
        begun = False
        try:
            if self._process is None and not self._failed:
                self._process = HelperProcess(_serve, name="mask long lines", nice=_NICE)
            process = self._process
            if process is None:
                return
            process.connection.send((str(source.data_path), source.identity, *place, masked, pieces))
            left = None
            while left is None or left:
                while not process.connection.poll(_WAIT_S):
                    yield b""
                data = process.receive()
                if data is None:  # it is ready
                    continue
                if left is None:
                    tally, left = pickle.loads(data)
                    if tally is None:
                        return
                    yield tally
                else:
                    left, begun = left - 1, True
                    yield data
        except (OSError, EOFError) as error:  # no process to be had, or it has died: late is better than never
            self._failed = True
            self.end()
            if begun:
                raise OSError(errno.EIO, "the process that masks long lines has ended") from error

    def end(self) -> None:
        """End the process, whatever it is at."""
        if self._process is not None:
            self._process.end()
            self._process = None


def _serve(connection: Connection) -> None:
    """A masking process: where a line lies in, what was masked and the line in pieces out, until the pipe ends."""
    gc.disable()  # its work makes none
    try:
        connection.send_bytes(b"")
        while True:
            path, identity, offset, length, masked, pieces = connection.recv()
            raw, redaction = _read(Path(path), identity, offset, length), Redaction(masked=masked)
            line = redaction.long_line(raw.strip()) if raw is not None else b""
            starts = range(0, len(line) if pieces else 0, _PIECE_BYTES)
            connection.send_bytes(pickle.dumps((redaction.tally if line else None, len(starts)), protocol=5))
            for start in starts:
                connection.send_bytes(line[start : start + _PIECE_BYTES])
    except (EOFError, OSError):  # nobody waits for it any more
        os._exit(0)


def _read(path: Path, identity: tuple[int, int], offset: int, length: int) -> bytes | None:
    """The line; None where its file is another one by now, or shorter."""
    try:
        source = SourceFile(path)
    except OSError:
        return None
    raw = source.read(offset, length) if source.identity == identity else b""
    source.close()
    return raw if len(raw) == length else None
