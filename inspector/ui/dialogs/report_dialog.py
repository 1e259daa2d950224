"""Error report dialog: the user reads, copies or saves a report. The program sends none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.diagnostics.crash_report import ReportChoices
from inspector.present.wire_text import visible_controls
from inspector.ui.dialogs.base_dialog import Dialog, WordsRow
from inspector.ui.dialogs.questions import open_once
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel

CLOSED = "closed"
"""Answer of a closed dialog."""

_WIDTH, _HEIGHT = 680, 560
_CHOICES = (
    ("file_names", "Include file &names"),
    ("error_words", "Include error &messages, which may quote open documents"),
    ("log_lines", "Include the &last lines of the program's log"),
)
_NOT_SENT_TEXT = "The program sends no data. Copy or save the report to share it."


class ReportDialog(Dialog):
    """Shows a summary, the choice of content, the report, and buttons.

    Signals:
        answered(str): id of the pressed button, or CLOSED for a closed dialog; emitted once.
    """

    answered = Signal(str)

    def __init__(
        self,
        theme_controller: ThemeController,
        title: str,
        text: str,
        compose: Callable[[ReportChoices], str],
        *,
        answers: Sequence[tuple[str, str]],
        file_name: str = "context-inspector-report.txt",
        parent: QWidget | None = None,
    ) -> None:
        """Creates the dialog; `open()` shows it.

        Args:
            theme_controller: gives the look.
            title: a few words; also the window title.
            text: plain text of the summary.
            compose: returns the report.
            answers: ids and texts of the buttons at the right; the last one is the default.
            file_name: default name of the saved file.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="reportDialog", title=title, parent=parent)
        self._compose = compose
        self._file_name = file_name
        # closing the dialog has an answer of its own
        self._answer = CLOSED
        self.setAccessibleDescription(text)
        self._page = QVBoxLayout(self)
        row = WordsRow(theme_controller, "error", "severity.error", title, text, name="report", parent=self)
        self._text = row.text
        self._page.addLayout(row)
        self._build_report()
        self._build_buttons(answers)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.take_size(_WIDTH, _HEIGHT)
        self.refresh()

    def _build_report(self) -> None:
        self.report = QPlainTextEdit(self)
        self.report.setObjectName("reportView")
        self.report.setAccessibleName("Report")
        self.report.setProperty("variant", "field")
        self.report.setReadOnly(True)
        self.report.setTabChangesFocus(True)
        self.report.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._page.addWidget(self.report, 1)
        self._boxes: dict[str, QCheckBox] = {}
        boxes = QVBoxLayout()
        boxes.setSpacing(4)
        for name, words in _CHOICES:
            box = QCheckBox(words, self)
            box.setObjectName(f"reportChoice_{name}")
            box.setAccessibleName(words.replace("&", ""))
            box.toggled.connect(self.refresh)
            self._boxes[name] = box
            boxes.addWidget(box)
        self._page.addLayout(boxes)
        self._status = TextLabel(_NOT_SENT_TEXT, variant="secondary", name="reportStatus", wrap=True, parent=self)
        self._page.addWidget(self._status)

    def _build_buttons(self, answers: Sequence[tuple[str, str]]) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        for name, words, act in (("Copy", "&Copy", self.copy), ("Save", "&Save...", self._ask_for_file)):
            button = WordButton(words, name=f"report{name}", parent=self)
            button.clicked.connect(act)
            row.addWidget(button)
        row.addStretch(1)
        for answer, words in answers:
            button = WordButton(words, name=f"reportAnswer_{answer}", parent=self)
            button.setProperty("answer", answer)
            button.clicked.connect(self._on_answered)
            row.addWidget(button)
            if answer == answers[-1][0]:
                button.setDefault(True)
                button.setFocus()
        self._page.addLayout(row)

    @property
    def choices(self) -> ReportChoices:
        return ReportChoices(**{name: box.isChecked() for name, box in self._boxes.items()})

    def set_summary(self, text: str) -> None:
        """Replaces the summary."""
        if text != self._text.text():
            self._text.setText(text)
            self.setAccessibleDescription(text)

    def refresh(self, *_on: object) -> None:
        """Composes the report again and keeps the scroll position."""
        text = visible_controls(self._compose(self.choices))
        if text != self.report.toPlainText():
            bar = self.report.verticalScrollBar()
            place = bar.value()
            self.report.setPlainText(text)
            bar.setValue(min(place, bar.maximum()))

    def copy(self) -> None:
        QApplication.clipboard().setText(self.report.toPlainText())
        self._status.setText("Report copied.")

    def _ask_for_file(self) -> None:
        dialog = QFileDialog(self, "Save report", self._file_name, "Text (*.txt);;All files (*)")
        dialog.setObjectName("saveReportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("txt")
        dialog.fileSelected.connect(lambda path: self.save(Path(path)))
        open_once(dialog)

    def save(self, path: Path) -> None:
        """Writes the report to a file and shows the result."""
        try:
            path.write_text(self.report.toPlainText(), encoding="utf-8")
        except OSError as error:
            self._status.setText(f"The report could not be saved as {path}: {error.strerror or error}.")
        else:
            self._status.setText(f"Report saved as {path}.")

    def _on_answered(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            self._answer = str(button.property("answer"))
            self.accept()

    @override
    def done(self, result: int) -> None:
        super().done(result)
        self.answered.emit(self._answer)

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.take_margins(self._page)
        self._page.setSpacing(round(12 * theme.zoom))
        self.report.setFont(theme.font("mono"))
