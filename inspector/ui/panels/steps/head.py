"""Head above the steps: time at work, split by who worked, figures, choices, and the context over time with a brush."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.steps import Bar, StepHead
from inspector.present import formats
from inspector.present.step_texts import tools_word
from inspector.present.wire_text import tool_tip
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.steps.step_axis import StepAxis
from inspector.ui.panels.steps.waterfall import fill_bar
from inspector.ui.panels.timeline.gestures import AxisGestures
from inspector.ui.panels.timeline.head import ChoiceButton

GROUPS = (("turn", "turn"), ("agent", "agent"), ("tool", "tool"), ("step", "nothing"))
IDLES = (("60", "over 1 min"), ("10", "over 10 s"), ("600", "over 10 min"), ("0", "never"))
WAITING, _WAITING_SHORT = "decisions", "waits"
_ALLOWED, _ALLOWED_SHORT = "tools and your permission", "tools + you"
_LEFT_PX, _HIGH_PX = 316, 120
_NARROW_PX = 620
"""Below this width the left part takes half."""
_ELIDED = Qt.TextElideMode.ElideRight
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class SplitFigures(QWidget):
    """Time at work and of waits as a bar of parts, and the figures below it."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.figures = StepHead()
        self.setObjectName("stepsFigures")
        self.setAccessibleName("Time at work")
        themes.changed.connect(self.update)

    def show_figures(self, figures: StepHead) -> None:
        """Shows other figures."""
        self.figures = figures
        self.setAccessibleDescription(". ".join(self.lines()))
        self.setToolTip("\n".join(self.lines()))
        self.update()

    def lines(self) -> list[str]:
        """Returns title, parts and figures."""
        found = self.figures
        total = found.model_ns + found.tools_ns + found.allowed_ns
        title = f"{formats.duration(total)} at work" if total else f"{formats.count_of(found.steps, 'step')}"
        parts = [
            f"{name} {formats.duration(ns)}"
            for name, ns in (
                ("model", found.model_ns),
                (tools_word(of_requests=not found.calls), found.tools_ns),
                (_ALLOWED, found.allowed_ns),
                (WAITING, found.person_ns),
            )
            if ns
        ]
        figures = [formats.dollars(found.dollars)] if found.dollars is not None else []
        if found.model_calls:
            of = _models_words(found)
            figures.append(f"{formats.count_of(found.model_calls, 'model call')}{of}")
        if found.calls:
            failed = f", {found.failed:,} failed" if found.failed else ""
            figures.append(f"{formats.count_of(found.calls, 'tool call')}{failed}")
        if found.rejected:
            figures.append(f"{found.rejected:,} rejected")
        if found.cached:
            figures.append(f"{formats.short_count(found.cached)} cached")
        return [title, " · ".join(parts), " · ".join(figures)]

    @property
    def wanted_width(self) -> int:
        """Width at which no words are shortened, in pixels."""
        metrics = QFontMetrics(self._themes.theme.font("small"))
        return max(metrics.horizontalAdvance(line) for line in self.lines()[1:]) + 1

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, round(76 * self._themes.theme.zoom))

    def shown_lines(self) -> list[str]:
        """Returns the lines in the words that fit the width, the least needed ones left out first."""
        metrics, width = QFontMetrics(self._themes.theme.font("small")), self.width()
        title, parts, figures = self.lines()
        for long, short in ((WAITING, _WAITING_SHORT), (_ALLOWED, _ALLOWED_SHORT)):
            if metrics.horizontalAdvance(parts) > width:
                parts = parts.replace(long, short)
        models, cached = _models_words(self.figures), f" · {formats.short_count(self.figures.cached)} cached"
        for spare in (models, cached):
            if spare and metrics.horizontalAdvance(figures) > width:
                figures = figures.replace(spare, "", 1)
        return [title, parts, figures]

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, zoom = self._themes.theme, self._themes.theme.zoom
        painter = QPainter(self)
        title, parts, figures = self.shown_lines()
        width = self.width()
        self._paint_line(painter, theme, "title", "ink.primary", title, 0, 22)
        self._paint_split(painter, theme, QRectF(0, 26 * zoom, width, 10 * zoom))
        self._paint_line(painter, theme, "small", "ink.secondary", parts, 39, 17)
        self._paint_line(painter, theme, "small", "ink.secondary", figures, 57, 17)

    def _paint_line(
        self, painter: QPainter, theme: Theme, role: str, ink: str, words: str, top: int, high: int
    ) -> None:  # fmt: skip
        painter.setFont(theme.font(role))
        painter.setPen(theme.color(ink))
        box = QRect(0, round(top * theme.zoom), self.width(), round(high * theme.zoom))
        painter.drawText(box, _LEFT, painter.fontMetrics().elidedText(words, _ELIDED, box.width()))

    def _paint_split(self, painter: QPainter, theme: Theme, box: QRectF) -> None:
        found = self.figures
        parts = ((found.model_ns, Bar.MODEL), (found.tools_ns, Bar.TOOL), (found.allowed_ns, Bar.ALLOWED),
                 (found.person_ns, Bar.PERSON))  # fmt: skip
        total = sum(ns for ns, _ in parts)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not total:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.inset"))
            painter.drawRoundedRect(box, 2, 2)
            return
        x = box.left()
        for ns, bar in parts:
            wide = box.width() * ns / total
            if wide > 0:
                fill_bar(painter, theme, QRectF(x, box.top(), wide, box.height()), bar)
            x += wide


