"""The ruler above the lanes: times in words, and the one pointed at."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.timeline.axis import TimeAxis, since_words
from inspector.ui.panels.timeline.geometry import RULER_PX, head_width, right_margin


class Ruler(QWidget):
    """Ticks with their words; a box at the cursor."""

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
        """What the box at the cursor says; "" without a cursor."""
        cursor = self._axis.cursor_ns
        if cursor is None or not self._axis.left_ns <= cursor <= self._axis.right_ns:
            return ""
        per_pixel = self._axis.span_ns / max(1, self.width())
        step = next((n for n in (1_000_000, 100_000, 10_000, 1_000, 100) if n <= per_pixel * 8), 1_000_000)
        return since_words(cursor - self._axis.first_ns, min(step, 1_000_000))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, axis = self._themes.theme, self._axis
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        head = head_width(theme)
        width = self.width() - head - right_margin(theme)
        font = theme.font("small")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(theme.color("ink.tertiary"))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        pointed = self._box(head + axis.x_of(axis.cursor_ns, width)) if axis.cursor_ns is not None else QRectF()
        for ns, words in axis.ticks(width):
            x = head + round(axis.x_of(ns, width))
            room = metrics.horizontalAdvance(words) + 2
            line = QRectF(x + 4, 0, room, self.height())
            if x >= head and line.right() <= self.width() and not line.intersects(pointed):
                painter.drawText(line, flags, words)
        if not pointed.isEmpty():
            self._paint_box(painter, pointed)

    def _box(self, x: float) -> QRectF:
        """Where the box at the cursor is; empty where the cursor is out of sight."""
        theme, words = self._themes.theme, self.cursor_words()
        if not words:
            return QRectF()
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
