"""The line below a conversation: who speaks, and what is said."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPlainTextEdit, QWidget
from typing_extensions import override

from inspector.present.wire_text import plain
from inspector.ui.look.theme import ThemeController

ROLES = ("user", "assistant", "system", "tool")
"""Roles that are always offered; those seen in the document come after them."""
PLACEHOLDER = "Add a message"
_MOST_LINES = 6
_MOST_ROLES = 20


class MessageInput(QWidget):
    """Adds messages.

    Signals:
        added(str, str): a role, and what it says.
        left(): Esc was pressed.

    Attributes:
        role: who speaks.
        text: what is said.
    """

    added = Signal(str, str)
    left = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._reason = ""
        self.setObjectName("messageInput")
        self.setAccessibleName("New message")
        self.role = QComboBox(self)
        self.role.setObjectName("messageRole")
        self.role.setAccessibleName("Role")
        self.role.setToolTip("Who says it")
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("messageText")
        self.text.setAccessibleName("Message")
        self.text.setAccessibleDescription("Enter adds it, Shift+Enter begins a new line")
        self.text.setProperty("variant", "field")
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText(PLACEHOLDER)
        self.text.setToolTip("Enter adds it, Shift+Enter begins a new line")
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.installEventFilter(self)
        self.text.textChanged.connect(self._fit)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.role, 0, Qt.AlignmentFlag.AlignBottom)
        self._row.addWidget(self.text, 1)
        self.setFocusProxy(self.text)
        self.offer_roles(())
        themes.changed.connect(self._fit)
        self._fit()

    def offer_roles(self, seen: Sequence[str]) -> None:
        """Offer roles that are in use beside the usual ones; the one chosen stays."""
        offered = list(dict.fromkeys((*ROLES, *seen)))[:_MOST_ROLES]
        if offered == [self.role.itemData(place) for place in range(self.role.count())]:
            return
        chosen = self.role.currentData()
        self.role.clear()
        for role in offered:
            self.role.addItem(plain(role, 40), role)
        self.role.setCurrentIndex(max(0, self.role.findData(chosen)))

    def set_reason(self, reason: str) -> None:
        """Say why nothing can be added; "" where something can."""
        if reason == self._reason:
            return
        self._reason = reason
        self.text.setPlaceholderText(reason or PLACEHOLDER)
        for widget in (self.role, self.text):
            widget.setEnabled(not reason)
        self.role.setVisible(not reason)
        self.setAccessibleDescription(reason)
        self.text.setToolTip(reason or "Enter adds it, Shift+Enter begins a new line")
        self._fit()

    @property
    def reason(self) -> str:
        """Why nothing can be added; "" where something can."""
        return self._reason

    def add(self) -> None:
        """Add what was written, unless that is nothing."""
        words = self.text.toPlainText().strip("\n")
        if words.strip() and not self._reason:
            self.added.emit(str(self.role.currentData()), words)

    def clear(self) -> None:
        """It was added."""
        self.text.clear()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.text and event.type() == QEvent.Type.Resize and self._reason:
            self._fit()
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            document = self.text.document()
            undo, redo = (event.matches(key) for key in (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo))
            if (undo and not document.isUndoAvailable()) or (redo and not document.isRedoAvailable()):
                event.ignore()  # nothing of this line: it is about what was done to the sessions
                return True
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if modifiers:  # Qt's own writes a separator of lines, not their end
                    self.text.insertPlainText("\n")
                else:
                    self.add()
                return True
            if event.key() == Qt.Key.Key_Escape and not modifiers:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        """As high as what is written, within bounds."""
        theme = self._themes.theme
        self.text.setFont(theme.font("body"))
        metrics = self.text.fontMetrics()
        edge = theme.metrics.control - metrics.lineSpacing()
        self.text.document().setDocumentMargin(max(1, (edge - 2) / 2))
        lines = min(_MOST_LINES, max(1, round(self.text.document().size().height())))
        if self._reason:  # it stands where the text would, and is not cut
            room = QRect(0, 0, self.text.viewport().width() - 2 * int(self.text.document().documentMargin()), 0)
            wanted = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap.value, self._reason).height()
            lines = max(lines, min(_MOST_LINES, -(-wanted // metrics.lineSpacing())))
        self.text.setFixedHeight(lines * metrics.lineSpacing() + edge)
        several = (
            Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines >= _MOST_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.text.setVerticalScrollBarPolicy(several)
        side, above = theme.metrics.pane_padding, round(9 * theme.zoom)
        self._row.setContentsMargins(side, above + 1, side, above)
        self._row.setSpacing(theme.metrics.section_gap)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._themes.theme.color("surface.base"))
        painter.fillRect(0, 0, self.width(), 1, self._themes.theme.color("line.hair"))
