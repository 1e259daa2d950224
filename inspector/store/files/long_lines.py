"""Limits of long lines, and searches for the end of one without keeping its bytes."""

from __future__ import annotations

from inspector.store.files.source_files import SourceFile

MAX_LINE = 1 << 27
"""Bytes; a gateway closes connections over frames above 100 MiB (docs/protocols.md 16)."""
HEAD_SHOWN = 1 << 20
"""Bytes of such a line that stand for it where a record is asked for: in exports and summaries."""
_STEP = 1 << 22
_FIRST_STEP = 1 << 13
"""Most lines end within it, and each part of a log is read to the end of its last one."""


def end_of_line(source: SourceFile, place: int) -> int | None:
    """Offset behind the next line end from a place on; None when the file has none. Keeps nothing of what it reads."""
    while piece := source.read(place, _STEP):
        found = piece.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(piece)
    return None


def end_within(source: SourceFile, place: int, limit: int) -> int | None:
    """Offset behind the first line end between two places, else where the file ends; None where it goes on without one.

    Keeps nothing of what it reads, so that only a line that may be read takes room.
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
        step = min(4 * step, _STEP)
    return None
