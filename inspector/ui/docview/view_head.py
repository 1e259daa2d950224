"""Tabs, bookkeeping link and scope above a view; below it, notices about hidden requests and proposals.

Views that ignore the filter have a line above them with the number of messages that the filter keeps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import Reach
from inspector.present.formats import count_of
from inspector.ui.docview.center import Center
from inspector.ui.docview.panel import CONVERSATION, MESSAGES
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import hider_words
from inspector.ui.panels.messages.view_rows import ViewRows
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.notice import Link, NoticeStack
from inspector.ui.widgets.scope_chip import ScopeChip
from inspector.ui.widgets.view_tabs import ViewTabs

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes

_CORNER_MARGINS = 32
"""Pixels beside the text of the bookkeeping link."""
HIDDEN_CALLS = "hidden-calls"
IGNORED_FILTER = "ignored-filter"
NEXT_KEPT = "Next kept message"
ONLY_KEPT = "Show only these"
SHOW_BOOKKEEPING = "Show internal records of programs, such as hooks and snapshots"
HIDE_BOOKKEEPING = "Hide internal records of programs, such as hooks and snapshots"
SHOWN_AS_WELL = "This view also shows hidden requests and proposals."


class ViewHead(QWidget):
    """The head and the foot of the middle column.

    Signals:
        bookkeeping_switched: show or hide bookkeeping rows.
        grown(int): change of its height in pixels, when notices appear or disappear.

    Attributes:
        tabs, scope: its parts.
        bookkeeping: the link that counts bookkeeping rows and shows or hides them.
        notices: notices about the view. They are below, because notices above would move the rows under the pointer.
        unfiltered: the line above a view that ignores the filter.
    """

    grown = Signal(int)
    bookkeeping_switched = Signal()

    def __init__(self, theme: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("viewHead")
        self._panes: Panes | None = None
        self._center: Center | None = None
        self._own_height = 0
        self._bookkeeping_words = ("", "")  # whole and short
        self._reserved = 0
        self._counted: list[str] = []
        self.tabs = ViewTabs(theme, self)
        self.scope = ScopeChip(theme, self)
        self.notices = NoticeStack(theme, self)
        self.notices.setObjectName("viewFoot")
        self.unfiltered = NoticeStack(theme, self)
        self.unfiltered.setObjectName("ignoredFilter")
        self.unfiltered.setAccessibleName("Filter and this view")
        self.bookkeeping = LinkButton("", name="bookkeeping", parent=self)
        self.bookkeeping.hide()
        self.bookkeeping.clicked.connect(self.bookkeeping_switched)
        self.tabs.set_corner(self.bookkeeping)
        self.tabs.set_corner(self.scope)
        self.scope.reach_chosen.connect(self._set_reach)
        self.scope.cleared.connect(self._clear_scope)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addWidget(self.unfiltered)

    def reserve(self, left: int, right: int) -> None:
        """Keeps the tabs in the place that they have beside the side panes of other views.

        Args:
            left, right: widths of the hidden panes, in pixels.
        """
        self._reserved = left + right
        self.tabs.set_indent(left)
        self._fit()

    def hold(self, notices: NoticeStack) -> None:
        """Shows the window's notices under the tabs."""
        self._column.insertWidget(1, notices)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        # Without the line of a view that ignores the filter: it never stands above the table.
        above_others = 0 if self.unfiltered.isHidden() else self.unfiltered.sizeHint().height()
        before, self._own_height = self._own_height, event.size().height() - above_others
        # The first resize has no old size.
        if event.oldSize().isValid() and self._own_height != before:
            self.grown.emit(self._own_height - before)

    def attach(self, panes: Panes, center: Center) -> None:
        """Shows the state of these panes and connects the tabs to the views."""
        self._center = center
        views = center.views_of(panes.client.state)
        self.tabs.set_views([view.title for view in views])
        self._counted = [view.title for view in views if view.counts]
        titles = {view.id: view.title for view in center.views}
        ids = {view.title: view.id for view in center.views}
        self.tabs.show_view(titles[center.current])
        self.tabs.view_chosen.connect(lambda title: center.show_view(ids[title]))
        center.changed.connect(lambda view: self.tabs.show_view(titles[view]))
        center.changed.connect(self._show_ignored)
        center.added.connect(lambda view: self._add_view(titles[view]))
        self.speak_of(panes)

    def _add_view(self, title: str) -> None:
        self.tabs.add_view(title)
        self._fit()

    def _show_tab_count(self, title: str, count: int) -> None:
        self.tabs.set_count(count, title)
        self._fit()

    def speak_of(self, panes: Panes) -> None:
        """Shows the state of these panes, which have the same views as the previous ones."""
        self._panes = panes
        self.grown.connect(panes.messages.view.anchor.push)
        panes.filter_state.scope_changed.connect(self._show_scope)
        panes.filter_state.context_changed.connect(self._show_scope)
        panes.filter_state.filter_applied.connect(self._show_hidden)
        panes.counts_changed.connect(self._show_counts)
        panes.tab_counted.connect(self._show_tab_count)
        panes.waits.answered.connect(self._show_hidden)
        self._show_scope()
        self._show_counts()

    def _show_counts(self) -> None:
        if self._panes is not None:
            shown, total = self._panes.counts()
            self.tabs.set_count(shown)
            for title in self._counted:
                self.tabs.reserve_count(total, title)
            self._show_bookkeeping(self._panes.rows)
            self._fit()
            self._show_hidden()
            self._show_ignored()

    def _show_ignored(self, *_view: str) -> None:
        """Shows the number of kept messages above a view that ignores the filter or the scope."""
        panes, center = self._panes, self._center
        if panes is None or center is None:
            return
        view = next(view for view in center.views if view.id == center.current)
        state = panes.filter_state
        is_filtered, is_scoped = bool(state.filter.text.strip()), state.scope is not None
        if not ((is_filtered and view.ignores_filter) or (is_scoped and view.ignores_scope)):
            self.unfiltered.dismiss(IGNORED_FILTER)
            return
        hider = hider_words(state.filter, state.scope)
        shown, total = panes.counts()
        keep = "keep" if is_filtered and is_scoped else "keeps"
        shows = "follows only the scope" if is_scoped and not view.ignores_scope else "shows all"
        kept = f"{hider[:1].upper()}{hider[1:]} {keep} {shown:,} of {count_of(total, 'message')}"
        links: list[Link] = [(ONLY_KEPT, self._show_messages)]
        if view.id == CONVERSATION and shown:
            links.insert(0, (NEXT_KEPT, self._select_next_kept))
        self.unfiltered.show_notice(
            IGNORED_FILTER, "filter", f"{kept}; {view.title} {shows}.", links, token="ink.tertiary"
        )

    def _show_messages(self) -> None:
        if self._center is not None:
            self._center.show_view(MESSAGES)

    def _select_next_kept(self) -> None:
        if self._panes is not None:
            self._panes.messages.step(1)

    def _show_bookkeeping(self, rows: ViewRows) -> None:
        """Shows the number of bookkeeping rows."""
        count = rows.bookkeeping
        self.bookkeeping.setVisible(count > 0)
        if count:
            words = f"{count_of(count, 'bookkeeping row')}"
            self.bookkeeping.set_label(f"{words} hidden" if rows.hides_bookkeeping else f"Hide {words}")
            self._bookkeeping_words = (
                self.bookkeeping.text(), f"{count:,} hidden" if rows.hides_bookkeeping else f"Hide {count:,}"
            )  # fmt: skip
            self.bookkeeping.setToolTip(SHOW_BOOKKEEPING if rows.hides_bookkeeping else HIDE_BOOKKEEPING)

    def _fit(self) -> None:
        """Shortens link, scope and tabs, one after the other, until all tabs have room."""
        whole, short = self._bookkeeping_words
        for words, is_short, is_tight in (
            (whole, False, False), (short, False, False), (short, True, False), (short, True, True),
        ):  # fmt: skip
            self.scope.set_short(is_short)
            self.tabs.set_tight(is_tight)
            needed = self.tabs.bar_width + _CORNER_MARGINS
            if not self.bookkeeping.isHidden():
                needed += self.bookkeeping.fontMetrics().horizontalAdvance(words)
            self.bookkeeping.setText(words)
            room, least = self.width() - self._reserved - needed, self.scope.least_width
            if room >= (0 if self.scope.isHidden() else least if is_short else self.scope.sizeHint().width()):
                break
        # A layout would take room from the tabs too.
        self.scope.setMaximumWidth(max(room, least))

    def _show_scope(self, *_changed: object) -> None:
        if self._panes is None:
            return
        state = self._panes.filter_state
        facts = state.scope_facts
        if state.scope is None:
            self.scope.show_scope(None, None)
        elif facts is not None:
            self.scope.show_scope(facts.labels, state.scope.reach if facts.has_reach else None)
        self._fit()
        self._show_hidden()

    def _clear_scope(self) -> None:
        if self._panes is not None:
            self._panes.filter_state.set_scope(None)

    def _set_reach(self, reach: Reach) -> None:
        if self._panes is not None and self._panes.filter_state.scope is not None:
            scope = self._panes.filter_state.scope
            self._panes.filter_state.set_scope(replace(scope, reach=reach))

    def _show_hidden(self, *_filter: object) -> None:
        """Shows how many requests and proposals the view hides, while traffic is live and one of them waits.

        Agents must act on these in any context.
        """
        if self._panes is None:
            return
        requests, proposals = self._panes.rows.hidden_calls()
        counts = ((requests, "request"), (proposals, "proposal"))
        parts = [count_of(count, word) for count, word in counts if count]
        if not parts and self._panes.rows.is_filtered and self._panes.filter_state.shows_calls:
            links = [("Hide", self._panes.filter_state.hide_calls_again)]
            self.notices.show_notice(HIDDEN_CALLS, "note", SHOWN_AS_WELL, links)
            return
        if not parts or not self._panes.client.state.may_grow or not self._hides_waiting():
            self.notices.dismiss(HIDDEN_CALLS)
            return
        # the notice names the filter, the scope or both
        hider = hider_words(self._panes.filter_state.filter, self._panes.filter_state.scope)
        verb = "hide" if " and " in hider else "hides"
        sentence = f"{hider[:1].upper()}{hider[1:]} {verb} {' and '.join(parts)}."
        self.notices.show_notice(
            HIDDEN_CALLS, "hidden", sentence, [("Show", self._panes.filter_state.show_hidden_calls)]
        )

    def _hides_waiting(self) -> bool:
        """Returns True if a waiting message is hidden. O(waiting messages), bounded."""
        panes = self._panes
        if panes is None:
            return False
        waits = panes.waits.answer
        return waits is not None and any(panes.rows.position(row) is None for row in waits.messages.tolist())
