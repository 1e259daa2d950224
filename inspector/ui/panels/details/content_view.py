"""What a result holds: as a table, as text, as JSON, one of them at a time."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.protocol.payloads.content import Content
from inspector.protocol.payloads.tables import Table
from inspector.ui import formats
from inspector.ui.panels.details.content_table import FIRST_ROWS, ContentTable
from inspector.ui.panels.details.section import LinkText, Segments
from inspector.ui.panels.details.text_block import TextBlock
from inspector.ui.theme import ThemeController


class ContentView(QWidget):
    """Table, Text and JSON of a result; `segments` goes into the section's head when there is a choice."""

    def __init__(self, themes: ThemeController, content: Content, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("content")
        self.setAccessibleName("Content")
        self._themes = themes
        self._content = content
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._body: QWidget | None = None
        choices = [
            name
            for name, there in (
                ("Table", content.table is not None),
                ("Text", bool(content.text) or bool(content.others)),
                ("JSON", content.value is not None),
            )
            if there
        ]
        self.segments: Segments | None = None
        if len(choices) > 1:
            self.segments = Segments(themes, choices, "contentAs", "Show content as")
            self.segments.chosen.connect(self.show_as)
            self.segments.choose(choices[0])
        elif choices:
            self.show_as(choices[0])
        else:
            self.show_as("Text")

    def show_as(self, choice: str) -> None:
        """Show the content as Table, Text or JSON."""
        old = self._body
        self._body = self._made(choice)
        self._layout.addWidget(self._body)
        if old is not None:
            self._layout.removeWidget(old)
            old.hide()
            old.deleteLater()

    def _made(self, choice: str) -> QWidget:
        content = self._content
        if choice == "Table" and content.table is not None:
            return _TableBody(self._themes, content.table, self)
        if choice == "JSON":
            return TextBlock(
                self._themes, content.json or "", name="contentJson", label="Content as JSON", mono=True, parent=self
            )
        text = "\n".join(filter(None, (content.text, *content.others, content.elided))) or "Nothing."
        mono = content.value is not None
        return TextBlock(self._themes, text, name="contentText", label="Content as text", mono=mono, parent=self)


class _TableBody(QWidget):
    def __init__(self, themes: ThemeController, table: Table, parent: QWidget) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self._view = ContentTable(themes, table, "contentTable", self)
        layout.addWidget(self._view)
        self._held = len(table.rows)
        hidden = table.total - FIRST_ROWS
        if hidden <= 0:
            return
        words = f"{formats.number(hidden)} more {'record' if hidden == 1 else 'records'}"
        if table.total > self._held:
            words += f", {formats.number(self._held)} are shown at most"
        self._more = LinkText(themes, words, "contentTableMore", self)
        self._more.clicked.connect(self._on_more)
        layout.addWidget(self._more)

    def _on_more(self) -> None:
        self._view.content.show_rows(self._held)
        self._view.updateGeometry()
        self._more.hide()
