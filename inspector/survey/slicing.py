"""Cuts matching lines out of logs with many workers, in log order.

`formats.wrapped.reader.make_slice_line` writes each, with the line under `message`. The result opens as
wrapped lines, and the fields `slice.*` give the origin of each message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.formats.wrapped.reader import make_slice_line
from inspector.store.columns import hashes
from inspector.survey.byte_ranges import ByteRange, Links, RangeError, RangeLines, lines_in
from inspector.survey.dask_workers import folder_of_worker

RangeRunner = Callable[[Callable[[ByteRange], RangeLines], Sequence[ByteRange]], Iterable[tuple[ByteRange, Any]]]
"""Runs work for each range, in any order: `dask_workers.run_each` for a client, or `here`."""
ReadLine = Callable[[str, int, int], bytes]
"""Reads bytes of a log: path, offset, length."""

Shown = Callable[[bytes, Mapping[bytes, bytes]], bytes]
"""Makes the written form of a line; the mapping has the replacements of lines that hold pieces of secrets."""

# Each step searches all edges, so a hostile chain of a million links needs a bound.
_MOST_STEPS = 10_000


def _as_it_is(line: bytes, _pieces: Mapping[bytes, bytes]) -> bytes:
    return line


@dataclass(slots=True)
class Sliced:
    """Progress of a slice.

    Attributes:
        lines: number of lines written.
        bytes_done: bytes of the ranges searched.
    """

    lines: int = 0
    bytes_done: int = 0


def run_here(
    work: Callable[[ByteRange], RangeLines], ranges: Sequence[ByteRange]
) -> Iterator[tuple[ByteRange, RangeLines]]:
    """Runs the work in this process."""
    return ((one, work(one)) for one in ranges)


def find_lines(
    ranges: Sequence[ByteRange], text: str, each: RangeRunner, write: Callable[[bytes], object], *,
    read: ReadLine | None = None, shown: Shown = _as_it_is,
) -> Iterator[Sliced]:  # fmt: skip
    """Cuts lines out of logs; yields progress after each range.

    Args:
        ranges: ranges of one log after another, in output order.
        text: a filter that `range_filter` accepts.
        each: runs the work.
        write: receives each line.
        read: reads related lines, to include them; None for matching lines only.
        shown: transforms a line for output, given the replacements of lines with pieces of secrets.

    Raises:
        RangeError: a log cannot be searched by ranges.
    """
    progress = Sliced()
    places = {one: place for place, one in enumerate(ranges)}
    found: dict[int, RangeLines] = {}
    logs: dict[str, list[tuple[int, RangeLines]]] = {}
    before = 0  # lines of the log before the next range to write
    due = 0
    for one, outcome in each(
        partial(_lines_in_worker, text=text, seed=hashes.run_seed(), linked=read is not None), ranges
    ):
        if not isinstance(outcome, RangeLines):
            # A missing range would make the output look complete.
            raise RangeError(f"{one.path} could not be searched: {outcome}.")
        if outcome.trouble is not None:
            raise RangeError(outcome.trouble)
        found[places[one]] = outcome
        progress.bytes_done += one.stop - one.start
        # Ranges finish in any order; output waits for the next one due.
        while due in found:
            stretch, lines = ranges[due], found.pop(due)
            # A range at offset 0 begins another log.
            before = before if stretch.start else 0
            if read is None:
                progress.lines += _write_lines(stretch.path, before, lines, write, shown)
            else:
                logs.setdefault(stretch.path, []).append((before, lines))
            before += lines.lines
            due += 1
        yield progress
    for path, parts in logs.items():
        assert read is not None
        progress.lines += _write_related(path, parts, read, write, shown)
    yield progress


def _lines_in_worker(range_: ByteRange, text: str, seed: int, linked: bool) -> RangeLines:
    return lines_in(range_, text, seed=seed, linked=linked, folder=folder_of_worker())


def _write_lines(path: str, before: int, found: RangeLines, write: Callable[[bytes], object], shown: Shown) -> int:
    if found.offsets is None or found.numbers is None:
        return 0
    for offset, number, line in zip(found.offsets.tolist(), found.numbers.tolist(), found.texts, strict=True):
        write(_line(path, before + number + 1, offset, shown(line, found.pieces)))
    return len(found.texts)


def _line(path: str, number: int, offset: int, line: bytes) -> bytes:
    return make_slice_line(line, path.rpartition("/")[2], number, offset) + b"\n"


# Related lines


def _write_related(
    path: str, parts: Sequence[tuple[int, RangeLines]], read: ReadLine, write: Callable[[bytes], object],
    shown: Shown,
) -> int:  # fmt: skip
    """Writes the matching lines of a log with their chains and contexts."""
    lines: dict[int, tuple[int, bytes]] = {}
    for before, found in parts:
        if found.offsets is not None and found.numbers is not None:
            numbers = (found.numbers + before + 1).tolist()
            lines.update(zip(found.offsets.tolist(), zip(numbers, found.texts, strict=True), strict=True))
    pieces = {line: new for _, found in parts for line, new in found.pieces.items()}
    whole = _Graph.join_ranges([(before, found.links) for before, found in parts if found.links is not None])
    for place in np.flatnonzero(whole.related_mask()).tolist():
        offset = int(whole.offsets[place])
        if offset not in lines:
            lines[offset] = int(whole.numbers[place]) + 1, read(path, offset, int(whole.lengths[place])).strip()
    for offset in sorted(lines):
        write(_line(path, lines[offset][0], offset, shown(lines[offset][1], pieces)))
    return len(lines)


_AS_THEY_ARE = ("offsets", "lengths", "own", "context", "named", "chosen")


class _Graph(Links):
    """Relations of the messages of a log, over all ranges."""

    @classmethod
    def join_ranges(cls, parts: Sequence[tuple[int, Links]]) -> _Graph:
        """Joins the ranges of a log."""
        starts = np.cumsum([0, *(len(links.offsets) for _, links in parts)])
        put = {name: np.concatenate([getattr(links, name) for _, links in parts]) for name in _AS_THEY_ARE}
        numbers = np.concatenate([links.numbers + before for before, links in parts])
        named_by = np.concatenate([one.named_by + start for (_, one), start in zip(parts, starts, strict=False)])
        return cls(**put, numbers=numbers, named_by=named_by)

    def related_mask(self) -> NDArray[np.bool_]:
        """Returns (m,) bool: matches, messages in their contexts, starts of these, and messages in their chains."""
        matched = self.chosen.copy()
        contexts = np.unique(self.context[matched])
        # 0 is the main context, which is never included whole.
        contexts = contexts[contexts != 0]
        began = np.isin(self.own, contexts)
        causes, effects = self._reachable(matched | began, up=True), self._reachable(matched, up=False)
        return np.isin(self.context, contexts) | causes | effects

    def _reachable(self, begun: NDArray[np.bool_], *, up: bool) -> NDArray[np.bool_]:
        """Returns (m,) bool: the messages and their transitive causes or effects."""
        reached = begun.copy()
        for _ in range(_MOST_STEPS):
            if up:
                # One step over all edges at once; chains are short, logs are long.
                new = np.isin(self.own, self.named[reached[self.named_by]]) & ~reached
            else:
                new = np.zeros_like(reached)
                new[self.named_by[np.isin(self.named, self.own[reached & (self.own != 0)])]] = True
                new &= ~reached
            if not new.any():
                break
            reached |= new
        return reached
