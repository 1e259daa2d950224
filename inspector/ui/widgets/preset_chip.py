"""Chip of one preset, movable by mouse and keys, and the mark at its drop position."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip
from inspector.settings import Preset
from inspector.ui.look.theme import ThemeController

CONTEXT_VARIABLE = "$context"
"""Placeholder for the selected context in a preset's filter."""

NO_CONTEXT = "Select a context in the tree first."
"""Reason why such a preset is disabled."""

_MAX_DROP_DISTANCE = 48
"""Vertical distance from the bar that cancels a drag, in pixels at 100 %."""


class PresetChip(QToolButton):
    """Chip of one preset.

    Signals:
        dragged(int): it is dragged by this distance from its start.
        dropped(bool): it was dropped, on the bar or not.
        key_moved(int): move it one place to the left (-1) or right (1).
        key_left(int): focus its left (-1) or right (1) neighbour.
    """

    dragged = Signal(int)
    dropped = Signal(bool)
    key_moved = Signal(int)
    key_left = Signal(int)

    def __init__(self, preset: Preset, key: str = "", parent: QWidget | None = None) -> None:
        """Makes the chip.

        Args:
            preset: the preset.
            key: its shortcut in the desktop's words.
            parent: owner.
        """
        super().__init__(parent)
        self.preset = preset
        self.key = key
        self._taken_at: QPoint | None = None
        self._dragging = False
        self.count = 0
        self.note = ""
        self._usable = True
        self.setProperty("variant", "chip")
        self.setObjectName("presetChip")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.set_count(0)

    def set_count(self, count: int) -> bool:
        """Sets the number of matches; 0 hides it. Returns True if the width has changed."""
        shown = safe_line(self.preset.name)
        name = f"{shown}  {count:,}" if count else shown
        before, self.count = self.text(), count
        self.setText(name.replace("&", "&&"))
        self.setAccessibleName(f"{shown}, {formats.count_of(count, 'message')}" if count else name)
        return len(self.text()) != len(before)

    @property
    def needs_context(self) -> bool:
        return CONTEXT_VARIABLE in self.preset.filter

    def allow(self, context_selected: bool) -> None:
        """Enables the chip if its filter needs no context, or one is selected."""
        self._usable = context_selected or not self.needs_context
        self.setEnabled(self._usable)
        self._update_texts()

    def set_note(self, note: str) -> None:
        """Sets the explanation of the count, or ""."""
        self.note = note
        self._update_texts()

    def _update_texts(self) -> None:
        words = [self.preset.filter or "Shows all messages", self.note, self.key, "" if self._usable else NO_CONTEXT]
        self.setToolTip(tool_tip("\n".join(filter(None, words))))
        self.setAccessibleDescription(", ".join(filter(None, (safe_line(words[0]), *words[1:]))))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._taken_at = event.globalPosition().toPoint()
        super().mousePressEvent(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._taken_at is None:
            super().mouseMoveEvent(event)
            return
        way = event.globalPosition().toPoint() - self._taken_at
        if self._dragging or abs(way.x()) >= QApplication.startDragDistance():
            self._dragging = True
            # A dragged chip must not look pressed.
            self.setDown(False)
            self.dragged.emit(way.x())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        taken_at, self._taken_at = self._taken_at, None
        if not self._dragging or taken_at is None:
            super().mouseReleaseEvent(event)
            return
        self._dragging = False
        self.setDown(False)  # so that the release is not a click
        super().mouseReleaseEvent(event)
        above = abs(event.globalPosition().toPoint().y() - taken_at.y())
        self.dropped.emit(above <= _MAX_DROP_DISTANCE)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.key_moved.emit(step)
        else:
            self.key_left.emit(step)


class DropMark(QWidget):
    """Mark at the drop position of a dragged chip."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("presetDropMark")
        self.setAccessibleName("Drop position")
        # Clicks are for the chips below.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._themes.theme.color("accent.ring"))
