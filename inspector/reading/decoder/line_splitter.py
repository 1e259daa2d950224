"""Splits bytes into lines, and lines into runs for decoding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_BOM = b"\xef\xbb\xbf"
_BLANK = ord(" ")

SplitLines = tuple[list[bytes], NDArray[np.int64]]
"""Non-blank lines without their ends, and their offsets in the source: (n,) int64."""
RUN_LINES = 1024
"""Lines per run: about as many as fit into the processor's cache, decoded forms included."""


def runs_of(lines: SplitLines) -> Iterator[SplitLines]:
    """Yields RUN_LINES lines at a time."""
    texts, offsets = lines
    for start in range(0, len(texts), RUN_LINES):
        yield texts[start : start + RUN_LINES], offsets[start : start + RUN_LINES]


def split_lines(data: bytes, offset: int) -> SplitLines:
    """Splits bytes into lines.

    Args:
        data: whole lines; the last may lack its end.
        offset: of `data` in the source.
    """
    if offset == 0 and data.startswith(_BOM):
        data, offset = data[len(_BOM) :], len(_BOM)
    lines = data.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    offsets = np.cumsum(lengths + 1) - lengths - 1
    # Fast check: no line needs stripping if each begins and ends with a visible character.
    letters = np.frombuffer(data, np.uint8)
    first, last = letters[offsets], letters[offsets + lengths - 1]
    tight = lengths.all() and (first > _BLANK).all() and (last > _BLANK).all()
    if not tight:
        lines = [line.rstrip(b"\r \t") for line in lines]
        kept = [place for place, line in enumerate(lines) if line.strip()]
        lines, offsets = [lines[place] for place in kept], offsets[kept]
    return lines, offsets + offset
