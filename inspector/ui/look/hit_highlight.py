"""Highlights search hits in painted texts, with a tint and a thin ring.

Texts are drawn first and highlighted afterwards, since the positions of words are known only then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics, QPainter

from inspector.ui.look.theme import Theme

Locate = Callable[[str], list[tuple[int, int]]]
"""Finds hits in a text: (start, stop) in characters."""

_MAX_CACHED = 4_000


@dataclass(frozen=True, slots=True, eq=False)
class HitRows:
    """Messages with a hit in their rows.

    Attributes:
        locate: finds the hits in a text.
        messages: the messages, ascending, (n,) uint32.
    """

    locate: Locate
    messages: NDArray[np.uint32]

    def __contains__(self, message: int) -> bool:
        at = int(self.messages.searchsorted(np.uint32(message)))
        return at < len(self.messages) and int(self.messages[at]) == message


@dataclass(frozen=True, slots=True)
class _Hit:
    """A range of characters to highlight in a drawn text."""

    box: QRect
    role: str
    text: str
    """The whole drawn text."""
    x: int
    y: int
    """Start of its baseline."""
    current: bool
    """The row is selected."""


def everything(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))] if text else []


class HitHighlight:
    """Collects hits of drawn texts and paints them.

    Attributes:
        locate: finds hits in the texts being drawn; None disables highlights.
        current: True while the selected row is drawn.
    """

    def __init__(self) -> None:
        self.locate: Locate | None = None
        self.current = False
        self._hits: list[_Hit] = []
        self._located: dict[str, list[tuple[int, int]]] = {}
        self._located_by: Locate | None = None

    def __len__(self) -> int:
        return len(self._hits)

    def places(self, text: str, shown: str) -> list[tuple[int, int]]:
        """Returns hits in the visible part of an elided text, without the ellipsis."""
        if self.locate is None:
            return []
        whole = len(shown) if shown == text else len(shown) - 1
        found: list[tuple[int, int]] = []
        for start, stop in self._places_in(self.locate, text):
            if start >= whole:
                break
            found.append((start, min(stop, whole)))
        return found

    def _places_in(self, locate: Locate, text: str) -> list[tuple[int, int]]:
        # Everything is a hit, so a lookup would cost more than the answer.
        if locate is everything:
            return everything(text)
        # Each search has a function of its own, so places found by another are stale.
        if self._located_by is not locate or len(self._located) > _MAX_CACHED:
            self._located_by, self._located = locate, {}
        found = self._located.get(text)
        if found is None:
            found = self._located[text] = locate(text)
        return found

    def add(self, box: QRect, role: str, text: str, x: int, y: int) -> None:
        """Adds a hit for the next `paint`."""
        self._hits.append(_Hit(box, role, text, x, y, self.current))

    def light_line(
        self, painter: QPainter, theme: Theme, role: str, text: str, shown: str, room: QRect, *, right: bool = False
    ) -> None:
        """Highlights hits at once in a line drawn at the vertical centre of a room."""
        if self.locate is None:
            return
        metrics = QFontMetrics(theme.font(role))
        x = room.right() + 1 - metrics.horizontalAdvance(shown) if right else room.x()
        y = room.y() + (room.height() - metrics.height()) // 2 + metrics.ascent()
        for start, stop in self.places(text, shown):
            begin, end = metrics.horizontalAdvance(shown[:start]), metrics.horizontalAdvance(shown[:stop])
            self.add(QRect(x + begin - 1, room.y() + 1, end - begin + 2, room.height() - 2), role, shown, x, y)
        self.paint(painter, theme)

    def paint(self, painter: QPainter, theme: Theme) -> None:
        """Paints and clears the collected hits."""
        hits, self._hits = self._hits, []
        for hit in hits:
            box = hit.box
            painter.fillRect(box, theme.color("accent.ring"))
            ground = "accent.fill" if hit.current else "find.hit"
            painter.fillRect(box.adjusted(1, 1, -1, -1), theme.color(ground))
            painter.save()
            # The text is drawn again in the colour of the highlight, clipped to the hit.
            painter.setClipRect(box)
            painter.setFont(theme.font(hit.role))
            painter.setPen(theme.color("accent.on" if hit.current else "ink.primary"))
            painter.drawText(hit.x, hit.y, hit.text)
            painter.restore()
