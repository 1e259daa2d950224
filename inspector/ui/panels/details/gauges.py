"""How full a participant's context is: a gauge with its figures, and the line of what was reported before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.details.words import short_count

_WARN, _FULL = 0.75, 0.90


def gauge_color(theme: Theme, share: float) -> QColor:
    """Colour of a gauge by how full it is (docs/design.md 10)."""
    return theme.color("gauge.full" if share >= _FULL else "gauge.warn" if share >= _WARN else "ink.tertiary")


class UsageGauge(QWidget):
    """A bar over its figures: "15.4k of 20k tokens", and the share."""

    def __init__(
        self, themes: ThemeController, used: float, limit: float | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._themes = themes
        self._share = min(1.0, max(0.0, used / limit)) if limit else None
        self.text = f"{formats.number(round(used))} tokens"
        if limit:
            self.text = f"{formats.number(round(used))} of {formats.number(round(limit))} tokens"
        self.right = f"{self._share * 100:.0f} %" if self._share is not None else ""
        self.setObjectName("usageGauge")
        self.setAccessibleName(", ".join(filter(None, (self.text, self.right))))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        metrics = self._themes.theme.metrics
        return QSize(100, metrics.content_row + 2 * metrics.unit)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        height = theme.metrics.gauge_height
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        top = theme.metrics.unit
        if self._share is not None:
            painter.setBrush(theme.color("line.strong"))
            painter.drawRoundedRect(QRectF(0, top, self.width(), height), height / 2, height / 2)
            painter.setBrush(gauge_color(theme, self._share))
            width = max(height, self.width() * self._share) if self._share > 0 else 0
            painter.drawRoundedRect(QRectF(0, top, width, height), height / 2, height / 2)
        words = QRectF(0, top + height, self.width(), theme.metrics.content_row)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.primary"))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), self.text)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), self.right)


class UsageLine(QWidget):
    """Reported tokens over time as steps, the shown report as a disc, the limit as a dashed line.

    Args:
        reports: (time in ns, tokens), in order of time.
        own: place of the shown report in `reports`.
        limit: the reported limit.
    """

    def __init__(
        self,
        themes: ThemeController,
        reports: Sequence[tuple[int, float]],
        own: int,
        limit: float | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._themes = themes
        self._reports = list(reports)
        self._own = own
        self._limit = limit
        self.setObjectName("usageLine")
        first, last = reports[0][1], reports[-1][1]
        self.setAccessibleName(
            f"{formats.count_of(len(reports), 'report')}, from {first:,.0f} to {last:,.0f} tokens, "
            f"highest {max(t for _, t in reports):,.0f}"
        )
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, round(84 * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        small = QFontMetrics(theme.font("small"))
        painter = QPainter(self)
        highest = max(t for _, t in self._reports)
        near = self._limit is not None and highest >= 0.4 * self._limit
        top_value = max(self._limit if near and self._limit else highest * 1.15, 1.0)
        label = max(small.horizontalAdvance(short_count(v)) for v in (highest, top_value, 0)) + 2 * theme.metrics.unit
        plot = QRectF(label, 6, self.width() - label - 6, self.height() - small.height() - 10)
        start, end = self._reports[0][0], self._reports[-1][0]
        span = max(1, end - start)

        def place(report: tuple[int, float]) -> QPointF:
            x = plot.left() + plot.width() * (report[0] - start) / span
            return QPointF(x, plot.bottom() - plot.height() * min(1.0, report[1] / top_value))

        painter.setPen(theme.color("line.hair"))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        if near:
            painter.setPen(QPen(theme.color("gauge.full"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(plot.topLeft(), plot.topRight())
        self._paint_steps(painter, [place(r) for r in self._reports])
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        value = self._limit if near and self._limit else highest
        top = plot.top() if near else place((0, highest)).y()
        painter.drawText(QRectF(0, top - 8, label - theme.metrics.unit, 16), right, short_count(value))
        painter.drawText(QRectF(0, plot.bottom() - 8, label - theme.metrics.unit, 16), right, "0")
        below = QRectF(plot.left(), plot.bottom() + 4, plot.width(), small.height())
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), formats.count_of(len(self._reports), "report"))
        painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), f"in {formats.duration(end - start)}")

    def _paint_steps(self, painter: QPainter, points: list[QPointF]) -> None:
        theme = self._themes.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent.ring"), 1.5))
        steps = points[:1]
        for before, after in pairwise(points):
            steps += [QPointF(after.x(), before.y()), after]
        painter.drawPolyline(steps)
        painter.setBrush(theme.color("accent.ring"))
        painter.drawEllipse(points[self._own], 3.5, 3.5)
