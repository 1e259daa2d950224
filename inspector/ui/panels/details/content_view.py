"""Shows the content of a result as a table, block by block, formatted, as text or as JSON."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.present import formats
from inspector.protocol.payloads.record_tables import Table
from inspector.protocol.payloads.result_content import Content
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.blocks_view import BlocksView
from inspector.ui.panels.details.content_table import FIRST_ROWS, ContentTable
from inspector.ui.panels.details.page_builder import FORMATTED, TEXT, Links
from inspector.ui.panels.details.section import LinkText, Segments
from inspector.ui.panels.details.text_block import TextBlock


class ContentView(QWidget):
    """Switches between Table, Blocks, Text, Formatted and JSON of a result.

    `segments` goes into the section's head if there are several views. Blocks replaces Text if some blocks are not
    text. The choice between Formatted and Text applies to all messages.
    """

    def __init__(
        self, themes: ThemeController, content: Content, links: Links, table: Table | None = None,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Shows a content; `table` overrides the table found in its JSON."""
        super().__init__(parent)
        self.setObjectName("content")
        self.setAccessibleName("Content")
        self._themes = themes
        self._content = content
        self._pictures = links.pictures
        self._table = table or content.table
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._body: QWidget | None = None
        choices = choices_of(content, has_table=self._table is not None, formatted=links.formatted)
        self.segments: Segments | None = None
        if len(choices) > 1:
            self.segments = Segments(themes, choices, "contentAs", "Show content as")
            self.segments.chosen.connect(self.show_as)
            self.segments.choose(choices[0])
            _remember_clicks(self.segments, links)
        elif choices:
            self.show_as(choices[0])
        else:
            self.show_as("Text")

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
        content = self._content
        if choice == "Table" and self._table is not None:
            return TableBody(self._themes, self._table, self)
        if choice == "JSON":
            return TextBlock(
                self._themes, content.json or "", name="contentJson", label="Content as JSON", mono=True, parent=self
            )
        if choice == "Blocks":
            return BlocksView(self._themes, content.blocks, self._pictures, formatted=content.markdown, parent=self)
        text = "\n".join(filter(None, (content.text, *content.others, content.elided)))
        markdown = choice == "Formatted"
        mono = content.value is not None and content.structured is None and not markdown
        return TextBlock(
            self._themes, text or "An empty result.", name="contentText", label="Content as text",
            mono=mono, markdown=markdown, parent=self,
        )  # fmt: skip


def _remember_clicks(segments: Segments, links: Links) -> None:
    for choice, button in segments.buttons.items():
        button.clicked.connect(lambda *_on, choice=choice: links.remember_choice(choice))


def choices_of(content: Content, *, has_table: bool, formatted: bool) -> list[str]:
    """Returns the available views of a content, the default first.

    Args:
        content: the content shown.
        has_table: a table is available.
        formatted: formatted Markdown is preferred.
    """
    # Text alone would hide links and pictures.
    blocks = bool(content.others) or any(block.uri or block.audience for block in content.blocks)
    ways = (
        ("Table", has_table),
        ("Blocks", blocks and bool(content.blocks)),
        (FORMATTED, formatted and content.markdown and not blocks),
        (TEXT, (bool(content.text) and not blocks) or (bool(content.others) and not content.blocks)),
        (FORMATTED, not formatted and content.markdown and not blocks),
        ("JSON", content.value is not None),
    )
    return [name for name, there in ways if there]


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
            self._themes, self._text, name=self._name, label="Text", markdown=choice == "Formatted", parent=self
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
        self._view = ContentTable(themes, table, "contentTable", self)
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
