"""Dialogs that open, close and merge a sub-session."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QWidget
from typing_extensions import override

from inspector.engine.requests.msp_edits import MergePreview
from inspector.present.formats import count_of
from inspector.ui.dialogs.form_dialog import FormDialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import CheckField, FieldColumn

_SUMMARY_LINES = 7
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
NO_SUMMARY = "Without a summary, a merge adds only its global messages to the parent chat."
SUMMARY_HELP = "Result in one or two sentences."
APPEND = "Append to the parent chat"


def text_field(name: str, title: str, help_text: str, parent: QWidget, text: str = "") -> QPlainTextEdit:
    """Creates a multi-line field. Tab moves the focus."""
    field = QPlainTextEdit(text, parent)
    field.setObjectName(name)
    field.setAccessibleName(title)
    field.setAccessibleDescription(help_text)
    field.setProperty("variant", "field")
    # Otherwise Tab would insert a tab and the keyboard could not leave the field.
    field.setTabChangesFocus(True)
    return field


def fit_lines(field: QPlainTextEdit, lines: int, themes: ThemeController) -> None:
    """Sets the font of the theme and a height of `lines` lines."""
    theme = themes.theme
    field.setFont(theme.font("body"))
    field.setFixedHeight(lines * field.fontMetrics().lineSpacing() + 4 * theme.metrics.unit)


class NewSubsessionDialog(FormDialog):
    """Asks for label and parent of a new sub-session.

    Signals:
        chosen(str, str): the label, and the key of the parent session or sub-session.

    Attributes:
        label, parents: its fields.
    """

    chosen = Signal(str, str)

    def __init__(
        self, themes: ThemeController, parents: Sequence[tuple[str, str]], chosen: str, parent: QWidget | None = None
    ) -> None:
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            parents: keys and labels of possible parents, in tree order.
            chosen: key of the preselected one.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(themes, name="newSubsession", title="New sub-session", done="Create", parent=parent)
        self.label = QLineEdit(self)
        self.label.setObjectName("newSubsessionLabel")
        self.label.setAccessibleName("Label")
        self.label.textChanged.connect(lambda _text: self.ok.setEnabled(bool(self.label.text().strip())))
        field = FieldColumn(self.label, name="newSubsessionLabelHelp", help_text="Topic in one or two words.",
                            parent=self)  # fmt: skip
        self.form.add_field("&Label", field, self.label)
        self.parents = QComboBox(self)
        self.parents.setObjectName("newSubsessionParent")
        self.parents.setAccessibleName("Parent")
        for key, words in parents:
            self.parents.addItem(words, key)
        self.parents.setCurrentIndex(max(0, self.parents.findData(chosen)))
        self.form.add_field("&Parent", self.parents, self.parents)
        self.ok.setEnabled(False)
        themes.changed.connect(self.fit_page)
        self.fit_page()
        self.label.setFocus()

    @override
    def finish(self) -> None:
        label = self.label.text().strip()
        if label:
            self.accept()
            self.chosen.emit(label, str(self.parents.currentData()))


class CloseSubsessionDialog(FormDialog):
    """Asks for the summary of a sub-session to close.

    Signals:
        chosen(str, bool): the summary, or ""; True to append it to the parent chat.

    Attributes:
        summary, append: its fields.
    """

    chosen = Signal(str, bool)

    def __init__(
        self, themes: ThemeController, label: str, parent_label: str, *, written: str = "",
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            label: of the sub-session.
            parent_label: of its parent, or "" if that is missing.
            written: its present summary.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(
            themes, name="closeSubsession", title=f"Close {label}", done="Close & Summarize", parent=parent
        )
        self.setWindowTitle("Close & Summarize")
        self.summary = text_field("closeSubsessionSummary", "Summary", SUMMARY_HELP, self, written)
        self.summary.textChanged.connect(self._on_changed)
        self._field = FieldColumn(self.summary, name="closeSubsessionSummaryHelp", help_text=NO_SUMMARY, parent=self)
        self.form.add_field("&Summary", self._field, self.summary)
        help_text = f"Adds one message to {parent_label}, labelled with this sub-session." if parent_label else (
            "Its parent is not in this document."
        )  # fmt: skip
        self.append = CheckField(APPEND, help_text, name="closeSubsessionAppend", parent=self)
        self.append.set_checked(bool(parent_label))
        self._has_parent = bool(parent_label)
        self.form.add_wide(self.append)
        self.gives_way = self.summary
        themes.changed.connect(self._fit_all)
        self._fit_all()
        self._on_changed()
        self.summary.setFocus()

    def _fit_all(self) -> None:
        fit_lines(self.summary, _SUMMARY_LINES, self._themes)
        self.fit_page()

    def _on_changed(self) -> None:
        written = bool(self.summary.toPlainText().strip())
        self._field.say_help(SUMMARY_HELP if written else NO_SUMMARY)
        self.append.box.setEnabled(written and self._has_parent)

    @override
    def finish(self) -> None:
        summary = self.summary.toPlainText().strip()
        self.accept()
        self.chosen.emit(summary, bool(summary) and self._has_parent and self.append.box.isChecked())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.finish()
        else:
            super().keyPressEvent(event)


class MergeDialog(FormDialog):
    """Previews the messages that a merge will add to the parent.

    Signals:
        chosen(): merge.

    Attributes:
        messages: the preview.
    """

    chosen = Signal()

    def __init__(
        self, themes: ThemeController, label: str, parent_label: str, preview: MergePreview,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            label: of the sub-session.
            parent_label: of its parent.
            preview: the messages to add.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(themes, name="mergeSubsession", title=f"Merge {label}", done="Merge", parent=parent)
        help_text = f"{count_of(preview.count, 'message')} will be added to {parent_label}. Nothing else is added."
        text = "\n\n".join(preview.lines)
        if preview.count > len(preview.lines):
            text += f"\n\nand {count_of(preview.count - len(preview.lines), 'more message')}"
        self.messages = text_field("mergeSubsessionMessages", "Messages", help_text, self, text)
        self.messages.setReadOnly(True)
        field = FieldColumn(self.messages, name="mergeSubsessionHelp", help_text=help_text, parent=self)
        self.form.add_field("&Messages", field, self.messages)
        self.gives_way = self.messages
        themes.changed.connect(self._fit_all)
        self._fit_all()
        self.ok.setFocus()

    def _fit_all(self) -> None:
        fit_lines(self.messages, _SUMMARY_LINES, self._themes)
        self.fit_page()

    @override
    def finish(self) -> None:
        self.accept()
        self.chosen.emit()
