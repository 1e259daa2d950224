"""Paints a participant: presence dot, name, space, permissions and a gauge of its context (docs/design.md 14)."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from typing_extensions import override

from inspector.present import participant_words as words
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.figures import gauge_color
from inspector.ui.panels.list_delegate import LEFT, RIGHT, ListDelegate
from inspector.ui.panels.pane_head import name_font
from inspector.ui.panels.participants.model import ParticipantsModel, PresenceDot

_DOT_X = 21
_NAME_X = 33
_BETWEEN = " · "
# The gauge's colours change here, as in the details (docs/design.md 10).


class ParticipantDelegate(ListDelegate):
    """A row of two lines. The current row has a focus ring once the keyboard is used."""

    def __init__(
        self, model: ParticipantsModel, theme_controller: ThemeController, parent: QObject | None = None
    ) -> None:
        super().__init__(theme_controller, parent)
        self._model = model
        self.shows_cursor = False

    @override
    def _on_theme_changed(self) -> None:
        super()._on_theme_changed()
        theme = self._themes.theme
        self._fonts |= {role: name_font(theme.font(role)) for role in ("small", "badge")}
        self._metrics |= {role: QFontMetrics(self._fonts[role]) for role in ("small", "badge")}
        self._figures = QFontMetrics(theme.font("small"))

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._themes.theme
        half, edge = cell.height() // 2, theme.metrics.unit
        upper = QRect(cell.left(), cell.top() + edge, cell.width(), half - edge)
        lower = QRect(cell.left(), cell.top() + half, cell.width(), half - edge - 1)
        presence = self._model.presence(row)
        center = QPointF(cell.left() + _DOT_X * theme.zoom, upper.top() + upper.height() / 2 + 1)
        self._paint_dot(painter, center, presence)
        right = self._paint_usage(painter, row, upper, lower)
        self._paint_name(painter, row, upper, right[0], presence)
        left = cell.left() + round(_NAME_X * theme.zoom)
        self._paint_line(painter, row, QRect(left, lower.top(), max(0, right[1] - left), lower.height()))

    def _paint_line(self, painter: QPainter, row: int, box: QRect) -> None:
        """Draws the space, if there are several, and the state line. Each gets at least half of the width."""
        theme, metrics = self._themes.theme, self._metrics["small"]
        text, space = self._model.line(row), self._model.space(row)
        painter.setFont(self._fonts["small"])
        if space:
            behind = metrics.horizontalAdvance(_BETWEEN + text)
            room = max(box.width() - behind, box.width() // 2)
            space = metrics.elidedText(space, Qt.TextElideMode.ElideRight, room) + _BETWEEN
            painter.setPen(theme.color("ink.secondary"))
            painter.drawText(box, LEFT, space)
            box.setLeft(box.left() + metrics.horizontalAdvance(space))
        if metrics.horizontalAdvance(text) > box.width():
            text = metrics.elidedText(self._model.short_line(row), Qt.TextElideMode.ElideRight, box.width())
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(box, LEFT, text)

    def _paint_dot(self, painter: QPainter, center: QPointF, presence: PresenceDot) -> None:
        theme = self._themes.theme
        if presence is PresenceDot.GONE:
            painter.setPen(QPen(theme.color("state.idle"), 1.5 * theme.zoom))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            radius = 3.0
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            token = "state.active" if presence is PresenceDot.SPEAKING else "state.idle"
            painter.setBrush(theme.color(token))
            radius = 2.25 if presence is PresenceDot.UNKNOWN else 3.75
        painter.drawEllipse(center, radius * theme.zoom, radius * theme.zoom)

    def _paint_usage(self, painter: QPainter, row: int, upper: QRect, lower: QRect) -> tuple[int, int]:
        """Draws reported usage and its gauge at the right. Returns the right ends of the texts of both lines."""
        theme, participant = self._themes.theme, self._model.participant(row)
        right = upper.right() + 1 - theme.metrics.pane_padding
        text, share = words.usage_words(participant), words.context_share(participant)
        # Usage of a departed participant is out of date.
        if not text or participant.here is False:
            return right, right
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(QRect(upper.left(), upper.top() + 1, right - upper.left(), upper.height()), RIGHT, text)
        name_end = right - self._figures.horizontalAdvance(text) - theme.metrics.cell_padding
        if share is None:
            return name_end, right
        self._paint_gauge(painter, share, right, lower.top() + lower.height() / 2 + 2)
        line_end = right - theme.metrics.gauge_width - theme.metrics.cell_padding
        return min(name_end, line_end), line_end

    def _paint_gauge(self, painter: QPainter, share: float, right: int, center_y: float) -> None:
        theme = self._themes.theme
        wide, high = theme.metrics.gauge_width, theme.metrics.gauge_height
        track = QRectF(right - wide, round(center_y - high / 2), wide, high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line.strong" if theme.dark else "line.hair"))
        painter.drawRoundedRect(track, high / 2, high / 2)
        if share <= 0:
            return
        painter.setBrush(gauge_color(theme, share))
        filled = QRectF(track.left(), track.top(), max(high, wide * share), high)
        painter.drawRoundedRect(filled, high / 2, high / 2)

    def _paint_name(self, painter: QPainter, row: int, upper: QRect, right: int, presence: PresenceDot) -> None:
        theme, metrics = self._themes.theme, self._metrics["body"]
        left = upper.left() + round(_NAME_X * theme.zoom)
        tag, gap = self._model.tag(row), theme.metrics.cell_padding
        width = self._metrics["badge"].horizontalAdvance(tag) + round(10 * theme.zoom) if tag else 0
        room = right - left - (width + gap if tag else 0)
        name = metrics.elidedText(self._model.name(row), Qt.TextElideMode.ElideMiddle, max(room, 24))
        painter.setFont(self._fonts["body"])
        painter.setPen(theme.color("ink.secondary" if presence is PresenceDot.GONE else "ink.primary"))
        painter.drawText(QRect(left, upper.top(), max(0, right - left), upper.height()), LEFT, name)
        if tag:
            at = left + metrics.horizontalAdvance(name) + gap
            self._paint_tag(painter, tag, QRect(at, upper.top(), width, upper.height()))

    def _paint_tag(self, painter: QPainter, tag: str, box: QRect) -> None:
        theme = self._themes.theme
        high = round(14 * theme.zoom)
        edge = QRectF(box.left(), box.top() + (box.height() - high) // 2 + 1, box.width(), high).adjusted(
            0.5, 0.5, -0.5, -0.5
        )
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(edge, theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setFont(self._fonts["badge"])
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(edge, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, tag)
