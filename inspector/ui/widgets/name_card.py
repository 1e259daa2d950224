"""Asks for the name of what is to be kept: a card that floats where it will stand. It holds up nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from shiboken6 import isValid
from typing_extensions import override

from inspector.ui.theme import ThemeController
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.wire_text import plain

_WIDTH, _LONGEST, _SHOWN = 320, 80, 200
WAYS = "Enter keeps it, Esc does not"


class NameCard(FloatingFrame):
    """A title, what is to be kept, and a field with a name that can be written over at once.

    Attributes:
        field: the name.
    """

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        """Make it, closed."""
        super().__init__(theme_controller, name="nameCard", parent=parent)
        self._owner = parent
        self._keep: Callable[[str], object] | None = None
        self._from: QWidget | None = None
        self._title = TextLabel(variant="strong", name="nameTitle", parent=self)
        self._what = TextLabel(variant="secondary", name="nameWhat", wrap=True, parent=self)
        self.field = QLineEdit(self)
        self.field.setObjectName("nameField")
        self.field.setMaxLength(_LONGEST)
        self.field.returnPressed.connect(self.keep)
        self._column = QVBoxLayout(self)
        for widget in (self._title, self._what, self.field):
            self._column.addWidget(widget)
        self._column.addWidget(TextLabel(WAYS, variant="hint", name="nameHint", parent=self))
        theme_controller.changed.connect(self._fit)
        self._fit()
        self.hide()

    def _fit(self) -> None:
        unit = self._themes.theme.metrics.unit
        self._column.setContentsMargins(3 * unit, 2 * unit, 3 * unit, 2 * unit)
        self._column.setSpacing(2 * unit)
        self.setFixedWidth(round(_WIDTH * self._themes.theme.zoom))

    def ask(self, title: str, what: str, name: str, near: QRect, keep: Callable[[str], object]) -> None:
        """Ask for a name.

        Args:
            title: what is kept: "Name of the preset".
            what: the filter it is about.
            name: what it is called where nobody cares; it is selected.
            near: of the parent; the card stands below it, right-aligned where there is no room at the right.
            keep: is given the name, unless the user leaves.
        """
        if self.isHidden():
            self._from = QApplication.focusWidget()
        self._keep = keep
        self.setAccessibleName(title)
        self._title.setText(title)
        self._what.setText(plain(what, _SHOWN))
        self.field.setAccessibleName(title)
        self.field.setAccessibleDescription(WAYS)
        self.field.setText(name)
        self.field.selectAll()
        self.adjustSize()
        area, unit = self._owner.rect(), self._themes.theme.metrics.unit
        left = max(unit, min(near.left(), area.right() - self.width() - unit))
        self.move(left, max(unit, min(near.bottom() + unit, area.bottom() - self.height() - unit)))
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def keep(self) -> None:
        """Keep it under the name; an empty one is none yet."""
        name, keep = self.field.text().strip(), self._keep
        if name and keep is not None:
            self.leave()
            keep(name)

    def leave(self) -> None:
        """Close, and keep nothing."""
        self._keep = None
        inside = self.isAncestorOf(QApplication.focusWidget() or self)
        came_from, self._from = self._from, None
        self.hide()
        if inside and came_from is not None and isValid(came_from):
            came_from.setFocus(Qt.FocusReason.PopupFocusReason)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()  # the field has kept it; the window below does not hear of it
        else:
            super().keyPressEvent(event)
