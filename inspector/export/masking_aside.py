"""Lines above 1 MB masked by another process, which reads them itself: one of 60 MB takes a second and more."""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from inspector.capture.capture import Capture
from inspector.capture.helper import HelperProcess
from inspector.capture.sources import JOINED_FROM, SourceFile
from inspector.export.redaction import Redaction
from inspector.protocol.secrets.masking import Tally

_NICE = 5
_PIECE_BYTES = 1 << 20
_WAIT_S = 0.004
"""So long it is waited for an answer before others have their turn."""


class MaskedLine(NamedTuple):
    """A line as it is exported, and the secrets that were masked in it."""

    data: bytes
    tally: Tally


def is_long_line(capture: Capture, message: int) -> bool:
    """Whether a message is read from a line above 1 MB that is JSON, as it lies in its file, and masked as text."""
    if not capture.records.is_big(message) or capture.records.is_overlong(message):
        return False
    in_file = int(capture.columns["offset"][message]) < JOINED_FROM
    return in_file and capture.records.line_part(message, 0, 1) == b"{"


class MaskingAside:
    """Masks lines in a process that is started when it is needed first; `end` ends it."""

    def __init__(self) -> None:
        self._process: HelperProcess | None = None
        self._failed = False

    def line(
        self, capture: Capture, message: int, *, counted_only: bool = False
    ) -> Iterator[MaskedLine | None]:  # fmt: skip
        """None while the line of a message is masked, then the line; nothing more where it is to be masked elsewhere.

        Args:
            capture: has the message.
            message: whose line `is_long_line`.
            counted_only: the secrets are asked for alone.
        """
        columns = capture.columns
        source = capture.sources[int(columns["source"][message])]
        place = int(columns["offset"][message]), int(columns["length"][message])
        asked = str(source.data_path), source.identity, *place, counted_only
        try:
            if self._process is None and not self._failed:
                self._process = HelperProcess(_serve, name="mask long lines", nice=_NICE)
            process = self._process
            if process is None:
                return
            process.connection.send(asked)
            pieces: list[bytes] = []
            tally: Tally | None = None
            count = 0
            while True:
                while not process.connection.poll(_WAIT_S):
                    yield None
                data = process.receive()
                if data is not None and tally is None:
                    tally, count = pickle.loads(data)
                    if tally is None:
                        return
                elif data is not None:
                    pieces.append(data)
                if tally is not None and len(pieces) == count:
                    yield MaskedLine(b"".join(pieces), tally)
                    return
                yield None
        except (OSError, EOFError):  # no process to be had, or it has died: late is better than never
            self._failed = True
            self.end()

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
            path, identity, offset, length, counted_only = connection.recv()
            raw, redaction = _read(Path(path), identity, offset, length), Redaction()
            line = redaction.long_line(raw.strip()) if raw is not None else b""
            starts = range(0, 0 if counted_only else len(line), _PIECE_BYTES)
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
