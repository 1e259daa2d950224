"""The table of all actions: menus, tool bar, keys and command palette are built from it.

To add an action, add a line to ACTIONS that names the feature of the window that performs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from inspector.formats.products import SESSION_PRODUCTS
from inspector.ui.input.action import SESSIONS, Action

if TYPE_CHECKING:
    from inspector.ui.docview.find_in_view import FindInView
    from inspector.ui.docview.panes import Panes
    from inspector.ui.panels.compare.panel import ComparePanel
    from inspector.ui.panels.conversation.find import ConversationFind
    from inspector.ui.panels.conversation.panel import ConversationPanel
    from inspector.ui.panels.runs.page import RunsPage
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.window.main_window import MainWindow
    from inspector.ui.window.shared_clock import ClockMode

# Qt's Ctrl is Cmd on macOS, where Cmd+, opens the settings of every program.
_PREFERENCES = ("Ctrl+,",) if sys.platform == "darwin" else ("Ctrl+Alt+S", "Ctrl+,")

_DETAILS = "Page of the detai&ls"
_THEME = "Theme"
_IN_CONVERSATION, _CONVERSATION = "In the con&versation", "conversationPanel"
_IN_COMPARISON = "In the comparison"
_PANES_MENU, _TIME, _ROWS, _ZOOM, _HIGHLIGHT = "&Panes", "&Time", "&Rows", "&Zoom", "Hi&ghlight"


def _run_in_panes(do: Callable[[Panes], object]) -> Callable[[MainWindow], None]:
    """Runs `do` with the panes of the document, if there is one."""

    def done(window: MainWindow) -> None:
        if window.panes is not None:
            do(window.panes)

    return done


def _run_in_content(do: Callable[[Panes | RunsPage], object]) -> Callable[[MainWindow], None]:
    """Runs `do` with the panes of a document or the page of a survey, if there is one."""

    def done(window: MainWindow) -> None:
        shown = window.panes or window.shown.runs
        if shown is not None:
            do(shown)

    return done


def _run_in_conversation(do: Callable[[ConversationPanel], object]) -> Callable[[MainWindow], None]:
    """Shows the conversation, and runs `do` with it."""

    def done(window: MainWindow) -> None:
        if window.panes is not None:
            window.center.show_view("conversation")
            do(cast("ConversationPanel", window.panes.panel("conversation")))

    return done


def _run_in_comparison(do: Callable[[ComparePanel], object]) -> Callable[[MainWindow], None]:
    """Runs `do` with the comparison if there is one, and shows it."""

    def done(window: MainWindow) -> None:
        made = None if window.panes is None else window.panes.made.get("compare")
        if made is not None:
            window.center.show_view("compare")
            do(cast("ComparePanel", made))

    return done


def _find(do: Callable[[FindInView | ConversationFind], object]) -> Callable[[MainWindow], None]:
    """Runs `do` with the search of the conversation if it is shown, else with that of the table."""

    def done(window: MainWindow) -> None:
        if window.panes is None:
            return
        shown = window.panes.panel("conversation") if window.center.current == "conversation" else None
        do(window.panes.find_in_view if shown is None else cast("ConversationPanel", shown).find_in_text)

    return done


def _test_in_panes(on: Callable[[Panes], bool]) -> Callable[[MainWindow], bool]:
    """Returns a test of the panes that is False without a document."""
    return lambda window: window.panes is not None and on(window.panes)


def _has_clock(mode: ClockMode) -> Callable[[MainWindow], bool]:
    def is_on(window: MainWindow) -> bool:
        clock = window.application.tabs.clock(window)
        return clock is not None and clock.mode == mode

    return is_on


def _has_theme(setting: str) -> Callable[[MainWindow], bool]:
    return lambda window: window.theme.setting == setting


def _is_view_shown(view: str) -> Callable[[MainWindow], bool]:
    return lambda window: window.panes is not None and window.center.current == view


def _active_filter_bar(window: MainWindow) -> FilterBar:
    """Returns the filter bar in use: of messages, or of the runs of a survey."""
    runs = window.shown.runs
    return window.filter_bar if runs is None else runs.bar


def _count_times_from_current(panes: Panes) -> None:
    message = panes.messages.current_message()
    if message is not None:
        panes.messages.count_times_from(message)


def _clear_view(window: MainWindow) -> None:
    """Removes filter and scope, and drops text that was typed but not applied."""
    window.navigation.clear_view()
    _active_filter_bar(window).discard_written()


def _show_about(window: MainWindow) -> None:
    """Shows versions and the licences of all dependencies."""
    from inspector.ui.dialogs.about import AboutDialog
    from inspector.ui.dialogs.environment_facts import about_facts

    versions = window.application.versions
    dialog = AboutDialog(
        window.theme,
        [*about_facts(), ("Updates", versions.words)],
        window,
        newer=versions.available if versions.page else "",
    )
    dialog.page_requested.connect(lambda: versions.ask_to_open(dialog))
    dialog.open()


_PROGRAMS = " ".join(SESSION_PRODUCTS).lower()

ACTIONS: tuple[Action[MainWindow], ...] = (
    Action("file.open", "&Open a log...", "&File", lambda w: w.opening.ask_for_files(), ("Ctrl+O",), "open",
           short="Open"),
    Action("file.open_folder", "Open a fo&lder of sessions...", "&File", lambda w: w.opening.ask_for_folder(),
           ("Ctrl+Shift+O",)),
    Action("file.sessions", "Agent sessions...", "&File", lambda w: w.agent_sessions.show_dialog(), ("Ctrl+Shift+A",),
           words=f"{_PROGRAMS} transcript conversation history"),
    Action("file.new_session", "New sess&ion...", "&File", lambda w: w.creating.ask_for_session()),
    Action("file.connect", "&Connect to a gateway...", "&File", lambda w: w.gateway.ask_for_gateway(), ("Ctrl+K",),
           "connect", short="Connect"),
    Action("file.connections", "Mana&ge connections...", "&File", lambda w: w.connections.manage()),
    Action("file.demo", "Start the &demo", "&File", lambda w: w.gateway.start_demo()),
    Action("file.paste", "&Paste text as a log", "&File", lambda w: w.opening.paste_text(),
           ("Ctrl+V", "Ctrl+Shift+V")),
    Action("file.read_as", "Read as...", "&File", lambda w: w.opening.ask_for_reading(), needs="document",
           words="format reading recognise"),
    Action("file.declare_format", "Declare a &format...", "&File", lambda w: w.opening.declare_format(),
           words="read as declaration toml unknown log"),
    Action("file.add_source", "Add source...", "&File", lambda w: w.sources.ask_for_sources(),
           needs="document", words="merge together several logs join"),
    Action("file.new_window", "&New window", "&File", lambda w: w.application.new_window(alone=True), ("Ctrl+N",),
           separated=True),
    Action("file.save", "&Save capture...", "&File", lambda w: w.saver.save(), ("Ctrl+S",), needs="unsaved",
           separated=True),
    Action("file.save_as", "Save capture &as...", "&File", lambda w: w.saver.save_as(), ("Ctrl+Shift+S",),
           needs="document"),
    Action("file.save_as_capture", "Save sessions as a capt&ure...", "&File", lambda w: w.capture_saving.save_as(),
           needs="sessions"),
    Action("file.compare", "Compare with...", "&File", lambda w: w.run_comparing.ask_for_run(), needs="document",
           words="diff two runs difference regression why"),
    Action("file.save_sources", "Save list of sources...", "&File", lambda w: w.sources.save_list(), needs="document",
           words="session together several logs"),
    Action("file.export", "&Export...", "&File", lambda w: w.exporting.show_dialog(), ("Ctrl+Shift+E",),
           needs="document"),
    Action("file.print", "Print the conversation...", "&File", lambda w: w.exporting.print_conversation(), ("Ctrl+P",),
           needs="document", words="paper pdf page browser"),
    Action("file.preferences", "Se&ttings...", "&File", lambda w: w.settings_editing.open(), _PREFERENCES,
           separated=True, words="preferences options configure font density language theme"),
    Action("file.close", "Close &window", "&File", lambda w: w.close(), ("Ctrl+W",), separated=True),
    Action("file.quit", "&Quit", "&File", lambda w: w.application.spawn(w.application.quit(), "quit"), ("Ctrl+Q",)),
    Action("edit.undo", "&Undo", "&Edit", lambda w: w.undo_history.undo(), ("Ctrl+Z",), needs="undo"),
    Action("edit.redo", "&Redo", "&Edit", lambda w: w.undo_history.redo(), ("Ctrl+Shift+Z", "Ctrl+Y"), needs="redo"),
    Action("edit.mark", "&Mark or unmark", "&Edit", lambda w: w.marking.toggle(), ("Ctrl+M",), "mark",
           needs="document", separated=True),
    Action("edit.comment", "C&omment...", "&Edit", lambda w: w.marking.comment(), ("Ctrl+Shift+M",), "comment",
           needs="document"),
    Action("edit.clear_marks", "Clear all mar&ks", "&Edit", lambda w: w.marking.clear(), needs="marks"),
    Action("edit.copy_row", "&Copy row", "&Edit", _run_in_panes(lambda p: p.messages.copy("rows")), needs="message",
           separated=True),
    Action("edit.copy_value", "Copy &value", "&Edit", _run_in_panes(lambda p: p.messages.copy("values")),
           ("Ctrl+Alt+C",), needs="message"),
    Action("edit.copy_json", "Copy as &JSON", "&Edit", _run_in_panes(lambda p: p.messages.copy("json")),
           ("Ctrl+Shift+C",), needs="message"),
    Action("edit.copy_markdown", "Copy as Markdo&wn", "&Edit", _run_in_panes(lambda p: p.messages.copy("markdown")),
           needs="message"),
    Action("edit.copy_id", "Copy &id", "&Edit", _run_in_panes(lambda p: p.messages.copy("ids")), needs="message"),
    Action("edit.copy_filter", "Copy as fi&lter", "&Edit", _run_in_panes(lambda p: p.messages.copy("filter")),
           needs="message"),
    Action("edit.copy_sql", "Copy the filter as S&QL", "&Edit", lambda w: _active_filter_bar(w).copy_as_sql(),
           needs="filter", words="condition where query"),
    Action("edit.select_all", "&Select all shown", "&Edit", _run_in_panes(lambda p: p.messages.select_all()),
           needs="document", separated=True),
    Action("edit.filter_selected", "Filter &by the selected messages", "&Edit",
           _run_in_panes(lambda p: p.messages.filter_by_selected("replace")), needs="message"),
    Action("edit.hide_selected", "&Hide the selected messages", "&Edit",
           _run_in_panes(lambda p: p.messages.filter_by_selected("and_not")), needs="message"),
    Action("edit.find", "Fin&d in view", "&Edit", _find(lambda find: find.open()), ("Ctrl+F",), "find",
           needs="document", separated=True),
    Action("edit.find_next", "Find next", "&Edit", _find(lambda find: find.step(1)), ("F3",),
           needs="document"),
    Action("edit.find_previous", "Find previous", "&Edit", _find(lambda find: find.step(-1)),
           ("Shift+F3",), needs="document"),
    Action("edit.find_case", "Match case in Find", "&Edit", _run_in_panes(lambda p: p.find_in_view.switch_match_case()),
           ("Ctrl+Alt+A",), needs="document", on=_test_in_panes(lambda p: p.find_in_view.bar.match_case.isChecked())),
    Action("edit.find_pattern", "Regular expression in Find", "&Edit",
           _run_in_panes(lambda p: p.find_in_view.switch_pattern()), ("Ctrl+Alt+R",), needs="document",
           on=_test_in_panes(lambda p: p.find_in_view.bar.is_pattern.isChecked())),
    Action("edit.filter", "&Filter", "&Edit", lambda w: _active_filter_bar(w).focus_editor(), ("Ctrl+/",), "filter",
           needs="filter", separated=True),
    Action("edit.clear_filter", "Clear filter and scope", "&Edit", _clear_view, ("Ctrl+Shift+X",), needs="filter"),
    Action("edit.save_preset", "Save filter as &preset", "&Edit", lambda w: w.presets.ask_to_save_active(),
           ("Ctrl+D",), "save", needs="document"),
    Action("view.contexts", "&Contexts", "&View", lambda w: w.dock_row.switch("view.contexts"), ("Ctrl+1",),
           needs="document", on=lambda w: w.dock_row.shows("view.contexts"), submenu=_PANES_MENU),
    Action("view.details", "&Details", "&View", lambda w: w.dock_row.switch("view.details"), ("Ctrl+2",),
           needs="document", on=lambda w: w.dock_row.shows("view.details"), submenu=_PANES_MENU),
    Action("view.facets", "Facets", "&View", lambda w: w.dock_row.turn_over("Facets"), ("Ctrl+Alt+F",),
           needs="document", on=lambda w: w.dock_row.shows("view.facets"), submenu=_PANES_MENU),
    Action("view.account", "What happe&ned", "&View", lambda w: w.navigation.show_account(), needs="document",
           submenu=_PANES_MENU),
    Action("view.findings", "&Findings", "&View", lambda w: w.dock_row.turn_over("Findings"), ("Ctrl+3",),
           needs="document", on=lambda w: w.dock_row.shows("view.findings"), submenu=_PANES_MENU),
    Action("view.marks", "&Marks", "&View", lambda w: w.dock_row.turn_over("Marks"), ("Ctrl+5",), needs="document",
           on=lambda w: w.dock_row.shows("view.marks"), submenu=_PANES_MENU),
    Action("view.sources", "Sources", "&View", lambda w: w.dock_row.turn_over("Sources"), needs="document",
           on=lambda w: w.dock_row.shows("view.sources"), words="files logs clock offset merged together",
           submenu=_PANES_MENU),
    Action("view.edge_left", "Left panel", "&View", lambda w: w.dock_row.switch_edge("left"), icon="pane_left",
           needs="document", on=lambda w: w.dock_row.shows_edge("left"), words="sidebar panel", submenu=_PANES_MENU),
    Action("view.edge_bottom", "Bottom panel", "&View", lambda w: w.dock_row.switch_edge("bottom"),
           icon="pane_bottom", needs="document", on=lambda w: w.dock_row.shows_edge("bottom"), words="sidebar panel",
           submenu=_PANES_MENU),
    Action("view.edge_right", "Right panel", "&View", lambda w: w.dock_row.switch_edge("right"),
           icon="pane_right", needs="document", on=lambda w: w.dock_row.shows_edge("right"), words="sidebar panel",
           submenu=_PANES_MENU),
    Action("details.overview", "&Overview", "&View", lambda w: w.navigation.show_details("Overview"), needs="message",
           submenu=_DETAILS),
    Action("details.tree", "&Tree", "&View", lambda w: w.navigation.show_details("Tree"), needs="message",
           submenu=_DETAILS),
    Action("details.raw", "&Raw", "&View", lambda w: w.navigation.show_details("Raw"), needs="message",
           submenu=_DETAILS),
    Action("details.related", "R&elated", "&View", lambda w: w.navigation.show_details("Related"), needs="message",
           submenu=_DETAILS),
    Action("details.life", "&Lifecycle", "&View", lambda w: w.navigation.show_details("Lifecycle"), needs="message",
           submenu=_DETAILS),
    Action("details.findings", "&Findings", "&View", lambda w: w.navigation.show_details("Findings"), needs="message",
           submenu=_DETAILS),
    Action("view.overview", "Overview", "&View", lambda w: w.navigation.show_view("overview"), ("Alt+Home",),
           needs="document", on=_is_view_shown("overview"), separated=True, words="summary cards what happened"),
    Action("view.messages", "Messages", "&View", lambda w: w.navigation.show_view("messages"), ("Ctrl+6",),
           needs="document", on=_is_view_shown("messages")),
    Action("view.conversation", "Conversation", "&View", lambda w: w.navigation.show_view("conversation"), ("Ctrl+J",),
           needs="document", on=_is_view_shown("conversation"), words="read transcript chat turns"),
    Action("view.steps", "Steps", "&View", lambda w: w.navigation.show_view("steps"), needs="document",
           on=_is_view_shown("steps"), words="waterfall durations slow trace tree"),
    Action("view.timeline", "Timeline", "&View", lambda w: w.navigation.show_view("timeline"), ("Ctrl+7",),
           needs="document", on=_is_view_shown("timeline")),
    Action("view.model_sees", "Model sees", "&View", lambda w: w.navigation.show_view("model_sees"), ("Ctrl+8",),
           needs="document", on=_is_view_shown("model_sees")),
    Action("view.files", "Files", "&View", lambda w: w.navigation.show_view("files"), needs="document",
           on=_is_view_shown("files"), words="edits changes diff written read"),
    Action("view.compare", "Compare", "&View", lambda w: w.run_comparing.show(), needs="document",
           on=_is_view_shown("compare"), words="diff other run lanes"),
    Action("view.subsessions", "Sub-sessions", "&View", lambda w: w.msp.view.show_subsessions(), ("Ctrl+B",),
           needs="sessions", on=lambda w: w.msp.view.is_shown),
    Action("view.hints", "Show context &hints", "&View",
           lambda w: w.settings_editing.show_hints(not w.display.shows_hints),
           on=lambda w: w.display.shows_hints, separated=True, submenu=_ROWS),
    Action("view.frames", "Show each stream frame and copy", "&View",
           lambda w: w.settings_editing.fold_streams(not w.display.folds_streams),
           on=lambda w: not w.display.folds_streams, words="fold unfold tokens chunks repeats said again",
           submenu=_ROWS),
    Action("view.bookkeeping", "Show bookkeeping rows", "&View", lambda w: w.display.switch_bookkeeping(),
           ("Ctrl+Shift+B",), on=lambda w: not w.display.hides_bookkeeping, words="hooks snapshots hidden records",
           submenu=_ROWS),
    Action("view.expand", "Expand or collapse the row", "&View", _run_in_panes(lambda p: p.messages.toggle_original()),
           ("Ctrl+E",), needs="message", submenu=_ROWS),
    Action("view.presets", "&Edit presets...", "&View", lambda w: w.settings_editing.open("presets"), separated=True),
    Action("view.highlights", "Highlight &rules...", "&View", lambda w: w.settings_editing.open("highlights"),
           submenu=_HIGHLIGHT),
    Action("view.highlight_filter", "Highlight filter matches", "&View",
           lambda w: w.highlighting.ask_to_add_filter(), ("Ctrl+Shift+H",), needs="document", submenu=_HIGHLIGHT),
    Action("view.columns", "&Columns...", "&View", lambda w: w.navigation.choose_columns(), needs="document",
           separated=True, words="fields table", submenu=_ROWS),
    Action("view.time_start", "Time since the first message", "&View",
           _run_in_panes(lambda p: p.messages.choose_time("start")), needs="document",
           on=lambda w: w.display.time_mode == "start", submenu=_TIME),
    Action("view.time_clock", "Time of da&y", "&View", _run_in_panes(lambda p: p.messages.choose_time("clock")),
           needs="document", on=lambda w: w.display.time_mode == "clock", submenu=_TIME),
    Action("view.time_previous", "Time since the message a&bove", "&View",
           _run_in_panes(lambda p: p.messages.choose_time("previous")), needs="document",
           on=lambda w: w.display.time_mode == "previous", submenu=_TIME),
    Action("view.time_mark", "Time since &this message", "&View",
           _run_in_panes(_count_times_from_current), ("Ctrl+T",), needs="message",
           on=lambda w: w.display.time_mode == "mark", submenu=_TIME),
    Action("view.sort_again", "&Re-sort", "&View", _run_in_panes(lambda p: p.messages.sorter.again()), needs="document",
           submenu=_ROWS),
    Action("view.sort_clear", "&Unsorted", "&View", _run_in_panes(lambda p: p.messages.sorter.clear()),
           needs="document", submenu=_ROWS),
    Action("view.theme_system", "&System", "&View", lambda w: w.settings_editing.choose_theme("system"),
           on=_has_theme("system"), separated=True, submenu=_THEME, words="colours appearance mode"),
    Action("view.theme_light", "&Light", "&View", lambda w: w.settings_editing.choose_theme("light"),
           on=_has_theme("light"), submenu=_THEME, words="colours appearance bright white mode"),
    Action("view.theme_dark", "&Dark", "&View", lambda w: w.settings_editing.choose_theme("dark"),
           on=_has_theme("dark"), submenu=_THEME, words="colours appearance black mode"),
    Action("view.zoom_in", "Zoom &in", "&View", lambda w: w.settings_editing.zoom_by(10), ("Ctrl++", "Ctrl+="),
           words="larger bigger font text size scale", submenu=_ZOOM),
    Action("view.zoom_out", "Zoom &out", "&View", lambda w: w.settings_editing.zoom_by(-10), ("Ctrl+-",),
           words="smaller font text size scale", submenu=_ZOOM),
    Action("view.zoom_reset", "&Actual size", "&View", lambda w: w.settings_editing.zoom_reset(), ("Ctrl+0",),
           words="zoom 100 font text scale", submenu=_ZOOM),
    Action("view.reset_layout", "&Reset the layout", "&View", lambda w: w.layout_keeper.reset(), needs="document",
           separated=True, words="default panes docks", submenu=_PANES_MENU),
    Action("go.first", "&First message", "&Go", _run_in_panes(lambda p: p.messages.go_to_first()), ("Ctrl+Home",),
           needs="document", in_panes=True),
    Action("go.last", "&Last message", "&Go", _run_in_panes(lambda p: p.messages.go_to_last()), ("Ctrl+End",),
           needs="document", in_panes=True),
    Action("go.next", "&Next message", "&Go", _run_in_panes(lambda p: p.messages.step(1)),
           ("Ctrl+Down",), needs="document", separated=True),
    Action("go.previous", "&Previous message", "&Go", _run_in_panes(lambda p: p.messages.step(-1)), ("Ctrl+Up",),
           needs="document"),
    Action("go.chain_next", "Next in the same &chain", "&Go", _run_in_panes(lambda p: p.chain.step(1)), ("Ctrl+]",),
           needs="message", separated=True),
    Action("go.chain_previous", "Previous in the same chain", "&Go", _run_in_panes(lambda p: p.chain.step(-1)),
           ("Ctrl+[",), needs="message"),
    Action("go.chain_alone", "Show only this ch&ain", "&Go", lambda w: w.next_message.show_chain_alone(),
           ("Ctrl+\\",), needs="message"),
    Action("go.problem_next", "Next p&roblem", "&Go", lambda w: w.next_message.to_problem(1), ("F8",),
           needs="document", separated=True),
    Action("go.problem_previous", "Previous problem", "&Go", lambda w: w.next_message.to_problem(-1), ("Shift+F8",),
           needs="document"),
    Action("go.mark_next", "Next &mark", "&Go", lambda w: w.next_message.to_mark(1), ("F7",), needs="document"),
    Action("go.mark_previous", "Previous mark", "&Go", lambda w: w.next_message.to_mark(-1), ("Shift+F7",),
           needs="document"),
    Action("go.context_next", "Next in this conte&xt", "&Go", lambda w: w.next_message.in_context(1), ("Alt+Down",),
           needs="message", separated=True),
    Action("go.context_previous", "Previous in this context", "&Go", lambda w: w.next_message.in_context(-1),
           ("Alt+Up",), needs="message"),
    Action("go.participant_next", "Next b&y this participant", "&Go", lambda w: w.next_message.by_participant(1),
           ("Alt+Shift+Down",), needs="message"),
    Action("go.participant_previous", "Previous by this participant", "&Go",
           lambda w: w.next_message.by_participant(-1), ("Alt+Shift+Up",), needs="message"),
    Action("conversation.turn_next", "Next turn", "&Go", _run_in_conversation(lambda c: c.step_turn(1)), ("J",),
           needs="document", in_panes=True, pane=_CONVERSATION, submenu=_IN_CONVERSATION, separated=True),
    Action("conversation.turn_previous", "Previous turn", "&Go", _run_in_conversation(lambda c: c.step_turn(-1)),
           ("K",), needs="document", in_panes=True, pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("conversation.failure_next", "Next failure", "&Go", _run_in_conversation(lambda c: c.step_failure(1)),
           ("N",), needs="document", in_panes=True, pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("conversation.failure_previous", "Previous failure", "&Go",
           _run_in_conversation(lambda c: c.step_failure(-1)), ("Shift+N",), needs="document", in_panes=True,
           pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("conversation.expand_all", "Expand or collapse all cards", "&Go",
           _run_in_conversation(lambda c: c.expand_all()), ("E",), needs="document", in_panes=True,
           pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("conversation.thoughts", "Open or fold all thoughts", "&Go",
           _run_in_conversation(lambda c: c.thoughts.toggle()), ("T",), needs="document", in_panes=True,
           pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("conversation.results", "Fold or show all results", "&Go",
           _run_in_conversation(lambda c: c.results.toggle()), ("R",), needs="document", in_panes=True,
           pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("conversation.find", "Find in the conversation", "&Go",
           _run_in_conversation(lambda c: c.find_in_text.open()),
           ("/",), needs="document", in_panes=True, pane=_CONVERSATION, submenu=_IN_CONVERSATION),
    Action("compare.next", "Next difference", "&Go", _run_in_comparison(lambda c: c.step_difference(1)),
           needs="document", submenu=_IN_COMPARISON),
    Action("compare.previous", "Previous difference", "&Go", _run_in_comparison(lambda c: c.step_difference(-1)),
           needs="document", submenu=_IN_COMPARISON),
    Action("go.in_timeline", "Show in timeline", "&Go", lambda w: w.navigation.show_in_timeline(), ("Ctrl+Shift+T",),
           needs="message", separated=True),
    Action("go.model_sees", "Show in Model sees", "&Go", lambda w: w.navigation.show_model_here(),
           ("Ctrl+Shift+I",), needs="message"),
    Action("go.back", "&Back", "&Go", _run_in_content(lambda p: p.go_back()),
           ("Alt+Left",), needs="filter", separated=True),
    Action("go.forward", "For&ward", "&Go", _run_in_content(lambda p: p.go_forward()), ("Alt+Right",), needs="filter"),
    Action("go.to", "&Go to No. or id...", "&Go", lambda w: w.navigation.ask_where_to(), ("Ctrl+G",),
           needs="document"),
    Action("go.pane_next", "Next pan&e", "&Go", lambda w: w.pane_focus.step(1), ("F6",), needs="filter",
           separated=True),
    Action("go.pane_previous", "Previous pane", "&Go", lambda w: w.pane_focus.step(-1), ("Shift+F6",),
           needs="filter"),
    Action("capture.follow", "&Follow new messages", "&Capture",
           _run_in_panes(lambda p: p.messages.follow(not p.messages.following)), icon="follow", needs="document",
           on=_test_in_panes(lambda p: p.messages.following)),
    Action("capture.pause", "&Pause the view", "&Capture", lambda w: w.document_status.pause_or_go_on(), ("Space",),
           "pause", needs="live", on=_test_in_panes(lambda p: p.bridge.paused), in_panes=True),
    Action("capture.tap", "&Tap an MCP server...", "&Capture", lambda w: w.tapping.show_dialog(), separated=True,
           words=f"mcp client server cursor {_PROGRAMS} record listen"),
    Action("capture.disconnect", "&Disconnect", "&Capture", lambda w: w.gateway.leave_gateway(), needs="connection",
           separated=True),
    Action("subsession.new", "&New sub-session...", SESSIONS, lambda w: w.msp.new(), ("Ctrl+Shift+N",), "add",
           needs="editable"),
    Action("subsession.sub_context", "Edit the su&b-context...", SESSIONS, lambda w: w.msp.edit_sub_context(),
           needs="editable"),
    Action("subsession.snapshots", "Edit snaps&hots...", SESSIONS, lambda w: w.msp.edit_snapshots(),
           needs="editable"),
    Action("subsession.refer", "Refe&r to a summary...", SESSIONS, lambda w: w.msp.choose_summaries(),
           needs="open_subsession"),
    Action("subsession.close", "Close && &Summarize...", SESSIONS, lambda w: w.msp.close(), ("Ctrl+Shift+Return",),
           needs="open_subsession"),
    Action("subsession.discard", "D&iscard sub-session", SESSIONS, lambda w: w.msp.discard(),
           needs="open_subsession"),
    Action("subsession.merge", "&Merge sub-session to parent", SESSIONS, lambda w: w.msp.merge(), needs="mergeable"),
    Action("subsession.global", "Make message &global or local", SESSIONS, lambda w: w.msp.switch_global(),
           ("Ctrl+Shift+G",), needs="own_message"),
    Action("subsession.write", "&Write a message", SESSIONS, lambda w: w.msp.write(), ("Ctrl+Shift+W",),
           needs="open_subsession"),
    Action("analyze.latency", "&Latency", "&Analyze", lambda w: w.dock_row.turn_over("Latency"), ("Ctrl+4",),
           needs="document", on=lambda w: w.dock_row.shows("analyze.latency")),
    Action("analyze.waiting", "&Waiting", "&Analyze", lambda w: w.dock_row.turn_over("Waiting"), needs="document",
           on=lambda w: w.dock_row.shows("analyze.waiting"), words="who waits for whom blocked"),
    Action("analyze.waste", "Wa&ste", "&Analyze", lambda w: w.dock_row.turn_over("Waste"), ("Ctrl+Alt+W",),
           needs="document", on=lambda w: w.dock_row.shows("analyze.waste")),
    Action("analyze.tokens", "&Tokens", "&Analyze", lambda w: w.dock_row.turn_over("Tokens"), ("Ctrl+9",),
           needs="document", on=lambda w: w.dock_row.shows("analyze.tokens")),
    Action("analyze.query", "&Query in SQL", "&Analyze", lambda w: w.dock_row.turn_over("Query"), ("Ctrl+Alt+Q",),
           needs="document", on=lambda w: w.dock_row.shows("analyze.query"), words="sql select table duckdb"),
    Action("analyze.compare", "&Compare two messages", "&Analyze", lambda w: w.comparing.compare(), needs="message",
           words="diff difference side by side"),
    Action("analyze.select_turn", "Select turn for comparison", "&Analyze", lambda w: w.turn_comparing.select(),
           ("Ctrl+Alt+B",), needs="message", words="compare two turns"),
    Action("analyze.compare_turns", "Compare with selected turn", "&Analyze", lambda w: w.turn_comparing.compare(),
           ("Ctrl+Alt+V",), needs="message", words="compare two turns diff difference"),
    Action("analyze.pending", "Filter by un&answered requests", "&Analyze",
           _run_in_panes(lambda p: p.filter_state.show_pending()),
           needs="document"),
    Action("developer.figures", "&Figures...", "&Developer", lambda w: w.developer.show_figures(), needs="developer"),
    Action("developer.objects", "&Objects and tasks...", "&Developer", lambda w: w.developer.show_objects(),
           needs="developer"),
    Action("developer.log", "&Log...", "&Developer", lambda w: w.developer.show_log(), needs="developer"),
    Action("developer.fail", "&Raise an error", "&Developer", lambda w: w.developer.fail(), needs="developer",
           separated=True),
    Action("window.next", "&Next tab", "&Window", lambda w: w.application.tabs.step(w, 1), ("Ctrl+Tab", "Ctrl+PgDown"),
           needs="tabs"),
    Action("window.previous", "&Previous tab", "&Window", lambda w: w.application.tabs.step(w, -1),
           ("Ctrl+Shift+Tab", "Ctrl+PgUp"), needs="tabs"),
    Action("window.move_out", "&Move to new window", "&Window", lambda w: w.application.tabs.move_out(w),
           needs="tabs", separated=True, words="tab detach"),
    Action("window.gather", "Merge &all windows", "&Window", lambda w: w.application.tabs.gather(w),
           words="tabs together"),
    Action("window.compare", "&Compare side by side", "&Window", lambda w: w.side_by_side.switch(), needs="document",
           on=lambda w: w.application.tabs.clock(w) is not None, separated=True, words="split two documents diff runs"),
    Action("window.clock_time", "Select the same &time in both", "&Window",
           lambda w: w.application.tabs.set_clock(w, "time"), needs="beside", on=_has_clock("time")),
    Action("window.clock_start", "Select the same time since the &start in both", "&Window",
           lambda w: w.application.tabs.set_clock(w, "start"), needs="beside", on=_has_clock("start")),
    Action("help.guide", "&Guide", "&Help", lambda w: w.guide.open(), ("F1",), words="help manual documentation"),
    Action("help.palette", "&Command palette...", "&Help", lambda w: w.command_palette.card.open(), ("Ctrl+Shift+P",)),
    Action("help.keys", "&Keys...", "&Help", lambda w: w.settings_editing.show_keys(), ("Shift+F1",),
           words="shortcuts keyboard"),
    Action("help.log", "&Log...", "&Help", lambda w: w.developer.show_log(), separated=True),
    Action("help.about", "&About", "&Help", _show_about),
)  # fmt: skip
