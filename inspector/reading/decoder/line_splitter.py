"""The lines of a stretch of a source, and runs of them that are read together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_BOM = b"\xef\xbb\xbf"
_BLANK = ord(" ")

Lines = tuple[list[bytes], NDArray[np.int64]]
"""Lines without their ends, blank ones left out, and where in the source each begins: (n,) int64."""
RUN_LINES = 1024
"""Lines taken through all steps together: about as many as the processor's cache holds, decoded as well."""


def runs_of(lines: Lines) -> Iterator[Lines]:
    """Lines RUN_LINES at a time."""
    texts, offsets = lines
    for start in range(0, len(texts), RUN_LINES):
        yield texts[start : start + RUN_LINES], offsets[start : start + RUN_LINES]


def split_lines(data: bytes, offset: int) -> Lines:
    """The lines of some bytes.

    Args:
        data: whole lines; the last may lack its end.
        offset: where in the source they begin.
    """
    if offset == 0 and data.startswith(_BOM):
        data, offset = data[len(_BOM) :], len(_BOM)
    lines = data.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    offsets = np.cumsum(lengths + 1) - lengths - 1
    # Around a line's end stand braces, unless something has to be stripped.
    letters = np.frombuffer(data, np.uint8)
    first, last = letters[offsets], letters[offsets + lengths - 1]
    tight = lengths.all() and (first > _BLANK).all() and (last > _BLANK).all()
    if not tight:
        lines = [line.rstrip(b"\r \t") for line in lines]
        kept = [place for place, line in enumerate(lines) if line.strip()]
        lines, offsets = [lines[place] for place in kept], offsets[kept]
    return lines, offsets + offset
