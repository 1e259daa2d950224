"""Pointer and keyboard gestures on the time axis, shared by lanes and plots: pan, zoom and brush."""

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
    """A view with time as its x axis."""

    @property
    def head(self) -> int:
        """Left end of the axis in pixels."""
        ...

    @property
    def axis_width(self) -> int:
        """Width of the axis in pixels."""
        ...


class AxisGestures:
    """The gestures of one view.

    Attributes:
        brush_from: start of an uncommitted brush; None without one.
        dragging: True once the pointer has moved far enough since the press.
    """

    def __init__(self, axis: TimeAxis, view: OnAxis) -> None:
        self._axis, self._view = axis, view
        self._pressed: tuple[QPoint, int] | None = None
        self.brush_from: int | None = None
        self.dragging = False

    def ns_at(self, place: QPoint) -> int:
        return self._axis.ns_at(place.x() - self._view.head, self._view.axis_width)

    # Pointer

    @property
    def pressed(self) -> bool:
        """True while the left button is down."""
        return self._pressed is not None

    def press(self, event: QMouseEvent) -> None:
        """Starts a drag. With Shift, or in brushing mode, it starts a brush."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        place = event.position().toPoint()
        self._pressed, self.dragging = (place, self.ns_at(place)), False
        if (event.modifiers() & _SHIFT or self._axis.brushing) and place.x() >= self._view.head:
            self.brush_from = self.ns_at(place)

    def drag(self, place: QPoint) -> QPoint | None:
        """Brushes or pans with the pressed button. Returns the distance, or None below the threshold of a drag."""
        if self._pressed is None:
            return None
        start, ns = self._pressed
        moved = place - start
        # A click with a trembling hand is not a drag.
        if not self.dragging and moved.manhattanLength() < _DRAGGED_PX:
            return None
        self.dragging = True
        if self.brush_from is not None:
            self._axis.set_brush((self.brush_from, self.ns_at(place)))
        else:
            self._axis.drag_to(ns, place.x() - self._view.head, self._view.axis_width)
        return moved

    def release(self, event: QMouseEvent) -> bool:
        """Ends a drag and commits its brush. Returns True for a click."""
        if event.button() is not Qt.MouseButton.LeftButton or self._pressed is None:
            return False
        dragged, self._pressed, self.dragging = self.dragging, None, False
        return not self.commit() and not dragged

    def zoom_by_wheel(self, event: QWheelEvent) -> None:
        # Qt counts a notch of the wheel as 120.
        self._axis.zoom(_WHEEL ** (event.angleDelta().y() / 120), self.ns_at(event.position().toPoint()))

    def pan_by_wheel(self, event: QWheelEvent) -> bool:
        """Pans with a horizontal wheel or with Shift. Returns False for other wheel events."""
        down, across = event.angleDelta().y(), event.angleDelta().x()
        is_across = bool(event.modifiers() & _SHIFT) or abs(across) > abs(down)
        # Qt counts one step of a wheel as 120.
        if is_across:
            self._axis.pan(-(across or down) / 120 * _PANNED)
        return is_across

    # Keyboard

    def take_key(self, event: QKeyEvent) -> bool:
        """Pans, zooms or fits. Returns False for other keys."""
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
        """Zooms about the cursor, or about the middle if the cursor is not visible."""
        axis, about = self._axis, self._axis.cursor_ns
        if about is None or not axis.left_ns <= about <= axis.right_ns:
            about = axis.ns_at(0.5, 1)
        axis.zoom(factor, about)

    def turn_brush(self, at_ns: int | None) -> None:
        """Starts a brush at a time, or cancels the present one."""
        self.brush_from = at_ns if self.brush_from is None else None
        self.brush_to(at_ns)

    def brush_to(self, ns: int | None) -> None:
        """Extends the brush to a time, if one was started."""
        if self.brush_from is None:
            self._axis.set_brush(None)
        elif ns is not None:
            self._axis.set_brush((self.brush_from, ns))

    def commit(self) -> bool:
        """Commits the brush. Returns False without one."""
        brushed, self.brush_from = self.brush_from is not None, None
        if brushed:
            self._axis.commit_brush()
        return brushed

    def drop(self) -> None:
        """Cancels the drag, the brush and brushing mode."""
        self.brush_from = self._pressed = None
        self.dragging = False
        self._axis.set_brush(None)
        self._axis.set_brushing(False)
