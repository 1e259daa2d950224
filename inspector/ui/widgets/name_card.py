"""Non-modal card that asks for a name, such as that of a new preset."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from shiboken6 import isValid
from typing_extensions import override

from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

_WIDTH, _MAX_LENGTH, _SHOWN = 320, 80, 200
WAYS = "Enter saves, Esc cancels"
_Validate = Callable[[str], str]
"""Returns a sentence on why a name is not possible, or ""."""


class NameCard(FloatingFrame):
    """Card with a title, the named item, and a field with a selected default name.

    Attributes:
        field: the name field.
    """

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="nameCard", parent=parent)
        self._owner = parent
        self._keep: Callable[[str], object] | None = None
        self._objects: _Validate = lambda _name: ""
        self._from: QWidget | None = None
        self._title = TextLabel(variant="strong", name="nameTitle", parent=self)
        self._what = TextLabel(variant="secondary", name="nameWhat", wrap=True, parent=self)
        self.field = QLineEdit(self)
        self.field.setObjectName("nameField")
        self.field.setMaxLength(_MAX_LENGTH)
        self.field.returnPressed.connect(self.keep)
        self._trouble = TextLabel(variant="error", name="nameTrouble", wrap=True, parent=self)
        self._trouble.hide()
        self.field.textEdited.connect(lambda: self._show_error(""))
        self._column = QVBoxLayout(self)
        for widget in (self._title, self._what, self.field, self._trouble):
            self._column.addWidget(widget)
        self._column.addWidget(TextLabel(WAYS, variant="hint", name="nameHint", parent=self))
        theme_controller.changed.connect(self._fit)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_moved)
        self._fit()
        self.hide()

    def _fit(self) -> None:
        unit = self._themes.theme.metrics.unit
        self._column.setContentsMargins(3 * unit, 2 * unit, 3 * unit, 2 * unit)
        self._column.setSpacing(2 * unit)
        self.setFixedWidth(round(_WIDTH * self._themes.theme.zoom))

    def ask_name(
        self, title: str, what: str, name: str, near: QRect, keep: Callable[[str], object],
        objects: _Validate = lambda _name: "",
    ) -> None:  # fmt: skip
        """Opens the card.

        Args:
            title: title, such as "Name of the preset".
            what: the filter that gets the name.
            name: default name, selected.
            near: rectangle in the parent; the card opens below it, right-aligned if there is no room at the right.
            keep: called with the name when the user accepts it.
            objects: validates a name; the card stays open on an error.
        """
        if self.isHidden():
            self._from = QApplication.focusWidget()
        self._keep, self._objects = keep, objects
        self._trouble.hide()
        self.setAccessibleName(title)
        self._title.setText(title)
        self._what.setText(safe_line(what, _SHOWN))
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
        """Accepts the name; an empty one does nothing."""
        # Control characters of text direction and invisible ones are removed from names.
        name, keep = "".join(filter(str.isprintable, self.field.text())).strip(), self._keep
        if not name or keep is None:
            return
        trouble = self._objects(name)
        if trouble:
            self._show_error(trouble)
            return
        self.leave()
        keep(name)

    def _show_error(self, sentence: str) -> None:
        self._trouble.setText(sentence)
        self._trouble.setVisible(bool(sentence))
        self.field.setAccessibleDescription(sentence or WAYS)
        self.adjustSize()

    def _on_focus_moved(self, _from: QWidget | None, to: QWidget | None) -> None:
        """Closes the card when the focus moves elsewhere in the window; other windows do not close it."""
        elsewhere = to is not None and to is not self and to.window() is self.window() and not self.isAncestorOf(to)
        if elsewhere and not self.isHidden():
            self.leave()

    def leave(self) -> None:
        """Closes the card without saving."""
        if self.isHidden():
            return
        self._keep = None
        inside = self.isAncestorOf(QApplication.focusWidget() or self)
        came_from, self._from = self._from, None
        self.hide()
        # The widget may have been deleted since.
        if inside and came_from is not None and isValid(came_from):
            came_from.setFocus(Qt.FocusReason.PopupFocusReason)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()  # the field has handled it; the window must not see the key
        else:
            super().keyPressEvent(event)
