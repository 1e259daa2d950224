"""Shows the content of a result as a table, block by block, formatted, as text or as JSON."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.present import formats
from inspector.present.pages.content import FORMATTED, TEXT
from inspector.present.pages.parts import ContentPart
from inspector.protocol.payloads.record_tables import Table
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.blocks_view import BlocksView
from inspector.ui.panels.details.content_table import FIRST_ROWS, ContentTable
from inspector.ui.panels.details.links import Links
from inspector.ui.panels.details.section import LinkText, Segments
from inspector.ui.panels.details.text_block import TextBlock


class ContentView(QWidget):
    """Switches between Table, Blocks, Text, Formatted and JSON of a result.

    `segments` goes into the section's head if there are several views. The choice between Formatted and Text applies to
    all messages.
    """

    def __init__(
        self, themes: ThemeController, part: ContentPart, links: Links, parent: QWidget | None = None
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setObjectName("content")
        self.setAccessibleName("Content")
        self._themes = themes
        self._part = part
        self._pictures = links.pictures
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._body: QWidget | None = None
        choices = _in_order(part.views, formatted=links.formatted)
        self.segments: Segments | None = None
        if len(choices) > 1:
            self.segments = Segments(themes, choices, "contentAs", "Show content as")
            self.segments.chosen.connect(self.show_as)
            self.segments.choose(choices[0])
            _remember_clicks(self.segments, links)
        else:
            self.show_as(choices[0])

    def show_as(self, choice: str) -> None:
        """Shows a view of the content, by its name."""
        old = self._body
        self._body = self._make_body(choice)
        self._layout.addWidget(self._body)
        if old is not None:
            self._layout.removeWidget(old)
            # Hidden, since it is deleted only when the event loop runs again.
            old.hide()
            old.deleteLater()

    def _make_body(self, choice: str) -> QWidget:
        part, themes = self._part, self._themes
        if choice == "Table" and part.table is not None:
            return TableBody(themes, part.table, self)
        if choice == "JSON":
            return TextBlock(themes, part.json, name="contentJson", label="Content as JSON", mono=True, parent=self)
        if choice == "Blocks" and part.blocks is not None:
            return BlocksView(themes, part.blocks, self._pictures, parent=self)
        markdown = choice == FORMATTED
        return TextBlock(
            themes, part.text, name="contentText", label="Content as text", mono=part.mono and not markdown,
            markdown=markdown, parent=self,
        )  # fmt: skip


def _remember_clicks(segments: Segments, links: Links) -> None:
    for choice, button in segments.buttons.items():
        button.clicked.connect(lambda *_on, choice=choice: links.remember_choice(choice))


def _in_order(views: list[str], *, formatted: bool) -> list[str]:
    """Returns the names of views, the default first; `formatted` prefers formatted Markdown to plain.

    Output of tools has the plain text first in any case.
    """
    if formatted or FORMATTED not in views or TEXT not in views or views.index(TEXT) < views.index(FORMATTED):
        return views
    return [{FORMATTED: TEXT, TEXT: FORMATTED}.get(name, name) for name in views]


class MarkdownText(QWidget):
    """Markdown text, formatted or as written; `segments` goes into the section's head."""

    def __init__(
        self, themes: ThemeController, text: str, links: Links, *, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName("saidView")
        self.setAccessibleName("Text")
        self._themes = themes
        self._text = text
        self._body: TextBlock | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.segments = Segments(themes, (FORMATTED, TEXT), "textAs", "Show the text")
        self.segments.chosen.connect(self.show_as)
        self.segments.choose(FORMATTED if links.formatted else TEXT)
        _remember_clicks(self.segments, links)

    def show_as(self, choice: str) -> None:
        """Shows the text as "Formatted" or "Text"."""
        old = self._body
        self._body = TextBlock(
            self._themes, self._text, name=self._name, label="Text", markdown=choice == FORMATTED, parent=self
        )
        self._layout.addWidget(self._body)
        if old is not None:
            self._layout.removeWidget(old)
            # Hidden, since it is deleted only when the event loop runs again.
            old.hide()
            old.deleteLater()


class TableBody(QWidget):
    """Table with a link to its further rows."""

    def __init__(self, themes: ThemeController, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self._view = ContentTable(themes, table, "content", self)
        layout.addWidget(self._view)
        self._row_count = len(table.rows)
        hidden = table.total - FIRST_ROWS
        if hidden <= 0:
            return
        words = f"{formats.number(hidden)} more {'record' if hidden == 1 else 'records'}"
        if table.total > self._row_count:
            words += f", at most {formats.number(self._row_count)} are shown"
        self._more = LinkText(themes, words, "contentTableMore", self)
        self._more.clicked.connect(self._on_more)
        layout.addWidget(self._more)

    def _on_more(self) -> None:
        self._view.content.show_rows(self._row_count)
        self._view.updateGeometry()
        self._more.hide()
