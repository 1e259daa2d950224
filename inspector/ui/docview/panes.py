"""Connects the panes of one document: selection, changes and history. `FilterState` chooses the messages.

Panels never call each other. Everything between them goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.base.slices import SlicedWork
from inspector.engine.requests.account import WaitsNow
from inspector.engine.requests.clock import SetTime
from inspector.engine.requests.filters import Reach, Scope
from inspector.engine.requests.locations import LocateMessage, MessageContext, ResolveContext
from inspector.engine.requests.problems import ProblemCounts
from inspector.engine.requests.waste import AvoidableTokens
from inspector.engine.update import Update
from inspector.present.overview.cards import Link
from inspector.present.places import ContextPlace, ParticipantPlace, Place
from inspector.settings import Settings
from inspector.ui import intervals
from inspector.ui.document_client import DocumentClient
from inspector.ui.docview.chosen_range import ChosenRange
from inspector.ui.docview.document_bridge import DocumentBridge
from inspector.ui.docview.filter_state import FilterState, View
from inspector.ui.docview.find_in_view import FindInView
from inspector.ui.docview.message_travel import MessageTravel
from inspector.ui.docview.minimap_marks import MinimapMarkGatherer
from inspector.ui.docview.navigation_history import Stop
from inspector.ui.docview.panel import MESSAGES, OVERVIEW, BottomPanel, Panel, ReadsDocument
from inspector.ui.docview.running_search import Found
from inspector.ui.docview.shown_chain import ShownChain
from inspector.ui.docview.visited_places import VisitedPlaces
from inspector.ui.input.keys import KeyWords
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.panel import ContextsPanel
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.list_panel import hider_words
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import ViewRows
from inspector.ui.panels.participants.panel import ParticipantsPanel
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.widgets.latest_answer import LatestAnswer, Pending
from inspector.ui.widgets.rest_timer import RestTimer

if TYPE_CHECKING:
    from inspector.ui.panels.findings.panel import FindingsPanel
    from inspector.ui.panels.marks.panel import MarksPanel

_WASTE_MS = 2_000
"""Shortest pause between two searches for waste during traffic; longer if a search takes long."""

P = TypeVar("P", bound=QWidget)
_PROBLEMS_REST = 10
"""Pause after a count of problems, as a multiple of its duration."""
_WASTE_REST = 50
"""Pause after a search for avoidable tokens, as a multiple of its duration."""


class Panes(QObject):
    """Contexts, participants, messages and details of one document.

    Signals:
        view_left(int, str, put_back): a message was hidden by this filter or scope, and the view has changed to show
            it; `put_back` restores the view.
        counts_changed(): the number of messages or rows has changed.
        tab_counted(str, int): title of a tab, and its count.
        rows_shown(): the table shows other messages.
        notes_shown(): marks or comments changed.
        ticked(): a second has passed.
        settings_applied(Settings): display settings were applied; also in `settings`.
        panel_made(str, QWidget): a deferred panel was created, with its id.
        selection_changed(int | None): the current message.
        selection_rested(int | None): the current message; of quick changes only the last one, after a pause.
        column_requested(str): add a field as a column of the table.
        table_changed(Table): the user has changed the columns or the time mode.
        columns_dialog_requested(): open the dialog of columns.
        view_requested(str): show a view of the middle column by its id.
        panel_requested(str): show a dock by its title, or a page of the settings by "settings:" and its id.
        went_to(): a message was selected on request.
        mark_requested(Target), comment_requested(Target), unmark_requested(Target): toggle a mark, write a comment,
            remove both.

    Attributes:
        client: sends requests about the document to the engine.
        rows: the visible messages.
        filter_state: filter and scope.
        plot_choices: choices shared by plots and Model sees.
        waits, waste_figures: waits of live traffic and avoidable tokens, for several views.
        problem_counts: the number of problems.
        travel: goes to messages.
        chain: the chain that the table shows alone.
        settings: the display settings that were applied last.
        made: the created panels by id.
    """

    view_left = Signal(int, str, object)
    counts_changed = Signal()
    tab_counted = Signal(str, int)
    rows_shown = Signal()
    notes_shown = Signal()
    ticked = Signal()
    settings_applied = Signal(object)
    panel_made = Signal(str, object)
    selection_changed = Signal(object)
    selection_rested = Signal(object)
    column_requested = Signal(str)
    table_changed = Signal(object)
    columns_dialog_requested = Signal()
    view_requested = Signal(str)
    panel_requested = Signal(str)
    went_to = Signal()
    mark_requested = Signal(object)
    comment_requested = Signal(object)
    unmark_requested = Signal(object)

    def __init__(
        self, client: DocumentClient, theme: ThemeController, panels: Sequence[Panel[Panes]], frame: QWidget
    ) -> None:
        """Creates no panel; `make` does.

        Args:
            client: the document.
            theme: gives the look.
            panels: all panels; `panel` creates the deferred ones.
            frame: the window.
        """
        super().__init__(frame)
        self.client = client
        self.rows = ViewRows(self.client)
        self.filter_state = FilterState(self.client, self.rows, self)
        self.plot_choices = PlotChoices(self)
        self.theme = theme
        self.frame = frame
        self.bridge = DocumentBridge(client, self)
        # An engine process reads on while the panels are made.
        self.bridge.hold()
        self.waits = LatestAnswer(
            self, self.client, WaitsNow, every_ms=lambda: intervals.FIGURES_MS, ready=lambda: client.state.may_grow
        )
        self.waste_figures = LatestAnswer(
            self, self.client, AvoidableTokens, every_ms=self._waste_pause_ms, rest=_WASTE_REST
        )
        self.problem_counts = LatestAnswer(
            self, self.client, ProblemCounts, every_ms=lambda: intervals.LISTS_MS, rest=_PROBLEMS_REST
        )
        self.settings = Settings()
        self._panels = {one.id: one for one in panels}
        self.made: dict[str, QWidget] = {}
        self._reading: list[ReadsDocument] = [
            self.filter_state, self.problem_counts, self.waits, self.waste_figures,
        ]  # fmt: skip
        self._detached = False
        self._locating: Pending | None = None
        self._resting = RestTimer(self._on_selection_rested, self)
        self._shown_counts = (0, 0)
        self.shows_bookkeeping_here = False
        self.problem_counts.request_now()
        self.waits.invalidate()
        self.waste_figures.invalidate()

    def _waste_pause_ms(self) -> float:
        """Returns the shortest time between two searches for avoidable tokens; shorter until tokens are counted."""
        found = self.waste_figures.answer
        counted = found is not None and found.totals is not None
        return _WASTE_MS if counted else intervals.LISTS_MS

    def make(self) -> SlicedWork[None]:
        """Creates and connects the panels, one a step."""
        for one in self._panels.values():
            if not one.waits:
                self.made[one.id] = one.make(self)
                yield
        self.contexts = self._panel_of_type(ContextsPanel)
        self.participants = self._panel_of_type(ParticipantsPanel)
        self.messages = self._panel_of_type(MessagesPanel)
        self.details = self._panel_of_type(DetailsPanel)
        self.find_in_view = FindInView(self.client, self.rows, self.messages, self)
        self.minimap_marks = MinimapMarkGatherer(self.client, self.messages, self.find_in_view, self)
        self._key_words: KeyWords = lambda _name: ""
        for name in ("marks", "conversation"):
            self.when_made(name, lambda made: made.show_keys(self._key_words))
        self._visited = VisitedPlaces(self.filter_state, self.details, self._show_stop)
        self.chosen_range = ChosenRange(
            self.client, self.filter_state, self._visited, self.messages.current_message, self
        )
        self.travel = MessageTravel(
            self.filter_state, self.rows, self.messages, self.details, self._visited, parent=self,
            show_bookkeeping=self._show_bookkeeping_here, hider_words=self._hider_words,
        )  # fmt: skip
        self.chain = ShownChain(self.client, self.filter_state, self._visited, self.travel, self.messages, self)
        self._reading += [
            self.contexts, self.messages, self.find_in_view, self.minimap_marks, self.chain, self.chosen_range,
        ]  # fmt: skip
        self._connect()
        self.bridge.release()

    def _panel_of_type(self, kind: type[P]) -> P:
        """Returns the panel of a type."""
        return next(panel for panel in self.made.values() if isinstance(panel, kind))

    # Deferred panels

    def panel(self, name: str) -> QWidget:
        """Returns a panel by its id, created on first use.

        Raises:
            KeyError: there is no such panel, or the document has none.
        """
        made = self.made.get(name)
        if made is None:
            declared = self._panels[name]
            made = self.made[name] = declared.make(self)
            if declared.on_demand and isinstance(made, BottomPanel):
                made.message_requested.connect(self.go_to)
                made.filter_requested.connect(self.filter_state.combine_filter)
            self.panel_made.emit(name, made)
        return made

    def when_made(self, name: str, tie: Callable[[Any], object]) -> None:
        """Calls `tie` with a panel now, or as soon as it is created."""
        made = self.made.get(name)
        if made is not None:
            tie(made)
        else:
            self.panel_made.connect(lambda made_name, panel: tie(panel) if made_name == name else None)

    @property
    def bottom(self) -> list[Any]:
        """The created panels that are shown on demand, widgets and `BottomPanel`, in the order of their tabs."""
        at_bottom = (self.made.get(one.id) for one in self._panels.values() if one.on_demand)
        return [panel for panel in at_bottom if isinstance(panel, BottomPanel)]

    @property
    def findings(self) -> FindingsPanel:
        """The findings; created on first use, like the marks."""
        return cast("FindingsPanel", self.panel("findings"))

    @property
    def marks(self) -> MarksPanel:
        return cast("MarksPanel", self.panel("marks"))

    # Between panels

    def _connect(self) -> None:
        state = self.filter_state
        self.travel.view_left.connect(self.view_left)
        self.travel.went_to.connect(self.went_to)
        state.search.found.connect(self._on_found)
        state.calls_switched.connect(self.messages.view.selection.prefer_current)
        self.bridge.flushed.connect(self._on_flushed)
        self.bridge.settled.connect(self._on_settled)
        state.scope_changed.connect(self.contexts.show_scope)
        for changed in (state.filter_applied, state.scope_changed):
            changed.connect(self._flush_while_paused)
        self.messages.model.followed.connect(self._on_rows_followed)
        for changed in (self.counts_changed, self.rows_shown):
            self.messages.model.located.connect(changed)
        self.messages.caught_up.connect(self.counts_changed)
        self.messages.caught_up.connect(self.rows_shown)
        self.rows_shown.connect(self.chosen_range.refresh)
        self.find_in_view.message_requested.connect(self.travel.go_to_hit)
        self.find_in_view.changed.connect(self._highlight_hits_in_details)
        self.counts_changed.connect(self.minimap_marks.renew)
        self.messages.current_changed.connect(self._on_current_changed)
        self.messages.chosen.connect(self._on_message_chosen)
        self.messages.filter_requested.connect(state.combine_filter)
        self.messages.chain_requested.connect(self.chain.show)
        self.messages.clear_filter_requested.connect(lambda: state.apply_filter(""))
        self.messages.search_all_requested.connect(state.search_all)
        self.contexts.scope_requested.connect(state.set_scope)
        self.contexts.filter_requested.connect(state.combine_filter)
        self.contexts.message_requested.connect(self.go_to)
        self.contexts.selected.connect(self.show_context)
        self.contexts.space_selected.connect(self.show_current_message)
        self.participants.filter_requested.connect(state.combine_filter)
        self.participants.selected.connect(lambda key: self.show_place(ParticipantPlace(*key)))
        for panel in (self.messages, self.contexts, self.details.links):
            panel.mark_requested.connect(self.mark_requested)
            panel.comment_requested.connect(self.comment_requested)
        self.selection_changed.connect(self.plot_choices.follow)
        for chosen in (self.contexts.selected, self.contexts.context_filtered):
            chosen.connect(self.plot_choices.follow_context)
        state.scope_changed.connect(self.plot_choices.follow_scope)
        self.details.links.message_requested.connect(self._follow_link)
        self.details.links.filter_requested.connect(state.combine_filter)
        for panel in (self.messages, self.details.links):
            panel.column_requested.connect(self.column_requested)
        self.column_requested.connect(self.messages.show_column)
        self.messages.table_changed.connect(self.table_changed)
        self.messages.columns_dialog_requested.connect(self.columns_dialog_requested)
        self.details.links.code_requested.connect(lambda code: self.findings.show_code(code))
        self.details.links.chain_requested.connect(self.chain.show)
        self.details.links.scope_requested.connect(state.scope_to_message)
        self.details.links.place_requested.connect(self.show_place)
        self.details.links.context_scope_requested.connect(state.scope_to_context)
        self.selection_changed.connect(self._highlight_context)
        state.scope_changed.connect(self._highlight_context)
        state.scope_changed.connect(self._show_scope)
        state.context_changed.connect(self._highlight_context)

    def detach(self) -> None:
        """Unsubscribes from the document because it is about to close."""
        self.bridge.detach()
        self.client.stop()
        self._detached = True
        self._resting.stop()
        for one in (*self._reading, *self.bottom):
            one.stop()

    def apply_settings(self, settings: Settings, *, hints: bool) -> None:
        """Applies the display settings. The window decides about context hints."""
        self.messages.set_context_hints(hints)
        self.messages.set_states_shown(settings.display.show_states)
        self.messages.set_streams_folded(settings.display.fold_streams)
        self.shows_bookkeeping_here = self.shows_bookkeeping_here and settings.display.hide_bookkeeping
        self._hide_bookkeeping(settings.display.hide_bookkeeping and not self.shows_bookkeeping_here)
        self.details.set_context_hints(hints)
        self.details.links.formatted = settings.display.formatted_text
        self.contexts.set_animated(settings.display.animate)
        self.contexts.sources_action.setChecked(settings.display.sources_in_contexts)
        self.messages.set_table(settings.table)
        self.messages.set_highlights(settings.highlights)
        self.plot_choices.space_by(settings.axis_by)
        self.settings = settings
        self.settings_applied.emit(settings)

    def show_keys(self, words: KeyWords) -> None:
        """Shows the current shortcuts in sentences and on buttons."""
        self._key_words = words
        self.messages.find_bar.show_keys(words)
        self.details.show_keys(words)
        for name in ("marks", "conversation"):
            made: Any = self.made.get(name)
            if made is not None:
                made.show_keys(words)

    def refresh_contexts(self) -> None:
        """Shows states of contexts that follow changed settings."""
        self._refresh_states()
        self.contexts.view.renew_rows()
        self.details.renew()

    def _refresh_states(self) -> None:
        """Refreshes context states that change by the clock."""
        if self.rows.filter.follows_clock:
            self.messages.apply_changes(Update(0, 0, 0, 0, np.empty(0, np.int64)), clock=True)
            self.counts_changed.emit()

    # Changes

    def _on_flushed(self, changes: Update) -> None:
        self.messages.apply_changes(changes)
        self.find_in_view.apply_changes()
        self.chain.apply_changes(changes)

    def _on_settled(self, changes: Update) -> None:
        self.client.changed.emit()
        for panel in self.bottom:
            panel.apply_changes(changes)
        self._report_counts()

    def _report_counts(self) -> None:
        self._shown_counts = self.counts()
        self.counts_changed.emit()

    def _flush_while_paused(self, *_view: object) -> None:
        """Flushes pending changes for a new filter while the view is paused, since the filter has searched them."""
        # the new filter has searched all messages, so the other panels must show them too
        if self.bridge.paused:
            self.bridge.flush()

    def tick(self, now_ns: int | None) -> None:
        """Updates states and waiting times each second, since they follow the clock in live traffic."""
        if now_ns is not None:
            self.client.send_request(SetTime(now_ns), lambda _answer: self._refresh_states())
        self.messages.tick(live=now_ns is not None)
        self.contexts.tick(now_ns)
        self.participants.tick(now_ns)
        self.details.tick()
        # Waiting times grow without a new message.
        if self.client.state.is_arriving:
            self.waits.invalidate()
        found = self.waste_figures.answer
        # Without traffic no case can change any more: the search is due without a new message.
        if found is not None and found.ongoing != self.client.state.may_grow:
            self.waste_figures.invalidate()
        self.ticked.emit()

    def counts(self) -> tuple[int, int]:
        """Returns the number of shown messages and of all messages, without messages not flushed yet.

        Gaps and rows of session structure do not count. Without a filter and a scope both numbers are equal.
        """
        return self.rows.state.shown, self.rows.state.total

    # Filter and scope

    def _on_found(self, found: Found) -> None:
        self.messages.show_rows(*found)
        self.rows_shown.emit()
        self.find_in_view.apply_view()
        self.counts_changed.emit()

    def _show_scope(self, scope: Scope | None) -> None:
        if scope is None or scope.node is None or scope.reach is not Reach.BELOW:
            self.details.show_scope(None)
            return
        space = scope.space

        def show(node: int) -> None:
            if self.filter_state.scope == scope:
                self.details.show_scope((space, node))

        self.client.send_request(ResolveContext(scope.node), show)

    def _highlight_context(self, *_changed: object) -> None:
        self.messages.highlight_context(self.filter_state.selected_context)

    # Selection

    def _on_current_changed(self, message: int | None) -> None:
        if self._detached:  # Qt deletes the table after its neighbours
            return
        if self._locating is not None:
            self._locating.cancel()
        # At once: an act that follows, such as the choice of another page, must not be undone by an answer.
        if self.details.place is None:  # a page stays until the user leaves it
            self.details.show_message(message)
        self.selection_changed.emit(message)
        self._resting.call()

    def _on_selection_rested(self) -> None:
        if self._detached:
            return
        message = self.messages.current_message()
        if message is None:
            self._show_message_context(None)
        else:
            self._locating = self.client.send_request(
                LocateMessage(message), self._show_message_context, lambda _sentence: self._show_message_context(None)
            )
        self.selection_rested.emit(message)

    def _show_message_context(self, found: MessageContext | None) -> None:
        """Shows the context of the current message."""
        self.filter_state.select_context(None if found is None else found.path)
        if found is None:
            self.contexts.show_message_context(0, None)
        else:
            self.contexts.show_message_context(found.space, found.node)

    def _on_message_chosen(self, message: int) -> None:
        self._visited.add(message)
        if self.details.message != message:
            self.details.show_message(message)
        self._mark_shown_place()

    def _follow_link(self, message: int) -> None:
        """Follows a link in the details. Back returns to the page What happened."""
        if self.details.shows_account:
            self._visited.add_stop(None)
        self.go_to(message)

    def show_account(self) -> None:
        """Shows the page What happened in the details. The table stays."""
        self.details.show_message(None)
        self._mark_shown_place()

    def _mark_shown_place(self) -> None:
        """Marks the place shown in the details in the tree and the participants."""
        place = self.details.place
        self.contexts.show_place(place)
        participant = (place.space, place.name) if isinstance(place, ParticipantPlace) else None
        self.participants.show_selected(participant)

    def show_context(self, space: int, node: int) -> None:
        """Shows a context in the details; MAIN is a main context."""
        self.show_place(ContextPlace(space, node))

    def show_place(self, place: Place) -> None:
        """Shows a context or a participant in the details. The table stays."""
        self._visited.add(place)
        match place:
            case ContextPlace(space, node):
                self.details.show_context(space, node)
            case ParticipantPlace(space, name):
                self.details.show_participant(space, name)
        self._mark_shown_place()

    def show_current_message(self) -> None:
        """Shows the selected message in the details again."""
        if self.details.place is not None:
            message = self.messages.current_message()
            if message is not None:
                self._visited.add(message)
            self.details.show_message(message)
            self._mark_shown_place()

    def go_to(self, message: int) -> None:
        """Selects a message, in a view that shows it (`MessageTravel.go_to`)."""
        self.travel.go_to(message)

    def _hider_words(self, view: View) -> str:
        """Describes what of a view hides a message."""
        return "the chain" if self.chain.is_in(view) else hider_words(view[0], view[1])

    def _on_rows_followed(self) -> None:
        """Reports other counts, and does what waited for the rows."""
        # Within a flush, `_on_settled` reports them.
        if self.counts() != self._shown_counts and not self.bridge.is_settling:
            self._report_counts()
        self.travel.act_on_rows()

    def _show_bookkeeping_here(self) -> None:
        """Shows all bookkeeping rows of this view until the setting changes."""
        self.shows_bookkeeping_here = True
        self._hide_bookkeeping(False)

    def _hide_bookkeeping(self, on: bool) -> None:
        if self.messages.set_bookkeeping_hidden(on):
            self.counts_changed.emit()

    def _highlight_hits_in_details(self) -> None:
        found = self.find_in_view.found
        self.details.lights.show_find(found.locate if found is not None else None)

    # Marks

    def show_notes(self, changed: NDArray[np.int64]) -> None:
        """Shows changed marks or comments at once, also while the view is paused.

        Args:
            changed: messages with a changed note.
        """
        changes = Update(0, self.client.version, 0, 0, changed)
        self.messages.apply_changes(changes)
        self.details.renew()
        self.contexts.show_notes()
        self.notes_shown.emit()
        self.counts_changed.emit()

    # History

    def go_back(self) -> None:
        """Goes back to the previous place, with its view unless the user has chosen another since."""
        self._visited.go_back()

    def go_forward(self) -> None:
        """Reverts `go_back`."""
        self._visited.go_forward()

    def _show_stop(self, place: Stop) -> None:
        if place.shown == OVERVIEW:
            self.view_requested.emit(OVERVIEW)
        elif place.shown is None:
            self.travel.when_shown(self.show_account)
        elif isinstance(place.shown, int):
            self.go_to(place.shown)
        elif not isinstance(place.shown, str):
            self.show_place(place.shown)
            self.details.scroll_to(place.scrolled)

    # Overview

    def follow_overview_link(self, link: Link) -> None:
        """Shows the view, message, filter or panel that a link of the overview leads to. Back returns."""
        if link.panel:
            self.panel_requested.emit(link.panel)
            return
        self._visited.add_stop(OVERVIEW)
        if link.filter is not None:
            self.filter_state.apply_filter(link.filter)
        self.messages.show_columns(link.columns)
        with self._visited.suspend():  # a view with rows selects one of them, which is no place of its own
            self.view_requested.emit(link.view or MESSAGES)
        if link.message is not None:
            self.go_to(link.message)
        else:
            self._visited.add_stop(None)

    def leave_innermost(self) -> None:
        """Ends a chosen time range; else returns to the overview if the place was reached by one of its links."""
        if not self.chosen_range.end() and self._visited.before_last == OVERVIEW:
            self._visited.go_back()

    # Requests of panels

    def follow_agent(self, message: int, node: int) -> None:
        """Makes an agent the reader of the model context."""
        self.plot_choices.follow_agent(message, self.client.answer_now(LocateMessage(message)).space, node)
