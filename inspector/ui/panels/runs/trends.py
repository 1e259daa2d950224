"""Small plots of the visible runs' figures over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.survey.runs import Trend
from inspector.ui.look.theme import ThemeController

_HEIGHT, _LINE = 92, 18
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
NOTHING = "Trends need figures of at least two runs that began at different times."


class Trends(QWidget):
    """Plots side by side with one time axis.

    Attributes:
        trends: the drawn figures.
    """

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.trends: Sequence[Trend] = ()
        self.setObjectName("runsTrends")
        self.setAccessibleName("Trends")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self._on_theme_changed)

    def show_trends(self, trends: Sequence[Trend]) -> None:
        self.trends = trends
        words = [f"{one.title}: {_peak(one)} at most" for one in trends]
        self.setAccessibleDescription("; ".join(words) or NOTHING)
        self.update()

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, round(_HEIGHT * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, 0, self.width(), 1, theme.color("line.hair"))
        pad = theme.metrics.pane_padding
        if not self.trends:
            painter.setFont(theme.font("body"))
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(self.rect().adjusted(pad, 0, -pad, 0), int(Qt.AlignmentFlag.AlignVCenter), NOTHING)
            return
        shown = self.trends[: max(1, int((self.width() - pad) / (self._widest_head() + 2 * pad)))]
        room = (self.width() - pad) / len(shown)
        for place, trend in enumerate(shown):
            self._paint(painter, QRectF(pad + place * room, 0, room - pad, self.height()), trend)

    def _widest_head(self) -> int:
        """Returns the maximum width of a plot's title and peak. A narrow window omits the last plots."""
        metrics = QFontMetrics(self._themes.theme.font("small"))
        return max(metrics.horizontalAdvance(f"{one.title}{_peak(one)} at most") for one in self.trends)

    def _paint(self, painter: QPainter, box: QRectF, trend: Trend) -> None:
        theme = self._themes.theme
        line = _LINE * theme.zoom
        head = QRectF(box.left(), 4 * theme.zoom, box.width(), line)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(head, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), trend.title)
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(
            head, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), f"{_peak(trend)} at most"
        )
        plot = box.adjusted(0, head.bottom(), 0, -line - 2 * theme.zoom)
        painter.fillRect(QRectF(plot.left(), plot.bottom(), plot.width(), 1), theme.color("line.strong"))
        most = float(np.nanmax(trend.values)) if not np.isnan(trend.values).all() else 0.0
        step = plot.width() / len(trend.values)
        color = theme.color("accent.ring")
        for place, value in enumerate(trend.values.tolist()):
            if value and not np.isnan(value) and most:
                high = max(1.0, plot.height() * value / most)
                painter.fillRect(
                    QRectF(plot.left() + place * step, plot.bottom() - high, max(1.0, step - 1), high), color
                )
        self._paint_times(painter, QRectF(box.left(), plot.bottom() + 1, box.width(), line), trend)

    def _paint_times(self, painter: QPainter, box: QRectF, trend: Trend) -> None:
        """Paints first and last time: a common day once, and without times of day in a narrow plot."""
        first, last = (formats.day_and_time(time)[:16] for time in (trend.first_ns, trend.last_ns))
        if first[:10] == last[:10]:
            last = last[11:]
        metrics = QFontMetrics(painter.font())
        if metrics.horizontalAdvance(first + last) > 0.9 * box.width():
            first, last = first[:10], last[:10]
        painter.drawText(box, _LEFT, first)
        if metrics.horizontalAdvance(first + last) < 0.9 * box.width():
            painter.drawText(box, _RIGHT, last)


def _peak(trend: Trend) -> str:
    if np.isnan(trend.values).all():
        return "nothing"
    most = float(np.nanmax(trend.values))
    return formats.duration(round(most * 1e6)) if trend.is_time else formats.short_count(round(most))
