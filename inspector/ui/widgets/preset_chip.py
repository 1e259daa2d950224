"""One preset as a chip, which can be dragged and moved by keys, and the mark of where it would go."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import plain, tool_tip
from inspector.settings import Preset
from inspector.ui.look.theme import ThemeController

CONTEXT_VARIABLE = "$context"
"""Stands for the selected context in a preset's filter."""

NO_CONTEXT = "Select a context in the tree first."
"""Why such a preset cannot be used."""

_TOO_FAR = 48
"""A chip dropped so far above or below the bar stays where it was, in pixels at 100 %."""


class PresetChip(QToolButton):
    """One preset. It can be dragged, and moved by keys.

    Signals:
        dragged(int): it is dragged; so far from where it was taken.
        dropped(bool): it was let go, on the bar or not.
        key_moved(int): it shall move one place to the left (-1) or right (1).
        key_left(int): its neighbour at the left (-1) or right (1) shall have the focus.
    """

    dragged = Signal(int)
    dropped = Signal(bool)
    key_moved = Signal(int)
    key_left = Signal(int)

    def __init__(self, preset: Preset, key: str = "", parent: QWidget | None = None) -> None:
        """Make its chip.

        Args:
            preset: what it stands for.
            key: what applies it too, in the desktop's words.
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
        """Say how many messages it would show; 0 says nothing. Whether it needs another width now."""
        shown = plain(self.preset.name)
        name = f"{shown}  {count:,}" if count else shown
        before, self.count = self.text(), count
        self.setText(name.replace("&", "&&"))
        self.setAccessibleName(f"{shown}, {formats.count_of(count, 'message')}" if count else name)
        return len(self.text()) != len(before)

    @property
    def needs_context(self) -> bool:
        """Whether its filter speaks of the selected context."""
        return CONTEXT_VARIABLE in self.preset.filter

    def allow(self, context_selected: bool) -> None:
        """Enable it as far as there is a context for it."""
        self._usable = context_selected or not self.needs_context
        self.setEnabled(self._usable)
        self._say()

    def set_note(self, note: str) -> None:
        """Say what the count stands for; "" says nothing."""
        self.note = note
        self._say()

    def _say(self) -> None:
        words = [self.preset.filter or "Shows everything", self.note, self.key, "" if self._usable else NO_CONTEXT]
        self.setToolTip(tool_tip("\n".join(filter(None, words))))
        self.setAccessibleDescription(", ".join(filter(None, (plain(words[0]), *words[1:]))))

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
            self.setDown(False)
            self.dragged.emit(way.x())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        taken_at, self._taken_at = self._taken_at, None
        if not self._dragging or taken_at is None:
            super().mouseReleaseEvent(event)
            return
        self._dragging = False
        self.setDown(False)  # so that it is no click
        super().mouseReleaseEvent(event)
        above = abs(event.globalPosition().toPoint().y() - taken_at.y())
        self.dropped.emit(above <= _TOO_FAR)

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
    """Where a dragged chip would stand."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("presetDropMark")
        self.setAccessibleName("Where the preset goes")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._themes.theme.color("accent.ring"))
