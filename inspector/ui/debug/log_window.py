"""Help > Log: window that follows the program's log file. Secrets were masked when it was written."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.base.paths import log_folder
from inspector.diagnostics import program_log
from inspector.present.wire_text import visible_controls
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import TextLabel

_POLL_MS = 500
_MAX_LINES = 5_000
_WIDTH, _HEIGHT = 860, 520
_LEVELS = (
    ("Everything", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")),
    ("Warnings and errors", ("WARNING", "ERROR", "CRITICAL")),
    ("Errors", ("ERROR", "CRITICAL")),
)
_HEAD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ([A-Z]+) ")
_NOTHING = "The log is empty."
_NO_FILE = "No log is written in this session."


def lines_of(lines: list[str], levels: tuple[str, ...]) -> list[str]:
    """Returns the lines of some levels; indented lines belong to the line before them."""
    chosen: list[str] = []
    taken = True
    for line in lines:
        head = _HEAD.match(line)
        if head is not None:
            taken = head[1] in levels
        if taken:
            chosen.append(line)
    return chosen


class LogWindow(QWidget):
    """A window that follows the log."""

    def __init__(
        self, theme_controller: ThemeController, log: program_log.LogFile | None, parent: QWidget | None = None
    ) -> None:
        """Makes the window; `show()` shows it.

        Args:
            theme_controller: source of the look.
            log: the log file, or None.
            parent: owner.
        """
        super().__init__(parent, Qt.WindowType.Window)
        self._themes = theme_controller
        self._log = log
        self._seen: tuple[int, int] | None = None
        self.setObjectName("logWindow")
        self.setWindowTitle("Log")
        self.setAccessibleName("Log of the program")
        self.setProperty("variant", "chrome")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._build_head())
        self.view = QPlainTextEdit(self)
        self.view.setObjectName("logView")
        self.view.setAccessibleName("Log")
        self.view.setProperty("variant", "field")
        self.view.setReadOnly(True)
        self.view.setTabChangesFocus(True)
        self.view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._column.addWidget(self.view, 1)
        self._column.addLayout(self._build_foot())
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        zoom = theme_controller.theme.zoom
        self.resize(round(_WIDTH * zoom), round(_HEIGHT * zoom))
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._read_log)
        self._timer.start()
        self._read_log()
        self.field.setFocus()

    @property
    def path(self) -> Path | None:
        return self._log.path if self._log is not None else None

    def _build_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.field = QLineEdit(self)
        self.field.setObjectName("logFind")
        self.field.setAccessibleName("Find in the log")
        self.field.setPlaceholderText("Find in the log")
        self.field.setProperty("variant", "search")
        self.field.textChanged.connect(self._on_written)
        self.field.returnPressed.connect(partial(self.find_text, 1))
        row.addWidget(self.field, 1)
        for icon, words, step in (("up", "Previous hit (Shift+F3)", -1), ("down", "Next hit (F3)", 1)):
            button = IconButton(self._themes, icon, words, name=f"logFind_{icon}", variant="small", parent=self)
            button.clicked.connect(partial(self.find_text, step))
            row.addWidget(button)
        self._found = TextLabel(variant="small", name="logFound", parent=self)
        self._found.setAccessibleName("Found")
        row.addWidget(self._found)
        self.levels = QComboBox(self)
        self.levels.setObjectName("logLevels")
        self.levels.setAccessibleName("Levels shown")
        self.levels.addItems([words for words, _ in _LEVELS])
        self.levels.currentIndexChanged.connect(self._reread_log)
        row.addWidget(self.levels)
        return row

    def _build_foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.follow = QCheckBox("&Follow", self)
        self.follow.setObjectName("logFollow")
        self.follow.setToolTip("Scroll to new lines")
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._reread_log)
        row.addWidget(self.follow)
        self._status = TextLabel(variant="small", name="logStatus", parent=self)
        self._status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(self._status, 1)
        for name, words, act in (
            ("logCopy", "&Copy", self.copy), ("logFolder", "&Open folder", self._open_folder),
            ("logClose", "Close", self.close),
        ):  # fmt: skip
            button = QPushButton(words, self)
            button.setObjectName(name)
            button.clicked.connect(act)
            row.addWidget(button)
        return row

    # Content

    def _reread_log(self, *_chosen: object) -> None:
        self._seen = None
        self._read_log()

    def _read_log(self) -> None:
        """Reads the end of the file, if it has changed."""
        path = self.path
        try:
            status = path.stat() if path is not None else None
        except OSError:
            status = None
        seen = (status.st_size, status.st_mtime_ns) if status is not None else (-1, -1)
        if seen == self._seen:
            return
        self._seen = seen
        lines = lines_of(program_log.last_lines(path, _MAX_LINES), _LEVELS[self.levels.currentIndex()][1])
        self._show(visible_controls("\n".join(lines)))
        self._status.setText(str(path) if path is not None else "")
        self.view.setPlaceholderText(_NO_FILE if self._log is None else _NOTHING)

    def _show(self, text: str) -> None:
        """Shows lines; without Follow, scroll position and selection are kept."""
        before = self.view.toPlainText()
        if text == before:
            self._follow_end()
            return
        if before and text.startswith(before) and not self.view.document().isEmpty():
            # Append only the new lines: setting all text would lose selection and scroll position.
            end = QTextCursor(self.view.document())
            end.movePosition(QTextCursor.MoveOperation.End)
            end.insertText(text[len(before) :])
        else:
            place = self.view.verticalScrollBar().value()
            self.view.setPlainText(text)
            self.view.verticalScrollBar().setValue(place)
        self._follow_end()

    def _follow_end(self) -> None:
        if self.follow.isChecked():
            bar = self.view.verticalScrollBar()
            bar.setValue(bar.maximum())

    # Find

    def _on_written(self, *_text: object) -> None:
        cursor = self.view.textCursor()
        cursor.setPosition(cursor.selectionStart())
        self.view.setTextCursor(cursor)
        self.find_text(1)

    def find_text(self, step: int, *_pressed: object) -> None:
        """Goes to the next or previous hit, wrapping at the ends."""
        text = self.field.text()
        if not text:
            self._found.setText("")
            return
        flags = QTextDocument.FindFlag.FindBackward if step < 0 else QTextDocument.FindFlag(0)
        found = self.view.find(text, flags)
        # Qt's search does not wrap around.
        if not found:
            cursor = self.view.textCursor()
            before = QTextCursor(cursor)
            cursor.movePosition(QTextCursor.MoveOperation.End if step < 0 else QTextCursor.MoveOperation.Start)
            self.view.setTextCursor(cursor)
            found = self.view.find(text, flags)
            if not found:
                self.view.setTextCursor(before)
        if found:  # else the next line would scroll it away
            self.follow.setChecked(False)
        self._found.setText("" if found else "Not found")

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_F3:
                self.find_text(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            case Qt.Key.Key_Escape:
                self.close()
            case _:
                super().keyPressEvent(event)

    # Copy and folder

    def copy(self) -> None:
        """Copies the selection, or all visible lines."""
        # Qt separates the lines of a selection by U+2029.
        selected = self.view.textCursor().selectedText().replace("\u2029", "\n")
        QApplication.clipboard().setText(selected or self.view.toPlainText())
        self._status.setText("Selected lines copied." if selected else "Visible lines copied.")

    def _open_folder(self) -> None:
        folder = log_folder()
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._status.setText(f"No program can open folders. The log is in {folder}.")

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        side = round(12 * theme.zoom)
        self._column.setContentsMargins(side, side, side, side)
        self._column.setSpacing(round(10 * theme.zoom))
        self.view.setFont(theme.font("mono-row"))
