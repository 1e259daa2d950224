"""The table of a window's panels.

To add a panel, add a folder in `ui/panels`, a line in PANELS and an action in `actions.py`. PANELS has the order of
docks, tabs and reading. Panels are imported on demand because the start page needs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from inspector.ui.docview.panel import MESSAGES, Area, Panel
from inspector.ui.msp import SUBSESSIONS, TITLE, subsessions_panel

if TYPE_CHECKING:
    from inspector.filters import DisplayFilter
    from inspector.ui.docview.panes import Panes


def _contexts(panes: Panes) -> QWidget:
    from inspector.ui.panels.contexts.panel import ContextsPanel

    return ContextsPanel(panes.document, panes.theme, panes.frame)


def _participants(panes: Panes) -> QWidget:
    from inspector.ui.panels.participants.panel import ParticipantsPanel

    return ParticipantsPanel(panes.document, panes.theme, panes.frame)


def _messages(panes: Panes) -> QWidget:
    from inspector.ui.panels.messages.panel import MessagesPanel

    return MessagesPanel(panes.document, panes.theme, panes.rows, panes.frame)


def _timeline(panes: Panes) -> QWidget:
    from inspector.ui.panels.timeline.panel import TimelinePanel

    panel = TimelinePanel(panes.document, panes.theme, panes.rows, panes.plot_choices, panes.frame)
    panes.bridge.settled.connect(panel.apply_changes)
    panes.counts_changed.connect(panel.refresh_view)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.filter_requested.connect(panes.filter_state.combine_filter)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panes.messages.follow_changed.connect(panel.follow)
    panel.end_left.connect(lambda: panes.messages.follow(False))
    panel.follow(panes.messages.following)
    panel.show_message(panes.messages.current_message())
    return panel


def _model_sees(panes: Panes) -> QWidget:
    from inspector.ui.panels.model_sees.panel import ModelSeesPanel

    panel = ModelSeesPanel(panes.document, panes.theme, panes.rows, panes.plot_choices, panes.frame)
    panes.bridge.settled.connect(panel.apply_changes)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.filter_requested.connect(panes.filter_state.combine_filter)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panel.show_message(panes.messages.current_message())
    return panel


def _subsessions(panes: Panes) -> QWidget:
    sessions = panes.document.msp
    if sessions is None:
        raise KeyError(SUBSESSIONS)
    return subsessions_panel(sessions, panes.theme, panes.frame)


def _facets(panes: Panes) -> QWidget:
    from inspector.filters import FilterError, compile_filter
    from inspector.filters.facets import FacetTally
    from inspector.ui.panels.facets.panel import FacetsPanel

    state, tally = panes.filter_state, FacetTally(panes.rows)
    panel = FacetsPanel(panes.document, panes.theme, tally, panes.frame)

    def compiled(text: str) -> DisplayFilter:
        try:
            return state.compile(text)
        except FilterError:  # $context of a filter without an active context
            return compile_filter("")

    def show_view(*_changed: object) -> None:
        tally.set_filter(state.stack, state.scope, compiled)
        panel.view_changed()

    for changed in (state.filter_applied, state.scope_changed, panes.rows_shown):
        changed.connect(show_view)
    panes.ticked.connect(panel.tick)
    panel.value_chosen.connect(state.choose)
    show_view()
    return panel


def _findings(panes: Panes) -> QWidget:
    from inspector.ui.panels.findings.panel import FindingsPanel

    panel = FindingsPanel(panes.document, panes.theme, panes.rows, panes.frame)
    panes.rows_shown.connect(panel.apply_view)
    panes.selection_changed.connect(panel.show_message)
    panel.show_message(panes.messages.current_message())
    return panel


def _marks(panes: Panes) -> QWidget:
    from inspector.ui.panels.marks.panel import MarksPanel

    panel = MarksPanel(panes.document, panes.theme, panes.rows, panes.frame)
    panes.rows_shown.connect(panel.apply_view)
    panes.notes_shown.connect(panel.refresh)
    panes.selection_changed.connect(panel.show_message)
    panel.place_requested.connect(panes.show_place)
    panel.mark_requested.connect(panes.mark_requested)
    panel.comment_requested.connect(panes.comment_requested)
    panel.remove_requested.connect(panes.unmark_requested)
    panel.show_message(panes.messages.current_message())
    return panel


def _latency(panes: Panes) -> QWidget:
    from inspector.ui.panels.latency.panel import LatencyPanel

    return LatencyPanel(panes.document, panes.theme, panes.frame)


def _waiting(panes: Panes) -> QWidget:
    from inspector.ui.panels.account.waiting import WaitingPanel

    return WaitingPanel(panes.document, panes.theme, panes.account, panes.frame)


def _waste(panes: Panes) -> QWidget:
    from inspector.ui.panels.waste.panel import WastePanel

    panel = WastePanel(panes.document, panes.theme, panes.rows, panes.waste_figures, panes.frame)
    panes.rows_shown.connect(panel.apply_view)
    panes.settings_applied.connect(panel.apply_settings)
    panel.apply_settings(panes.settings)
    return panel


def _tokens(panes: Panes) -> QWidget:
    from inspector.ui.panels.tokens.panel import TokensPanel

    panel = TokensPanel(panes.document, panes.theme, panes.rows, panes.plot_choices, panes.frame)
    panes.counts_changed.connect(panel.apply_view)
    panes.selection_changed.connect(panel.show_message)
    panel.show_message(panes.messages.current_message())
    return panel


def _query(panes: Panes) -> QWidget:
    from inspector.ui.panels.query.panel import QueryPanel

    return QueryPanel(panes.document, panes.theme, panes.frame)


def _details(panes: Panes) -> QWidget:
    from inspector.ui.panels.details.panel import DetailsPanel

    panel = DetailsPanel(panes.document, panes.theme, panes.frame)
    panel.add_account(panes.account, panes.waste_figures)
    return panel


def _sources(panes: Panes) -> QWidget:
    from inspector.ui.panels.sources.panel import SourcesPanel

    return SourcesPanel(panes.document, panes.theme, panes.frame)


PANELS: tuple[Panel[Panes], ...] = (
    Panel("contexts", "Contexts", Area.LEFT, "view.contexts", "first-steps", _contexts),
    Panel("participants", "Participants", Area.LEFT, "view.contexts", "first-steps", _participants),
    Panel("facets", "Facets", Area.LEFT, "view.facets", "search-and-filter", _facets, waits=True, hidden=True),
    Panel(MESSAGES, "Messages", Area.MIDDLE, "view.messages", "first-steps", _messages),
    Panel("timeline", "Timeline", Area.MIDDLE, "view.timeline", "why", _timeline, waits=True),
    Panel("model_sees", "Model sees", Area.MIDDLE, "view.model_sees", "model-sees", _model_sees, waits=True),
    Panel(SUBSESSIONS, TITLE, Area.MIDDLE, "view.subsessions", "sub-sessions", _subsessions, waits=True,
          present=lambda document: document.msp is not None, outlives_panes=True),
    Panel("details", "Details", Area.RIGHT, "view.details", "why", _details),
    Panel("findings", "Findings", Area.BOTTOM, "view.findings", "findings", _findings, waits=True),
    Panel("marks", "Marks", Area.BOTTOM, "view.marks", "marks-and-sharing", _marks, waits=True),
    Panel("sources", "Sources", Area.BOTTOM, "view.sources", "several-sources", _sources, waits=True),
    Panel("waiting", "Waiting", Area.BOTTOM, "analyze.waiting", "first-steps", _waiting, waits=True),
    Panel("latency", "Latency", Area.BOTTOM, "analyze.latency", "first-steps", _latency, waits=True),
    Panel("waste", "Waste", Area.BOTTOM, "analyze.waste", "waste", _waste, waits=True),
    Panel("tokens", "Tokens", Area.BOTTOM, "analyze.tokens", "full-context", _tokens, waits=True),
    Panel("query", "Query", Area.BOTTOM, "analyze.query", "tables", _query, waits=True),
)  # fmt: skip
