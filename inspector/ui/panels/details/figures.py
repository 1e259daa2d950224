"""Painted figures of the details: table, gauge, tokens over time, savings of a collapse (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.present.formats import short_count
from inspector.present.pages.parts import SavingPart
from inspector.present.participant_facts import FigureRow
from inspector.present.token_facts import ESTIMATE
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.look.gauge import gauge_color
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.widgets.filter_menu import add_filter_actions


class FiguresView(FittedList[FigureRow]):
    """Small table; its first row is the header."""

    def __init__(
        self,
        themes: ThemeController,
        head: FigureRow,
        rows: Sequence[FigureRow],
        *,
        name: str,
        label: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(themes, [head, *rows], name=name, label=label, parent=parent)

    @override
    def row_text(self, row: FigureRow) -> str:
        head = self.rows[0]
        if row is head:
            return ", ".join((head.name, *head.values))
        values = ", ".join(f"{title} {value}" for title, value in zip(head.values, row.values, strict=True))
        return f"{safe_line(row.name, 200)}: {values}"

    @override
    def row_tooltip(self, row: FigureRow) -> str:
        return "" if row is self.rows[0] else tool_tip(self.row_text(row))

    @override
    def row_height(self, row: int, width: int) -> int:
        return self.themes.theme.metrics.content_row

    def _column_widths(self) -> list[int]:
        theme = self.themes.theme
        body, head = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("column"))
        columns = range(len(self.rows[0].values))
        return [
            max((head if place == 0 else body).horizontalAdvance(row.values[column])
                for place, row in enumerate(self.rows)) + 3 * theme.metrics.unit
            for column in columns
        ]  # fmt: skip

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, figures = self.themes.theme, self.rows[row]
        middle = Qt.AlignmentFlag.AlignVCenter
        if hovered and row:
            painter.fillRect(rect, theme.color("surface.hover"))
        right = rect.right() + 1
        painter.setFont(theme.font("column" if row == 0 else "body"))
        painter.setPen(theme.color("ink.secondary" if row == 0 else "ink.primary"))
        for text, width in reversed(list(zip(figures.values, self._column_widths(), strict=True))):
            painter.drawText(QRect(right - width, rect.top(), width, rect.height()),
                             int(middle | Qt.AlignmentFlag.AlignRight), text)  # fmt: skip
            right -= width
        font = theme.font("column" if row == 0 else "mono-row" if figures.mono else "body")
        painter.setFont(font)
        room = max(0, right - rect.left() - theme.metrics.unit)
        shown = QFontMetrics(font).elidedText(safe_line(figures.name, 200), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(rect.left(), rect.top(), room, rect.height()), int(middle), shown)
        if row == 0:
            painter.setPen(theme.color("line.hair"))
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())

    @override
    def activate_row(self, row: int) -> None:
        if self.rows[row].filter:
            self.filter_requested.emit(self.rows[row].filter, "replace")

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        super().fill_menu(menu, row)
        wanted = self.rows[row].filter
        if wanted:
            menu.addSeparator()
            add_filter_actions(menu, wanted, self.filter_requested.emit)


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
            # Not narrower than high, or the round ends would not fit.
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
    """Reported tokens over time as steps, with the shown report as a disc and the limit as a dashed line.

    Args:
        reports: (time in ns, tokens), in order of time.
        own: index of the shown report in `reports`.
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
        # A distant limit would press the steps to the bottom.
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


class SavingBar(QWidget):
    """Bar of a result's length, filled by the part that the model still sees, with both figures."""

    def __init__(
        self, themes: ThemeController, saving: SavingPart, parent: QWidget | None = None
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._themes = themes
        before, summary, collapsed = saving.before, saving.summary, saving.collapsed
        saved = before - summary
        most = max(before, summary, 1)
        # Before the collapse the model sees the whole result.
        self._share = (summary if collapsed else before) / most
        self.saved = f"{formats.count_of(saved, 'token')} {'saved' if collapsed else 'to be saved'}"
        if saved <= 0:
            self.saved = "no tokens saved" if collapsed else "no tokens to save"
        self.figures = f"{formats.number(summary)} instead of {formats.number(before)}"
        if not collapsed:
            self.figures = f"{formats.number(before)} now, {formats.number(summary)} once consumed"
        self.estimate = ESTIMATE
        self._good = collapsed and saved > 0
        self.setObjectName("savingBar")
        self.setAccessibleName(f"{self.saved}: {self.figures}, {self.estimate}")
        self.setToolTip(f"Tokens counted by {saving.tokenizer}: an estimate. A model's own count may differ.")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, 2 * self._themes.theme.metrics.content_row)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        line, unit, height = theme.metrics.content_row, theme.metrics.unit, theme.metrics.gauge_height
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        upper, lower = QRect(0, 0, self.width(), line), QRect(0, line, self.width(), line)
        font = theme.font("body-medium")
        words = QFontMetrics(font).horizontalAdvance(self.saved) + 3 * unit
        room = max(0, self.width() - words)
        painter.setPen(Qt.PenStyle.NoPen)
        top = (line - height) / 2
        painter.setBrush(theme.color("line.strong"))
        painter.drawRoundedRect(QRectF(0, top, room, height), height / 2, height / 2)
        painter.setBrush(theme.color("badge.consumed" if self._good else "ink.tertiary"))
        filled = max(min(height, room), room * self._share)
        painter.drawRoundedRect(QRectF(0, top, filled, height), height / 2, height / 2)
        right = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        left = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.setFont(font)
        painter.setPen(theme.color("badge.consumed" if self._good else "ink.secondary"))
        painter.drawText(upper, right, self.saved)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(lower, left, self.figures)
        if QFontMetrics(theme.font("small")).horizontalAdvance(self.figures + self.estimate) + 3 * unit < self.width():
            painter.drawText(lower, right, self.estimate)
