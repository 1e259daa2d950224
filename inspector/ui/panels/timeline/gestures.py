"""What pointer and keys do to the part of the time that is shown: move, zoom, brush it; the same in lanes and plots."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from inspector.ui.panels.timeline.axis import TimeAxis

_DRAGGED_PX = 4
_WHEEL, _KEY_ZOOM, _PANNED = 1.25, 1.5, 0.12
_KEYS = Qt.Key
_SHIFT = Qt.KeyboardModifier.ShiftModifier


class OnAxis(Protocol):
    """A view whose x is time."""

    @property
    def head(self) -> int:
        """How far from the left the axis begins, in pixels."""
        ...

    @property
    def axis_width(self) -> int:
        """How many pixels the axis has."""
        ...


class AxisGestures:
    """The gestures of one view.

    Attributes:
        brush_from: where a brush begins that is not committed yet; None while nothing is brushed.
        dragging: the pointer is dragged: it was moved far enough since the button was pressed.
    """

    def __init__(self, axis: TimeAxis, view: OnAxis) -> None:
        self._axis, self._view = axis, view
        self._pressed: tuple[QPoint, int] | None = None
        self.brush_from: int | None = None
        self.dragging = False

    def ns_at(self, place: QPoint) -> int:
        """The time at a place of the view."""
        return self._axis.ns_at(place.x() - self._view.head, self._view.axis_width)

    # Pointer

    @property
    def pressed(self) -> bool:
        """Whether the left button is down."""
        return self._pressed is not None

    def press(self, event: QMouseEvent) -> None:
        """A button was pressed; with Shift held, or the switch on, a brush begins."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        place = event.position().toPoint()
        self._pressed, self.dragging = (place, self.ns_at(place)), False
        if (event.modifiers() & _SHIFT or self._axis.brushing) and place.x() >= self._view.head:
            self.brush_from = self.ns_at(place)

    def drag(self, place: QPoint) -> QPoint | None:
        """The pointer moved while the button is down: brush, or move the time; how far it was, None for hardly."""
        if self._pressed is None:
            return None
        start, ns = self._pressed
        moved = place - start
        if not self.dragging and moved.manhattanLength() < _DRAGGED_PX:
            return None
        self.dragging = True
        if self.brush_from is not None:
            self._axis.set_brush((self.brush_from, self.ns_at(place)))
        else:
            self._axis.drag_to(ns, place.x() - self._view.head, self._view.axis_width)
        return moved

    def release(self, event: QMouseEvent) -> bool:
        """A button was let go: what was brushed is committed; whether it was a click."""
        if event.button() is not Qt.MouseButton.LeftButton or self._pressed is None:
            return False
        dragged, self._pressed, self.dragging = self.dragging, None, False
        return not self.commit() and not dragged

    def zoom_by_wheel(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        self._axis.zoom(_WHEEL ** (event.angleDelta().y() / 120), self.ns_at(event.position().toPoint()))

    def pan_by_wheel(self, event: QWheelEvent) -> bool:
        """Move the time where the wheel was turned across, or with Shift; whether it was."""
        down, across = event.angleDelta().y(), event.angleDelta().x()
        is_across = bool(event.modifiers() & _SHIFT) or abs(across) > abs(down)
        if is_across:
            self._axis.pan(-(across or down) / 120 * _PANNED)
        return is_across

    # Keyboard

    def take_key(self, event: QKeyEvent) -> bool:
        """Move, zoom or fit the time; whether the key does."""
        match event.key():
            case _KEYS.Key_Left | _KEYS.Key_Right if event.modifiers() & _SHIFT:
                self._axis.pan(-_PANNED if event.key() == _KEYS.Key_Left else _PANNED)
            case _KEYS.Key_Plus | _KEYS.Key_Equal:
                self.zoom(_KEY_ZOOM)
            case _KEYS.Key_Minus:
                self.zoom(1 / _KEY_ZOOM)
            case _KEYS.Key_F:
                self._axis.fit()
            case _:
                return False
        return True

    def zoom(self, factor: float) -> None:
        """Zoom about the cursor, or about the middle where it is not in sight."""
        axis, about = self._axis, self._axis.cursor_ns
        if about is None or not axis.left_ns <= about <= axis.right_ns:
            about = axis.ns_at(0.5, 1)
        axis.zoom(factor, about)

    def turn_brush(self, at_ns: int | None) -> None:
        """Begin a brush at a time, or give up the one that was begun."""
        self.brush_from = at_ns if self.brush_from is None else None
        self.brush_to(at_ns)

    def brush_to(self, ns: int | None) -> None:
        """Brush from where it was begun to a time, where it was."""
        if self.brush_from is None:
            self._axis.set_brush(None)
        elif ns is not None:
            self._axis.set_brush((self.brush_from, ns))

    def commit(self) -> bool:
        """Choose what is brushed; whether anything was."""
        brushed, self.brush_from = self.brush_from is not None, None
        if brushed:
            self._axis.commit_brush()
        return brushed

    def drop(self) -> None:
        """Brush nothing, and begin no brush with the next press."""
        self.brush_from = self._pressed = None
        self.dragging = False
        self._axis.set_brush(None)
        self._axis.set_brushing(False)
