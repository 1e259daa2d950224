"""Dialog that edits the declaration of a format beside the rows that it gives."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPlainTextEdit,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from inspector.formats.declared.declaration import Fault
from inspector.present.format_trials import DeclarationPreview
from inspector.present.wire_text import visible_controls
from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel

_WIDTH, _HEIGHT = 1120, 640
_MIN_WIDTH, _MIN_HEIGHT = 640, 440
_DEBOUNCE_MS = 300
_FAULT_LINES = 4
"""Height of the list of faults in lines."""
_NO_FAULTS = "The declaration has no faults."


class DeclareFormatDialog(Dialog):
    """Shows the declaration, its faults, and a preview that follows edits.

    Signals:
        edited(str): the text was changed and has not changed for a moment; also once when it is set.
        save_requested(str): the text to save.

    Attributes:
        editor: the declaration.
        faults: one row a fault; activating it moves the cursor there.
        preview: the first rows of the log.
    """

    edited = Signal(str)
    save_requested = Signal(str)

    def __init__(self, themes: ThemeController, log_name: str, parent: QWidget | None) -> None:
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            log_name: name of the log.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(themes, name="declareFormatDialog", title="Declare a format", parent=parent)
        self._faults: tuple[Fault, ...] = ()
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(_DEBOUNCE_MS)
        self._debounce.timeout.connect(self._emit_edited)
        self._page = QVBoxLayout(self)
        self._heading = TextLabel("Declare a format", variant="title", name="declareFormatTitle", parent=self)
        self._page.addWidget(self._heading)
        self.editor = self._make_text("declareFormatEditor", "Declaration")
        self.editor.setPlaceholderText("Reading the log...")
        self.editor.textChanged.connect(self._on_text_changed)
        self.faults = QListWidget(self)
        self.faults.setObjectName("declareFormatFaults")
        self.faults.setAccessibleName("Faults")
        self.faults.setFrameShape(QListWidget.Shape.NoFrame)
        self.faults.setWordWrap(True)
        self.faults.setSpacing(2)  # between faults of several lines
        self.faults.itemClicked.connect(lambda _item: self._show_fault(self.faults.currentRow()))
        self.faults.itemActivated.connect(lambda _item: self._show_fault(self.faults.currentRow()))
        self._frame = ListFrame("declareFormatFaultFrame", self)
        self._frame.lines.setContentsMargins(8, 4, 1, 4)  # level with the text above
        self._frame.lines.addWidget(self.faults)
        self.preview = self._make_text("declareFormatPreview", f"First rows of {log_name}")
        self.preview.setReadOnly(True)
        self._columns = QHBoxLayout()
        # A single `&` would mark the next letter as a shortcut.
        titles = "De&claration", f"&First rows of {log_name.replace('&', '&&')}"
        self._columns.addWidget(self._column(titles[0], self.editor, self._frame), 1)
        self._columns.addWidget(self._column(titles[1], self.preview), 1)
        self._page.addLayout(self._columns, 1)
        self._build_buttons()
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.take_size(_WIDTH, _HEIGHT)
        self._show_faults(())

    def _make_text(self, name: str, title: str) -> QPlainTextEdit:
        text = QPlainTextEdit(self)
        text.setObjectName(name)
        text.setAccessibleName(title)
        text.setProperty("variant", "field")
        # Tab leaves the editor; otherwise the keyboard could not.
        text.setTabChangesFocus(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        return text

    def _column(self, title: str, text: QPlainTextEdit, below: QWidget | None = None) -> QWidget:
        column = QWidget(self)
        lines = QVBoxLayout(column)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(6)
        label = QLabel(title, column)
        label.setBuddy(text)
        lines.addWidget(label)
        lines.addWidget(text, 1)
        if below is not None:
            lines.addWidget(below)
        return column

    def _build_buttons(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        self._status = TextLabel("", variant="secondary", name="declareFormatStatus", wrap=True, parent=self)
        row.addWidget(self._status, 1)
        self.cancel = WordButton("Cancel", name="declareFormatCancel", parent=self)
        self.cancel.clicked.connect(self.reject)
        self.save = WordButton("&Save", name="declareFormatSave", parent=self)
        self.save.setToolTip("Save the declaration in the settings folder, and open the log with it")
        self.save.clicked.connect(lambda: self.save_requested.emit(self.text))
        self.save.setDefault(True)
        self.save.setEnabled(False)
        saves = QShortcut(QKeySequence.StandardKey.Save, self)
        saves.activated.connect(self.save.click)
        row.addWidget(self.cancel)
        row.addWidget(self.save)
        self._page.addLayout(row)

    @property
    def text(self) -> str:
        return self.editor.toPlainText()

    def set_text(self, text: str) -> None:
        """Sets the first text, and emits `edited` without delay."""
        self.editor.setPlainText(text)
        self.editor.setFocus()
        self._debounce.stop()
        self._emit_edited()

    def show_preview(self, text: str, preview: DeclarationPreview) -> None:
        """Shows the result for a text; one that was edited meanwhile is skipped."""
        if text != self.text:
            return
        self._show_faults(preview.faults)
        self.save.setEnabled(not preview.faults)
        if preview.faults:  # the rows of the last valid text stay
            self._status.setText("Correct the faults to see the rows.")
            return
        self._status.setText(preview.sentence)
        bar = self.preview.verticalScrollBar()
        place = bar.value()
        self.preview.setPlainText(visible_controls("\n".join(preview.lines)))
        bar.setValue(min(place, bar.maximum()))

    def show_problem(self, sentence: str) -> None:
        """Shows a sentence about a failure beside the buttons."""
        self._status.setText(sentence)

    def _on_text_changed(self) -> None:
        self.editor.setExtraSelections([])
        self.save.setEnabled(False)
        self._debounce.start()

    def _emit_edited(self) -> None:
        self.edited.emit(self.text)

    def _show_faults(self, faults: Sequence[Fault]) -> None:
        self._faults = tuple(faults)
        self.faults.clear()
        self.faults.addItems([visible_controls(_fault_words(fault)) for fault in faults] or [_NO_FAULTS])
        self.editor.setExtraSelections([self._underline(fault) for fault in faults])

    def _underline(self, fault: Fault) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = self._cursor_at(fault)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        if not cursor.hasSelection():  # at the end of a line
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        form = QTextCharFormat()
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        form.setUnderlineColor(self._themes.theme.color("severity.error"))
        selection.format = form  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        return selection

    def _show_fault(self, row: int) -> None:
        """Moves the cursor to the place of a fault."""
        if 0 <= row < len(self._faults):
            self.editor.setTextCursor(self._cursor_at(self._faults[row]))
            self.editor.setFocus()

    def _cursor_at(self, fault: Fault) -> QTextCursor:
        block = self.editor.document().findBlockByNumber(fault.place.line - 1)
        line = block.text()
        # QTextCursor counts UTF-16 units, Python characters.
        column = len(line[: fault.place.column - 1].encode("utf-16-le", "surrogatepass")) // 2
        cursor = self.editor.textCursor()
        if block.isValid():
            cursor.setPosition(block.position() + column)
        else:
            cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.take_margins(self._page)
        self._page.setSpacing(round(12 * theme.zoom))
        self._columns.setSpacing(round(16 * theme.zoom))
        for text in (self.editor, self.preview):
            text.setFont(theme.font("mono"))
        least = QSize(round(_MIN_WIDTH * theme.zoom), round(_MIN_HEIGHT * theme.zoom))
        self.setMinimumSize(least.boundedTo(self.most_size()))
        # In line with the text of the editor.
        self._frame.lines.setContentsMargins(round(6 * theme.zoom), 4, 1, 4)
        self._frame.setFixedHeight(_FAULT_LINES * self.faults.fontMetrics().lineSpacing() + round(18 * theme.zoom))


def _fault_words(fault: Fault) -> str:
    reason = fault.reason[:1].upper() + fault.reason[1:] if fault.reason.startswith("no ") else fault.reason
    return f"Line {fault.place.line}, column {fault.place.column}: {reason}"
