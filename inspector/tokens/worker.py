"""Worker process that counts tokens: receives line positions, reads the lines, and returns numbers.

So the main process neither decodes nor sends text, and never loads the tokenizer's table.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.base.workers.pool import WorkerPool
from inspector.formats import registry
from inspector.reading.reassembly.derived_lines import facts_after
from inspector.store.files.prefetch import PrefetchReader
from inspector.store.files.source_files import SourceFile
from inspector.tokens.counter import count_many, count_tokens
from inspector.tokens.line_counting import NOT_COUNTED, count_line

_NICE = 10
"""Niceness of counting, below the window and the readers."""
_BATCHES_PER_PROCESS = 3
"""Batches per process: one being counted, and some in reserve until the next poll."""
MAX_DEATHS = 3
"""Deaths after which a pool is given up: a bad line ends two processes, at its batch, then at half of it."""
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


def counting_pool(**options: Any) -> WorkerPool[Any]:
    """Returns a pool that counts, from a `LineBatch` to its `Counts`.

    Args:
        options: of the pool.
    """
    return WorkerPool(
        _counting, name="count tokens", nice=_NICE, in_flight=_BATCHES_PER_PROCESS, restarts=MAX_DEATHS - 1,
        carried=registry.CARRIED, **options,
    )  # fmt: skip


def _counting() -> Callable[[LineBatch], Counts]:
    count_tokens(" ")  # loads the table, which takes long
    files = _Files()
    return lambda lines: Counts(_count_lines(files.file_of(lines), lines), count_many(lines.texts))


class _Files:
    """Cache of open files."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], SourceFile] = {}  # oldest first

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
        if len(self._open) >= _FILES_OPEN:
            self._open.pop(next(iter(self._open))).close()
        self._open[lines.identity] = found
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
