"""The middle of a window: its notices, and below them the start page or the page of a document."""

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
    """What the docks of one window stand around.

    Attributes:
        notices: above both pages, until the page of a document has them below its tabs.
        start_page: what is shown without a document.
    """

    def __init__(
        self, theme: ThemeController, settings: Settings, head: Callable[[], ViewHead], center: Callable[[], Center],
        window: QWidget,
    ) -> None:  # fmt: skip
        """Hold the start page, with nothing of a document made.

        Args:
            theme: gives the look.
            settings: what the start page offers is kept there.
            head: makes the tabs above the views of a document, when they are needed.
            center: makes these views.
            window: owner.
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
        """Tabs and notices above, the view chosen, and below it what it hides; unseen until it is shown."""
        head = self._make_head()
        page = QWidget(self.window())
        column = _column(page)
        column.addWidget(head)
        column.addWidget(self._make_center(), 1)
        column.addWidget(head.notices)
        head.hide()
        page.hide()  # else a window that is not seen yet shows it on top of its menus
        return page

    def show_start(self) -> None:
        """Show the start page."""
        self._pages.setCurrentWidget(self.start_page)

    def show_document(self) -> None:
        """Show the page of a document in its place."""
        if self._pages.indexOf(self.document_page) < 0:
            self._pages.addWidget(self.document_page)
        self._pages.setCurrentWidget(self.document_page)

    def show_page(self, page: QWidget) -> None:
        """Show a page of its own in the place of both."""
        self._pages.addWidget(page)
        self._pages.setCurrentWidget(page)

    def leave_start(self) -> None:
        """Show the page of a document for good: unseen, the start page would still keep the middle wide.

        What is put back beside it would be narrow then.
        """
        held = self.window().focusWidget()
        if held is not None and self.start_page.isAncestorOf(held):
            held.clearFocus()  # else Qt looks through all panes for who is next
        self.show_document()
        self._pages.removeWidget(self.start_page)
        self.start_page.hide()
        for around in (self._pages, self):  # at once: docks are put back before the next turn of the loop
            layout = around.layout()
            if layout is not None:
                layout.activate()


def _column(holder: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column
