"""Canvas of plots over the timeline's axis: scale, cursor, brush and gestures.

x is in pixels from the left end of the axis, so that plots and lanes agree to the pixel. y is in units of the plot.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.engine.requests.plots import nice_ticks
from inspector.present.plot_words import scale_words
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.card import ValuesCard
from inspector.ui.panels.growth.figure import Figure, Scale
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.geometry import head_width, right_margin
from inspector.ui.panels.timeline.gestures import AxisGestures
from inspector.ui.panels.timeline.shapes import draw_break

_TICK_PX = 42
_TOP, _BOTTOM = 24, 12
"""Space above the greatest value and below 0, pixels."""
_ALONE_HEAD, _ALONE_BOTTOM = 52, 22
_DASH = (3.0, 2.0)
_GROUND = 0.85
"""Opacity of the background below a level's label."""


class _Overlay(QWidget):
    """Paints cursor and brush over the plot, so that the plot is not repainted as the pointer moves."""

    def __init__(self, canvas: PlotCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.setObjectName("plotOverlay")
        # Pointer events go to the plot below.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        # Transparent: only brush, cursor and ring are painted over the plot.
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self._canvas.paint_over(QPainter(self))


class PlotCanvas(QWidget):
    """Shows one plot over the time axis.

    Signals:
        message_requested(int): select this message.
        left(): Esc was pressed with no brush to cancel.

    Attributes:
        card: values at the cursor.
        unit: unit of the scale, some short lines.
        labels: boxes and texts of the last painting, without the cursor's.
    """

    message_requested = Signal(int)
    left = Signal()

    def __init__(
        self, axis: TimeAxis, themes: ThemeController, name: str, parent: QWidget, *, alone: bool = False
    ) -> None:
        """Creates an empty plot.

        Args:
            axis: the visible range of time.
            themes: gives the look.
            name: object name.
            parent: owner.
            alone: True for a plot without ruler and lanes: it labels times itself and has a narrow scale.
        """
        super().__init__(parent)
        self._alone = alone
        self.setObjectName(name)
        self.setAccessibleName("Plot")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # The plot fills its background itself, so Qt need not erase it.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setMinimumHeight(60)
        self._axis, self._themes = axis, themes
        self._figure: Figure | None = None
        self._scale = Scale(1)
        self._level_boxes: list[QRect] = []  # boxes of level labels; the cursor line skips them
        self.labels: list[tuple[QRectF, str]] = []
        self._ticks = [0]
        self._top = 1.0
        self.unit = ""
        self._stale = True
        self._gestures = AxisGestures(axis, self)
        self._rest_ns: int | None = None
        self._shows_card = False  # the pointer is here or a key moved the cursor: show the card
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        # One update per iteration, however many changes arrive in it.
        self._soon.setInterval(0)
        self._soon.timeout.connect(self.follow_cursor)
        self._over = _Overlay(self)
        self.card = ValuesCard(themes, self)
        axis.range_changed.connect(self.redraw)
        axis.cursor_changed.connect(self.follow_cursor)
        axis.brush_changed.connect(self._over.update)
        themes.changed.connect(self._on_theme_changed)

    # Content

    def show_figure(self, figure: Figure) -> None:
        self._figure = figure
        self._stale = False
        self.redraw()

    def rest_at(self, ns: int | None) -> None:
        """Sets the time of the cursor for the periods without a pointer."""
        self._rest_ns = ns
        self._axis.set_cursor(ns)

    def redraw(self) -> None:
        """Marks the plot as outdated. It is drawn again before the next painting."""
        if not self._stale:
            self._stale = True
            self.update()
        self._soon.start()

    @property
    def head(self) -> int:
        """Left end of the axis in pixels."""
        return self._px(_ALONE_HEAD) if self._alone else head_width(self._themes.theme)

    @property
    def axis_width(self) -> int:
        """Width of the axis in pixels."""
        return max(1, self.width() - self.head - right_margin(self._themes.theme))

    @property
    def _bottom(self) -> int:
        return self._px(_ALONE_BOTTOM if self._alone else _BOTTOM)

    @property
    def _room(self) -> int:
        return max(1, self.height() - self._px(_TOP) - self._bottom)

    def y_of(self, value: float) -> float:
        """Returns the y of a value in pixels from the top."""
        return self.height() - self._bottom - value / self._top * self._room

    def _px(self, pixels: float) -> int:
        return round(pixels * self._themes.theme.zoom)

    def bring_up(self) -> None:
        """Draws the visible range if it is outdated."""
        if not self._stale or self._figure is None:
            return
        self._stale = False
        axis = self._axis
        self._scale = self._figure.draw(axis.window(self.axis_width))
        self._top = max(1.0, self._scale.most)
        self._ticks = [n for n in nice_ticks(self._top, max(2, self._room // self._px(_TICK_PX))) if n <= self._top]

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self.bring_up()
        painter = QPainter(self)
        self._paint_background(painter)
        if self._figure is not None:
            painter.save()
            painter.setClipRect(self.head, 0, self.axis_width + 1, self.height())
            painter.translate(self.head, self.height() - self._bottom)
            # y of a plot grows upwards, in its own units.
            painter.scale(1, -self._room / self._top)
            self._figure.paint(painter)
            painter.restore()
        self._paint_levels(painter)

    def _paint_background(self, painter: QPainter) -> None:
        theme, axis = self._themes.theme, self._axis
        head, width = self.head, self.axis_width
        painter.fillRect(self.rect(), theme.color("surface.base"))
        hair = theme.color("line.hair")
        self.labels.clear()
        painter.setFont(theme.font("small"))
        metrics = painter.fontMetrics()
        high = metrics.height()
        for left, right in axis.breaks_shown(width):
            painter.setClipRect(head, 0, width, self.height())
            draw_break(painter, QRectF(head + left, 0, right - left, self.height()), theme)
            painter.setClipping(False)
        for ns, _ in axis.ticks(width):
            painter.fillRect(head + round(axis.x_of(ns, width)), 0, 1, self.height(), hair)
        if self._alone:
            base = self.height() - high - (self._bottom - high) // 2
            for left, right, words in axis.labels(width, lambda text: metrics.horizontalAdvance(text) + 1):
                self._write(painter, QRectF(head + left, base, right - left, high), words)
        self._write_unit(painter, QFontMetrics(theme.font("small")))
        for value in self._ticks:
            y = round(self.y_of(value))
            painter.fillRect(head, y, self.width() - head, 1, hair)
            words = scale_words(value)
            room = metrics.horizontalAdvance(words) + 1
            box = QRectF(head - 2 * theme.metrics.unit - room, y - high / 2, room, high)
            if not any(box.intersects(other) for other, _ in self.labels):
                self._write(painter, box, words)
        painter.fillRect(head - 1, 0, 1, self.height(), hair)

    def _write(self, painter: QPainter, box: QRectF, words: str) -> None:
        """Draws a label and records its box."""
        painter.setPen(self._themes.theme.color("ink.tertiary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        self.labels.append((box, words))

    def _write_unit(self, painter: QPainter, metrics: QFontMetrics) -> None:
        """Draws the unit of the scale if it fits into the plot."""
        left, y = self.head + 6 if self._alone else self._themes.theme.metrics.pane_padding, self._px(7)
        for words in self.unit.split("\n"):
            box = QRectF(left, y, metrics.horizontalAdvance(words) + 1, metrics.height())
            if words and box.bottom() <= self.height():
                self._write(painter, box, words)
            y += metrics.lineSpacing()

    def _paint_levels(self, painter: QPainter) -> None:
        theme = self._themes.theme
        font = theme.font("small")
        painter.setFont(font)
        self._level_boxes.clear()
        high, head = QFontMetrics(font).height(), self.head
        for level in self._scale.levels:
            beyond = level.value > self._top
            y = self._px(2) + high if beyond else round(self.y_of(level.value))
            color = theme.color(level.token)
            if not beyond:
                pen = QPen(color, 1)
                pen.setDashPattern(list(_DASH))
                painter.setPen(pen)
                painter.drawLine(QPointF(head, y + 0.5), QPointF(self.width(), y + 0.5))
            words = f"{level.words}, above the plot" if beyond else level.words
            top = y - high - 1 if y - high >= 0 else y + 2
            line = QRectF(head + 2 * theme.metrics.unit, top, self.axis_width, high)
            ground = QColor(theme.color("surface.base"))
            ground.setAlphaF(_GROUND)
            wide = QFontMetrics(font).horizontalAdvance(words)
            label_box = QRectF(line.left() - 2, top, min(wide + 4, line.width()), high)
            painter.fillRect(label_box, ground)
            self._level_boxes.append(label_box.toAlignedRect())
            painter.setPen(color)
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        empty = self._figure.empty if self._figure is not None else ""
        if empty:
            painter.setFont(theme.font("body"))
            painter.setPen(theme.color("ink.secondary"))
            painter.drawText(QRectF(head, 0, self.axis_width, self.height()), Qt.AlignmentFlag.AlignCenter, empty)

    def paint_over(self, painter: QPainter) -> None:
        """Paints brush, cursor and focus ring over the plot."""
        theme, axis = self._themes.theme, self._axis
        head, width = self.head, self.axis_width
        if axis.brushed is not None:
            left, right = (min(max(axis.x_of(ns, width), 0), width) for ns in axis.brushed)
            wash = QColor(theme.color("accent.ring"))
            wash.setAlphaF(0.18)
            painter.fillRect(QRectF(head + left, 0, right - left, self.height()), wash)
            for x in (left, right):
                painter.fillRect(QRectF(head + round(x), 0, 1, self.height()), theme.color("accent.ring"))
        x = self._cursor_x()
        if x is not None and axis.cursor_ns is not None:
            around = QRegion(self.rect())
            for label_box in self._level_boxes:
                around -= label_box
            painter.setClipRegion(around)
            painter.fillRect(head + round(x), 0, 1, self.height(), theme.color("ink.primary"))
            painter.setClipping(False)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for value, token in self._figure.dots(axis.cursor_ns) if self._figure is not None else ():
                painter.setPen(QPen(theme.color("surface.base"), 1.5))
                painter.setBrush(theme.color(token))
                painter.drawEllipse(QPointF(head + round(x) + 0.5, self.y_of(value)), self._px(4), self._px(4))
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent.ring"), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _cursor_x(self) -> float | None:
        cursor, axis = self._axis.cursor_ns, self._axis
        if cursor is None or not axis.left_ns <= cursor <= axis.right_ns:
            return None
        return axis.x_of(cursor, self.axis_width)

    def follow_cursor(self) -> None:
        """Shows the values at the cursor."""
        self._over.update()
        x, cursor, figure = self._cursor_x(), self._axis.cursor_ns, self._figure
        if not self.isVisible() or figure is None:
            return
        text = None if x is None or cursor is None or figure.empty else figure.card(cursor)
        asked = self._shows_card and not self._gestures.dragging
        self.setAccessibleDescription(
            figure.empty or (text.accessible_text if text is not None else "No time selected")
        )
        if text is None or x is None or cursor is None or not asked:
            self.card.show_away(None, QRect(), 0)
            return
        area = QRect(self.head, 0, self.axis_width, self.height())
        self.card.show_away(text, area, round(self.head + x))

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._gestures.press(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        self._shows_card = True
        if not self._gestures.pressed:
            inside = 0 <= place.x() - self.head <= self.axis_width
            self._axis.set_cursor(self._gestures.ns_at(place) if inside else self._rest_ns)
        elif self._gestures.drag(place) is not None:
            self.card.show_away(None, QRect(), 0)
            if self._gestures.brush_from is None:
                self.setCursor(Qt.CursorShape.ClosedHandCursor)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.unsetCursor()
        if self._gestures.release(event):
            self._select(self._gestures.ns_at(event.position().toPoint()))

    def _select(self, ns: int) -> None:
        if self._figure is not None:
            self._figure.find_message(ns, self._request_message)

    def _request_message(self, message: int) -> None:
        self.message_requested.emit(message)
        self._rest_ns = self._axis.cursor_ns

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._axis.zoom(4, self._gestures.ns_at(event.position().toPoint()))

    @override
    def enterEvent(self, event: QEvent) -> None:
        self._rest_ns = self._axis.cursor_ns
        self._shows_card = True

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._shows_card = False
        self._axis.set_cursor(self._rest_ns)
        self.follow_cursor()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self._gestures.pan_by_wheel(event):
            self._gestures.zoom_by_wheel(event)
        event.accept()

    # Keyboard

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier
        if event.modifiers() & held or not self._take_key(Qt.Key(event.key()), event):
            super().keyPressEvent(event)

    def _take_key(self, key: Qt.Key, event: QKeyEvent) -> bool:
        axis, gestures = self._axis, self._gestures
        if gestures.take_key(event):
            return True
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step_cursor(axis.cursor_ns, -1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._step_cursor(None, 1 if key == Qt.Key.Key_Home else -1)
        elif key == Qt.Key.Key_B:
            gestures.turn_brush(axis.cursor_ns)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not gestures.commit() and axis.cursor_ns is not None:
                self._select(axis.cursor_ns)
        elif key == Qt.Key.Key_Escape:
            if gestures.brush_from is None and axis.brushed is None and not axis.brushing:
                self.left.emit()
            gestures.drop()
        else:
            return False
        return True

    def _step_cursor(self, ns: int | None, step: int) -> None:
        if self._figure is not None:
            self._figure.find_time(ns, step, self._move_cursor)

    def _move_cursor(self, ns: int) -> None:
        self._shows_card = True
        self._axis.bring(ns)
        self._axis.set_cursor(ns)
        self._rest_ns = ns
        self.follow_cursor()
        if self._gestures.brush_from is not None:
            self._gestures.brush_to(ns)

    # Qt events

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._over.setGeometry(self.rect())
        self._stale = True
        self.follow_cursor()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._over.update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._shows_card = self._shows_card and self.underMouse()
        self.follow_cursor()

    def _on_theme_changed(self) -> None:
        self._stale = False
        self.redraw()
        self._over.update()
