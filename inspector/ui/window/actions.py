"""Actions as data: menus, tool bar and shortcuts follow from this table.

To add one: a line in ACTIONS, and a method of `commands.Commands` named by `handler`, where none does it yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.ui.input.keys import Keyed, plain_title
from inspector.ui.look import icons


@dataclass(frozen=True)
class Action:
    """One thing the user can do.

    Attributes:
        id: such as `view.toggle_follow`.
        title: sentence case, with the menu's access key.
        menu: title of the menu it stands in; a title starting with "-" is separated from what is above it.
        handler: name of the method of `Commands`.
        keys: shortcuts, the first one is shown.
        icon: name in icons.ICONS.
        needs: what must be there: "", "document", "live", "message", "marks", "undo" or "redo" (something to undo), or
            "unsaved": a capture without a name yet, or sessions with edits. Of a document of sessions: "sessions",
            "editable", and what is shown of them: "open_subsession", "mergeable", "own_message". "developer": the
            Developer menu, without which nobody sees it.
        checkable: it is a switch.
    """

    id: str
    title: str
    menu: str
    handler: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    needs: str = ""
    checkable: bool = False
    separated: bool = False
    short: str = ""
    """What its tool button says beside the icon; nothing by default."""
    in_panes: bool = False
    """Its keys count in the panes only: elsewhere, on a button for one, they mean something else."""
    given: str | int | None = None
    """What the method is called with, where several actions have one."""
    submenu: str = ""
    """Title of the menu within its menu that it stands in."""

    def qt_icon(self) -> QIcon:
        """Its icon in the colours in force; switches show in the accent when on."""
        return icons.icon(self.icon, on_token="accent.text" if self.checkable else None)


_PREFERENCES = ("Ctrl+,",) if sys.platform == "darwin" else ("Ctrl+Alt+S",)

_DETAILS = "Page of the detai&ls"

MENUS = ("&File", "&Edit", "&View", "&Go", "&Capture", "&Analyze", "&Developer", "&Help")

ACTIONS: tuple[Action, ...] = (
    Action("file.open", "&Open a log...", "&File", "open_file", ("Ctrl+O",), "open", short="Open"),
    Action("file.open_folder", "Open a fo&lder of sessions...", "&File", "open_folder", ("Ctrl+Shift+O",)),
    Action("file.connect", "&Connect to a gateway...", "&File", "connect_to_gateway", ("Ctrl+K",), "connect",
           short="Connect"),
    Action("file.connections", "Mana&ge connections...", "&File", "manage_connections"),
    Action("file.demo", "Start the &demo", "&File", "start_demo"),
    Action("file.paste", "&Paste text as a log", "&File", "paste_text", ("Ctrl+V", "Ctrl+Shift+V")),
    Action("file.new_window", "&New window", "&File", "new_window", ("Ctrl+N",), separated=True),
    Action("file.save", "&Save capture...", "&File", "save_capture", ("Ctrl+S",), needs="unsaved", separated=True),
    Action("file.save_as", "Save capture &as...", "&File", "save_capture_as", ("Ctrl+Shift+S",), needs="document"),
    Action("file.save_as_capture", "Save sessions as a capt&ure...", "&File", "save_as_capture", needs="sessions"),
    Action("file.export", "&Export...", "&File", "export_messages", ("Ctrl+Shift+E",), needs="document"),
    Action("file.preferences", "Se&ttings...", "&File", "show_settings", _PREFERENCES, separated=True),
    Action("file.close", "Close &window", "&File", "close_window", ("Ctrl+W",), separated=True),
    Action("file.quit", "&Quit", "&File", "quit", ("Ctrl+Q",)),
    Action("edit.undo", "&Undo", "&Edit", "undo", ("Ctrl+Z",), needs="undo"),
    Action("edit.redo", "&Redo", "&Edit", "redo", ("Ctrl+Shift+Z", "Ctrl+Y"), needs="redo"),
    Action("edit.mark", "&Mark or unmark", "&Edit", "toggle_mark", ("Ctrl+M",), "mark", "document", separated=True),
    Action("edit.comment", "C&omment...", "&Edit", "edit_comment", ("Ctrl+Shift+M",), "comment", "document"),
    Action("edit.clear_marks", "Clear all mar&ks", "&Edit", "clear_marks", needs="marks"),
    Action("edit.copy_row", "&Copy row", "&Edit", "copy", (), needs="message", separated=True, given="rows"),
    Action("edit.copy_value", "Copy &value", "&Edit", "copy", ("Ctrl+Alt+C",), needs="message", given="values"),
    Action("edit.copy_json", "Copy as &JSON", "&Edit", "copy", ("Ctrl+Shift+C",), needs="message", given="json"),
    Action("edit.copy_markdown", "Copy as Markdo&wn", "&Edit", "copy", needs="message", given="markdown"),
    Action("edit.copy_id", "Copy &id", "&Edit", "copy", needs="message", given="ids"),
    Action("edit.copy_filter", "Copy as fi&lter", "&Edit", "copy", needs="message", given="filter"),
    Action("edit.select_all", "&Select all shown", "&Edit", "select_all", needs="document", separated=True),
    Action("edit.filter_selected", "Filter &by the selected messages", "&Edit", "filter_selected", needs="message"),
    Action("edit.hide_selected", "&Hide the selected messages", "&Edit", "hide_selected", needs="message"),
    Action("edit.find", "Fin&d in view", "&Edit", "find_in_view", ("Ctrl+F",), "find", "document", separated=True),
    Action("edit.find_next", "Find next", "&Edit", "find_next", ("F3",), needs="document", given=1),
    Action("edit.find_previous", "Find previous", "&Edit", "find_next", ("Shift+F3",), needs="document", given=-1),
    Action("edit.find_case", "Match case in Find", "&Edit", "find_match_case", ("Ctrl+Alt+A",), needs="document",
           checkable=True),
    Action("edit.find_pattern", "Regular expression in Find", "&Edit", "find_by_pattern", ("Ctrl+Alt+R",),
           needs="document", checkable=True),
    Action("edit.filter", "&Filter", "&Edit", "focus_filter", ("Ctrl+/",), "filter", "document", separated=True),
    Action("edit.clear_filter", "Clear filter and scope", "&Edit", "clear_view", ("Ctrl+Shift+X",), needs="document"),
    Action("edit.save_preset", "Save filter as &preset", "&Edit", "save_preset", ("Ctrl+D",), "save", "document"),
    Action("view.contexts", "&Contexts", "&View", "follow_switch", ("Ctrl+1",), "pane_left", "document",
           checkable=True, given="view.contexts"),
    Action("view.details", "&Details", "&View", "follow_switch", ("Ctrl+2",), "pane_right", "document", checkable=True,
           given="view.details"),
    Action("view.findings", "&Findings", "&View", "turn_over", ("Ctrl+3",), "pane_bottom", "document", checkable=True,
           given="Findings"),
    Action("view.marks", "&Marks", "&View", "turn_over", ("Ctrl+5",), needs="document", checkable=True, given="Marks"),
    Action("details.overview", "&Overview", "&View", "show_details", needs="message", given="Overview",
           submenu=_DETAILS),
    Action("details.tree", "&Tree", "&View", "show_details", needs="message", given="Tree", submenu=_DETAILS),
    Action("details.raw", "&Raw", "&View", "show_details", needs="message", given="Raw", submenu=_DETAILS),
    Action("details.related", "R&elated", "&View", "show_details", needs="message", given="Related", submenu=_DETAILS),
    Action("details.life", "&Lifecycle", "&View", "show_details", needs="message", given="Lifecycle", submenu=_DETAILS),
    Action("details.findings", "&Findings", "&View", "show_details", needs="message", given="Findings",
           submenu=_DETAILS),
    Action("view.messages", "Messages", "&View", "show_view", ("Ctrl+6",), needs="document", checkable=True,
           separated=True, given="messages"),
    Action("view.timeline", "Timeline", "&View", "show_view", ("Ctrl+7",), needs="document", checkable=True,
           given="timeline"),
    Action("view.model_sees", "Model sees", "&View", "show_view", ("Ctrl+8",), needs="document", checkable=True,
           given="model_sees"),
    Action("view.subsessions", "Sub-sessions", "&View", "show_view", ("Ctrl+B",), needs="sessions", checkable=True,
           given="subsessions"),
    Action("view.hints", "Show context &hints", "&View", "toggle_hints", (), checkable=True, separated=True),
    Action("view.expand", "Expand or collapse the result", "&View", "toggle_original", ("Ctrl+E",), needs="message"),
    Action("view.presets", "&Edit presets...", "&View", "edit_presets", separated=True),
    Action("view.highlights", "Hi&ghlight rules...", "&View", "edit_highlights"),
    Action("view.highlight_filter", "Highlight what the filter shows", "&View", "highlight_filter", ("Ctrl+Shift+H",),
           needs="document"),
    Action("view.columns", "Col&umns...", "&View", "choose_columns", needs="document", separated=True),
    Action("view.time_start", "Time since the first message", "&View", "show_time", needs="document", checkable=True,
           given="start"),
    Action("view.time_clock", "Time of da&y", "&View", "show_time", needs="document", checkable=True, given="clock"),
    Action("view.time_previous", "Time since the message a&bove", "&View", "show_time", needs="document",
           checkable=True, given="previous"),
    Action("view.time_mark", "Time since &this message", "&View", "time_since_current", ("Ctrl+T",), needs="message",
           checkable=True),
    Action("view.sort_again", "&Sort again", "&View", "sort_again", needs="document", separated=True),
    Action("view.sort_clear", "Order of arrival", "&View", "sort_clear", needs="document"),
    Action("view.zoom_in", "Zoom &in", "&View", "zoom_by", ("Ctrl++", "Ctrl+="), separated=True, given=10),
    Action("view.zoom_out", "Zoom &out", "&View", "zoom_by", ("Ctrl+-",), given=-10),
    Action("view.zoom_reset", "&Actual size", "&View", "zoom_reset", ("Ctrl+0",)),
    Action("view.reset_layout", "&Reset the layout", "&View", "reset_layout", needs="document", separated=True),
    Action("go.first", "&First message", "&Go", "first_message", ("Ctrl+Home",), needs="document", in_panes=True),
    Action("go.last", "&Last message", "&Go", "last_message", ("Ctrl+End",), needs="document", in_panes=True),
    Action("go.next", "&Next message", "&Go", "next_message", ("Ctrl+Down",), needs="document", separated=True,
           given=1),
    Action("go.previous", "&Previous message", "&Go", "next_message", ("Ctrl+Up",), needs="document", given=-1),
    Action("go.chain_next", "Next in the same &chain", "&Go", "next_in_chain", ("Ctrl+]",), needs="message",
           separated=True, given=1),
    Action("go.chain_previous", "Previous in the same chain", "&Go", "next_in_chain", ("Ctrl+[",), needs="message",
           given=-1),
    Action("go.chain_alone", "Show this chain &alone", "&Go", "show_chain_alone", ("Ctrl+\\",), needs="message"),
    Action("go.problem_next", "Next p&roblem", "&Go", "next_problem", ("F8",), needs="document", separated=True,
           given=1),
    Action("go.problem_previous", "Previous problem", "&Go", "next_problem", ("Shift+F8",), needs="document", given=-1),
    Action("go.mark_next", "Next &mark", "&Go", "next_mark", ("F7",), needs="document", given=1),
    Action("go.mark_previous", "Previous mark", "&Go", "next_mark", ("Shift+F7",), needs="document", given=-1),
    Action("go.context_next", "Next in this conte&xt", "&Go", "next_in_context", ("Alt+Down",), needs="message",
           separated=True, given=1),
    Action("go.context_previous", "Previous in this context", "&Go", "next_in_context", ("Alt+Up",), needs="message",
           given=-1),
    Action("go.participant_next", "Next b&y this participant", "&Go", "next_by_participant", ("Alt+Shift+Down",),
           needs="message", given=1),
    Action("go.participant_previous", "Previous by this participant", "&Go", "next_by_participant", ("Alt+Shift+Up",),
           needs="message", given=-1),
    Action("go.in_timeline", "Show in timeline", "&Go", "show_in_timeline", ("Ctrl+Shift+T",), needs="message",
           separated=True),
    Action("go.model_sees", "Show what the model sees here", "&Go", "show_model_here", ("Ctrl+Shift+I",),
           needs="message"),
    Action("go.back", "&Back", "&Go", "go_back", ("Alt+Left",), needs="document", separated=True),
    Action("go.forward", "For&ward", "&Go", "go_forward", ("Alt+Right",), needs="document"),
    Action("go.to", "&Go to No. or id...", "&Go", "go_to_place", ("Ctrl+G",), needs="document"),
    Action("go.pane_next", "Next pan&e", "&Go", "next_pane", ("F6",), needs="document", separated=True, given=1),
    Action("go.pane_previous", "Previous pane", "&Go", "next_pane", ("Shift+F6",), needs="document", given=-1),
    Action("capture.follow", "&Follow new messages", "&Capture", "toggle_follow", (), "follow", "document",
           checkable=True),
    Action("capture.pause", "&Pause the view", "&Capture", "toggle_pause", ("Space",), "pause", "live", checkable=True,
           in_panes=True),
    Action("capture.disconnect", "&Disconnect", "&Capture", "disconnect_gateway", needs="live", separated=True),
    Action("subsession.new", "&New sub-session...", "&Capture", "new_subsession", ("Ctrl+Shift+N",), "add", "editable",
           separated=True),
    Action("subsession.close", "Close && &Summarize...", "&Capture", "close_subsession", ("Ctrl+Shift+Return",),
           needs="open_subsession"),
    Action("subsession.discard", "D&iscard sub-session", "&Capture", "discard_subsession", needs="open_subsession"),
    Action("subsession.merge", "&Merge sub-session to parent", "&Capture", "merge_subsession", needs="mergeable"),
    Action("subsession.global", "Make message &global or take it back", "&Capture", "switch_global", ("Ctrl+Shift+G",),
           needs="own_message"),
    Action("subsession.write", "&Write a message", "&Capture", "write_message", ("Ctrl+Shift+W",),
           needs="open_subsession"),
    Action("analyze.latency", "&Latency", "&Analyze", "turn_over", ("Ctrl+4",), needs="document", checkable=True,
           given="Latency"),
    Action("analyze.waste", "Wa&ste", "&Analyze", "turn_over", ("Ctrl+Alt+W",), needs="document", checkable=True,
           given="Waste"),
    Action("analyze.tokens", "&Tokens", "&Analyze", "turn_over", ("Ctrl+9",), needs="document", checkable=True,
           given="Tokens"),
    Action("analyze.pending", "&Waiting for an answer", "&Analyze", "show_pending", needs="document"),
    Action("developer.figures", "&Figures...", "&Developer", "show_figures", needs="developer"),
    Action("developer.objects", "&Objects and tasks...", "&Developer", "show_objects", needs="developer"),
    Action("developer.log", "&Log...", "&Developer", "show_log", needs="developer"),
    Action("developer.fail", "&Raise an error", "&Developer", "raise_error", needs="developer", separated=True),
    Action("help.palette", "&Command palette...", "&Help", "show_palette", ("Ctrl+Shift+P",)),
    Action("help.keys", "&Keys...", "&Help", "show_keys", ("F1",)),
    Action("help.log", "&Log...", "&Help", "show_log", separated=True),
    Action("help.about", "&About", "&Help", "show_about"),
)  # fmt: skip


def build_actions(window: QWidget, commands: object) -> dict[str, QAction]:
    """The window's actions by id, connected to the methods of its commands; `Keys` gives them their keys."""
    actions: dict[str, QAction] = {}
    for declared in ACTIONS:
        action = QAction(declared.title, window)
        action.setObjectName(declared.id)
        action.setCheckable(declared.checkable)
        if declared.in_panes:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        else:
            window.addAction(action)
        if declared.icon:
            action.setIcon(declared.qt_icon())
        if declared.short:
            action.setIconText(declared.short)  # what a tool button shows, after a change of its icon too
        handler: Callable[..., object] = getattr(commands, declared.handler)
        action.triggered.connect(_without_argument(handler, *(() if declared.given is None else (declared.given,))))
        actions[declared.id] = action
    return actions


