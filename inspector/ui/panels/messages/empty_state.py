"""Empty state of the message table: one line about the cause, one with actions (docs/design.md 16)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from inspector.present import formats, wire_text
from inspector.ui.widgets.buttons import LinkButton

_LINK_PADDING = 3
"""Horizontal padding of a link button, border included (style sheet), pixels."""


class EmptyState(QWidget):
    """Text and links of an empty table.

    Signals:
        clear_filter_requested: show everything in the scope.
        search_all_requested: drop filter and scope.
    """

    clear_filter_requested = Signal()
    search_all_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("messagesEmpty")
        self.setAccessibleName("No messages shown")
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._words = _label("messagesEmptyWords", self)
        self._clear = LinkButton("Clear the filter", name="clearFilterLink", parent=self)
        self._search = LinkButton("", name="searchAllLink", parent=self)
        self._clear.clicked.connect(self.clear_filter_requested)
        self._search.clicked.connect(self.search_all_requested)
        self._links = QWidget(self)
        self._links.setObjectName("messagesEmptyLinks")
        self._links.setAccessibleName("Actions")
        self._or = _label("messagesEmptyOr", self._links, ", or ")
        self._stop = _label("messagesEmptyStop", self._links, ".")
        self._clear.setParent(self._links)
        self._search.setParent(self._links)
        lines = QVBoxLayout(self)
        lines.setSpacing(6)
        lines.addStretch(2)
        lines.addWidget(self._words)
        lines.addWidget(self._links, 0, Qt.AlignmentFlag.AlignHCenter)
        lines.addStretch(3)

    @property
    def text(self) -> str:
        """The complete visible text."""
        words = self._words.text()
        if self._links.isHidden():
            return words
        return f"{words} {self._clear.label}{self._or.text()}{self._search.label}{self._stop.text()}"

    def _arrange(self) -> None:
        """Positions the links in their sentence; a layout would add the links' padding before the comma."""
        parts = (self._clear, self._or, self._search, self._stop)
        for part in parts:
            # Sizes are right only after the style sheet applies.
            part.ensurePolished()
            part.adjustSize()
        height = max(part.height() for part in parts)
        x = 0
        for part in parts:
            part.move(x, (height - part.height()) // 2)
            x += part.width() - _LINK_PADDING
        self._links.setFixedSize(x + _LINK_PADDING, height)

    def use_theme(self) -> None:
        """Applies changed fonts."""
        self._arrange()

    def show_no_match(self, messages: int, words: str = "No message matches this filter.") -> None:
        """Shows that filter and scope hide all messages, with links."""
        self._words.setText(words)
        self._search.set_label(f"search all {formats.count_of(messages, 'message')}")
        self._arrange()
        self._links.show()

    def show_silence(self, name: str, since_ns: int) -> None:
        """Shows that a live connection has had no traffic."""
        self._words.setText(
            f"Connected to {wire_text.safe_line(name, 80)}. No messages since {formats.clock(since_ns)}."
        )
        self._links.hide()

    def show_words(self, words: str) -> None:
        """Shows another text in one line."""
        self._words.setText(words)
        self._links.hide()


def _label(name: str, parent: QWidget, text: str = "") -> QLabel:
    label = QLabel(text, parent)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    label.setProperty("variant", "secondary")
    return label
