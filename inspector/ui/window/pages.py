"""The middle of a window: notices, and the start page or the document's page."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from inspector.ui.panels.start.panel import StartPage
from inspector.ui.widgets.notice import NoticeStack

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.view_head import ViewHead
    from inspector.ui.look.theme import ThemeController


class Pages(QWidget):
    """The central widget of one window, with docks around it.

    Attributes:
        notices: above both pages, until the document's page shows them below its tabs.
        start_page: the page without a document.
    """

    def __init__(
        self, theme: ThemeController, settings: Settings, head: Callable[[], ViewHead], center: Callable[[], Center],
        window: QWidget,
    ) -> None:  # fmt: skip
        """Shows the start page and creates no part of a document.

        Args:
            theme: gives the look.
            settings: the entries of the start page.
            head: creates the tabs above the views of a document on demand.
            center: creates these views on demand.
            window: the owner.
        """
        super().__init__(window)
        self._make_head = head
        self._make_center = center
        self.notices = NoticeStack(theme, self)
        self.start_page = StartPage(theme, settings, self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.start_page)
        column = _column(self)
        column.addWidget(self.notices)
        column.addWidget(self._pages, 1)

    @cached_property
    def document_page(self) -> QWidget:
        """The page of a document: tabs, notices, the chosen view and its hints. Hidden until it is shown."""
        head = self._make_head()
        page = QWidget(self.window())
        column = _column(page)
        column.addWidget(head)
        column.addWidget(self._make_center(), 1)
        column.addWidget(head.notices)
        head.hide()
        page.hide()  # else a window that is not visible yet shows it above its menus
        return page

    def show_start(self) -> None:
        self._pages.setCurrentWidget(self.start_page)

    def show_document(self) -> None:
        if self._pages.indexOf(self.document_page) < 0:
            self._pages.addWidget(self.document_page)
        self._pages.setCurrentWidget(self.document_page)

    def show_page(self, page: QWidget) -> None:
        self._pages.addWidget(page)
        self._pages.setCurrentWidget(page)

    def leave_start(self) -> None:
        """Removes the start page for good. A hidden start page would keep the middle wide.

        Docks restored beside it would then be too narrow.
        """
        held = self.window().focusWidget()
        if held is not None and self.start_page.isAncestorOf(held):
            held.clearFocus()  # else Qt searches all panes for the next focus
        self.show_document()
        self._pages.removeWidget(self.start_page)
        self.start_page.hide()
        for around in (self._pages, self):  # at once: docks are restored before the next iteration of the event loop
            layout = around.layout()
            if layout is not None:
                layout.activate()


def _column(holder: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column
