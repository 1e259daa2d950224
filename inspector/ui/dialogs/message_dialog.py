"""Message dialogs: information or a question with a few answers. They answer with a signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.dialogs.base_dialog import FittedDialog, WordsRow
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton

Severity = Literal["note", "warning", "error", "question"]
"""Kind of the icon."""

_ICONS: dict[Severity, tuple[str, str]] = {
    "note": ("note", "severity.note"),
    "warning": ("warning", "severity.warning"),
    "error": ("error", "severity.error"),
    "question": ("ri.question-line", "accent.text"),
}

CANCEL = "cancel"
"""Answer of a closed dialog."""

OK = "ok"
"""Answer of a dialog that only informs."""


class MessageDialog(FittedDialog):
    """A title, a text, optional details and buttons. The last button is the default.

    Signals:
        answered(str): id of the pressed button, or CANCEL for a closed dialog; emitted once.
    """

    answered = Signal(str)

    def __init__(
        self,
        theme_controller: ThemeController,
        title: str,
        text: str,
        *,
        answers: Sequence[tuple[str, str]] = ((OK, "OK"),),
        severity: Severity = "note",
        details: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Creates a dialog; `open()` shows it.

        Args:
            theme_controller: gives the look.
            title: a few words; also the window title.
            text: plain text, one or two sentences.
            answers: ids and texts of the buttons, left to right; the last one is the default.
            severity: selects the icon.
            details: long text that can be selected and copied.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(
            theme_controller, name="messageDialog", title=title, width=560 if details else 420, parent=parent
        )
        # closing the dialog counts as Cancel
        self._answer = CANCEL
        self.setAccessibleDescription(text)
        self._page = QVBoxLayout(self)
        icon, token = _ICONS[severity]
        self._page.addLayout(WordsRow(theme_controller, icon, token, title, text, name="message", parent=self))
        self._details = QPlainTextEdit(details, self)
        self._details.setObjectName("messageDetails")
        self._details.setAccessibleName("Details")
        self._details.setProperty("variant", "field")
        self._details.setReadOnly(True)
        self._details.setTabChangesFocus(True)
        self._details.setVisible(bool(details))
        self._page.addWidget(self._details)
        self._build_buttons(answers)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _build_buttons(self, answers: Sequence[tuple[str, str]]) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 6, 0, 0)
        row.setSpacing(12)
        row.addStretch(1)
        self._buttons: dict[str, QPushButton] = {}
        for answer, words in answers:
            # A single `&` would mark the next letter as a shortcut.
            button = WordButton(words.replace("&", "&&"), name=f"messageAnswer_{answer}", parent=self)
            button.setProperty("answer", answer)
            button.clicked.connect(self._on_clicked)
            self._buttons[answer] = button
            row.addWidget(button)
        last = self._buttons[answers[-1][0]]
        last.setDefault(True)
        last.setFocus()
        self._page.addLayout(row)

    @classmethod
    def show_message(
        cls,
        parent: QWidget,
        theme_controller: ThemeController,
        title: str,
        text: str,
        *,
        severity: Severity = "note",
        details: str = "",
    ) -> MessageDialog:
        """Opens an information dialog that deletes itself when it closes."""
        dialog = cls(theme_controller, title, text, severity=severity, details=details, parent=parent)
        dialog.open()
        return dialog

    @classmethod
    def show_question(
        cls, parent: QWidget, theme_controller: ThemeController, title: str, text: str,
        answers: Sequence[tuple[str, str]],
    ) -> MessageDialog:  # fmt: skip
        """Opens a question and returns its dialog; `answered` reports the answer. CANCEL is the id of Cancel."""
        dialog = cls(theme_controller, title, text, answers=answers, severity="question", parent=parent)
        dialog.open()
        return dialog

    def _on_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            self._answer = str(button.property("answer"))
            self.accept()

    @override
    def done(self, result: int) -> None:
        super().done(result)
        self.answered.emit(self._answer)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self.take_margins(self._page)
        self._page.setSpacing(round(14 * zoom))
        self._details.setFixedHeight(round(200 * zoom))
        self.fit()
