"""Worker process that counts tokens: receives line positions, reads the lines, and returns numbers.

So the main process neither decodes nor sends text, and never loads the tokenizer's table.
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

from inspector.formats import registry
from inspector.reading.reassembly.derived_lines import facts_after
from inspector.reading.workers.worker_process import WorkerProcess
from inspector.store.files.prefetch import PrefetchReader
from inspector.store.files.source_files import SourceFile
from inspector.tokens.counter import count_many, count_tokens
from inspector.tokens.line_counting import NOT_COUNTED, count_line

_NICE = 10
"""Niceness of counting, below the window and the readers."""
_MAX_COUNT = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Lines of one source to count, and separate texts.

    Attributes:
        path, identity: the source's file and its identity; another file at that path is not read.
        offsets, lengths: in bytes.
        kinds: index into `kind_names` of each line's kind.
        reading: the chosen format of their file.
        parts: 1-based indices of messages in transcripts' records; 0.
        texts: counted as they are.
        is_derived: they lie in a spool of `derived_lines`, each with its facts after it.
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
    is_derived: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens of lines, NOT_COUNTED for unreadable ones, and of the texts."""

    lines: NDArray[np.int32]
    texts: list[int]


class CountingProcess(WorkerProcess):
    """One counting process.

    Attributes:
        pending: number of batches in flight.
    """

    def __init__(self) -> None:
        """Starts the process; returns before it is ready.

        Raises:
            OSError: if the system cannot start a process.
        """
        super().__init__(_serve, name="count tokens", nice=_NICE)
        self.pending = 0

    def request_counts(self, lines: LineBatch) -> None:
        """Requests counts. Raises OSError if the process has ended."""
        self.connection.send_bytes(pickle.dumps((registry.recipes(), lines), protocol=5))
        self.pending += 1

    def receive_counts(self) -> Counts | None:
        """Receives the next counts, in request order; None for the ready message.

        Raises:
            EOFError: if the process has ended.
        """
        data = self.receive()
        if data is None:
            return None
        counts: Counts = pickle.loads(data)
        self.pending -= 1
        return counts


def _serve(connection: Connection) -> None:
    """Main loop of a counting process: line positions in, counts out, until the pipe ends."""
    gc.disable()  # its work creates no cycles
    files = _Files()
    try:
        # The table takes long to load, so it is loaded before the first request.
        count_tokens(" ")  # loads the table
        connection.send_bytes(b"")
        while True:
            recipes, lines = _received(connection)
            registry.restore(recipes)
            counts = Counts(_count_lines(files.file_of(lines), lines), count_many(lines.texts))
            connection.send_bytes(pickle.dumps(counts, protocol=5))
    except (EOFError, OSError):  # the program has ended
        os._exit(0)


def _received(connection: Connection) -> tuple[tuple[registry.Recipe, ...], LineBatch]:
    """Receives the added formats and the lines of a request."""
    found: tuple[tuple[registry.Recipe, ...], LineBatch] = pickle.loads(connection.recv_bytes())
    return found


class _Files:
    """Cache of open files."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], SourceFile] = {}
        self._order: deque[tuple[int, int]] = deque()

    def file_of(self, lines: LineBatch) -> SourceFile | None:
        """Returns the file of lines; None if it cannot be read, or was replaced."""
        found = self._open.get(lines.identity)
        if found is not None:
            return found
        try:
            found = SourceFile(Path(lines.path))
        except OSError:
            return None
        # The path may name another file by now.
        if found.identity != lines.identity:
            found.close()
            return None
        if len(self._order) >= _FILES_OPEN:
            self._open.pop(self._order.popleft()).close()
        self._open[lines.identity] = found
        self._order.append(lines.identity)
        return found


# Requests of several sources alternate, and descriptors are limited.
_FILES_OPEN = 16


def _count_lines(source: SourceFile | None, lines: LineBatch) -> NDArray[np.int32]:
    counts = np.full(len(lines.offsets), NOT_COUNTED, np.int32)
    if source is None or not len(counts):
        return counts
    ends = lines.offsets + lines.lengths
    # Lines of a request lie close together, so a read covers many.
    ahead = PrefetchReader(source, int(lines.offsets.min()), int(ends.max()))
    found = array("i")
    for offset, length, kind, part in zip(
        lines.offsets.tolist(), lines.lengths.tolist(), lines.kinds.tolist(), lines.parts.tolist(), strict=True
    ):
        found.append(_count_one(source, ahead, (offset, length), lines.kind_names[kind], part, lines))
    counts[:] = found
    return counts


def _count_one(
    source: SourceFile, ahead: PrefetchReader, span: tuple[int, int], kind: str, part: int, lines: LineBatch
) -> int:
    offset, length = span

    def read(start: int, wanted: int) -> bytes:
        return ahead.read(source, offset + start, min(wanted, length - start))

    with contextlib.suppress(Exception):  # an error in one line must not affect the others
        known = facts_after(source.read, offset + length) if lines.is_derived else None
        return min(count_line(read, length, kind, part, lines.reading, known), _MAX_COUNT)
    return NOT_COUNTED
