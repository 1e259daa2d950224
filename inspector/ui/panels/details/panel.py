"""Details panel: head, tabs and pages of a message; head and page of a context or participant (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.engine.requests.pages import (
    TABS,
    DescribeContext,
    DescribeMessage,
    DescribeParticipant,
    DetailPage,
    Tab,
)
from inspector.engine.requests.waste import WasteFigures
from inspector.present.head_words import HeadWords
from inspector.present.pages.findings import FINDINGS_TAB
from inspector.present.places import ContextPlace, ParticipantPlace, Place
from inspector.ui import intervals
from inspector.ui.document_client import DocumentClient
from inspector.ui.input.keys import KeyWords
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.account_page import AccountPage
from inspector.ui.panels.details.find_highlights import DetailLights
from inspector.ui.panels.details.head import DetailHead
from inspector.ui.panels.details.json_tree import TreePage
from inspector.ui.panels.details.links import Links
from inspector.ui.panels.details.parts_page import PartsPage
from inspector.ui.panels.details.raw_page import RawPage
from inspector.ui.panels.details.section import Page
from inspector.ui.panels.details.tabs import SIDE, DetailTabs
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.latest_answer import LatestAnswer
from inspector.ui.widgets.page_stack import PageStack

_UPDATE_MS = 400
"""Shortest interval of updates from traffic; the page's own changes are shown at once."""

EMPTY = "Select a message to see its content and outcome."

_REST = 20
"""Pause after an answer, as a multiple of its duration: the story of a participant reads all messages."""

_MessagePage = PartsPage | TreePage | RawPage


class _Pages(dict[str, _MessagePage]):
    """Pages of a message by tab title; each is created on first use."""

    def __init__(self, make: Callable[[str], _MessagePage]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, title: str) -> _MessagePage:
        page = self[title] = self._make(title)
        return page


