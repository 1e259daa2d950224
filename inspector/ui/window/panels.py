"""The table of a window's panels.

To add a panel, add a folder in `ui/panels`, a line in PANELS and an action in `actions.py`. PANELS has the order of
docks, tabs and reading. Panels are imported on demand because the start page needs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from inspector.ui.docview.panel import COMPARE, CONVERSATION, MESSAGES, OVERVIEW, Area, Panel

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes


def _contexts(panes: Panes) -> QWidget:
    from inspector.ui.panels.contexts.panel import ContextsPanel

    return ContextsPanel(panes.client, panes.theme, panes.frame)


def _participants(panes: Panes) -> QWidget:
    from inspector.ui.panels.participants.panel import ParticipantsPanel

    return ParticipantsPanel(panes.client, panes.theme, panes.frame)


def _overview(panes: Panes) -> QWidget:
    from inspector.ui.panels.overview.panel import OverviewPanel

    panel = OverviewPanel(panes.client, panes.theme, panes.waste_figures, panes.frame)
    panes.ticked.connect(panel.tick)
    panel.link_chosen.connect(panes.follow_overview_link)
    return panel


def _messages(panes: Panes) -> QWidget:
    from inspector.ui.panels.messages.panel import MessagesPanel

    return MessagesPanel(panes.client, panes.theme, panes.rows, panes.frame)


def _conversation(panes: Panes) -> QWidget:
    from inspector.ui.panels.conversation.panel import ConversationPanel

    state = panes.filter_state
    panel = ConversationPanel(panes.client, panes.theme, panes.rows, panes.frame)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panel.json_requested.connect(lambda message: panes.messages.view.copies.copy_message("json", message))
    panel.scope_requested.connect(state.scope_to_opened)
    panel.agent_chosen.connect(panes.follow_agent)
    panel.files_requested.connect(lambda: panes.view_requested.emit("files"))
    state.scope_changed.connect(panel.show_scope)
    panes.messages.follow_changed.connect(panel.follow)
    panel.end_left.connect(lambda: panes.messages.follow(False))
    for changed in (panes.rows_shown, panes.counts_changed):
        changed.connect(lambda: panel.show_records(not panes.rows.hides_bookkeeping))
    panel.show_records(not panes.rows.hides_bookkeeping)
    panel.show_scope(state.scope)
    panel.follow(panes.messages.following)
    panel.show_message(panes.messages.current_message())
    return panel


def _files(panes: Panes) -> QWidget:
    from inspector.ui.panels.files.panel import FilesPanel

    panel = FilesPanel(panes.client, panes.theme, panes.rows, panes.frame)
    panes.counts_changed.connect(panel.refresh)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.show_message(panes.messages.current_message())
    return panel


def _timeline(panes: Panes) -> QWidget:
    from inspector.ui.panels.messages.view_rows import VIEW
    from inspector.ui.panels.timeline.panel import TimelinePanel

    panel = TimelinePanel(panes.client, VIEW, panes.theme, panes.plot_choices, panes.frame)
    panes.counts_changed.connect(panel.refresh)  # after changes of the document and of the view
    panes.selection_rested.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.range_chosen.connect(panes.chosen_range.choose)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panes.messages.follow_changed.connect(panel.follow)
    panel.end_left.connect(lambda: panes.messages.follow(False))
    panel.follow(panes.messages.following)
    panel.show_message(panes.messages.current_message())
    return panel


def _steps(panes: Panes) -> QWidget:
    from inspector.ui.panels.messages.view_rows import VIEW
    from inspector.ui.panels.steps.panel import StepsPanel

    panel = StepsPanel(panes.client, VIEW, panes.theme, panes.plot_choices, panes.frame)
    panes.counts_changed.connect(panel.refresh)  # after changes of the document and of the view
    panes.rows_shown.connect(panel.refresh)
    panel.counted.connect(lambda count: panes.tab_counted.emit("Steps", count))
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.range_chosen.connect(panes.chosen_range.choose)
    panes.chosen_range.described.connect(lambda _words: panel.head.context.mark_range(panes.chosen_range.bounds))
    panel.head.context.mark_range(panes.chosen_range.bounds)
    panel.show_message(panes.messages.current_message())
    return panel


def _model_sees(panes: Panes) -> QWidget:
    from inspector.ui.panels.model_sees.panel import ModelSeesPanel

    panel = ModelSeesPanel(panes.client, panes.theme, panes.rows, panes.plot_choices, panes.frame)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.filter_requested.connect(panes.filter_state.combine_filter)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panel.show_message(panes.messages.current_message())
    return panel


def _compare(panes: Panes) -> QWidget:
    from inspector.ui.panels.compare.panel import ComparePanel

    panel = ComparePanel(panes.client, panes.theme, panes.frame)

    def show_message(message: int) -> None:
        panes.view_requested.emit(MESSAGES)
        panes.go_to(message)

    panel.message_requested.connect(show_message)
    return panel


def _facets(panes: Panes) -> QWidget:
    from inspector.engine.requests.facets import CountFacets
    from inspector.ui.panels.facets.panel import FacetsPanel
    from inspector.ui.panels.messages.view_rows import VIEW

    state = panes.filter_state

    def question(opened: tuple[str, ...]) -> CountFacets:
        return CountFacets(VIEW, state.stack, state.scope, state.selected_context, opened=opened)

    def show_view(*_changed: object) -> None:
        panel.view_changed()

    panel = FacetsPanel(panes.client, panes.theme, question, panes.frame)
    for changed in (state.filter_applied, state.scope_changed, panes.rows_shown):
        changed.connect(show_view)
    panes.ticked.connect(panel.tick)
    panel.value_chosen.connect(state.choose)
    return panel


def _findings(panes: Panes) -> QWidget:
    from inspector.ui.panels.findings.panel import FindingsPanel

    panel = FindingsPanel(panes.client, panes.theme, panes.rows, panes.frame)
    panes.rows_shown.connect(panel.apply_view)
    panes.selection_changed.connect(panel.show_message)
    panel.show_message(panes.messages.current_message())
    return panel


def _marks(panes: Panes) -> QWidget:
    from inspector.ui.panels.marks.panel import MarksPanel

    panel = MarksPanel(panes.client, panes.theme, panes.rows, panes.frame)
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

    return LatencyPanel(panes.client, panes.theme, panes.frame)


def _waiting(panes: Panes) -> QWidget:
    from inspector.ui.panels.account.waiting import WaitingPanel

    panel = WaitingPanel(panes.client, panes.theme, panes.frame)
    panes.ticked.connect(panel.tick)
    return panel


def _waste(panes: Panes) -> QWidget:
    from inspector.ui.panels.waste.panel import WastePanel

    panel = WastePanel(panes.theme, panes.rows, panes.waste_figures, panes.frame)
    panes.rows_shown.connect(panel.apply_view)
    panes.settings_applied.connect(panel.apply_settings)
    panel.apply_settings(panes.settings)
    return panel


def _tokens(panes: Panes) -> QWidget:
    from inspector.ui.panels.tokens.panel import TokensPanel

    panel = TokensPanel(panes.client, panes.theme, panes.rows, panes.plot_choices, panes.frame)
    panes.counts_changed.connect(panel.apply_view)
    panes.selection_rested.connect(panel.show_message)
    panel.show_message(panes.messages.current_message())
    return panel


def _query(panes: Panes) -> QWidget:
    from inspector.ui.panels.query.panel import QueryPanel

    return QueryPanel(panes.client, panes.theme, panes.frame)


def _details(panes: Panes) -> QWidget:
    from inspector.ui.panels.details.panel import DetailsPanel

    panel = DetailsPanel(panes.client, panes.theme, panes.frame)
    panel.add_account(panes.waste_figures)
    return panel


def _sources(panes: Panes) -> QWidget:
    from inspector.ui.panels.sources.panel import SourcesPanel

    return SourcesPanel(panes.client, panes.theme, panes.frame)


PANELS: tuple[Panel[Panes], ...] = (
    Panel("contexts", "Contexts", Area.LEFT, "view.contexts", "first-steps", _contexts),
    Panel("participants", "Participants", Area.LEFT, "view.contexts", "first-steps", _participants),
    Panel("facets", "Facets", Area.LEFT, "view.facets", "search-and-filter", _facets, waits=True, hidden=True),
    Panel(
        OVERVIEW, "Overview", Area.MIDDLE, "view.overview", "first-steps", _overview, waits=True,
        ignores_filter=True, ignores_scope=True,
    ),
    Panel(
        CONVERSATION, "Conversation", Area.MIDDLE, "view.conversation", "coding-agents", _conversation, waits=True,
        ignores_filter=True,
    ),
    Panel("steps", "Steps", Area.MIDDLE, "view.steps", "why", _steps, waits=True, counts=True),
    Panel(MESSAGES, "Messages", Area.MIDDLE, "view.messages", "first-steps", _messages),
    Panel("timeline", "Timeline", Area.MIDDLE, "view.timeline", "why", _timeline, waits=True),
    Panel("model_sees", "Model sees", Area.MIDDLE, "view.model_sees", "model-sees", _model_sees, waits=True),
    Panel(
        "files", "Files", Area.MIDDLE, "view.files", "coding-agents", _files, waits=True,
        ignores_filter=True, ignores_scope=True,
    ),
    Panel(COMPARE, "Compare", Area.MIDDLE, "view.compare", "compare", _compare, waits=True, comes_on_request=True),
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