def _models_words(figures: StepHead) -> str:
    return f" of {formats.count_of(figures.models, 'model')}" if figures.models > 1 else ""


class ContextStrip(QWidget):
    """Reported context over the whole time, with compactions, failures, visible and chosen range, and a brush.

    Signals:
        range_chosen(int, int): the user brushed this range.

    Attributes:
        axis: the whole range.
    """

    range_chosen = Signal(object, object)

    def __init__(self, shown: StepAxis, themes: ThemeController, parent: QWidget) -> None:
        """Creates an empty strip.

        Args:
            shown: the visible range of the waterfall.
            themes: gives the look.
            parent: owner.
        """
        super().__init__(parent)
        self._themes, self._shown = themes, shown
        self.axis = StepAxis(self)
        self.axis.set_brushing(True)
        self._gestures = AxisGestures(self.axis, self)
        self._chosen: tuple[int, int] | None = None
        self.figures = StepHead()
        self.setObjectName("stepsContext")
        self.setAccessibleName("Context over time")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.axis.brush_committed.connect(self._on_committed)
        self.axis.brush_changed.connect(self.update)
        shown.range_changed.connect(self.update)
        themes.changed.connect(self.update)

    head = 0

    @property
    def axis_width(self) -> int:
        """Width of the axis, in pixels."""
        return max(1, self.width())

    def show_figures(self, figures: StepHead) -> None:
        """Shows other figures."""
        self.figures = figures
        self.axis.set_capture(figures.first_ns, figures.last_ns, figures.breaks)
        self.axis.fit()
        self.setAccessibleDescription(self.words())
        hint = "Drag to select a time range for all tabs"
        self.setToolTip(tool_tip("\n".join(filter(None, (figures.path_words, hint)))))
        self.update()

    def mark_range(self, chosen: tuple[int, int] | None) -> None:
        """Marks a chosen range of times; None for no range."""
        self._chosen = chosen
        self.update()

    def words(self) -> str:
        """Describes the curve in a sentence."""
        found = self.figures
        path = f". {found.path_words}" if found.path_words else ""
        if not len(found.curve_tokens):
            return f"No context size is reported{path}"
        most, last = int(found.curve_tokens.max()), int(found.curve_tokens[-1])
        compacted = f", {formats.count_of(len(found.compactions), 'compaction')}" if found.compactions else ""
        return f"Context of {found.reader}: {last:,} tokens reported last, {most:,} at most{compacted}{path}"

    def _on_committed(self, first: int, last: int) -> None:
        self.axis.set_brushing(True)
        if last > first:
            self.range_chosen.emit(first, last)

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, zoom = self._themes.theme, self._themes.theme.zoom
        painter = QPainter(self)
        area = QRectF(self.rect()).adjusted(0, 0, 0, 0)
        painter.fillRect(area, theme.color("surface.inset"))
        self._paint_range(painter, theme, area)
        lines = 2 if self.figures.path_words else 1
        self._paint_curve(painter, theme, area.adjusted(0, 16 * lines * zoom, 0, 0))
        self._paint_marks(painter, theme, area)
        brushed = self.axis.brushed
        if brushed is not None:
            left, right = (self.axis.x_of(ns, area.width()) for ns in brushed)
            color = QColor(theme.color("accent.ring"))
            color.setAlphaF(0.2)
            painter.fillRect(QRectF(left, 0, right - left, area.height()), color)
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent.ring"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area.adjusted(1, 1, -1, -1))

    def _paint_range(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        visible = None if self._shown.shows_all else (self._shown.left_ns, self._shown.right_ns)
        for span in filter(None, (self._chosen, visible)):
            left, right = (self.axis.x_of(ns, area.width()) for ns in span)
            color = QColor(theme.color("accent.ring"))
            color.setAlphaF(0.12)
            painter.fillRect(QRectF(left, 0, max(2.0, right - left), area.height()), color)

    def _top_tokens(self) -> int:
        found = self.figures
        most = int(found.curve_tokens.max()) if len(found.curve_tokens) else 0
        return max(1, most, found.limit if found.limit is not None and found.limit < 4 * max(1, most) else 0)

    def _paint_curve(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        found = self.figures
        if not len(found.curve_ns):
            self._paint_words(painter, theme, "No context size is reported", area)
            self._paint_path_words(painter, theme, area)
            return
        xs = np.clip(self.axis.xs_of(found.curve_ns, area.width()), -area.width(), 2 * area.width())
        ys = area.bottom() - found.curve_tokens / self._top_tokens() * area.height()
        columns = np.round(xs).astype(np.int64)
        # One point a pixel is enough: the last one, and the greatest keeps its place in a cliff.
        last = np.append(np.flatnonzero(np.diff(columns)), len(columns) - 1)
        first = np.append(0, last[:-1] + 1)
        chosen = np.unique(np.concatenate((first, last)))
        line = [QPointF(float(x), float(y)) for x, y in zip(xs[chosen], ys[chosen], strict=True)]
        end = max(line[-1].x(), min(area.right(), self.axis.x_of(found.curve_ends_ns, area.width())))
        line.append(QPointF(end, line[-1].y()))
        fill = QColor(theme.color("accent.fill"))
        fill.setAlphaF(0.16)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(
            QPolygonF([QPointF(line[0].x(), area.bottom()), *line, QPointF(line[-1].x(), area.bottom())])
        )
        painter.setPen(QPen(theme.color("accent.fill"), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(line))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if found.limit is not None and found.limit <= self._top_tokens():
            y = area.bottom() - found.limit / self._top_tokens() * area.height()
            pen = QPen(theme.color("severity.error"), 1)
            pen.setDashPattern([3, 3])
            painter.setPen(pen)
            painter.drawLine(QPointF(0, y), QPointF(area.right(), y))
        peak = int(found.curve_tokens.max())
        words = f"Context of {found.reader}, reported, at most {formats.short_count(peak)} tokens"
        self._paint_words(painter, theme, words, QRectF(area))
        self._paint_path_words(painter, theme, area)

    def _paint_path_words(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        if self.figures.path_words:
            self._paint_words(painter, theme, self.figures.path_words, area, line=1)

    def _paint_words(self, painter: QPainter, theme: Theme, words: str, area: QRectF, *, line: int = 0) -> None:
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        high = round(16 * theme.zoom)
        box = QRectF(6, 1 + line * high, area.width() - 12, high)
        painter.drawText(box, _LEFT, painter.fontMetrics().elidedText(words, _ELIDED, int(box.width())))

    def _paint_marks(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        found, width = self.figures, area.width()
        tick = round(8 * theme.zoom)
        for x in np.unique(np.round(self.axis.xs_of(found.failed_ns, width))).tolist() if len(found.failed_ns) else ():
            painter.fillRect(QRectF(x - 1, area.bottom() - tick, 3, tick), theme.color("severity.error"))
        metrics, end = QFontMetrics(theme.font("small")), 0.0
        painter.setFont(theme.font("small"))
        for one in found.compactions:
            x = self.axis.x_of(one.time_ns, width)
            painter.fillRect(QRectF(x, 16 * theme.zoom, 1.5, area.height()), theme.color("severity.warning"))
            sizes = (
                f": {formats.short_count(one.before)} → {formats.short_count(one.after)}"
                if one.before is not None and one.after is not None
                else ""
            )
            words = f"compacted{sizes}"
            room = metrics.horizontalAdvance(words)
            left = x - room - 6 if x > width / 2 else x + 6
            if left >= end and left + room <= width:
                painter.setPen(theme.color("ink.primary"))
                top = (36 if found.path_words else 20) * theme.zoom
                box = QRectF(left, top, room + 2, 15 * theme.zoom)
                painter.drawText(box, _LEFT, words)
                end = left + room + 8

    # Pointer and keys

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._gestures.press(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._gestures.drag(event.position().toPoint())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        dragged = self._gestures.dragging
        if not dragged:
            self._gestures.drop()
            self.axis.set_brushing(True)
            at = self._gestures.ns_at(event.position().toPoint())
            span = self._shown.span_ns
            self._shown.show(at - span // 2, at + span // 2)
            return
        self._gestures.release(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """B starts a brush, arrow keys move its end, Enter chooses it, Esc leaves."""
        axis, key = self.axis, event.key()
        if key == Qt.Key.Key_Escape:
            if axis.brushed is None:
                event.ignore()  # the window ends a chosen range
            self._gestures.drop()
            axis.set_brushing(True)
        elif key == Qt.Key.Key_B:
            begin = self._shown.left_ns
            axis.set_brush((begin, begin))
            self._gestures.brush_from = begin
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._move(1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and axis.brushed is not None:
            self._gestures.commit()
        else:
            super().keyPressEvent(event)

    def _move(self, step: int) -> None:
        axis = self.axis
        by = step * axis.span_ns // 50
        if self._gestures.brush_from is None or axis.brushed is None:
            self._shown.pan(0.1 * step)
            return
        first, last = axis.brushed
        end = last if self._gestures.brush_from == first else first
        axis.set_brush((self._gestures.brush_from, end + by))

    @override
    def sizeHint(self) -> QSize:
        return QSize(300, round(96 * self._themes.theme.zoom))


class StepsHead(QWidget):
    """Figures and choices at the left, the context at the right.

    Signals:
        grouping_chosen(str): rows at the top (`Grouping`).
        idle_chosen(int): seconds of idle time that are left out.

    Attributes:
        figures, context, grouping, idle: its parts.
    """

    grouping_chosen = Signal(str)
    idle_chosen = Signal(int)

    def __init__(self, shown: StepAxis, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("stepsHead")
        self.setAccessibleName("Figures of the steps")
        self._side = QWidget(self)
        self.figures = SplitFigures(themes, self._side)
        self.grouping = ChoiceButton(themes, "Group by", GROUPS, name="stepsGrouping", parent=self._side)
        self.idle = ChoiceButton(themes, "Leave out idle", IDLES, name="stepsIdle", parent=self._side)
        self.context = ContextStrip(shown, themes, self)
        self.context.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        choices = QHBoxLayout()
        choices.setContentsMargins(0, 0, 0, 0)
        choices.setSpacing(4)
        for widget in (self.grouping, self.idle):
            choices.addWidget(widget)
        choices.addStretch(1)
        side = QVBoxLayout(self._side)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(2)
        side.addWidget(self.figures)
        side.addLayout(choices)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._side)
        self._row.addWidget(self.context, 1)
        self.grouping.chosen.connect(self.grouping_chosen)
        self.idle.chosen.connect(lambda seconds: self.idle_chosen.emit(int(seconds)))
        themes.changed.connect(self._use_theme)
        self._use_theme()

    def show_figures(self, figures: StepHead, whole: StepHead) -> None:
        """Shows the figures of the shown steps, and the context of all."""
        self.figures.show_figures(figures)
        self.context.show_figures(whole)
        self._fit()
        left_out = sum(one.silence_ns for one in figures.breaks)
        self.idle.setToolTip(f"Idle {formats.duration(left_out)} left out" if left_out else "No idle time left out")

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        zoom = self._themes.theme.zoom
        wide = self.width()
        half = max(160, wide // 2)
        wanted = min(max(round(_LEFT_PX * zoom), self.figures.wanted_width), half)
        self._side.setFixedWidth(wanted if wide >= _NARROW_PX * zoom else half)
        narrow = self._side.width() < round(290 * zoom)
        for choice in (self.grouping, self.idle):
            choice.drop_lead(narrow)

    def _use_theme(self) -> None:
        metrics, zoom = self._themes.theme.metrics, self._themes.theme.zoom
        self.setFixedHeight(round(_HIGH_PX * zoom))
        self._row.setContentsMargins(metrics.pane_padding, round(8 * zoom), metrics.pane_padding, round(6 * zoom))
        self._row.setSpacing(round(24 * zoom))
        self._fit()
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
