"""A reasoning as a thread: a chain whose thoughts are read in full lines, with the context a step was taken in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from typing_extensions import override

from inspector.ui.panels.details.chain_view import NAME_LEFT, RAIL_LEFT, ChainView, Link
from inspector.ui.panels.details.wrapping import wrap

MOST_LINES = 4
"""Lines of a thought; the whole of it is one click away."""


@dataclass(frozen=True, slots=True)
class Step(Link):
    """A step of a thread.

    Attributes:
        text: what it says, shown over several lines; "" for what has only a name.
        where: the context it was taken in, where that is another than the step's before; "" otherwise.
    """

    text: str = ""
    where: str = ""


class ThreadView(ChainView):
    """Steps of a reasoning; Enter or a click goes to a message."""

    _broken: dict[tuple[int, int], list[str]] | None = None  # by row and width; a page is laid out at several

    @override
    def row_text(self, row: Link) -> str:
        said = super().row_text(row)
        if isinstance(row, Step) and row.where:
            return f"in {row.where}: {said}"
        return said

    @override
    def row_height(self, row: int, width: int) -> int:
        line = self.themes.theme.metrics.content_row
        more = len(self._lines(row, width)) - 1
        height = line + max(0, more) * self._line_step() + self._where_height(row)
        return height + (self.themes.theme.metrics.unit if more > 0 else 0)

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, link = self.themes.theme, self.rows[row]
        above = self._where_height(row)
        first = QRect(rect.left(), rect.top() + above, rect.width(), theme.metrics.content_row)
        if (link.own or hovered) and rect.height() > first.height() + above:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.hover"))
            radius = theme.metrics.radius_mark
            painter.drawRoundedRect(rect.adjusted(0, above, 0, 0), radius, radius)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if above:
            self._paint_where(painter, rect, row, above)
        super().paint_row(painter, first, row, hovered)
        self._paint_rail_around(painter, rect, first, row)
        self._paint_more_lines(painter, rect, first, row)

    def _paint_where(self, painter: QPainter, rect: QRect, row: int, height: int) -> None:
        theme, link = self.themes.theme, self.rows[row]
        assert isinstance(link, Step)
        left = rect.left() + self._words_left()
        room = rect.right() - left
        metrics = QFontMetrics(theme.font("small"))
        words = metrics.elidedText(f"in {link.where}", Qt.TextElideMode.ElideMiddle, room)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(QRectF(left, rect.top(), room, height), int(Qt.AlignmentFlag.AlignBottom), words)

    def _paint_rail_around(self, painter: QPainter, rect: QRect, first: QRect, row: int) -> None:
        """The rail through what stands above and below the step's first line."""
        theme = self.themes.theme
        x = rect.left() + round(RAIL_LEFT * theme.zoom) + self._longer()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(0.55)
        painter.setPen(QPen(theme.color("accent.ring"), 1))
        if row > 0 and first.top() > rect.top():
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, first.top()))
        if row < len(self.rows) - 1 and rect.bottom() > first.bottom():
            painter.drawLine(QPointF(x, first.bottom() + 1), QPointF(x, rect.bottom() + 1))
        painter.restore()

    def _paint_more_lines(self, painter: QPainter, rect: QRect, first: QRect, row: int) -> None:
        lines = self._lines(row, rect.width())[1:]
        if not lines:
            return
        theme = self.themes.theme
        metrics = QFontMetrics(theme.font("body"))
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.primary"))
        base = first.top() + (first.height() - metrics.height()) / 2 + metrics.ascent()
        for place, text in enumerate(lines, start=1):
            painter.drawText(QPointF(rect.left() + self._words_left(), base + place * self._line_step()), text)

    @override
    def _paint_words(self, painter: QPainter, rect: QRect, link: Link, hovered: bool) -> None:
        if isinstance(link, Step) and link.text and not link.own:
            width = self.viewport().width()
            row = next(place for place, other in enumerate(self.rows) if other is link)
            link = replace(link, name=self._lines(row, width)[0], relation="")  # the lines were broken for all the room
        super()._paint_words(painter, rect, link, hovered)

    # Geometry

    def _words_left(self) -> int:
        return round(NAME_LEFT * self.themes.theme.zoom) + self._longer()

    def _line_step(self) -> int:
        return QFontMetrics(self.themes.theme.font("body")).height() + 1

    def _where_height(self, row: int) -> int:
        link = self.rows[row]
        if not isinstance(link, Step) or not link.where:
            return 0
        return QFontMetrics(self.themes.theme.font("small")).height() + self.themes.theme.metrics.unit

    def _lines(self, row: int, width: int) -> list[str]:
        """The lines of a step's text at a width; one for what has none."""
        link = self.rows[row]
        if not isinstance(link, Step) or not link.text or link.own:
            return [link.name]
        if self._broken is None:
            self._broken = {}
        found = self._broken.get((row, width))
        if found is None:
            theme = self.themes.theme
            number = QFontMetrics(theme.font("body-medium")).horizontalAdvance(str(link.message + 1))
            room = width - self._words_left() - number - 5 * theme.metrics.unit
            found = self._broken[row, width] = wrap(link.text, theme.font("body"), room, MOST_LINES)
        return found

    @override
    def _on_theme_changed(self) -> None:
        self._broken = None
        super()._on_theme_changed()
