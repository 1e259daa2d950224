"""A process that counts tokens: told where lines lie, it reads them itself and gives back numbers.

So the process that shows things neither decodes what is counted nor sends it anywhere, and never loads the tokenizer's
table.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
from array import array
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inspector.reading.reassembly.joined_lines import known_behind
from inspector.reading.workers.worker_process import HelperProcess
from inspector.store.files.prefetch import ReadAhead
from inspector.store.files.source_files import SourceFile
from inspector.tokens.counter import count, count_many
from inspector.tokens.lines import NOT_COUNTED, count_line

_NICE = 10
"""Counting stands back for the window, and for those who read."""
_MOST = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one source to be counted, and some texts besides.

    Attributes:
        path, identity: the file they lie in, and which one that is: another at that path by now is not read.
        offsets, lengths: in bytes.
        kinds: place in `kind_names` of the kind of each.
        reading: the format that was chosen for their file.
        parts: of transcripts' records, which of the messages it means, from 1; 0.
        texts: counted as they are.
        joined: they lie in a spool of `joined_lines`, what is known of each behind it.
    """

    path: str
    identity: tuple[int, int]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    kinds: NDArray[np.uint16]
    kind_names: tuple[str, ...]
    parts: NDArray[np.uint16]
    reading: str | None = None
    texts: tuple[str, ...] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """The tokens of lines, NOT_COUNTED where one could not be read; and of the texts."""

    lines: NDArray[np.int32]
    texts: list[int]


class CountingProcess(HelperProcess):
    """One process that counts.

    Attributes:
        pending: how many batches it was given and has not brought back.
    """

    def __init__(self) -> None:
        """Start the process; returns before it is ready.

        Raises:
            OSError: the system gives no process.
        """
        super().__init__(_serve, name="count tokens", nice=_NICE)
        self.pending = 0

    def give(self, lines: Lines) -> None:
        """Ask for counts. Raises OSError when the process has ended."""
        self.connection.send_bytes(pickle.dumps(lines, protocol=5))
        self.pending += 1

    def take(self) -> Counts | None:
        """The counts that have come, in the order asked for; None when it was the word that the process is ready.

        Raises:
            EOFError: the process has ended.
        """
        data = self.receive()
        if data is None:
            return None
        counts: Counts = pickle.loads(data)
        self.pending -= 1
        return counts


def _serve(connection: Connection) -> None:
    """A counting process: where lines lie in, counts out, until the pipe ends."""
    gc.disable()  # its work makes none
    files = _Files()
    try:
        count(" ")  # loads the table
        connection.send_bytes(b"")
        while True:
            lines: Lines = pickle.loads(connection.recv_bytes())
            counts = Counts(_count_lines(files.of(lines), lines), count_many(lines.texts))
            connection.send_bytes(pickle.dumps(counts, protocol=5))
    except (EOFError, OSError):  # the program has ended
        os._exit(0)


class _Files:
    """Files that are read, the last few kept open."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], SourceFile] = {}
        self._order: deque[tuple[int, int]] = deque()

    def of(self, lines: Lines) -> SourceFile | None:
        """The file some lines lie in; None when it cannot be read, or is another one by now."""
        found = self._open.get(lines.identity)
        if found is not None:
            return found
        try:
            found = SourceFile(Path(lines.path))
        except OSError:
            return None
        if found.identity != lines.identity:
            found.close()
            return None
        if len(self._order) >= _FILES_OPEN:
            self._open.pop(self._order.popleft()).close()
        self._open[lines.identity] = found
        self._order.append(lines.identity)
        return found


_FILES_OPEN = 16


def _count_lines(source: SourceFile | None, lines: Lines) -> NDArray[np.int32]:
    counts = np.full(len(lines.offsets), NOT_COUNTED, np.int32)
    if source is None or not len(counts):
        return counts
    ends = lines.offsets + lines.lengths
    ahead = ReadAhead(source, int(lines.offsets.min()), int(ends.max()))
    found = array("i")
    for offset, length, kind, part in zip(
        lines.offsets.tolist(), lines.lengths.tolist(), lines.kinds.tolist(), lines.parts.tolist(), strict=True
    ):
        found.append(_count_one(source, ahead, (offset, length), lines.kind_names[kind], part, lines))
    counts[:] = found
    return counts


def _count_one(source: SourceFile, ahead: ReadAhead, span: tuple[int, int], kind: str, part: int, lines: Lines) -> int:
    offset, length = span

    def read(start: int, wanted: int) -> bytes:
        return ahead.read(source, offset + start, min(wanted, length - start))

    with contextlib.suppress(Exception):  # whatever is odd about one line, the others are counted
        known = known_behind(source.read, offset + length) if lines.joined else None
        return min(count_line(read, length, kind, part, lines.reading, known), _MOST)
    return NOT_COUNTED
