"""Editor of an SQL query: monospaced text, completion and a wavy underline at errors."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QTextEdit, QWidget
from typing_extensions import override

from inspector.base.utf16 import Utf16Offsets
from inspector.engine.requests.queries import Candidate, CompleteQuery, Completion
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_completions import FilterCompletions
from inspector.ui.widgets.frames import frame_of
from inspector.ui.widgets.latest_answer import Client, Pending

PLACEHOLDER = "SELECT tool, count(*) AS calls, count(failed) AS failed FROM tool_calls GROUP BY tool"
"""Text of the empty editor."""
_GAP = 2
_MIN_HEIGHT = 24
"""Minimum height in a low window, pixels. Qt's default reserves room for the arrows of a scroll bar."""


class SqlEditor(QPlainTextEdit):
    """An editor of a query.

    Signals:
        run_asked: Ctrl+Enter was pressed.
        left: Esc was pressed.
    """

    run_asked = Signal()
    left = Signal()

    def __init__(self, client: Client, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._client, self._themes = client, themes
        self._completion: Completion | None = None
        self._pending: Pending | None = None
        self.setObjectName("queryEditor")
        self.setAccessibleName("Query in SQL")
        self.setPlaceholderText(PLACEHOLDER)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # Tab leaves the editor; otherwise the keyboard could not.
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(_MIN_HEIGHT)
        self.candidates = FilterCompletions(themes, self)
        self.candidates.picked.connect(self._insert_candidate)
        self.textChanged.connect(self._on_text_changed)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def text(self) -> str:
        return self.toPlainText()

    def set_text(self, text: str) -> None:
        """Replaces the text; can be undone."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.setTextCursor(cursor)
        self.candidates.hide()

    def mark_trouble(self, trouble: tuple[int, int] | None) -> None:
        """Underlines an error, given as position and length in characters; None removes the underline."""
        if trouble is None:
            self.setExtraSelections([])
            return
        place, length = trouble
        selection = QTextEdit.ExtraSelection()
        cursor = self.textCursor()
        start, stop = map(Utf16Offsets(self.text()).units, (place, place + max(1, length)))
        last = self.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(stop, last), QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        form = QTextCharFormat()
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        form.setUnderlineColor(self._themes.theme.color("severity.error"))
        selection.format = form  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        self.setExtraSelections([selection])

    # Completion

    def offer(self) -> None:
        """Asks for completions at the cursor, and shows them."""
        text = self.text()
        question = CompleteQuery(text, Utf16Offsets(text).place(self.textCursor().position()))
        self._cancel_completion()
        self._pending = self._client.send_request(question, self._show_completion)

    def _hide_completion(self) -> None:
        self._cancel_completion()
        self.candidates.hide()

    def _cancel_completion(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None

    def _on_text_changed(self) -> None:
        self.mark_trouble(None)
        # Its range is that of an earlier text.
        self._completion = None
        self._cancel_completion()

    def _show_completion(self, completion: Completion) -> None:
        self._completion = completion
        cursor = self.cursorRect()
        self.candidates.show_completion(self._completion, cursor.left())
        # at the bottom of the window only the space above the cursor may be large enough
        if self.candidates.isVisible():
            window, least = frame_of(self), self.candidates.height()
            below = self.viewport().mapTo(window, cursor.bottomLeft()).y() + _GAP
            above = self.viewport().mapTo(window, cursor.topLeft()).y() - _GAP - least
            top = below if below + least <= window.height() or above < 0 else above
            self.candidates.move(self.candidates.x(), top)

    def _insert_candidate(self, candidate: Candidate) -> None:
        offered = self._completion
        if offered is None:
            return
        start, stop = map(Utf16Offsets(self.text()).units, (offered.start, offered.stop))
        cursor = self.textCursor()
        cursor.setPosition(start)
        cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(candidate.text)
        self.setTextCursor(cursor)
        self.candidates.hide()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, control = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
            self._hide_completion()
            self.run_asked.emit()
            return
        if key == Qt.Key.Key_Space and control:
            self.offer()
            return
        current = self.candidates.current()
        if current is not None:
            if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self.candidates.step(1 if key == Qt.Key.Key_Down else -1)
                return
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.candidates.chosen:
                self._insert_candidate(current)
                return
            if key == Qt.Key.Key_Escape:
                self._hide_completion()
                return
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)
        # Completion follows typed characters only, not cursor keys.
        if event.text().isprintable() and event.text() and not control:
            self.offer()
        elif key not in (Qt.Key.Key_Shift, Qt.Key.Key_Control):
            self._hide_completion()

    @override
    def focusNextPrevChild(self, next: bool) -> bool:
        """Lets Tab insert the current completion while the list is visible."""
        current = self.candidates.current()
        if next and current is not None:
            self._insert_candidate(current)
            return True
        return super().focusNextPrevChild(next)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._hide_completion()

    @override
    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText() and not source.hasUrls()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.setFont(theme.font("mono-row"))
        self.document().setDocumentMargin(theme.metrics.pane_padding)
