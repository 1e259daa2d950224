"""Details panel: head, tabs and pages of a message; head and page of a context or participant (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.account.unanswered import is_pending
from inspector.analysis.views.causes.likely_links import may_gain_likely_links
from inspector.document.document import CaptureDocument
from inspector.present.head_words import context_words, participant_words
from inspector.present.subject import ContextPlace, ParticipantPlace, Place, Subject
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.ui import budgets
from inspector.ui.input.keys import KeyWords
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.account.figures import AccountFigures
from inspector.ui.panels.details.account_page import AccountPage
from inspector.ui.panels.details.context_page import ContextPage
from inspector.ui.panels.details.find_highlights import DetailLights
from inspector.ui.panels.details.findings import FINDINGS_TAB, finding_sections
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.head import DetailHead
from inspector.ui.panels.details.json_tree import TreePage
from inspector.ui.panels.details.overview.page import overview_sections
from inspector.ui.panels.details.page_builder import Links, Sheet
from inspector.ui.panels.details.participant_page import ParticipantPage
from inspector.ui.panels.details.raw_page import RawPage
from inspector.ui.panels.details.related_pages import lifecycle_sections, related_sections
from inspector.ui.panels.details.section import Page
from inspector.ui.panels.details.tabs import SIDE, DetailTabs
from inspector.ui.panels.waste.figures import WasteFigures
from inspector.ui.widgets.labels import HairLine, TextLabel
from inspector.ui.widgets.page_stack import PageStack

EMPTY = "Select a message to see its content and outcome."

# More new messages in one flush are not searched; later flushes show a busy context anyway.
_MAX_SEARCHED_NEW = 500

TABS = ("Overview", "Tree", "Raw", "Related", "Lifecycle", FINDINGS_TAB)

_SECTIONS: dict[str, Callable[[Sheet], Sequence[QWidget]]] = {
    "Overview": overview_sections, "Related": related_sections, "Lifecycle": lifecycle_sections,
    FINDINGS_TAB: finding_sections,
}  # fmt: skip
"""Section builders of the tabs that consist of sections."""


class _SectionsPage(Page):
    """Page that consists of sections."""

    def __init__(
        self,
        themes: ThemeController,
        links: Links,
        name: str,
        make: Callable[[Sheet], Sequence[QWidget]],
        parent: QWidget,
    ) -> None:
        super().__init__(themes, f"{name.lower()}Page", name, parent)
        self.links = links
        self._make = make

    def show_subject(self, subject: Subject, *, keep_place: bool) -> None:
        self.show_sections(self._make(Sheet(subject, self._themes, self.links)), keep_place=keep_place)


_MessagePage = _SectionsPage | TreePage | RawPage


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
        account: page of What happened, shown without a selection; None until `add_account`.

    Signals:
        scope_shown(tuple | None): the table's scope: string id of its space and node; None without a scope.
        panel_requested(str): show a panel, by its title.
    """

    panel_requested = Signal(str)
    scope_shown = Signal(object)

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("detailsPanel")
        self.setAccessibleName("Details")
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._document = document
        self._themes = theme_controller
        self._message: int | None = None
        self._subject: Subject | None = None
        self._place: Place | None = None
        self._hints = False
        self.account: AccountPage | None = None
        self._stale: set[str] = set()
        # Page and path of the selected value.
        self._selected_value: tuple[str, tuple[str | int, ...]] | None = None
        # Pages of this message that need only a refresh.
        self._filled_pages: set[str] = set()
        self.links = Links(self)
        self.links.tab_requested.connect(self.show_tab)
        self.head = DetailHead(theme_controller, self)
        self.tabs = self._make_tabs()
        self.pages = _Pages(self._make_page)
        self._scope: tuple[int, int] | None = None
        self.lights = DetailLights(theme_controller, self)
        self._build_layout()
        self._growth_timer = QTimer(self)
        self._growth_timer.setSingleShot(True)
        self._growth_timer.setInterval(budgets.current.details_ms)
        self._growth_timer.timeout.connect(self._refresh)
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
            page = TreePage(self._themes, self)
            page.tree.filter_requested.connect(self.links.filter_requested)
            page.tree.column_requested.connect(self.links.column_requested)
            page.tree.value_chosen.connect(lambda steps: self._remember_value("Tree", steps))
        elif title == "Raw":
            page = RawPage(self._themes, self)
            page.save_requested.connect(self.links.save_requested)
            page.value_chosen.connect(lambda steps: self._remember_value("Raw", steps))
        else:
            page = _SectionsPage(self._themes, self.links, title, _SECTIONS[title], self)
        self._stack.addWidget(page)
        return page

    @cached_property
    def context_page(self) -> ContextPage:
        page = ContextPage(self._themes, self.links, self)
        page.show_scope(self._scope)
        self.scope_shown.connect(page.show_scope)
        self._stack.addWidget(page)
        return page

    @cached_property
    def participant_page(self) -> ParticipantPage:
        page = ParticipantPage(self._themes, self.links, self)
        self._stack.addWidget(page)
        return page

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

    def add_account(self, figures: AccountFigures, waste: WasteFigures) -> None:
        """Adds the page of What happened.

        Args:
            figures: figures of the account.
            waste: figures of the Waste panel.
        """
        self.account = AccountPage(self._document, self._themes, self.links, figures, waste, self)
        self.account.panel_requested.connect(self.panel_requested)
        self.account.renewed.connect(self.head.show_words)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.empty), self.account, 1)
        self._show_empty(self._message is None and self._place is None)

    def _show_empty(self, empty: bool) -> None:
        """Shows the account, or a hint if the document is empty; hides both if `empty` is False."""
        told = empty and self.account is not None and len(self._document.capture) > 0
        self.empty.setVisible(empty and not told)
        if self.account is not None:
            self.account.setVisible(told)
            for widget in (self.head, self._line):
                widget.setVisible(told or not empty)

    def show_keys(self, words: KeyWords) -> None:
        """Updates the key names that pages mention."""
        self.links.key_of = words
        self._refresh()

    # Content

    @property
    def message(self) -> int | None:
        """The message shown; None for a context, a participant or an empty panel."""
        return self._message

    @property
    def shows_account(self) -> bool:
        return self.account is not None and not self.account.isHidden()

    @property
    def place(self) -> Place | None:
        """The context or participant shown; None for a message or an empty panel."""
        return self._place

    @property
    def scrolled(self) -> int:
        """Scroll offset of the current page in pixels; 0 for pages that do not scroll as a whole."""
        page = self._stack.currentWidget()
        return page.verticalScrollBar().value() if isinstance(page, Page) else 0

    def scroll_to(self, place: int) -> None:
        """Scrolls the current page to an earlier offset, once it is laid out."""
        page = self._stack.currentWidget()
        if isinstance(page, Page):
            page.scroll_to(place)

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
        again = place == self._place
        self._message, self._subject, self._place = None, None, place
        self._growth_timer.stop()
        self._fill_place(keep_place=again)
        for widget, shown in ((self.head, True), (self._bar, False), (self._line, True), (self._stack, True)):
            widget.setVisible(shown)
        self._show_empty(False)

    def _fill_place(self, *, keep_place: bool) -> None:
        document, place = self._document, self._place
        if isinstance(place, ContextPlace):
            self.head.show_words(context_words(document, place))
            self.context_page.show_context(document, place, keep_place=keep_place)
            self._stack.setCurrentWidget(self.context_page)
            self.lights.light(self.context_page)
        elif place is not None:
            self.head.show_words(participant_words(document, place))
            self.participant_page.show_participant(document, place.space, place.name, keep_place=keep_place)
            self._stack.setCurrentWidget(self.participant_page)
            self.lights.light(self.participant_page)

    def show_message(self, message: int | None) -> None:
        """Shows a message; None shows the account or a hint."""
        if message is not None and not 0 <= message < len(self._document.capture):
            message = None
        # The account is shown already and keeps its head.
        if message is None and self.shows_account:
            return
        self._message, self._place = message, None
        self._growth_timer.stop()
        self._subject = Subject(self._document, message, hints=self._hints) if message is not None else None
        self.head.show_subject(self._subject)
        self._count_findings()
        for widget in (self.head, self._bar, self._line, self._stack):
            widget.setVisible(message is not None)
        self._show_empty(message is None)
        self._stale = set(TABS)
        self._filled_pages = set()
        self._selected_value = None
        self._fill_current()

    def show_scope(self, scope: tuple[int, int] | None) -> None:
        """Sets the table's scope: string id of its space and node; None without a scope."""
        self._scope = scope
        self.scope_shown.emit(scope)

    def set_context_hints(self, shown: bool) -> None:
        """Shows or hides badges."""
        if shown != self._hints:
            self._hints = shown
            self._refresh()

    def show_tab(self, title: str) -> None:
        """Switches to a tab by its title."""
        if title in TABS:
            self.tabs.setTabVisible(TABS.index(title), True)
            self.tabs.setCurrentIndex(TABS.index(title))

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Applies a flush: refreshes if the message, its chain or other rows of its page changed."""
        subject = self._subject
        # Leave a running timer alone: a restart with each flush would delay it for ever in dense traffic.
        if self._place is not None and not self._growth_timer.isActive():
            self._growth_timer.start()
        if subject is None:
            if self._place is None and self.account is not None and self.account.isHidden():
                # The first messages arrived.
                self._show_empty(True)
            return
        if len(changes.changed) and np.isin(changes.changed, self._related_messages(subject)).any():
            self._refresh()
        elif not self._growth_timer.isActive() and self._has_new_rows(subject, changes):
            self._growth_timer.start()

    def tick(self) -> None:
        """Updates waiting times once a second while the document is live."""
        if self._document.analysis.now_ns is None or self._stack.isHidden():
            return
        self.renew_place()
        if self._subject is not None and is_pending(self._document.analysis, self._subject.message):
            self.head.show_subject(self._subject)
        page = self._stack.currentWidget()
        for view in page.findChildren(FittedList) if page is not None else ():
            view.renew()

    def renew_place(self) -> None:
        """Refreshes the page of a context after a change of its state."""
        if isinstance(self._place, ContextPlace):
            self._fill_place(keep_place=True)

    def renew(self) -> None:
        """Refreshes the page after a change of marks or comments."""
        self._refresh()

    def _related_messages(self, subject: Subject) -> list[int]:
        return [subject.message, *(step.message for step in subject.likely_chain.steps)]

    def _has_new_rows(self, subject: Subject, changes: AnalysisChanges) -> bool:
        """Returns True if new messages extend the Overview's lists: context, stream, reports or answer."""
        if changes.stop <= changes.start:
            return False
        new = slice(changes.start, changes.stop)
        if may_gain_likely_links(subject.analysis, subject.likely_chain.steps, changes):
            return True
        columns, capture = subject.capture.columns, subject.capture
        namespace = subject.kind.partition("/")[0]
        if namespace == "reasoning" and subject.reasoning_node != MAIN:
            if (columns["sender"][new] == columns["sender"][subject.message]).any():
                return True
            inside = columns["context"][new].nonzero()[0] + changes.start
            node_of = subject.analysis.contexts.node_of
            return any(node_of(int(message)) == subject.reasoning_node for message in inside[:_MAX_SEARCHED_NEW])
        if namespace == "stream":
            own = int(columns["stream"][subject.message])
            return bool(own and (columns["stream"][new] == own).any())
        if subject.kind == "participant/status":
            reports = columns["kind"][new] == (capture.strings.find(subject.kind) or -1)
            return bool((reports & (columns["sender"][new] == columns["sender"][subject.message])).any())
        if subject.kind == kinds.RESPONSE and subject.analysis.transients.signal_bits(subject.message):
            # Later hints may pair with it, its consumers may fail, or results may name its hints.
            telling = columns["kind"][new] == columns["kind"][subject.message]
            return bool((telling & (columns["flags"][new] & (Flag.HAS_META | Flag.ERROR).value != 0)).any())
        waits = subject.kind in ("mcp/request", "mcp/proposal") and subject.answer is None
        return waits and self._document.live

    def _refresh(self) -> None:
        """Reads the current content again and keeps scroll positions."""
        if self._place is not None:
            self._fill_place(keep_place=True)
        if self._message is None:
            return
        self._subject = Subject(self._document, self._message, hints=self._hints, before=self._subject)
        self.head.show_subject(self._subject)
        self._count_findings()
        # Hidden pages are refreshed only when they are shown.
        self._filled_pages |= set(TABS) - self._stale
        self._stale = set(TABS)
        self._fill_current()

    def _count_findings(self) -> None:
        self.tabs.set_count(FINDINGS_TAB, len(self._subject.findings) if self._subject is not None else 0)
        self.tabs.show_title("Lifecycle", len(self._document.analysis.transients.signals) > 0)

    def _fill_current(self) -> None:
        if self._subject is None:
            return
        title = TABS[self.tabs.currentIndex()]
        page = self.pages[title]
        self._stack.setCurrentWidget(page)
        if title in self._stale:
            page.show_subject(self._subject, keep_place=title in self._filled_pages)
            self._stale.discard(title)
            self._filled_pages.add(title)
        self.lights.light(page)

    def _remember_value(self, page: str, steps: tuple[str | int, ...]) -> None:
        """Remembers the selected value, so that Tree and Raw select the same one."""
        if page == TABS[self.tabs.currentIndex()]:
            self._selected_value = page, steps

    def _on_tab_changed(self, _index: int) -> None:
        self._fill_current()
        page = self._stack.currentWidget()
        if self._selected_value is not None and self._selected_value[0] != TABS[self.tabs.currentIndex()]:
            if isinstance(page, TreePage):
                page.tree.choose(self._selected_value[1])
            elif isinstance(page, RawPage):
                page.choose(self._selected_value[1])

    def _on_theme_changed(self) -> None:
        self.head.updateGeometry()
        self.head.update()
        self._refresh()
        self.lights.renew()
