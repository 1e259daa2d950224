"""Lays out words of several looks in lines, and paints them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from inspector.present.overview.cards import Tone, Words
from inspector.ui.look import icons
from inspector.ui.look.theme import Theme

COLORS: dict[Tone, str] = {
    "plain": "ink.primary", "quiet": "ink.secondary", "good": "badge.consumed", "bad": "severity.error",
    "warn": "severity.warning",
}  # fmt: skip
_PILL_PAD, _ICON, _LINE_GAP = 6, 14, 3
_BETWEEN = "·"
_FIGURE = r"[\d.,:]+ (?:ms|s|min|h|days?|B|[kMG]B|%)(?= |$|[,.;:)])"
_PIECE = re.compile(rf" *(?:{_FIGURE}(?: {_FIGURE})*\S*|\S+) ?| +")
"""A word, or a figure with its units, such as "1 min 20 s", and the blanks around it."""


class Fragment(NamedTuple):
    """Words in one place.

    Attributes:
        box: their place.
        text: the part of the words that is there.
        words: their look and link.
    """

    box: QRectF
    text: str
    words: Words


class Flow(NamedTuple):
    """Words in lines.

    Attributes:
        fragments: the words in reading order.
        width: width of the widest line.
        height: height of all lines.
    """

    fragments: tuple[Fragment, ...]
    width: float
    height: float

    def moved(self, x: float, y: float) -> list[Fragment]:
        """Returns the fragments at another place."""
        return [Fragment(one.box.translated(x, y), one.text, one.words) for one in self.fragments]


def font_of(theme: Theme, words: Words) -> QFont:
    """Returns the font of words."""
    if words.pill:
        return theme.font("badge")
    if words.mono:
        return theme.font("mono-row")
    return theme.font("body-strong" if words.strong else "body")


def line_height(theme: Theme) -> float:
    """Returns the height of a line of words, pixels."""
    return QFontMetricsF(theme.font("body")).height() + round(_LINE_GAP * theme.zoom)


def flow_of(theme: Theme, line: Sequence[Words], width: float) -> Flow:
    """Breaks words into lines. A link, a pill and an icon stay whole, and are elided if they are too wide.

    Links are elided in the middle: names of sub-agents differ at their ends.
    """
    height, fragments = line_height(theme), list[Fragment]()
    x, y, widest = 0.0, 0.0, 0.0
    for words in line:
        metrics = QFontMetricsF(font_of(theme, words))
        extra = 2 * _PILL_PAD * theme.zoom if words.pill else 0
        stays_whole = words.link is not None or words.pill or words.icon
        # Most words fit in their line; measuring them one by one would take most of the time.
        stays_whole = stays_whole or x + metrics.horizontalAdvance(words.text) <= width
        for text in (words.text,) if stays_whole else _pieces(words.text):
            need = round(_ICON * theme.zoom) if words.icon else metrics.horizontalAdvance(text) + extra
            hangs = text.strip() == _BETWEEN  # a dot between two facts stays at the end of its line
            ends = metrics.horizontalAdvance(text.rstrip()) + extra if not words.icon else need
            if x and not hangs and x + ends > width:
                x, y = 0.0, y + height
                text = text.lstrip() if not words.link else text
                need = need if words.icon else metrics.horizontalAdvance(text) + extra
            if need > width:
                mode = Qt.TextElideMode.ElideMiddle if words.link else Qt.TextElideMode.ElideRight
                text = metrics.elidedText(text, mode, width - extra)
                need = min(need, width)
            if not text:
                continue
            last = fragments[-1] if fragments else None
            if last is not None and last.words is words and last.box.top() == y and not (words.icon or words.pill):
                fragments[-1] = Fragment(last.box.adjusted(0, 0, need, 0), last.text + text, words)
            else:
                fragments.append(Fragment(QRectF(x, y, need, height), text, words))
            x += need
            widest = max(widest, x)
    return Flow(tuple(fragments), widest, y + height if fragments else 0.0)


def _pieces(text: str) -> Iterator[str]:
    """Yields the smallest parts that stay on one line, blanks at their ends. A figure keeps its unit."""
    yield from (found[0] for found in _PIECE.finditer(text))


def paint_fragment(
    painter: QPainter, theme: Theme, fragment: Fragment, *, link: bool = False, hovered: bool = False
) -> None:
    """Paints words in their box."""
    box, words = fragment.box, fragment.words
    token = COLORS[words.tone]
    if link and not words.pill and words.tone in ("plain", "quiet"):
        token = "accent.text"
    if words.icon:
        side = round(_ICON * theme.zoom)
        pixmap = icons.pixmap(words.icon, token, side, painter.device().devicePixelRatioF())
        painter.drawPixmap(QPointF(box.left(), round(box.center().y() - side / 2)), pixmap)
        return
    font = QFont(font_of(theme, words))
    font.setUnderline(hovered)
    painter.setFont(font)
    if words.pill:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.pill_fill(token))
        pill = box.adjusted(0, 1, 0, -1)
        painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        painter.setPen(theme.color(token))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, fragment.text)
        return
    painter.setPen(theme.color(token))
    # One baseline for all faces of a line.
    base = QFontMetricsF(theme.font("body"))
    y = box.top() + (box.height() - base.height()) / 2 + base.ascent()
    painter.drawText(QPointF(box.left(), y), fragment.text)