def keyed_actions() -> list[Keyed]:
    """Every action as what can have keys, in the order of the menus."""
    return [
        Keyed(one.id, plain_title(one.submenu or one.menu), plain_title(one.title), one.keys, one.in_panes)
        for menu in MENUS
        for one in ACTIONS
        if one.menu == menu
    ]


def _without_argument(handler: Callable[..., object], *given: str | int) -> Callable[..., object]:
    return lambda *_checked: handler(*given)


def fill_menus(bar: QMenuBar, actions: dict[str, QAction]) -> dict[str, QMenu]:
    """The menus by title."""
    menus = {title: bar.addMenu(title) for title in MENUS}
    within: dict[str, QMenu] = {}
    for declared in ACTIONS:
        menu = menus[declared.menu]
        if declared.separated:
            menu.addSeparator()
        if declared.submenu:
            if declared.submenu not in within:
                within[declared.submenu] = menu.addMenu(declared.submenu)
            menu = within[declared.submenu]
        menu.addAction(actions[declared.id])
    return menus


def enable_actions(actions: dict[str, QAction], present: set[str]) -> None:
    """Enable what can be done now; `present` names what there is."""
    for declared in ACTIONS:
        actions[declared.id].setEnabled(not declared.needs or declared.needs in present)


def add_pane_actions(pane: QWidget, actions: dict[str, QAction]) -> None:
    """Let a pane take the keys that count in panes only."""
    for declared in ACTIONS:
        if declared.in_panes:
            pane.addAction(actions[declared.id])
