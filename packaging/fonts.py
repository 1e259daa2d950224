"""Changes one thing in the bundled Inter: tabular figures leave the hyphen as it is. Done once per new version of it.

Numbers stand in columns, so all text is set with `tnum`. Inter makes the hyphen as wide as a figure then, and takes its
kerning away: "sub-session" and "mcp-fs-bridge" fall apart. Written in place, so that nothing else differs:

    .venv/bin/python packaging/fonts.py resources/fonts/Inter-*.ttf
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from PySide6.QtGui import QGuiApplication, QRawFont

_SINGLE, _EXTENSION = 1, 7
"""Kinds of lookups: one glyph for another; a lookup that stands elsewhere."""


def keep_hyphen(data: bytearray, hyphen: int) -> bool:
    """Let `tnum` put the hyphen in place of itself; whether there was something to change."""
    table, length = _table(data, b"GSUB")
    changed = False
    for single in _single_substitutions(data, table, b"tnum"):
        place = _place_of(data, single + _u16(data, single + 2), hyphen)
        if _u16(data, single) == 2 and place is not None:
            struct.pack_into(">H", data, single + 6 + 2 * place, hyphen)
            changed = True
    entry = data.index(b"GSUB", 12)
    padded = bytes(data[table : table + length]) + bytes(-length % 4)
    struct.pack_into(">I", data, entry + 4, sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF)
    return changed


def _u16(data: bytearray, at: int) -> int:
    return struct.unpack_from(">H", data, at)[0]


def _table(data: bytearray, tag: bytes) -> tuple[int, int]:
    for at in range(12, 12 + 16 * _u16(data, 4), 16):
        if bytes(data[at : at + 4]) == tag:
            start, length = struct.unpack_from(">II", data, at + 8)
            return start, length
    sys.exit(f"There is no table {tag.decode()}.")


def _single_substitutions(data: bytearray, table: int, feature: bytes) -> list[int]:
    """Where the feature's substitutions of one glyph by one stand."""
    features, lookups = (table + _u16(data, table + at) for at in (6, 8))
    numbers = {
        _u16(data, there + 4 + 2 * index)
        for at in range(features + 2, features + 2 + 6 * _u16(data, features), 6)
        if bytes(data[at : at + 4]) == feature
        for there in [features + _u16(data, at + 4)]
        for index in range(_u16(data, there + 2))
    }
    found = []
    for number in sorted(numbers):
        lookup = lookups + _u16(data, lookups + 2 + 2 * number)
        for index in range(_u16(data, lookup + 4)):
            kind, at = _u16(data, lookup), lookup + _u16(data, lookup + 6 + 2 * index)
            if kind == _EXTENSION:
                kind, at = _u16(data, at + 2), at + struct.unpack_from(">I", data, at + 4)[0]
            if kind == _SINGLE:
                found.append(at)
    return found


def _place_of(data: bytearray, coverage: int, glyph: int) -> int | None:
    """Which of the glyphs a substitution is for this is."""
    count = _u16(data, coverage + 2)
    if _u16(data, coverage) == 1:
        glyphs = struct.unpack_from(f">{count}H", data, coverage + 4)
        return glyphs.index(glyph) if glyph in glyphs else None
    for at in range(coverage + 4, coverage + 4 + 6 * count, 6):
        first, last, place = struct.unpack_from(">HHH", data, at)
        if first <= glyph <= last:
            return place + glyph - first
    return None


def main() -> None:
    """Change the files named."""
    application = QGuiApplication([sys.argv[0], "-platform", "offscreen"])
    for path in map(Path, sys.argv[1:]):
        data = bytearray(path.read_bytes())
        (hyphen,) = QRawFont(str(path), 12).glyphIndexesForString("-")
        changed = keep_hyphen(data, hyphen)
        path.write_bytes(data)
        print(f"{path}: {'changed' if changed else 'nothing to change'}")
    del application


if __name__ == "__main__":
    main()
