"""The ruler above the lanes with the time at the cursor, and the overview strip below them.

The strip shows the whole capture as a small histogram. The user drags the visible range in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.timeline.axis import LEFT_OUT, TimeAxis
from inspector.ui.panels.timeline.geometry import RULER_PX, STRIP_PX, head_width, right_margin


class Ruler(QWidget):
    """Ticks with labels, and a box with the time at the cursor."""

    def __init__(self, axis: TimeAxis, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("timelineRuler")
        self.setAccessibleName("Time")
        self._axis = axis
        self._themes = theme_controller
        for changed in (axis.range_changed, axis.cursor_changed, axis.brush_changed):
            changed.connect(self.update)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def cursor_words(self) -> str:
        """Returns the text of the box at the cursor, or ""."""
        axis, cursor = self._axis, self._axis.cursor_ns
        if cursor is None or not axis.left_ns <= cursor <= axis.right_ns:
            return ""
        per_pixel = axis.span_ns / max(1, self.width())
        step = next((n for n in (1_000_000, 100_000, 10_000, 1_000, 100) if n <= per_pixel * 8), 1_000_000)
        return axis.words_of(cursor, min(step, 1_000_000))

    def labels(self) -> list[tuple[QRectF, str]]:
        """Returns boxes and texts of silences and ticks that fit beside the cursor's box."""
        theme, axis, head = self._themes.theme, self._axis, head_width(self._themes.theme)
        metrics, box = QFontMetrics(theme.font("small")), self.cursor_box()
        taken = None if box.isEmpty() else (box.left() - head, box.right() - head)
        labels = axis.labels(self._width, lambda words: metrics.horizontalAdvance(words) + 1, taken)
        return [(QRectF(head + left, 0, right - left, self.height()), words) for left, right, words in labels]

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        painter.setFont(theme.font("small"))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        for box, words in self.labels():
            painter.setPen(theme.color("ink.secondary" if words.endswith(LEFT_OUT) else "ink.tertiary"))
            painter.drawText(box, flags, words)
        pointed = self.cursor_box()
        if not pointed.isEmpty():
            self._paint_box(painter, pointed)

    @property
    def _width(self) -> int:
        return max(1, self.width() - head_width(self._themes.theme) - right_margin(self._themes.theme))

    def cursor_box(self) -> QRectF:
        """Returns the box at the cursor; empty if the cursor is not visible."""
        axis, words = self._axis, self.cursor_words()
        if not words or axis.cursor_ns is None:
            return QRectF()
        theme = self._themes.theme
        x = head_width(theme) + axis.x_of(axis.cursor_ns, self._width)
        width = QFontMetrics(theme.font("label")).horizontalAdvance(words) + round(12 * theme.zoom)
        left = min(max(x - width / 2, head_width(theme)), self.width() - width - 1)
        high = round(17 * theme.zoom)
        return QRectF(round(left), (self.height() - high) // 2, width, high)

    def _paint_box(self, painter: QPainter, box: QRectF) -> None:
        theme = self._themes.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("ink.primary"))
        painter.drawRoundedRect(box, theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("surface.base"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.cursor_words())

    def _on_theme_changed(self) -> None:
        self.setFixedHeight(round(RULER_PX * self._themes.theme.zoom))
        self.update()


_BIN = 3


class Strip(QWidget):
    """Overview of the whole capture in one line.

    Signals:
        bins_changed(): there is room for another number of bars.
    """

    bins_changed = Signal()

    def __init__(self, axis: TimeAxis, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("timelineStrip")
        self.setAccessibleName("The whole capture")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._axis = axis
        self._themes = theme_controller
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._grabbed: float | None = None
        axis.range_changed.connect(self.update)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def words(self) -> str:
        """Returns the visible range and the total: "0 to 62 s of 314 s", "No. 1 to 25 of 193"."""
        axis = self._axis
        left, right = max(axis.first_ns, axis.left_ns), min(axis.last_ns, axis.right_ns)
        step = next((n for n in (10**9, 10**8, 10**7, 10**6, 10**5, 10**4) if n * 20 <= right - left), 10**4)
        total = axis.words_of(axis.last_ns, 10**9 if axis.last_ns - axis.first_ns >= 10**10 else step)
        if axis.counts:
            # Without the leading "No. ", which the first figure has.
            return f"{axis.words_of(left)} to {axis.words_of(right)[4:]} of {total[4:]}"
        first, last = axis.words_of(left, step), axis.words_of(right, step)
        # Without its unit, which the last figure has.
        return f"{first[:-2]} to {last} of {total}"

    def words_within(self, metrics: QFontMetrics, room: int) -> str:
        """Returns the longest form of that text that fits: the range alone rather than half of a figure."""
        words = self.words()
        span = words.partition(" of ")[0]
        dashed = span.removesuffix(" s").removesuffix(" h").replace(" to ", "\N{EN DASH}")
        for shown in (words, span, dashed):
            if metrics.horizontalAdvance(shown) <= room:
                return shown
        return metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)

    def _width(self) -> int:
        return max(1, self.width() - head_width(self._themes.theme) - right_margin(self._themes.theme))

    @property
    def bins(self) -> int:
        """Number of bars that fit."""
        return max(1, self._width() // _BIN)

    def _heights(self) -> list[int]:
        """Returns the heights of the bars. The square root keeps rare messages visible beside bursts."""
        counts = self._counts
        shares = np.sqrt(counts / max(1, int(counts.max(initial=0))))
        return np.where(counts > 0, np.maximum(2, shares * (self.height() - 8)), 0).astype(np.int64).tolist()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, axis = self._themes.theme, self._axis
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, 0, self.width(), 1, theme.color("line.hair"))
        head, base = head_width(theme), self.height() - 4
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.secondary"))
        words = QRectF(theme.metrics.pane_padding, 1, head - theme.metrics.pane_padding - 2, self.height() - 1)
        shown_words = self.words_within(painter.fontMetrics(), int(words.width()))
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown_words)
        shown = self._shown()
        if not axis.shows_all:
            wash = QColor(theme.color("accent.ring"))
            wash.setAlphaF(0.16)
            painter.fillRect(shown, wash)
        color, dim = theme.color("ink.tertiary"), theme.color("line.strong")
        for place, high in enumerate(self._heights()):
            x = head + place * _BIN
            if high:
                inside = axis.shows_all or shown.left() <= x <= shown.right()
                painter.fillRect(x, base - high, _BIN - 1, high, color if inside else dim)
        for left, right in self.breaks():
            painter.fillRect(QRectF(left, 1, right - left, self.height() - 1), theme.color("line.hair"))
        if not axis.shows_all:
            for x in (shown.left(), shown.right()):
                painter.fillRect(x, 1, 1, self.height() - 1, theme.color("accent.ring"))
        if self.hasFocus():
            painter.setPen(theme.color("accent.ring"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def breaks(self) -> list[tuple[float, float]]:
        """Returns the pixel ranges of silences left out."""
        axis, head, width = self._axis, head_width(self._themes.theme), self._width()
        return [
            (head + axis.share_of(one.start_ns) * width, head + axis.share_of(one.end_ns) * width)
            for one in axis.scale.breaks
        ]

    def _shown(self) -> QRect:
        axis, head, width = self._axis, head_width(self._themes.theme), self._width()
        left, right = (head + round(min(max(axis.share_of(ns), 0), 1) * width) for ns in (axis.left_ns, axis.right_ns))
        return QRect(left, 1, max(3, right - left), self.height() - 1)

    def _share_at(self, x: float) -> float:
        return (x - head_width(self._themes.theme)) / self._width()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        share, axis = self._share_at(event.position().x()), self._axis
        if not self._shown().contains(event.position().toPoint()):
            axis.drag_to(axis.at_share(share), 0.5, 1)
        self._grabbed = share - axis.share_of(axis.left_ns)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is not None:
            self._axis.drag_to(self._axis.at_share(self._share_at(event.position().x()) - self._grabbed), 0, 1)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grabbed = None

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -0.1, Qt.Key.Key_Right: 0.1, Qt.Key.Key_PageUp: -0.9, Qt.Key.Key_PageDown: 0.9}
        key = Qt.Key(event.key())
        if key in steps:
            self._axis.pan(steps[key])
        else:
            super().keyPressEvent(event)

    def show_counts(self, counts: NDArray[np.int64]) -> None:
        """Shows the number of messages in each bar, and updates texts."""
        self._counts = counts
        self.setAccessibleDescription(self.words())
        self.setToolTip(self.words())
        self.update()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.bins != len(self._counts):
            self.bins_changed.emit()

    def _on_theme_changed(self) -> None:
        self.setFixedHeight(round(STRIP_PX * self._themes.theme.zoom))
        self.update()
        self.bins_changed.emit()
