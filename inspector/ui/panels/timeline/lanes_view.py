"""View of the lanes: cached painting, arrow keys between messages, zoom, pan and brush."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QWidget
from typing_extensions import override

from inspector.analysis.views.timeline.track_marks import Mark
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.timeline import hints
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.geometry import LaneGeometry, head_width, right_margin
from inspector.ui.panels.timeline.gestures import AxisGestures
from inspector.ui.panels.timeline.hints import Beyond, HoverCard
from inspector.ui.panels.timeline.lanes_picture import Picture, SeenMark, picture_of
from inspector.ui.panels.timeline.painting import LanesPainter, Overlay
from inspector.ui.panels.timeline.shapes import Shapes
from inspector.ui.panels.timeline.source import TimelineSource, Walk

_AIR = 0.15
"""Margin around the range that a double click shows, as a share of it."""


class LanesView(QWidget):
    """The lanes of one document.

    Signals:
        message_requested(int): select this message.
        details_requested(int): show its details.
        left(): Esc was pressed.

    Attributes:
        current: the selected message, or None.
        gestures: pointer and key gestures on the time axis.
        card: texts of the item at the pointer.
        beyond: links to the nearest messages if none is visible.
    """

    message_requested = Signal(int)
    details_requested = Signal(int)
    left = Signal()

    def __init__(
        self,
        source: TimelineSource,
        axis: TimeAxis,
        theme_controller: ThemeController,
        bar: QScrollBar,
        parent: QWidget,
    ) -> None:
        """Creates an empty view.

        Args:
            source: the lanes.
            axis: the visible range.
            theme_controller: gives the look.
            bar: scrolls the lanes.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("timelineLanes")
        self.setAccessibleName("Timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumHeight(80)
        self._source = source
        self._axis = axis
        self._themes = theme_controller
        self._bar = bar
        self._walk = Walk(source)
        self._geometry = LaneGeometry([], theme_controller.theme)
        self._picture: Picture | None = None
        self._pixmap: QPixmap | None = None
        self._painter: LanesPainter | None = None
        self._chain: list[tuple[int, int | None]] = []
        self.gestures = AxisGestures(axis, self)
        self._top = 0  # vertical scroll position at the press
        self.current: int | None = None
        self.card = HoverCard(theme_controller, self)
        self.beyond = Beyond(theme_controller, self)
        self.beyond.asked.connect(self._go_to_nearest)
        self._look_timer = QTimer(self)
        self._look_timer.setSingleShot(True)
        # The picture is computed once per iteration, not for each change.
        self._look_timer.setInterval(0)
        self._look_timer.timeout.connect(self._update_nearest_links)
        bar.valueChanged.connect(self._stale)
        axis.range_changed.connect(self._stale)
        for changed in (axis.cursor_changed, axis.brush_changed):
            changed.connect(self.update)
        theme_controller.changed.connect(self._on_theme_changed)

    # Content

    @property
    def head(self) -> int:
        """Left end of the axis in pixels."""
        return head_width(self._themes.theme)

    @property
    def axis_width(self) -> int:
        """Width of the axis in pixels."""
        return max(1, self.width() - self.head - right_margin(self._themes.theme))

    def refresh(self) -> None:
        """Redraws after a change of lanes or messages."""
        self._geometry = LaneGeometry(self._source.lanes.lanes, self._themes.theme)
        self._set_bar()
        self._stale()

    def _set_bar(self) -> None:
        self._bar.setRange(0, max(0, self._geometry.height - self.height()))
        self._bar.setPageStep(self.height())
        self._bar.setSingleStep(round(21 * self._themes.theme.zoom))
        self._bar.setVisible(self._bar.maximum() > 0)

    def _stale(self, *_: object) -> None:
        self._picture = self._pixmap = None
        self.card.hide()  # its item has moved
        self._look_timer.start()
        self.update()

    def _update_nearest_links(self) -> None:
        """Offers links to the nearest messages if none is visible."""
        width = self.axis_width
        seen = any(0 <= one.mark.x <= width for track in self.picture.tracks.values() for one in track.marks)
        if seen or not self._source.lanes.lanes:
            self.beyond.hide()
            return
        area = QRect(self.head, 0, width, self.height())
        self.beyond.show_ways(*(self._source.beyond(self._axis, step) is not None for step in (-1, 1)), area=area)

    def _go_to_nearest(self, step: int) -> None:
        found = self._source.beyond(self._axis, step)
        if found is not None:
            self._axis.bring(found)

    def show_message(self, row: int | None, chain: list[tuple[int, int | None]]) -> None:
        """Selects a message.

        Args:
            row: the message, or None.
            chain: messages of its chain in order of arrival, each with its cause.
        """
        self.current, self._chain = row, chain
        self._describe_current()
        self.update()

    def bring(self, row: int) -> None:
        """Scrolls to a message."""
        track = self._walk.track_of(row)
        if track < 0:
            return
        self._axis.bring(int(self._source.times.values[row]))
        y, top, margin = self._geometry.y_of(track), self._bar.value(), self._geometry.bar
        if y < top + margin:
            self._bar.setValue(y - 2 * margin)
        elif y > top + self.height() - margin:
            self._bar.setValue(y + 2 * margin - self.height())

    def _describe_current(self) -> None:
        row = self.current
        if row is None or row >= len(self._source.times.values):
            self.setAccessibleDescription("No message is selected")
            return
        lane = self._walk.lane_of(row)
        self.setAccessibleDescription(hints.accessible_text(self._source, lane.name if lane else "none", row))

    # Painting

    @property
    def picture(self) -> Picture:
        """The visible content, cached."""
        if self._picture is None:
            window = self._axis.window(self.axis_width)
            zoom = self._themes.theme.zoom
            self._picture = picture_of(self._source, self._geometry, window, self._bar.value(), self.height(), zoom)
        return self._picture

    @property
    def label_boxes(self) -> list[QRectF]:
        """Boxes of context labels in the last painting; y from the top of all lanes."""
        return list(self._painter.label_boxes) if self._painter is not None else []

    @property
    def geometry_of_lanes(self) -> LaneGeometry:
        return self._geometry

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._painter is None:
            shapes = Shapes(self._themes.theme, self.devicePixelRatioF())
            self._painter = LanesPainter(self._themes.theme, shapes, self._source.document)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._drawn(self._painter))
        self._painter.paint_over(painter, self.rect(), self.picture, self._bar.value(), self._overlay())

    def _drawn(self, lanes: LanesPainter) -> QPixmap:
        """Returns the lanes as a cached pixmap, because the pointer moves far more often than lanes change."""
        ratio = self.devicePixelRatioF()
        pixmap = self._pixmap
        if pixmap is None or pixmap.devicePixelRatio() != ratio:
            # Physical pixels, or lines blur on scaled displays.
            pixmap = self._pixmap = QPixmap(self.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            several = len(self._source.document.analysis.contexts.spaces) > 1
            axis, width = self._axis, self.axis_width
            ticks = [axis.x_of(ns, width) for ns, _ in axis.ticks(width) if ns >= axis.left_ns]
            painter = QPainter(pixmap)
            lanes.paint(
                painter, self.rect(), self.picture, self._bar.value(), ticks, axis.breaks_shown(width), several=several
            )
            painter.end()
        return pixmap

    def _overlay(self) -> Overlay:
        axis, width = self._axis, self.axis_width
        places: list[tuple[float, int]] = []
        numbers: dict[int, int] = {}
        for row, _ in self._chain:
            track = self._walk.track_of(row)
            if track >= 0:
                numbers[row] = len(places)
                x = min(max(axis.x_of(int(self._source.times.values[row]), width), -width), 2 * width)
                places.append((x, self._geometry.y_of(track)))
        links = [(numbers[after], numbers[row]) for row, after in self._chain if after in numbers and row in numbers]
        brushed = None if axis.brushed is None else tuple(axis.x_of(ns, width) for ns in axis.brushed)
        return Overlay(
            None if axis.cursor_ns is None else axis.x_of(axis.cursor_ns, width),
            None if brushed is None else (brushed[0], brushed[1]),
            places, links, numbers.get(-1 if self.current is None else self.current, -1), self.hasFocus(),
        )  # fmt: skip

    # Pointer

    def _axis_x(self, place: QPoint) -> float:
        return place.x() - self.head

    def mark_at(self, place: QPoint) -> SeenMark | None:
        """Returns the mark at a position of this view."""
        x = self._axis_x(place)
        if not 0 <= x <= self.axis_width:
            return None
        return self.picture.hit(x, place.y() + self._bar.value(), self._geometry, self._themes.theme.zoom)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._top = self._bar.value()
        self.gestures.press(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if not self.gestures.pressed:
            self._hover(place)
            return
        moved = self.gestures.drag(place)
        if moved is None:
            return
        self.card.hide()
        if self.gestures.brush_from is None:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._bar.setValue(self._top - moved.y())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.unsetCursor()
        if self.gestures.release(event):
            hit = self.mark_at(event.position().toPoint())
            if hit is not None:
                self.message_requested.emit(hit.mark.row)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        hit = self.mark_at(event.position().toPoint())
        if hit is None:
            return
        if hit.mark.count == 1:
            self.details_requested.emit(hit.mark.row)
        else:
            self._show_extent(hit.mark)

    def _show_extent(self, mark: Mark) -> None:
        """Zooms to the messages of a mark."""
        air = (mark.last_x - mark.first_x) * _AIR
        self._axis.show(*(self._axis.ns_at(x, self.axis_width) for x in (mark.first_x - air, mark.last_x + air)))

    def _hover(self, place: QPoint) -> None:
        x = self._axis_x(place)
        self._axis.set_cursor(self.gestures.ns_at(place) if 0 <= x <= self.axis_width else self._own_cursor())
        hit = self.mark_at(place)
        source = self._source
        y = place.y() + self._bar.value()
        compaction = self.picture.compaction_at(x, y, self._themes.theme.zoom) if x >= 0 else None
        if compaction is not None:
            self.card.show_lines(hints.compaction_lines(source, compaction.row), place)
            self.setCursor(Qt.CursorShape.PointingHandCursor if hit is not None else Qt.CursorShape.ArrowCursor)
            return
        if hit is not None:
            single = hit.mark.count == 1
            lines = hints.message_lines(source, hit.mark.row) if single else hints.several_lines(source, hit.mark)
            if hit.mark.hidden:
                lines = (*lines[:2], f"{lines[2]}, hidden in the table")
            self.card.show_lines(lines, place)
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            return
        self.unsetCursor()
        span = self.picture.span_at(x, y, self._themes.theme.zoom) if x >= 0 else None
        bar = self.picture.bar_at(x, y, self._geometry) if x >= 0 and span is None else None
        if span is not None:
            self.card.show_lines(hints.span_lines(source, span.row, span.end, span.sort), place)
        elif bar is not None:
            self.card.show_lines(hints.bar_lines(source, bar.bar), place)
        else:
            self.card.hide()

    @property
    def lanes_height(self) -> int:
        """Height of all lanes in pixels."""
        return self._geometry.height

    def _own_cursor(self) -> int | None:
        row = self.current
        return None if row is None or row >= len(self._source.times.values) else int(self._source.times.values[row])

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.card.hide()
        self._axis.set_cursor(self._own_cursor())

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        down = event.angleDelta().y()
        self.card.hide()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier or (not self._bar.maximum() and down):
            self.gestures.zoom_by_wheel(event)
        elif not self.gestures.pan_by_wheel(event):
            # Three lines for each step of the wheel, as Qt's lists.
            self._bar.setValue(self._bar.value() - round(down / 120 * 3 * self._bar.singleStep()))
        event.accept()

    # Keyboard

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.AltModifier or not self._take_key(Qt.Key(event.key()), event):
            super().keyPressEvent(event)

    def _take_key(self, key: Qt.Key, event: QKeyEvent) -> bool:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return False
        if self.gestures.take_key(event):
            return True
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._go(self._walk.along(self.current, -1 if key == Qt.Key.Key_Left else 1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._go(self._walk.across(self.current, -1 if key == Qt.Key.Key_Up else 1))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go(self._walk.outermost(self.current, -1 if key == Qt.Key.Key_Home else 1))
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._bar.setValue(self._bar.value() + (self.height() if key == Qt.Key.Key_PageDown else -self.height()))
        elif key == Qt.Key.Key_B:
            self.gestures.turn_brush(self._own_cursor())
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._enter()
        elif key == Qt.Key.Key_Escape and (self.gestures.brush_from is not None or self._axis.brushing):
            self.gestures.drop()
        else:
            return False
        return True

    def _enter(self) -> None:
        """Commits a brush, else shows the details of the current message."""
        if not self.gestures.commit() and self.current is not None:
            self.details_requested.emit(self.current)

    def _go(self, row: int | None) -> None:
        if row is not None:
            self.message_requested.emit(row)
            self.gestures.brush_to(self._own_cursor())

    # Qt events

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_bar()
        self._stale()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def _on_theme_changed(self) -> None:
        self._painter = None
        self.refresh()
