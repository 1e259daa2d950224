"""Help > Guide: window for the pages of the guide, with contents, search and links."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QEvent, QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QTextBrowser,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.present import guide
from inspector.present.formats import count_of
from inspector.present.guide import CONTENTS, Page
from inspector.present.rows import SECONDARY, Layout, ListedRows, Row, Text
from inspector.ui.look.rendered_markdown import render_markdown
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_WIDTH, _HEIGHT = 1_020, 720
_LIST_WIDTH = 252
_TEXT_WIDTH = 720
"""Maximum width of the text column, in pixels at 100 % zoom; longer lines are hard to read."""
_LAYOUT = Layout(height="row", left=10)
_MAX_HITS = 500


class _View(NamedTuple):
    """One history entry: a page and its scroll position."""

    page: Page
    position: int


class GuidePage(QTextBrowser):
    """One rendered page. It only loads pictures of the guide."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._pictures: dict[str, QImage] = {}  # loaded pictures of the page by name, in full size
        self._column = 0
        self.page: Page | None = None
        self.setObjectName("guidePage")
        self.setFrameShape(QFrame.Shape.NoFrame)
        # links are handled by GuideWindow; Qt would load them into the page
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

    def show_page(self, page: Page, text: str) -> None:
        """Renders the Markdown of a page."""
        theme = self._themes.theme
        self.page = page
        self.setAccessibleName(page.title)
        self.setFont(theme.font("body"))
        document = self.document()
        document.clear()
        self._pictures.clear()
        self._fit_column()
        document.setDefaultFont(theme.font("body"))
        document.setDocumentMargin(0)
        render_markdown(document, text, theme, pictures=True)
        self.moveCursor(QTextCursor.MoveOperation.Start)  # it is at the end now, and Qt scrolls to it on the first show

    def go_to_heading(self, anchor: str) -> bool:
        """Scrolls to the heading with this anchor, or to the top. Returns False if the heading is missing."""
        block = self._heading(anchor) if anchor else None
        if block is None:
            self.verticalScrollBar().setValue(0)
            return not anchor
        top = self.document().documentLayout().blockBoundingRect(block).top()
        self.verticalScrollBar().setValue(round(top))
        return True

    def highlight(self, words: str) -> None:
        """Highlights all hits of the phrase, or of its words if the phrase has no hit. "" removes highlights."""
        look = QTextCharFormat()
        look.setBackground(self._themes.theme.color("find.hit"))
        look.setForeground(self._themes.theme.color("ink.primary"))
        found: list[QTextEdit.ExtraSelection] = []
        together = bool(words) and not self.document().find(words).isNull()
        for word in [words] if together else words.split():
            place = self.document().find(word)
            while not place.isNull() and len(found) < _MAX_HITS:
                hit = QTextEdit.ExtraSelection()
                hit.cursor, hit.format = place, look  # pyright: ignore[reportAttributeAccessIssue] - the stubs lack them
                found.append(hit)
                place = self.document().find(word, place)
        self.setExtraSelections(found)

    def _heading(self, anchor: str) -> QTextBlock | None:
        seen: dict[str, int] = {}
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel():
                own = guide.anchor_of(block.text())
                # Git hosts number equal headings in this way.
                number = seen[own] = seen.get(own, -1) + 1
                if anchor == (f"{own}-{number}" if number else own):
                    return block
            block = block.next()
        return None

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:
        """Returns a picture of the guide, no wider than the column; None for other resources."""
        if type != QTextDocument.ResourceType.ImageResource.value or self.page is None:
            return None
        link = name.toString() if isinstance(name, QUrl) else name
        path = guide.picture_of(self.page, link)
        if path is None:
            return None
        self._pictures[link] = QImage(str(path))
        return self._fitted(self._pictures[link])

    def _fitted(self, image: QImage) -> QImage:
        ratio = self.devicePixelRatioF()
        wide = round(self._column * ratio)
        if image.width() > wide:
            image = image.scaledToWidth(wide, Qt.TransformationMode.SmoothTransformation)
            image.setDevicePixelRatio(ratio)
        return image

    def _fit_column(self) -> None:
        """Keeps the text column narrow, at the left of the available width, and its pictures no wider."""
        theme, width = self._themes.theme, self.width()
        side = 6 * theme.metrics.unit
        column = max(120, min(round(_TEXT_WIDTH * theme.zoom), width - 16 * theme.metrics.unit))
        # A text document does not shrink pictures to its width.
        if column != self._column:
            self._column = column
            for link, image in self._pictures.items():
                self.document().addResource(
                    QTextDocument.ResourceType.ImageResource.value, QUrl(link), self._fitted(image)
                )
        self.setViewportMargins(side, side // 2, max(side, width - column - 2 * side), 0)

    @override
    def event(self, e: QEvent) -> bool:
        # not in resizeEvent, which is about the viewport: Qt drops a resize of it made there before the first show
        if e.type() == QEvent.Type.Resize:
            self._fit_column()
        return super().event(e)


def _page_row(page: Page, words: str) -> Row:
    return Row(page.name, (((Text(words),),),), words)


class GuideWindow(QWidget):
    """Reader for the guide: search and contents at the left, the page at the right."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        """Creates the window without a page; `show_page` gives it one.

        Args:
            theme_controller: gives the look.
            parent: the owner.
        """
        super().__init__(parent, Qt.WindowType.Window)
        self._themes = theme_controller
        self._back: list[_View] = []
        self._forward: list[_View] = []
        self.setObjectName("guideWindow")
        self.setAccessibleName("Guide")
        self.setProperty("variant", "chrome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        splitter.setObjectName("guideSplitter")
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self._build_side(splitter))
        self.view = GuidePage(theme_controller, splitter)
        self.view.anchorClicked.connect(self._follow_link)
        splitter.addWidget(self.view)
        splitter.setStretchFactor(1, 1)
        zoom = theme_controller.theme.zoom
        splitter.setSizes([round(_LIST_WIDTH * zoom), round((_WIDTH - _LIST_WIDTH) * zoom)])
        self._row.addWidget(splitter)
        self._add_keys()
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        screen = self.screen().availableSize()
        self.resize(QSize(round(_WIDTH * zoom), round(_HEIGHT * zoom)).boundedTo(screen))
        self.field.setFocus()

    def _build_side(self, parent: QWidget) -> QWidget:
        side = QWidget(parent)
        side.setObjectName("guideSide")
        self._column = QVBoxLayout(side)
        head = QHBoxLayout()
        self.buttons: dict[str, IconButton] = {}
        steps: tuple[tuple[str, str, Callable[[], None]], ...] = (
            ("back", "Back (Alt+Left)", self.go_back), ("forward", "Forward (Alt+Right)", self.go_forward),
        )  # fmt: skip
        for icon, words, act in steps:
            button = IconButton(self._themes, icon, words, name=f"guide_{icon}", variant="small", parent=side)
            button.clicked.connect(act)
            self.buttons[icon] = button
            head.addWidget(button)
        self.field = QLineEdit(side)
        self.field.setObjectName("guideSearch")
        self.field.setAccessibleName("Search the guide")
        self.field.setPlaceholderText("Search the guide")
        self.field.setProperty("variant", "search")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._list_pages)
        self.field.returnPressed.connect(self._open_first)
        head.addWidget(self.field, 1)
        self._column.addLayout(head)
        self._rows = RowsModel(ListedRows(_LAYOUT), self)
        self.list = RowsView(
            self._rows, self._themes, name="guideContents", title="Contents of the guide", parent=side, in_dialog=True
        )  # fmt: skip
        self.list.picked.connect(lambda row, _clicked: self._open_row(row))
        self._column.addWidget(self.list, 1)
        self._status = TextLabel(variant="small", name="guideStatus", wrap=True, parent=side)
        self._column.addWidget(self._status)
        return side

    def _add_keys(self) -> None:
        keys: tuple[tuple[str, Callable[[], None]], ...] = (
            ("Alt+Left", self.go_back), ("Alt+Right", self.go_forward), ("Ctrl+F", self._focus_field),
            ("F3", self.find_next), ("Shift+F3", self.find_previous),
        )  # fmt: skip
        for key, act in keys:
            QShortcut(QKeySequence(key), self, act)

    # Pages

    def show_page(self, name: str, anchor: str = "") -> None:
        """Shows a page from a heading on. An unknown name shows the contents."""
        try:
            page = guide.page_named(name) or guide.pages()[0]
            text = guide.text_of(page)
        except OSError as error:
            self._show_status(f"The guide cannot be read: {error}")
            return
        if self.view.page is not None and self.view.page != page:
            self._back.append(_View(self.view.page, self.view.verticalScrollBar().value()))
            self._forward.clear()
        self._render(page, text)
        if not self.view.go_to_heading(anchor):
            self._show_status(f"This page has no heading {anchor}.")

    def go_back(self) -> None:
        self._step(self._back, self._forward)

    def go_forward(self) -> None:
        self._step(self._forward, self._back)

    def _step(self, source: list[_View], target: list[_View]) -> None:
        if source and self.view.page is not None:
            target.append(_View(self.view.page, self.view.verticalScrollBar().value()))
            page, position = source.pop()
            self._render(page, guide.text_of(page))
            self.view.verticalScrollBar().setValue(position)

    def _render(self, page: Page, text: str) -> None:
        self.view.show_page(page, text)
        self.setWindowTitle(f"{page.title} - Guide" if page.name != CONTENTS else page.title)
        self._show_status("")
        self._select(page)
        self.view.highlight(self.field.text().strip())
        self.buttons["back"].setEnabled(bool(self._back))
        self.buttons["forward"].setEnabled(bool(self._forward))

    def _follow_link(self, url: QUrl) -> None:
        """Follows a link to a page of the guide. Web addresses open in the browser."""
        assert self.view.page is not None  # links only exist on pages
        link = url.toString()
        place = guide.place_of(self.view.page, link)
        if place is not None:
            self.show_page(place.page.name, place.anchor)
        elif url.scheme() in ("http", "https"):
            if not QDesktopServices.openUrl(url):
                self._show_status(f"No browser could open {link}.")
        else:
            self._show_status(f"{link} is in the source code of the program, not in the guide.")

    def _show_status(self, words: str) -> None:
        self._status.setText(words)
        self._status.setVisible(bool(words))

    # Contents and search

    def _list_pages(self, *_written: object) -> None:
        """Lists all pages, or the pages that match the search."""
        words = self.field.text().strip()
        rows: list[Row] = []
        try:
            if words:
                found = guide.search(words)
                for page, count in found:
                    rows.append(_page_row(page, f"{page.title}  ({count})"))
                self._show_status(f"{count_of(len(found), 'page')} found" if found else "No page contains these words.")
            else:
                group = ""
                for page in guide.pages():
                    if page.group != group:
                        group = page.group
                        cell = Text(group, "label", SECONDARY)
                        rows.append(Row(("group", group), (((cell,),),), group, selectable=False))
                    rows.append(_page_row(page, page.title))
                self._show_status("")
        except OSError as error:
            self._show_status(f"The guide cannot be read: {error}")
        self._rows.show_rows(_LAYOUT, rows)
        if self.view.page is not None:
            self._select(self.view.page)
        self.view.highlight(words)

    def _select(self, page: Page) -> None:
        self.list.select(page.name)

    def _open_row(self, row: int) -> None:
        name = self._rows.key_at(row)
        if isinstance(name, str):
            self.show_page(name)
            if self.field.text().strip():
                self.find_next()

    def _open_first(self) -> None:
        """Shows the first page found, or the next hit on the current page."""
        if not self.field.text().strip() or not self._rows.rowCount():
            return
        if self.list.row < 0:
            self.list.select_row(0)
            self._open_row(0)
        else:
            self.find_next()

    def _focus_field(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def find_next(self) -> None:
        """Selects the next hit on the page and wraps around."""
        self._find(QTextDocument.FindFlag(0), QTextCursor.MoveOperation.Start)

    def find_previous(self) -> None:
        """Selects the previous hit on the page and wraps around."""
        self._find(QTextDocument.FindFlag.FindBackward, QTextCursor.MoveOperation.End)

    def _find(self, flags: QTextDocument.FindFlag, restart: QTextCursor.MoveOperation) -> None:
        """Finds the phrase of the field, or its first word if the phrase has no hit."""
        text = self.field.text().strip()
        for wanted in dict.fromkeys((text, *text.split()[:1])):
            if self.view.find(wanted, flags):
                return
            cursor = self.view.textCursor()
            before = QTextCursor(cursor)
            cursor.movePosition(restart)
            self.view.setTextCursor(cursor)
            if self.view.find(wanted, flags):
                return
            self.view.setTextCursor(before)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() == Qt.Key.Key_Down and QApplication.focusWidget() is self.field:
            self.list.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        side = round(10 * theme.zoom)
        self._column.setContentsMargins(side, side, side, side)
        self._column.setSpacing(side)
        if self.view.page is not None:
            position = self.view.verticalScrollBar().value()
            # The colours of a theme are part of the rendered page.
            self.view.show_page(self.view.page, guide.text_of(self.view.page))
            self.view.verticalScrollBar().setValue(position)
        self._list_pages()  # after the page, whose hits it highlights
