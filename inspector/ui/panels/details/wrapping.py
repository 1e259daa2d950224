"""Values broken into lines, and values on one line, masked, with what cannot be seen made visible."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextLayout, QTextOption

from inspector.present.wire_text import masked, visible_controls

_MOST_CHARACTERS = 40_000
_ONE_LINE = 2_000
_A_LINE = 500  # characters a line may have at most; laying out more than is seen takes long


def plain_value(text: str) -> str:
    """A value on one line: line ends become signs, control characters visible."""
    return _plain_value(masked(text, _ONE_LINE)[:_ONE_LINE])


@lru_cache(maxsize=512)
def _plain_value(head: str) -> str:
    line = head.replace("\r\n", "\n").replace("\n", "⏎")
    return visible_controls(line.replace("\t", " "))


def wrap(text: str, font: QFont, width: int, most: int) -> list[str]:
    """Break text into at most `most` lines of a width; the last one ends with … where something is left out."""
    lines: list[str] = []
    room = min(_MOST_CHARACTERS, (most + 1) * _A_LINE)
    shown = visible_controls(masked(text, room)[:room].rstrip("\n").replace("\t", "    "))[:room]
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    paragraphs = shown.splitlines() or [""]
    for place, paragraph in enumerate(paragraphs):
        layout = QTextLayout(paragraph, font)
        layout.setTextOption(option)
        layout.beginLayout()
        while len(lines) < most:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(width, 20))
            start, length = line.textStart(), line.textLength()
            last = len(lines) == most - 1
            cut = start + length < len(paragraph) or place < len(paragraphs) - 1 or len(text) > room
            if last and cut:
                rest = paragraph[start : start + _A_LINE] + ("…" if start + length >= len(paragraph) else "")
                elided = QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, max(width, 20))
                lines.append(elided)
            else:
                lines.append(paragraph[start : start + length].rstrip() if length else "")
        layout.endLayout()
        if len(lines) >= most:
            break
    return lines or [""]
