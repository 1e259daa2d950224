"""Dialogs that are a form: a title, fields with their labels, Cancel and one more button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.dialogs.dialog import FittedDialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel

_WIDTH = 460


class FormDialog(FittedDialog):
    """A form with Cancel and one more button.

    Attributes:
        page, form, buttons: what it is laid out by; `buttons` has room at the left.
        heading, cancel, ok: what it is made of.
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
        self.ok = QPushButton(done.replace("&", "&&"), self)
        self.ok.setAccessibleName(done)
        self.ok.setObjectName(f"{name}Done")
        self.ok.setDefault(True)
        self.ok.clicked.connect(self.finish)
        row.addWidget(self.cancel)
        row.addWidget(self.ok)
        self.page.addLayout(row)

    def finish(self) -> None:
        """The button was pressed."""
        raise NotImplementedError

    def fit_page(self) -> None:
        """Take margins and height of the zoom."""
        self.take_margins(self.page)
        self.page.setSpacing(round(14 * self._themes.theme.zoom))
        self.fit()


class ValueDialog(FormDialog):
    """Asks for one value.

    Signals:
        chosen(object): the value of the field: the entry of a list of choices, a number of seconds and the like.

    Attributes:
        field: what is asked.
    """

    chosen = Signal(object)

    def __init__(
        self, themes: ThemeController, field: QComboBox | QDoubleSpinBox, label: str, help_text: str, *, name: str,
        title: str, done: str, parent: QWidget | None,
    ) -> None:  # fmt: skip
        """Make the dialog; show it with `open()`.

        Args:
            themes: gives the look.
            field: holds what is offered; becomes a child.
            label: stands before it.
            help_text: stands below it.
            name: object name; the field's is the same with "Field".
            title: of the dialog.
            done: words of the button.
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