class DetailsPanel(QWidget):
    """All about one message, context or participant; pages are created on first use.

    Attributes:
        pages: pages of a message, by tab title.
        links: requests of the pages.
        latest: the page that is shown.
        account: page of What happened, shown without a selection; None until `add_account`.

    Signals:
        panel_requested(str): show a panel, by its title.
    """

    panel_requested = Signal(str)

    def __init__(
        self, client: DocumentClient, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setObjectName("detailsPanel")
        self.setAccessibleName("Details")
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._client = client
        self._themes = theme_controller
        # The message or place that the user chose, and that of the page shown.
        self._target: int | Place | None = None
        self._shown: int | Place | None = None
        self._scope: ContextPlace | None = None
        self._hints = False
        self.account: AccountPage | None = None
        # Applied to the page once it is there.
        self._scroll_offset: int | None = None
        self._scrolls_to_hit = self._tab_turned = False
        # Page and path of the selected value.
        self._selected_value: tuple[str, tuple[str | int, ...]] | None = None
        self.links = Links(self)
        self.links.tab_requested.connect(self.show_tab)
        self.head = DetailHead(theme_controller, self)
        self.tabs = self._make_tabs()
        self.pages = _Pages(self._make_page)
        self.latest = LatestAnswer(
            self, client, self._question, self._show_page, every_ms=self._pause_ms, rest=_REST,
            ready=lambda: self._target is not None,
        )  # fmt: skip
        self.latest.failed.connect(self._show_failure)
        self.lights = DetailLights(theme_controller, self)
        self._build_layout()
        client.changed.connect(self._on_document_changed)
        theme_controller.changed.connect(self._on_theme_changed)
        self.show_message(None)

    def _make_tabs(self) -> DetailTabs:
        tabs = DetailTabs(self._themes, TABS, self)
        tabs.currentChanged.connect(self._on_tab_changed)
        return tabs

    def _make_page(self, title: str) -> _MessagePage:
        """Makes a page of a message.

        Raises:
            KeyError: no tab has this title.
        """
        page: _MessagePage
        if title == "Tree":
            page = TreePage(self._themes, self._client, self)
            page.tree.filter_requested.connect(self.links.filter_requested)
            page.tree.column_requested.connect(self.links.column_requested)
            page.tree.value_chosen.connect(lambda steps: self._remember_value("Tree", steps))
        elif title == "Raw":
            page = RawPage(self._themes, self._client, self)
            page.save_requested.connect(self.links.save_requested)
            page.value_chosen.connect(lambda steps: self._remember_value("Raw", steps))
        else:
            page = self._parts_page(title)
        self._stack.addWidget(page)
        return page

    def _parts_page(self, title: str) -> PartsPage:
        page = PartsPage(self._themes, self.links, self._client, title, self)
        self._stack.addWidget(page)
        return page

    @cached_property
    def context_page(self) -> PartsPage:
        page = self._parts_page("Context")
        page.show_scope(self._scope)
        return page

    @cached_property
    def participant_page(self) -> PartsPage:
        return self._parts_page("Participant")

    def _build_layout(self) -> None:
        self._stack = PageStack(self)
        self._stack.setObjectName("detailPages")
        self.empty = TextLabel(EMPTY, variant="secondary", name="noDetails", wrap=True, parent=self)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        metrics = self._themes.theme.metrics
        padding = metrics.pane_padding
        self.empty.setContentsMargins(padding, padding, padding, padding)
        self._bar = QWidget(self)
        bar = QVBoxLayout(self._bar)
        bar.setContentsMargins(metrics.pane_padding - round(SIDE * self._themes.theme.zoom), 0, 0, 0)
        bar.addWidget(self.tabs)
        self._line = HairLine("detailTabsLine", self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.head, self._bar, self._line):
            layout.addWidget(widget)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.empty, 1)

    def add_account(self, waste: LatestAnswer[WasteFigures]) -> None:
        """Adds the page of What happened; `waste` has the figures of the Waste panel."""
        self.account = AccountPage(self._client, self._themes, self.links, waste, self)
        self.account.panel_requested.connect(self.panel_requested)
        self.account.renewed.connect(self._show_account_head)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.empty), self.account, 1)
        self._show_empty(self._target is None)

    def _show_account_head(self, words: HeadWords) -> None:
        """Shows the head of the account, unless another page has it: a list hidden under the pointer is shown again."""
        if self._target is None:
            self.head.show_words(words)

    def _show_empty(self, empty: bool) -> None:
        """Shows the account, or a hint if the document is empty; hides both if `empty` is False."""
        told = empty and self.account is not None and self._client.state.messages > 0
        self.empty.setVisible(empty and not told)
        if self.account is not None:
            self.account.setVisible(told)
            for widget in (self.head, self._line):
                widget.setVisible(told or not empty)

    def show_keys(self, words: KeyWords) -> None:
        """Updates the key names that pages mention."""
        self.links.key_of = words
        self._show_again()

    # Content

    @property
    def message(self) -> int | None:
        """The chosen message; None for a context, a participant or an empty panel."""
        return self._target if isinstance(self._target, int) else None

    @property
    def shows_account(self) -> bool:
        return self._target is None and self.account is not None and not self.account.isHidden()

    @property
    def place(self) -> Place | None:
        """The chosen context or participant; None for a message or an empty panel."""
        return None if isinstance(self._target, int) else self._target

    @property
    def scrolled(self) -> int:
        """Scroll offset of the current page in pixels; 0 for pages that do not scroll as a whole."""
        if self._shown != self._target:
            return self._scroll_offset or 0
        page = self._stack.currentWidget()
        return page.verticalScrollBar().value() if isinstance(page, Page) else 0

    def scroll_to(self, place: int) -> None:
        """Scrolls the current page to an earlier offset, once it is laid out."""
        page = self._stack.currentWidget()
        if self._shown != self._target:
            self._scroll_offset = place
        elif isinstance(page, Page):
            page.scroll_to(place)

    def scroll_to_hit(self) -> None:
        """Scrolls the page of the chosen message to its first search hit."""
        self._scrolls_to_hit = self._shown != self._target
        if not self._scrolls_to_hit:
            self.lights.renew(go=True)

    def show_context(self, space: int, node: int) -> None:
        """Shows the page of a context.

        Args:
            space: string id of its space.
            node: the context, MAIN for the space's main context.
        """
        self._show_place(ContextPlace(space, node))

    def show_participant(self, space: int, name: str) -> None:
        """Shows the page of a participant of a space (string id)."""
        self._show_place(ParticipantPlace(space, name))

    def _show_place(self, place: Place) -> None:
        if place != self._target:
            self._choose(place)
        self.latest.request_rested()

    def _choose(self, target: int | Place | None) -> None:
        """Sets what is shown next, from its top."""
        self._target, self._shown = target, None
        self._scroll_offset, self._scrolls_to_hit, self._selected_value = None, False, None
        for page in self._made_pages():
            page.key = None

    def _made_pages(self) -> list[PartsPage]:
        return [page for page in self._stack.findChildren(PartsPage) if page.parent() is self._stack]

    def show_message(self, message: int | None) -> None:
        """Shows a message; None shows the account or a hint."""
        if message is not None and not 0 <= message < self._client.state.messages:
            message = None
        # The account is shown already and keeps its head.
        if message is None and self.shows_account:
            return
        self._choose(message)
        self.latest.request_rested()
        if message is None:
            self.head.clear()
            for widget in (self.head, self._bar, self._line, self._stack):
                widget.hide()
            self.empty.setText(EMPTY)
            self._show_empty(True)

    # The page

    def _question(self) -> DescribeMessage | DescribeContext | DescribeParticipant:
        match self._target:
            case ContextPlace(space, node):
                return DescribeContext(space, node)
            case ParticipantPlace(space, name):
                return DescribeParticipant(space, name)
            case message:
                assert message is not None
                return DescribeMessage(message, self._tab, self._hints)

    def _pause_ms(self) -> float:
        """Returns the shortest time between two refreshes; the sums of a participant change with each message."""
        # Less than the interval of `tick`, which Qt keeps only within 5 %.
        slow = isinstance(self._target, ParticipantPlace)
        return 0.9 * intervals.FIGURES_MS if slow else _UPDATE_MS

    @property
    def _tab(self) -> Tab:
        return TABS[self.tabs.currentIndex()]

    def _show_page(self, page: DetailPage) -> None:
        """Shows the page of the chosen message or place."""
        is_message = isinstance(self._target, int)
        self.head.show_words(page.head)
        if is_message:
            self.tabs.set_count(FINDINGS_TAB, page.findings)
            self.tabs.show_title("Lifecycle", page.has_lifecycles)
        widget = self._page_widget()
        turned = self._tab_turned or self._stack.currentWidget() is not widget
        # First, so that the widgets of the page get their sizes at once.
        self._stack.setCurrentWidget(widget)
        self._show_empty(False)
        for part, shown in ((self.head, True), (self._bar, is_message), (self._line, True), (self._stack, True)):
            part.setVisible(shown)
        if self._fill(widget, page) or turned:
            self.lights.light(widget)
        self._shown = self._target
        self._settle(widget)

    def _show_failure(self, sentence: str) -> None:
        """Shows a sentence in place of the page of another message or place."""
        if self._shown == self._target:
            return
        for widget in (self.head, self._bar, self._line, self._stack):
            widget.hide()
        self._show_empty(False)
        self.empty.setText(sentence)
        self.empty.show()

    def _page_widget(self) -> _MessagePage:
        if isinstance(self._target, int):
            return self.pages[self._tab]
        return self.context_page if isinstance(self._target, ContextPlace) else self.participant_page

    def _fill(self, widget: _MessagePage, page: DetailPage) -> bool:
        """Fills a page; returns True if it shows something else than before."""
        if isinstance(widget, PartsPage):
            return widget.show_parts(self._target, page.sections)
        assert isinstance(self._target, int)
        again = widget.property("message") == self._target and self._shown == self._target
        widget.setProperty("message", self._target)
        # A record never changes.
        if not again:
            widget.show_message(self._target)
        return not again

    def _settle(self, widget: _MessagePage) -> None:
        """Restores the scroll position and the selected value, or scrolls to a search hit."""
        if self._scroll_offset is not None and isinstance(widget, Page):
            widget.scroll_to(self._scroll_offset)
        if self._scrolls_to_hit:
            self.lights.renew(go=True)
        turned, value = self._tab_turned, self._selected_value
        self._scroll_offset, self._scrolls_to_hit, self._tab_turned = None, False, False
        if turned and value is not None and value[0] != self._tab and isinstance(widget, TreePage | RawPage):
            widget.choose(value[1])

    def _show_again(self) -> None:
        """Shows the page again after a change of the window."""
        if self.latest.answer is not None and self._shown is not None and self._shown == self._target:
            self._show_page(self.latest.answer)

    def show_scope(self, scope: tuple[int, int] | None) -> None:
        """Sets the table's scope: string id of its space and node; None without a scope."""
        self._scope = None if scope is None else ContextPlace(*scope)
        if "context_page" in vars(self):
            self.context_page.show_scope(self._scope)

    def set_context_hints(self, shown: bool) -> None:
        """Shows or hides badges."""
        if shown != self._hints:
            self._hints = shown
            self.latest.request_now()

    def show_tab(self, title: str) -> None:
        """Switches to a tab by its title."""
        if title in TABS:
            self.tabs.setTabVisible(TABS.index(title), True)
            self.tabs.setCurrentIndex(TABS.index(title))

    def _on_document_changed(self) -> None:
        if self._target is None and self.account is not None and self.account.isHidden():
            # The first messages arrived.
            self._show_empty(True)

    def tick(self) -> None:
        """Updates waiting times once a second while the document is live."""
        if self.account is not None:
            self.account.tick()
        if self.latest.answer is None or not self.latest.answer.ages or self.latest.is_pending:
            return
        # The story of a participant may take long.
        if isinstance(self._target, ParticipantPlace):
            self.latest.invalidate()
        else:
            self.latest.request_now()

    def renew(self) -> None:
        """Refreshes the page after a change of marks, comments or settings."""
        self.latest.request_now()

    def _remember_value(self, page: str, steps: tuple[str | int, ...]) -> None:
        """Remembers the selected value, so that Tree and Raw select the same one."""
        if page == TABS[self.tabs.currentIndex()]:
            self._selected_value = page, steps

    def _on_tab_changed(self, _index: int) -> None:
        if self.message is None:
            return
        self._tab_turned = True
        page = self.pages[self._tab]
        if isinstance(page, PartsPage) and page.key == self._target:
            self._stack.setCurrentWidget(page)
        self.latest.request_now()

    def _on_theme_changed(self) -> None:
        self.head.updateGeometry()
        self.head.update()
        for page in self._made_pages():
            page.rebuild()
        self._show_again()
        self.lights.renew()
