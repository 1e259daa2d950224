"""Form dialogs: a title, labelled fields, Cancel and one action button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.dialogs.base_dialog import FittedDialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel

_WIDTH = 460


class FormDialog(FittedDialog):
    """A form with Cancel and one action button.

    Attributes:
        page, form, buttons: its layouts; `buttons` has room at the left.
        heading, cancel, ok: its widgets.
    """

    def __init__(self, themes: ThemeController, *, name: str, title: str, done: str, parent: QWidget | None) -> None:
        super().__init__(themes, name=name, title=title, width=_WIDTH, parent=parent)
        self.page = QVBoxLayout(self)
        self.heading = TextLabel(title, variant="title", name=f"{name}Title", parent=self)
        self.heading.setWordWrap(True)
        self.page.addWidget(self.heading)
        self.form = Form(themes, self)
        self.page.addLayout(self.form)
        row = self.buttons = QHBoxLayout()
        row.setContentsMargins(0, 6, 0, 0)
        row.setSpacing(12)
        row.addStretch(1)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.setObjectName(f"{name}Cancel")
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        # A single `&` would mark the next letter as a shortcut.
        self.ok = QPushButton(done.replace("&", "&&"), self)
        self.ok.setAccessibleName(done)
        self.ok.setObjectName(f"{name}Done")
        self.ok.setDefault(True)
        self.ok.clicked.connect(self.finish)
        row.addWidget(self.cancel)
        row.addWidget(self.ok)
        self.page.addLayout(row)

    def finish(self) -> None:
        """Called when the action button is pressed."""
        raise NotImplementedError

    def fit_page(self) -> None:
        """Applies margins and height of the zoom."""
        self.take_margins(self.page)
        self.page.setSpacing(round(14 * self._themes.theme.zoom))
        self.fit()


class ValueDialog(FormDialog):
    """Asks for one value.

    Signals:
        chosen(object): the value of the field, such as a list entry or a number of seconds.

    Attributes:
        field: the field.
    """

    chosen = Signal(object)

    def __init__(
        self, themes: ThemeController, field: QComboBox | QDoubleSpinBox, label: str, help_text: str, *, name: str,
        title: str, done: str, parent: QWidget | None,
    ) -> None:  # fmt: skip
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            field: the field with its choices; becomes a child.
            label: label of the field.
            help_text: text below the field.
            name: object name; the field's name adds "Field".
            title: title of the dialog.
            done: text of the action button.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(themes, name=name, title=title, done=done, parent=parent)
        self.field = field
        field.setObjectName(f"{name}Field")
        field.setAccessibleName(label)
        self.form.add_field(label, FieldColumn(field, name=f"{name}Help", help_text=help_text, parent=self), field)
        themes.changed.connect(self.fit_page)
        self.fit_page()
        field.setFocus()

    @override
    def finish(self) -> None:
        field = self.field
        value = field.value() if isinstance(field, QDoubleSpinBox) else field.currentText()
        self.accept()
        self.chosen.emit(value)
