"""View of the lanes: cached painting, arrow keys between messages, zoom, pan and brush."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QWidget
from typing_extensions import override

from inspector.engine.requests.timeline import (
    BAR_PX,
    ChainPoint,
    DescribeItem,
    ItemTexts,
    LanesLook,
    Mark,
    PaintLanes,
    Picture,
    SeenItem,
    SeenMark,
    StepInTimeline,
    TimelinePlace,
)
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.cursor_answer import CursorAnswer
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.geometry import head_width, right_margin
from inspector.ui.panels.timeline.gestures import AxisGestures
from inspector.ui.panels.timeline.hints import Beyond, HoverCard
from inspector.ui.panels.timeline.hit_tests import item_at, mark_at
from inspector.ui.panels.timeline.painting import LanesPainter, Overlay
from inspector.ui.panels.timeline.shapes import Shapes
from inspector.ui.widgets.latest_answer import Client

_AIR = 0.15
"""Margin around the range that a double click shows, as a share of it."""
_MAX_STRETCH = 50
"""A picture stretched further is not painted."""


class LanesView(QWidget):
    """The lanes of one document.

    The last picture stays until the next one has arrived; after zooming or scrolling it is stretched meanwhile.

    Signals:
        message_requested(int): select this message.
        details_requested(int): show its details.
        left(): Esc was pressed.
        height_changed(): the lanes have another height.
        resized(): the view has another size.

    Attributes:
        current: the selected message, or None.
        picture: the last picture.
        gestures: pointer and key gestures on the time axis.
        card: texts of the item at the pointer.
        beyond: links to the nearest messages if none is visible.
    """

    message_requested = Signal(int)
    details_requested = Signal(int)
    left = Signal()
    height_changed = Signal()
    resized = Signal()

    def __init__(
        self, client: Client, look: Callable[[], LanesLook], axis: TimeAxis, theme_controller: ThemeController,
        bar: QScrollBar, parent: QWidget,
    ) -> None:  # fmt: skip
        """Creates an empty view.

        Args:
            client: asks the engine.
            look: returns the chosen lanes.
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
        self._client, self._look = client, look
        self._axis = axis
        self._themes = theme_controller
        self._bar = bar
        self.picture = Picture(0, 1, 1)
        self._counts: bool | None = None  # the picture is by message; None before the first picture
        self._is_asking = self._is_stale = self._is_held = False
        self._pixmap: QPixmap | None = None
        self._painter: LanesPainter | None = None
        self._place: TimelinePlace | None = None  # of the current message
        self._texts: CursorAnswer[ItemTexts] = CursorAnswer(client, self._show_texts)
        self._pointed: tuple[QPoint, DescribeItem] | None = None
        self.gestures = AxisGestures(axis, self)
        self._top = 0  # vertical scroll position at the press
        self.current: int | None = None
        self.card = HoverCard(theme_controller, self)
        self.beyond = Beyond(theme_controller, self)
        self.beyond.asked.connect(self._go_to_nearest)
        bar.valueChanged.connect(self._renew)
        axis.range_changed.connect(self._renew)
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
        self._texts.drop_answer()
        self._renew()

    @contextmanager
    def one_picture(self) -> Generator[None]:
        """Redraws once after changes of lanes and axis."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.refresh()

    @property
    def is_asking(self) -> bool:
        """True while a picture is on its way."""
        return self._is_asking

    def _renew(self, *_: object) -> None:
        """Asks for the picture of the visible range; after the pending one has arrived, if there is one."""
        self._hide_card()  # its item has moved
        self._is_stale = True
        self.update()
        if self.isVisible() and not (self._is_asking or self._is_held):
            self._is_stale, self._is_asking = False, True
            question = self._question()
            self._client.send_request(
                question, lambda picture: self._take_picture(picture, counts=question.look.by_order), self._on_failure
            )

    def _question(self) -> PaintLanes:
        axis = self._axis
        return PaintLanes(
            self._look(), axis.left_ns, axis.right_ns, self.axis_width, axis.scale.breaks, self._bar.value(),
            self.height(), self._themes.theme.zoom,
        )  # fmt: skip

    def _take_picture(self, picture: Picture | None, *, counts: bool = False) -> None:
        self._is_asking = False
        if picture is not None:
            before, self.picture, self._pixmap, self._counts = self.picture, picture, None, counts
            self._set_bar()
            self._update_nearest_links()
            self.update()
            if picture.height != before.height:
                self.height_changed.emit()
        if self._is_stale:
            self._renew()

    def _on_failure(self, _sentence: str) -> None:
        self._take_picture(None)

    def _set_bar(self) -> None:
        self._bar.setRange(0, max(0, self.picture.height - self.height()))
        self._bar.setPageStep(self.height())
        self._bar.setSingleStep(round(21 * self._themes.theme.zoom))
        self._bar.setVisible(self._bar.maximum() > 0)

    def _update_nearest_links(self) -> None:
        """Offers links to the nearest messages if none is visible."""
        if not self.picture.is_bare:
            self.beyond.hide()
            return
        area = QRect(self.head, 0, self.axis_width, self.height())
        before, after = self.picture.before_ns, self.picture.after_ns
        self.beyond.show_ways(before is not None, after is not None, area=area)

    def _go_to_nearest(self, step: int) -> None:
        found = self.picture.after_ns if step > 0 else self.picture.before_ns
        if found is not None:
            self._axis.bring(found)

    def show_message(self, message: int | None, place: TimelinePlace | None) -> None:
        """Selects a message; its place is None if it has none yet."""
        self.current, self._place = message, place
        self.setAccessibleDescription("No message is selected" if place is None else place.words)
        self.update()

    def bring(self, place: TimelinePlace) -> None:
        """Scrolls to a message."""
        if place.y is None:
            return
        self._axis.bring(place.ns)
        y, top, margin = place.y, self._bar.value(), round(BAR_PX * self._themes.theme.zoom)
        if y < top + margin:
            self._bar.setValue(y - 2 * margin)
        elif y > top + self.height() - margin:
            self._bar.setValue(y + 2 * margin - self.height())

    # Painting

    @property
    def label_boxes(self) -> list[QRectF]:
        """Boxes of context labels in the last painting; y from the top of all lanes."""
        return list(self._painter.label_boxes) if self._painter is not None else []

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._painter is None:
            self._painter = LanesPainter(self._themes.theme, Shapes(self._themes.theme, self.devicePixelRatioF()))
        painter = QPainter(self)
        self._paint_picture(painter, self._drawn(self._painter))
        self._painter.paint_over(painter, self.rect(), self.axis_width, self._bar.value(), self._overlay())

    def _drawn(self, lanes: LanesPainter) -> QPixmap:
        """Returns the lanes as a cached pixmap, because the pointer moves far more often than lanes change."""
        ratio = self.devicePixelRatioF()
        pixmap = self._pixmap
        if pixmap is None or pixmap.devicePixelRatio() != ratio:
            # Physical pixels, or lines blur on scaled displays.
            pixmap = self._pixmap = QPixmap(self.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            axis, width = self._axis, self.axis_width
            ticks = self._picture_xs([axis.x_of(ns, width) for ns, _ in axis.ticks(width) if ns >= axis.left_ns])
            ends = self._picture_xs([x for shown in axis.breaks_shown(width) for x in shown])
            breaks = list(zip(ends[::2], ends[1::2], strict=True))
            painter = QPainter(pixmap)
            lanes.paint(painter, self.rect(), self.picture, ticks, breaks)
            painter.end()
        return pixmap

    def _paint_picture(self, painter: QPainter, pixmap: QPixmap) -> None:
        """Paints the last picture where it belongs in the present range."""
        left, right = self._picture_ends()
        head, width, down = self.head, self.axis_width, self.picture.top - self._bar.value()
        if not down and (left, right) == (0, width):
            painter.drawPixmap(0, 0, pixmap)
            return
        ratio, high = pixmap.devicePixelRatio(), pixmap.height()
        painter.fillRect(self.rect(), self._themes.theme.color("surface.base"))
        painter.drawPixmap(QRectF(0, down, head, high / ratio), pixmap, QRectF(0, 0, head * ratio, high))
        if right < 0 or left > width or right - left > _MAX_STRETCH * width:
            return
        painter.save()
        painter.setClipRect(head, 0, self.width() - head, self.height())
        target = QRectF(head + left, down, right - left, high / ratio)
        painter.drawPixmap(target, pixmap, QRectF(head * ratio, 0, self.picture.width * ratio, high))
        painter.restore()

    def _picture_ends(self) -> tuple[float, float]:
        """Returns the present positions of both ends of the picture's axis."""
        axis, shown, width = self._axis, self.picture, self.axis_width
        # Rounding must not move a single line of a picture that fits; positions of another kind cannot be compared.
        if self._counts is not axis.counts or (shown.left_ns, shown.right_ns, shown.width) == (
            axis.left_ns, axis.right_ns, width,
        ):  # fmt: skip
            return 0.0, float(width)
        left, right = axis.x_of(shown.left_ns, width), axis.x_of(shown.right_ns, width)
        return left, max(right, left + 1)

    def _picture_x(self, x: float) -> float:
        """Converts a position on the axis to one in the picture."""
        left, right = self._picture_ends()
        return (x - left) / (right - left) * self.picture.width

    def _picture_xs(self, xs: list[float]) -> list[float]:
        """Converts positions on the axis to ones in the picture, or near its ends."""
        width = self.picture.width
        return [min(max(self._picture_x(x), -width), 2 * width) for x in xs]

    def _overlay(self) -> Overlay:
        axis, width = self._axis, self.axis_width
        chain = self._chain
        places = [(min(max(axis.x_of(one.ns, width), -width), 2 * width), one.y) for one in chain]
        numbers = {one.message: number for number, one in enumerate(chain)}
        links = [(numbers[one.after], numbers[one.message]) for one in chain if one.after in numbers]
        brushed = None if axis.brushed is None else tuple(axis.x_of(ns, width) for ns in axis.brushed)
        return Overlay(
            None if axis.cursor_ns is None else axis.x_of(axis.cursor_ns, width),
            None if brushed is None else (brushed[0], brushed[1]),
            [x for ns in self.picture.gaps if 0 <= (x := axis.x_of(ns, width)) <= width],
            places, links, numbers.get(-1 if self.current is None else self.current, -1), self.hasFocus(),
        )  # fmt: skip

    @property
    def _chain(self) -> list[ChainPoint]:
        return self._place.chain if self._place is not None else []

    # Pointer

    def _axis_x(self, place: QPoint) -> float:
        return place.x() - self.head

    def mark_at(self, place: QPoint) -> SeenMark | None:
        """Returns the mark at a position of this view."""
        x = self._axis_x(place)
        if not 0 <= x <= self.axis_width:
            return None
        return mark_at(self.picture, self._picture_x(x), place.y() + self._bar.value(), self._themes.theme.zoom)

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
        self._hide_card()
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
        left, right = self._picture_ends()
        per_pixel = (right - left) / self.picture.width
        xs = (left + x * per_pixel for x in (mark.first_x - air, mark.last_x + air))
        self._axis.show(*(self._axis.ns_at(x, self.axis_width) for x in xs))

    def _hover(self, place: QPoint) -> None:
        x = self._axis_x(place)
        self._axis.set_cursor(self.gestures.ns_at(place) if 0 <= x <= self.axis_width else self._own_cursor())
        item = self._item_at(place)
        if self.mark_at(place) is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()
        self._pointed = None if item is None else (place, DescribeItem(self._look(), item))
        self._show_texts()

    def _item_at(self, place: QPoint) -> SeenItem | None:
        x = self._axis_x(place)
        if x < 0:
            return None
        y, zoom = place.y() + self._bar.value(), self._themes.theme.zoom
        found = item_at(self.picture, self._picture_x(x), y, zoom)
        return None if isinstance(found, SeenMark) and x > self.axis_width else found

    def _show_texts(self) -> None:
        """Shows the texts of the item at the pointer; nothing until they have arrived."""
        texts = self._texts.answer_to(self._pointed[1]) if self._pointed is not None else None
        if self._pointed is None or texts is None:
            self.card.hide()
        else:
            self.card.show_texts(texts, self._pointed[0])

    def _hide_card(self) -> None:
        self._pointed = None
        self.card.hide()

    def _own_cursor(self) -> int | None:
        return None if self._place is None else self._place.ns

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hide_card()
        self._axis.set_cursor(self._own_cursor())

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        down = event.angleDelta().y()
        self._hide_card()
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
            self._go("along", -1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._go("across", -1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go("outermost", -1 if key == Qt.Key.Key_Home else 1)
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

    def _go(self, way: Literal["along", "across", "outermost"], step: int) -> None:
        found = self._client.answer_now(StepInTimeline(self._look(), self.current, way, step))
        if found is not None:
            self.message_requested.emit(found.message)
            self.gestures.brush_to(found.ns)

    # Qt events

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pixmap = None
        self.resized.emit()
        self._renew()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._renew()

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
