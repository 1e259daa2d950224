"""Limits of long lines, and searches for a line end without keeping the bytes."""

from __future__ import annotations

from inspector.store.files.source_files import SourceFile

MAX_LINE_BYTES = 1 << 27
"""Bytes; a gateway closes connections over frames above 100 MiB (docs/protocols.md 16)."""
SHOWN_HEAD_BYTES = 1 << 20
"""Bytes of an overlong line that exports and summaries use in its place."""
_MAX_STEP = 1 << 22
_FIRST_STEP = 1 << 13
"""Bytes of the first search step. Most lines end within it, and each part of a log is read to its last line's end."""


def find_line_end(source: SourceFile, place: int) -> int | None:
    """Returns the offset after the next line end. Keeps no bytes."""
    while piece := source.read(place, _MAX_STEP):
        found = piece.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(piece)
    return None


def find_line_end_before(source: SourceFile, place: int, limit: int) -> int | None:
    """Returns the offset after the first line end before a limit, else the file's end; None if the line is longer.

    Keeps no bytes, so that only an acceptable line takes memory.
    """
    step = _FIRST_STEP
    while place < limit:
        piece = source.read(place, min(step, limit - place))
        if not piece:
            return place
        found = piece.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(piece)
        # Grows fourfold: most lines end soon, and a long one should take few system calls.
        step = min(4 * step, _MAX_STEP)
    return None
