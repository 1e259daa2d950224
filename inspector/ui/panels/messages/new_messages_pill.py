"""Pill that floats over the message table: "12 new", "Sorted; 12 new below", "Sorting by text"."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea
from typing_extensions import override

from inspector.present import formats
from inspector.ui.look.paint_cache import PaintCache, baseline

_SHADOW = 6
_STEP = 8
"""Width step in pixels."""
_SHADOW_ALPHAS = (6, 9, 12, 15, 18, 22)


class NewPill(QAbstractButton):
    """Shows the number of new messages while the view is paused or sorted; a click follows or sorts again.

    During a task it shows the task. Keyboard users press End in the table, or use the action that sorts again.
    """

    def __init__(self, paints: PaintCache, table: QAbstractScrollArea) -> None:
        super().__init__(table)
        self.setObjectName("newMessagesPill")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._paints = paints
        self._table = table
        self._task_text = ""
        self._ground: tuple[object, QPixmap] | None = None
        self.show_count(0)

    def use_theme(self) -> None:
        """Applies changed fonts and colours."""
        self._ground = None
        self.place()
        self.update()

    @property
    def working(self) -> bool:
        """True while the pill shows a running task."""
        return bool(self._task_text)

    def show_count(self, count: int, *, is_sorted: bool = False) -> None:
        """Sets the number of new messages; 0 hides the pill.

        Args:
            count: new messages.
            is_sorted: rows are sorted, and new ones are below them.
        """
        self._count, self._is_sorted = count, is_sorted
        self._refresh()

    def show_work(self, words: str) -> None:
        """Shows a running task, with a click to cancel it; "" ends it."""
        self._task_text = words
        self._refresh()

    def _refresh(self) -> None:
        number = formats.number(self._count)
        if self._task_text:
            words = name = self._task_text
            tool_tip, self._icon = "Cancel", "clear"
        elif self._is_sorted:
            words = f"Sorted; {number} new below"
            name, tool_tip, self._icon = f"{words}. Sort them", "Sort new messages", "refresh"
        else:
            words = f"{number} new"
            name, tool_tip, self._icon = f"{words} messages", "Show the newest messages and follow them (End)", "down"
        self.setText(words)
        self.setAccessibleName(name)
        self.setToolTip(tool_tip)
        self.setVisible(self._count > 0 or self.working)
        self.place()
        self.update()

    def place(self) -> None:
        """Moves the pill to the bottom centre of the table."""
        area = self._table.viewport().geometry()
        self.resize(self.sizeHint())
        self.move(area.x() + (area.width() - self.width()) // 2, area.bottom() - self.height() - 4)
        # Scroll bars and editors of the table may have been created later.
        self.raise_()

    @override
    def sizeHint(self) -> QSize:
        # In steps: a percentage that counts up stays still, and the cached ground stays valid.
        words = -(-self._paints.width("body-medium", self.text()) // _STEP) * _STEP
        width = words + self._paints.metrics.icon_row + 34
        return QSize(width + 2 * _SHADOW, self._paints.metrics.control + 2 * _SHADOW)

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        paints, theme = self._paints, self._paints.theme
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._painted_ground())
        inside = self._body.toRect()
        x = inside.x() + 13 + paints.icon(painter, self._icon, "accent.text", inside.x() + 13, inside) + 7
        painter.setFont(theme.font("body-medium"))
        painter.setPen(theme.color("ink.primary"))
        painter.drawText(x, baseline(inside, paints.font_metrics("body-medium")), self.text())
        painter.end()

    @property
    def _body(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_SHADOW, _SHADOW - 2, -_SHADOW, -_SHADOW - 2)

    def _painted_ground(self) -> QPixmap:
        """Returns the pill without text, cached by look: seven layers take 4 ms, ten times a second."""
        look = self.size(), self.devicePixelRatioF(), self.underMouse()
        # Size, pixel ratio and hover decide the look; the text is painted on top.
        if self._ground is None or self._ground[0] != look:
            ground = QPixmap(self.size() * self.devicePixelRatioF())
            ground.setDevicePixelRatio(self.devicePixelRatioF())
            ground.fill(Qt.GlobalColor.transparent)
            painter = QPainter(ground)
            self._paint_ground(painter)
            painter.end()
            self._ground = look, ground
        return self._ground[1]

    def _paint_ground(self, painter: QPainter) -> None:
        theme, body = self._paints.theme, self._body
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for step, alpha in enumerate(_SHADOW_ALPHAS):
            spread = _SHADOW - step
            painter.setBrush(QColor(0, 0, 0, alpha if theme.dark else alpha // 2))
            shadow = body.adjusted(-spread, 2 - spread, spread, 2 + spread)
            painter.drawRoundedRect(shadow, shadow.height() / 2, shadow.height() / 2)
        painter.setPen(QPen(theme.color("line.control" if self.underMouse() else "line.strong"), 1))
        painter.setBrush(theme.color("surface.raised"))
        edge = body.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, edge.height() / 2, edge.height() / 2)
