"""The list of the findings panel: groups that open and close."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.delegate import FindingDelegate
from inspector.ui.panels.findings.model import FindingsModel
from inspector.ui.panels.list_view import ListView

_KEYS = Qt.Key
_OUT = (_KEYS.Key_Left, _KEYS.Key_Minus)
_IN = (_KEYS.Key_Right, _KEYS.Key_Plus)


class FindingsView(ListView):
    """Shows the findings. What is selected is a finding or a group, never a place."""

    def __init__(self, model: FindingsModel, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, theme_controller, name="findingsList", title="Findings", parent=parent)
        self._rows = model
        self._delegate = FindingDelegate(model, theme_controller, self)
        self.setItemDelegate(self._delegate)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and event.key() in _OUT:
            self._go_out(self.currentIndex().row())
        elif plain and event.key() in _IN:
            self._go_in(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    @override
    def _enter(self, row: int) -> None:
        if row < 0:
            return
        if self._rows.is_head(row):
            self._rows.set_open(row, not self._rows.group(row).is_open)
        else:
            self.entered.emit(row)

    def _go_out(self, row: int) -> None:
        """Close the group; from a finding go to the head."""
        if row < 0 or not self._rows.group(row).has_head:
            return
        if self._rows.is_head(row):
            self._rows.set_open(row, False)
        else:
            self._pick(self._rows.group(row).first_row)

    def _go_in(self, row: int) -> None:
        """Open the group; from the head of an open one go to its first finding."""
        if row < 0 or not self._rows.is_head(row):
            return
        if self._rows.group(row).is_open:
            self._pick(row + 1)
        else:
            self._rows.set_open(row, True)

    # Pointer

    @override
    def _press(self, row: int) -> None:
        if self._rows.is_head(row):
            self.select(self._rows.rows.key_at(row), into_view=False)
            self._rows.set_open(row, not self._rows.group(row).is_open)
        else:
            super()._press(row)

    @override
    def _press_twice(self, row: int) -> None:
        if self._rows.is_head(row):
            self._press(row)
        else:
            super()._press_twice(row)
