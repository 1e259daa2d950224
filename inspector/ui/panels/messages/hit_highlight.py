"""What is found is lit in the rows: a tint with a thin ring behind the very words, the whole selection's colour in it.

Texts are drawn first and lit afterwards, each light over its own words: where the words stand is known only then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics, QPainter

from inspector.ui.look.theme import Theme

Locate = Callable[[str], list[tuple[int, int]]]
"""Where in a text what is looked for stands: (start, stop) in characters."""

_KEPT = 4_000


@dataclass(frozen=True, slots=True)
class Light:
    """A stretch of a text that was drawn."""

    box: QRect
    """Of the stretch."""
    role: str
    text: str
    """All that was drawn."""
    x: int
    y: int
    """Where its baseline begins."""
    current: bool
    """It is in the selected row."""


def everything(text: str) -> list[tuple[int, int]]:
    """All of a text."""
    return [(0, len(text))] if text else []


class Lights:
    """Gathers what is to be lit and paints it.

    Attributes:
        locate: what finds it in the texts drawn now; None lights nothing.
        current: whether they are in the selected row.
    """

    def __init__(self) -> None:
        self.locate: Locate | None = None
        self.current = False
        self._lights: list[Light] = []
        self._known: dict[str, list[tuple[int, int]]] = {}
        self._known_of: Locate | None = None

    def __len__(self) -> int:
        return len(self._lights)

    def places(self, text: str, shown: str) -> list[tuple[int, int]]:
        """What to light of a text that is shown cut: what is seen of it; the dots are nobody's words."""
        if self.locate is None:
            return []
        kept = len(shown) if shown == text else len(shown) - 1
        found: list[tuple[int, int]] = []
        for start, stop in self._located(self.locate, text):
            if start >= kept:
                break
            found.append((start, min(stop, kept)))
        return found

    def _located(self, locate: Locate, text: str) -> list[tuple[int, int]]:
        if locate is everything:
            return everything(text)
        if self._known_of is not locate or len(self._known) > _KEPT:
            self._known_of, self._known = locate, {}
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = locate(text)
        return found

    def add(self, box: QRect, role: str, text: str, x: int, y: int) -> None:
        """Light a stretch when the texts are painted."""
        self._lights.append(Light(box, role, text, x, y, self.current))

    def light_line(
        self, painter: QPainter, theme: Theme, role: str, text: str, shown: str, room: QRect, *, right: bool = False
    ) -> None:
        """Light a line of text at once that was drawn into a room, in its middle from top to bottom."""
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
        """Paint what was gathered."""
        lights, self._lights = self._lights, []
        for light in lights:
            box = light.box
            painter.fillRect(box, theme.color("accent.ring"))
            ground = "accent.fill" if light.current else "find.hit"
            painter.fillRect(box.adjusted(1, 1, -1, -1), theme.color(ground))
            painter.save()
            painter.setClipRect(box)
            painter.setFont(theme.font(light.role))
            painter.setPen(theme.color("accent.on" if light.current else "ink.primary"))
            painter.drawText(light.x, light.y, light.text)
            painter.restore()
