"""Highlights search hits in the details: words in texts, rows in lists and trees."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QScrollArea, QTextEdit, QWidget

from inspector.base.utf16 import Utf16Offsets
from inspector.ui.look.hit_highlight import Locate
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.content_table import ContentTable
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.json_tree import JsonTree, TreePage
from inspector.ui.panels.details.raw_page import RawPage

_MAX_HIGHLIGHTS = 500
"""Most highlights in one text."""


class DetailLights:
    """Highlights the pages of one panel; `renew` follows each fill of a page."""

    def __init__(self, themes: ThemeController, panel: QWidget) -> None:
        self._themes = themes
        self._panel = panel
        self._locate: Locate | None = None
        self._message: int | None = None
        self._timer = QTimer(panel)
        self._timer.setSingleShot(True)
        # One run after all widgets of the page exist.
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._highlight)
        self._page: QWidget | None = None
        self._scroll_to_first = False

    def show_find(self, locate: Locate | None) -> None:
        """Sets the function that finds the texts to highlight; None clears them."""
        if locate is not self._locate:
            self._locate = locate
            self.renew()

    def renew(self, *, go: bool = False) -> None:
        """Highlights again after a change of the page; `go` scrolls to the first hit."""
        self._scroll_to_first = self._scroll_to_first or go
        self._timer.start()

    def light(self, page: QWidget | None) -> None:
        """Highlights a page after its layout."""
        self._page = page
        if page is not None and (self._locate is not None or page.property("lit")):
            self.renew()

    def _highlight(self) -> None:
        page = self._page
        if page is None:
            return
        page.setProperty("lit", self._locate is not None)
        first: QWidget | None = None
        for text in [*page.findChildren(QTextEdit), *page.findChildren(QPlainTextEdit)]:
            if self._highlight_text(text) and first is None:
                first = text
        for rows in [*page.findChildren(FittedList), *page.findChildren(ContentTable)]:
            if rows.show_find(self._locate) and first is None:
                first = rows
        for tree in page.findChildren(JsonTree):
            if not tree.property("followed"):
                tree.setProperty("followed", True)
                tree.rows_shown.connect(self.renew)
            tree.show_find(self._locate)
        if self._scroll_to_first and isinstance(page, QScrollArea) and first is not None:
            page.ensureWidgetVisible(first, 0, self._themes.theme.metrics.row)
        # The text may be on its way; the page is highlighted again when it arrives.
        self._scroll_to_first = self._scroll_to_first and isinstance(page, RawPage | TreePage) and not page.is_current

    def _highlight_text(self, view: QTextEdit | QPlainTextEdit) -> bool:
        """Highlights a text; returns True if it has hits."""
        if not view.property("followed"):
            # "Show all" changes the text later.
            view.setProperty("followed", True)
            view.textChanged.connect(self.renew)
        places = self._locate(view.toPlainText())[:_MAX_HIGHLIGHTS] if self._locate is not None else []
        look = QTextCharFormat()
        look.setBackground(self._themes.theme.color("find.hit"))
        look.setForeground(self._themes.theme.color("ink.primary"))
        selections: list[QTextEdit.ExtraSelection] = []
        text = view.toPlainText() if places else ""
        offsets = Utf16Offsets(text)
        for start, stop in places:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(view.document())
            cursor.setPosition(offsets.units(start))
            cursor.setPosition(offsets.units(stop), QTextCursor.MoveMode.KeepAnchor)
            selection.cursor, selection.format = cursor, look  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
            selections.append(selection)
        view.setExtraSelections(selections)
        if selections and self._scroll_to_first and isinstance(view, QPlainTextEdit):
            view.setTextCursor(QTextCursor(view.document()))
            place = QTextCursor(view.document())
            place.setPosition(offsets.units(places[0][0]))
            view.setTextCursor(place)
            view.ensureCursorVisible()
        return bool(selections)
