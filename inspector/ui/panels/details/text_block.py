"""Text block of a message: plain or Markdown, cut with a "Show all" link; asks before opening links.

Markdown is rendered if the message declares it, with HTML off. No resource is ever loaded, and a link opens only after
a question (docs/design.md 3).
"""

from __future__ import annotations

import re

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import (
    QFocusEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import mask_start, visible_controls
from inspector.protocol.payloads.markdown_text import with_edits_as_diffs
from inspector.ui.dialogs.link_question import ask_to_open
from inspector.ui.look.rendered_markdown import render_markdown
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import LinkText

FIRST_CHARACTERS = 2_400
"""Characters shown at first."""
FIRST_LINES = 30
ALL_CHARACTERS = 60_000
"""Most characters shown on request; Raw has the rest."""


class TextView(QTextBrowser):
    """Read-only text without a scroll bar."""

    def __init__(
        self, themes: ThemeController, name: str, label: str, *, mono: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._themes = themes
        self._mono = mono
        self._has_focus_ring = False
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # Links open only after a question (`ask_to_open`).
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        # A text that never changes needs no history of changes.
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        # Aligned with labels; Qt's margin is 4 pixels.
        self.document().setDocumentMargin(0)
        self._set_font()
        self.anchorClicked.connect(self._on_anchor_clicked)
        themes.changed.connect(self._set_font)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        by_keys = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
        self._has_focus_ring = event.reason() in by_keys
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._has_focus_ring = False
        self.viewport().update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a ring while the keyboard focus is inside: the text has no visible cursor."""
        super().paintEvent(event)
        if self._has_focus_ring:
            painter = QPainter(self.viewport())
            painter.setPen(self._themes.theme.color("accent.ring"))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))

    def show_plain(self, text: str) -> None:
        """Shows plain text with control characters visible."""
        self.setPlainText(visible_controls(text))
        self.updateGeometry()

    def show_markdown(self, text: str) -> None:
        """Shows Markdown; HTML in it stays text."""
        text = with_line_breaks(with_edits_as_diffs(text))
        # Control characters first: they could imitate markup or reverse the direction of text.
        render_markdown(self.document(), visible_controls(text), self._themes.theme)
        self.updateGeometry()

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:
        """Returns None: files and pictures named by a message are never loaded."""
        return None

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        document, shown = self.document(), self.document().textWidth()
        if shown != width:
            document.setTextWidth(width)
        height = round(document.size().height() + 0.5)
        if shown != width and shown == self.viewport().width():
            # Qt asks for other widths, too: restore the real one.
            document.setTextWidth(shown)
        return height

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 100)))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        # The page scrolls.
        event.ignore()

    def _set_font(self) -> None:
        theme = self._themes.theme
        font = theme.font("mono-row" if self._mono else "body")
        self.document().setDefaultFont(font)
        self.setFont(font)

    def _on_anchor_clicked(self, url: QUrl) -> None:
        ask_to_open(url, self)


class TextBlock(QWidget):
    """Text with a "Show all" link."""

    def __init__(
        self,
        themes: ThemeController,
        text: str,
        *,
        name: str,
        label: str,
        markdown: bool = False,
        mono: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._text = text
        self._markdown = markdown
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self.view = TextView(themes, name, label, mono=mono, parent=self)
        layout.addWidget(self.view)
        # Cut after control characters are written out: thousands of them take long to lay out.
        seen = visible_controls(mask_start(text, FIRST_CHARACTERS + 1)[: FIRST_CHARACTERS + 1])
        head = shorten(seen)
        is_cut = len(head) < len(seen) or len(text) > FIRST_CHARACTERS + 1
        self.more: LinkText | None = None
        if is_cut:
            words = f"Show all {formats.number(len(text))} characters"
            if len(text) > ALL_CHARACTERS:
                words = f"Show the first {formats.number(ALL_CHARACTERS)} characters, Raw has the rest"
            self.more = LinkText(themes, words, f"{name}More", self)
            self.more.clicked.connect(self.show_all)
            layout.addWidget(self.more)
        self._show(head + " …" if is_cut else head)

    def show_all(self) -> None:
        """Shows the text up to `ALL_CHARACTERS`."""
        self._show(visible_controls(mask_start(self._text, ALL_CHARACTERS)[:ALL_CHARACTERS])[:ALL_CHARACTERS])
        if self.more is not None:
            self.more.hide()

    def _show(self, text: str) -> None:
        if self._markdown:
            self.view.show_markdown(text)
        else:
            self.view.show_plain(text)


_BLOCK_LINE = re.compile(r"^ {0,3}(?:[#>|]|[-*+] |\d{1,3}[.)] |```|~~~|={3,}|-{3,})|^(?: {4}|\t)")


def with_line_breaks(text: str) -> str:
    """Returns Markdown with hard line breaks inside paragraphs, as chat programs show them."""
    lines = text.split("\n")
    fenced = False
    for at, line in enumerate(lines[:-1]):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        following = lines[at + 1]
        plain_lines = line.strip() and following.strip() and "|" not in line
        if not fenced and plain_lines and not _BLOCK_LINE.match(following) and not line.lstrip().startswith("#"):
            lines[at] = line.rstrip() + "  "
    return "\n".join(lines)


def shorten(text: str) -> str:
    """Returns the head of a text: at most FIRST_LINES lines and FIRST_CHARACTERS characters."""
    head = text[:FIRST_CHARACTERS]
    lines = head.splitlines(keepends=True)
    return "".join(lines[:FIRST_LINES]) if len(lines) > FIRST_LINES else head
