"""A window: start page or one document, with menus, tool bar, notices and status bar.

Assembly only. What panes do among themselves is in panes.py; what actions there are is in actions.py; how a document
comes into the window is in showing.py, and how it closes in closing.py.

Parts that the start page goes without bring most of the program with them: a window is painted in half the time
without. Nobody has to wait for them later either: `Warming` has them made as soon as the window is painted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QChildEvent, QEvent, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QTabBar
from typing_extensions import override

from inspector.base.slices import Steps
from inspector.ui.debug.developer import Developer
from inspector.ui.docview.requests import WindowRequests
from inspector.ui.docview.shown import Shown
from inspector.ui.features.undo import UndoHistory
from inspector.ui.input import own_keys, tab_order
from inspector.ui.input.action import Action, Actions
from inspector.ui.input.keys import Keys
from inspector.ui.widgets.status_bar import StatusBar
from inspector.ui.window.action_state import ActionState
from inspector.ui.window.display import Display
from inspector.ui.window.docks import Docks
from inspector.ui.window.layout import WindowLayout
from inspector.ui.window.pages import Pages
from inspector.ui.window.panels import PANELS
from inspector.ui.window.recent_menus import RecentMenus
from inspector.ui.window.warming import Warming

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.replacement import DocumentReplacement
    from inspector.ui.docview.view_head import ViewHead
    from inspector.ui.features.agent_sessions import AgentSessions
    from inspector.ui.features.capture_saving import CaptureSaving
    from inspector.ui.features.comparing import Comparing
    from inspector.ui.features.connections import Connections
    from inspector.ui.features.deferred_checks import DeferredChecks
    from inspector.ui.features.exporting import Exporting
    from inspector.ui.features.filter_conditions import FilterConditions
    from inspector.ui.features.filtering import Filtering
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.features.highlighting import Highlighting
    from inspector.ui.features.marking import Marking
    from inspector.ui.features.memory_limit import MemoryLimit
    from inspector.ui.features.message_saving import MessageSaving
    from inspector.ui.features.navigation import Navigation
    from inspector.ui.features.next_message import NextMessage
    from inspector.ui.features.opening import Opening
    from inspector.ui.features.presets import Presets
    from inspector.ui.features.restoring import Origin, Restoring
    from inspector.ui.features.settings_editing import SettingsEditing
    from inspector.ui.features.source_editing import SourceEditing
    from inspector.ui.features.surveys import Surveys
    from inspector.ui.features.tapping import Tapping
    from inspector.ui.features.token_counting import TokenCounting
    from inspector.ui.msp import MspCreating, MspEditing, MspSaving
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.widgets.name_card import NameCard
    from inspector.ui.window.closing import Closing
    from inspector.ui.window.guide_opening import GuideOpening
    from inspector.ui.window.owner import WindowOwner
    from inspector.ui.window.palette import Palette
    from inspector.ui.window.pane_focus import PaneFocus
    from inspector.ui.window.showing import Showing
    from inspector.ui.window.status import DocumentStatus
    from inspector.ui.window.tool_bar import BarStack


class MainWindow(QMainWindow):
    """One window.

    Attributes:
        application: what windows share.
        shown: the document and its panes.
        requests: what features ask of the window.
        warming: makes what a document needs before there is one.
        undo_history: what can be undone.
        display: what the settings say about display, and what this window says instead.
        can_do: everything that can be done in it.
        action_state: which of it makes sense now.
        actions_by_id, menus: the same as actions by id, and the menus by title.
        keys: which keys do what.
        developer: the Developer menu and the log.
        dock_row: what is in the docks, and what shows and hides them.
        docks: by title.
        pages: the middle, with the start page or the document.
        start_page, notices: parts of it.
        status: the status bar.
    Signals:
        view_chosen(): another filter or scope is in force.
    """

    view_chosen = Signal()

    _painted = False

    def __init__(self, application: WindowOwner[MainWindow], actions: Sequence[Action[MainWindow]]) -> None:
        super().__init__()
        self.application = application
        self.theme = application.theme
        self.shown = Shown(self)
        self.requests = WindowRequests(self)
        self.undo_history = UndoHistory(application, self)
        self.display = Display(application, self.shown, lambda: self.name_card, self)
        self._waiting_parts: tuple[Callable[[], object], ...] = (
            lambda: self.bars, lambda: self.filter_conditions, lambda: self.pages.document_page,
            lambda: self.opening, lambda: self.gateway, lambda: self.documents, lambda: self.capture_saving,
        )  # fmt: skip
        self.warming = Warming(self._waiting_parts, lambda: self.panes is None and not self.isHidden(), self)
        self.dock_row = Docks(self)
        self.docks = self.dock_row.by_title
        self.layout_keeper = WindowLayout(self, self.theme, self.docks, remembers=application.remembers)
        self.setObjectName("mainWindow")
        self.setAccessibleName("Context Inspector")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.layout_keeper.place_window(application.windows)
        self.can_do = Actions(self, actions)
        self.actions_by_id = self.can_do.by_id
        self.keys = Keys(self, application.settings.keys)
        self.keys.take_all(self.can_do.keyed())
        self.menus = self.can_do.fill_menus(self.menuBar())
        self.menuBar().setAccessibleName("Menu bar")
        self.menus["&View"].aboutToShow.connect(self.complete)  # it holds the presets
        recent = self.recent_menus = RecentMenus(application, self.menus["&File"])
        recent.file_chosen.connect(lambda target: self.opening.open_target(target))
        recent.gateway_chosen.connect(lambda chosen: self.connections.join(chosen))
        recent.clear_requested.connect(lambda: self.connections.clear_recent())
        self.developer = Developer(
            self, self.shown, application, self.menuBar(), self.menus["&Developer"], self.can_do.needing("developer")
        )
        self.action_state = ActionState(
            self.can_do, self.undo_history, self.shown, self.developer,
            unsaved=lambda: self.capture_saving.own is not None, connected=lambda: self.gateway.session is not None,
            of_sessions=lambda: self.msp.present, parent=self,
        )  # fmt: skip
        self.dock_row.changed.connect(self.can_do.show_switches)
        self.dock_row.left.connect(self.focus_center)
        self.pages = Pages(self.theme, application.settings, lambda: self.view_head, lambda: self.center, self)
        self.start_page, self.notices = self.pages.start_page, self.pages.notices
        self.notices.left.connect(self.focus_center)
        self.setCentralWidget(self.pages)
        self._listen_to_start_page()
        self.status = StatusBar(self.theme, self)
        self.setStatusBar(self.status)
        self.status.unreadable_clicked.connect(lambda: self.filtering.apply('kind == ""'))
        self.status.failed_clicked.connect(self._show_failed)
        self.status.problems_clicked.connect(lambda: self.navigation.show_findings())
        self.status.waiting_clicked.connect(lambda: self.dock_row.bring_up("Waiting"))
        self.status.spared_clicked.connect(lambda: self.dock_row.bring_up("Waste"))
        self.status.palette_clicked.connect(self.actions_by_id["help.palette"].trigger)
        self.status.counts_clicked.connect(self.actions_by_id["edit.clear_filter"].trigger)
        self.status.paused_clicked.connect(self.actions_by_id["capture.pause"].trigger)
        self.theme.changed.connect(self.layout_keeper.zoom_docks)
        self.layout_keeper.room_changed.connect(self._name_details)
        self.dock_row.details_wanted.connect(self.layout_keeper.make_room_for_details)
        self.theme.changed.connect(self.can_do.renew_icons)
        self.keys.changed.connect(self._name_keys)
        self._name_keys()
        self._listen_to_requests()
        self.show_start()
        self.undo_history.refused.connect(lambda sentence: self.notices.say(sentence))
        if application.notice:
            self.notices.say(application.notice, "severity.warning")

    @property
    def panes(self) -> Panes | None:
        """The panes of the document; None on the start page."""
        return self.shown.panes

    @property
    def document(self) -> CaptureDocument:
        """What the window shows; empty on the start page."""
        return self.shown.document

    # What its start page goes without, each imported and made when it is asked for first

    def complete(self) -> None:
        """Make what is seen with a document, and listens to what is seen on the start page."""
        for make in self._waiting_parts:
            make()

    @cached_property
    def guide(self) -> GuideOpening:
        """Opens the guide."""
        from inspector.ui.window.guide_opening import GuideOpening

        return GuideOpening(self)

    @cached_property
    def view_head(self) -> ViewHead:
        """Tabs and notices above the views."""
        from inspector.ui.docview.view_head import ViewHead

        head = ViewHead(self.theme, self)
        head.notices.left.connect(self.focus_center)
        head.bookkeeping_switched.connect(self.display.switch_bookkeeping)
        return head

    @cached_property
    def center(self) -> Center:
        """The views of the middle column."""
        from inspector.ui.docview.center import Center

        center = Center(PANELS, self)
        center.made.connect(lambda view: self.msp.view.adopt(view))
        return center

    @cached_property
    def bars(self) -> BarStack:
        """The bars above the panes: tool bar with the filter bar, presets, stacked conditions."""
        from inspector.ui.window.tool_bar import BarStack

        return BarStack(self, self.theme, self.keys, self.actions_by_id, self.filter_bar, self.presets.bar)

    @property
    def filter_bar(self) -> FilterBar:
        """Where the filter is written."""
        return self.filtering.bar

    @cached_property
    def name_card(self) -> NameCard:
        """Asks for the name of what is to be kept."""
        from inspector.ui.widgets.name_card import NameCard

        card = NameCard(self.theme, self)
        self.view_chosen.connect(card.leave)
        return card

    @cached_property
    def command_palette(self) -> Palette:
        """Finds something to do by its name."""
        from inspector.ui.window.palette import Palette

        self.complete()  # presets are found, too
        return Palette(
            self, self.theme, self.keys, self.application, self.dock_row, self.pane_focus,
            open_target=self.opening.open_target, join=self.connections.join,
        )  # fmt: skip

    @cached_property
    def pane_focus(self) -> PaneFocus:
        """Gives the keyboard to panes."""
        from inspector.ui.window.pane_focus import PaneFocus

        return PaneFocus(self.shown, self.filter_bar, self.center, self.docks)

    @cached_property
    def navigation(self) -> Navigation:
        """Takes the user to places in the document."""
        from inspector.ui.features.navigation import Navigation

        return Navigation(self.shown, self.center, self.requests, self.undo_history, self.theme, self)

    @cached_property
    def settings_editing(self) -> SettingsEditing:
        """Edits the settings of all windows."""
        from inspector.ui.dialogs.memory_page import MemoryPage
        from inspector.ui.dialogs.prices_page import PricesPage
        from inspector.ui.dialogs.settings import FurtherPage
        from inspector.ui.features.settings_editing import SettingsEditing
        from inspector.ui.msp import SUBSESSIONS, TITLE, subsessions_page

        pages = (
            FurtherPage("prices", "Prices", PricesPage),
            FurtherPage("memory", "Memory", MemoryPage),
            FurtherPage(SUBSESSIONS, TITLE, subsessions_page),
        )
        editing = SettingsEditing(self.application, self.keys, self.complete, pages, self)
        editing.edited.connect(lambda: self.presets.refresh())
        return editing

    @cached_property
    def filtering(self) -> Filtering:
        """Ties the filter bar to the panes."""
        from inspector.ui.features.filtering import Filtering

        filtering = Filtering(self.theme, self.application, self.presets, self.notices, self)
        filtering.left.connect(self.focus_center)
        return filtering

    @cached_property
    def presets(self) -> Presets:
        """Chosen by chip, key and menu."""
        from inspector.ui.features.presets import Presets

        presets = Presets(self.theme, self.application, self.keys, self.notices, lambda: self.name_card, self)
        presets.chosen.connect(lambda text: self.filtering.apply(text))
        presets.edit_requested.connect(lambda place: self.settings_editing.edit_preset(place))
        presets.fill_menu(self.menus["&View"], self.actions_by_id["view.presets"])
        return presets

    @cached_property
    def filter_conditions(self) -> FilterConditions:
        """The stacked conditions."""
        from inspector.ui.features.filter_conditions import FilterConditions

        return FilterConditions(self.theme, self.filter_bar, self.bars.conditions)

    @property
    def saver(self) -> MspSaving | CaptureSaving:
        """Saves what the window shows: sessions as they are edited, else the capture."""
        return self.msp.saving if self.document.msp is not None else self.capture_saving

    @cached_property
    def opening(self) -> Opening:
        """How the window gets a document that is read."""
        from inspector.ui.features.opening import Opening

        opening = Opening(
            self, self.shown, self, self.application, requests=self.requests, notices=self.notices, status=self.status,
            free=lambda name: self.free_window(name).opening,
        )  # fmt: skip
        opening.unsaved_begun.connect(lambda own: self.capture_saving.hold(own))
        opening.failed.connect(lambda: self.restoring.give_up())
        opening.ended.connect(lambda: self.capture_saving.let_go())
        opening.read_through.connect(lambda _document: self.marking.restore(complete=True))
        opening.read_through.connect(lambda _document: self.restoring.settle())
        opening.read_through.connect(lambda document: self.msp.following.start(document))
        opening.survey_found.connect(lambda path: self.surveys.show(path))
        opening.session_wanted.connect(lambda path: self.sources.show_session(path))
        return opening

    @cached_property
    def surveys(self) -> Surveys:
        """What is shown of a survey, in a window without a document."""
        from inspector.ui.features.surveys import Surveys

        surveys = Surveys(
            self, self.shown, self.theme, self.application, self.undo_history, notices=self.notices,
            status=self.status, put=self.pages.show_page,
        )  # fmt: skip
        surveys.run_requested.connect(lambda path, number: self.opening.open_path(path, at=number))
        surveys.failed.connect(lambda: self.restoring.give_up())
        surveys.failed.connect(self.show_start)
        surveys.attached.connect(lambda page: self.restoring.attach_runs(page))
        surveys.attached.connect(lambda page: self.opening.remember(page.runs.path))
        surveys.attached.connect(self.action_state.enable)
        return surveys

    @cached_property
    def gateway(self) -> GatewayWatch:
        """How it gets a live one, and the session behind it."""
        from inspector.ui.features.gateway_window import GatewayWatch

        gateway = GatewayWatch(
            self, self.shown, self, self.application, requests=self.requests, notices=self.notices, status=self.status,
            free=lambda: self.free_window().gateway,
        )  # fmt: skip
        gateway.capture_begun.connect(lambda own, demo: self.capture_saving.hold(own, demo=demo))
        gateway.connection_saved.connect(lambda save: self.connections.keep(save))
        gateway.demo_begun.connect(self.display.show_hints_here)
        gateway.save_as_requested.connect(lambda: self.capture_saving.save_as())
        return gateway

    @cached_property
    def connections(self) -> Connections:
        """Gateways kept under a name, and what was open before."""
        from inspector.ui.features.connections import Connections

        return Connections(self, self.application, gateway=self.gateway, notices=self.notices)

    @cached_property
    def restoring(self) -> Restoring:
        """Puts the window back to how it stood before the program ended."""
        from inspector.ui.features.restoring import Restoring

        return Restoring(self, self.shown, notices=self.notices, origin=self._origin, layout=self._layout_now)

    @cached_property
    def capture_saving(self) -> CaptureSaving:
        """What becomes of its capture: saved, asked about, recovered."""
        from inspector.ui.features.capture_saving import CaptureSaving

        saving = CaptureSaving(
            self, self.shown, self.application, requests=self.requests, notices=self.notices, gateway=self.gateway
        )
        saving.copied.connect(lambda path: self.marking.copied_to(path))
        saving.moved.connect(lambda path: self.marking.moved_to(path))
        saving.saved.connect(lambda path: self.opening.remember(path))
        saving.recovered.connect(lambda own, name: self.opening.open_unsaved(own, name))
        return saving

    @cached_property
    def saving(self) -> MessageSaving:
        """Writes single messages to files."""
        from inspector.ui.features.message_saving import MessageSaving

        return MessageSaving(self.shown, self.application, self.notices, self)

    @cached_property
    def comparing(self) -> Comparing:
        """Shows what differs between two messages."""
        from inspector.ui.features.comparing import Comparing

        return Comparing(self.theme, self.shown, self.notices, self)

    @cached_property
    def exporting(self) -> Exporting:
        """Writes what the table shows to a file."""
        from inspector.ui.features.exporting import Exporting

        exporting = Exporting(self.theme, self.shown, self.application, self.notices, self)
        exporting.open_requested.connect(lambda path: self.opening.open_path(path))
        return exporting

    @cached_property
    def highlighting(self) -> Highlighting:
        """Which messages stand out."""
        from inspector.ui.features.highlighting import Highlighting

        highlighting = Highlighting(self.application, self.shown, self.filter_bar, lambda: self.name_card, self)
        highlighting.edit_requested.connect(lambda: self.settings_editing.open("highlights"))
        return highlighting

    @cached_property
    def marking(self) -> Marking:
        """Marks and comments, and the file they are kept in."""
        from inspector.ui.features.marking import Marking

        return Marking(self.theme, self.shown, self.application, self.undo_history, self.notices, self)

    @cached_property
    def msp(self) -> MspEditing:
        """Edits the sessions (of the Model Subsession Protocol) the document is made of, if it is."""
        from inspector.ui.dialogs.asking import Asking
        from inspector.ui.msp import TITLE, edit_sessions

        actions = self.actions_by_id
        editing = edit_sessions(
            self, self.shown, self.application, self.requests, self.notices, self.status, self.undo_history,
            self.docks, Asking(self, self.theme), save=actions["file.save"], save_as=actions["file.save_as"],
            home_of=lambda document: self.opening.home_of(document),
            usual_folder=lambda: self.capture_saving.usual_folder(), show_instead=self.replacement.replace_by,
        )  # fmt: skip
        editing.saving.moved.connect(lambda path: self.opening.moved_to(path))
        editing.saving.moved.connect(lambda path: self.marking.moved_to(path))
        editing.view.rules_changed.connect(self._share_rules)
        editing.count_changed.connect(lambda count: self.view_head.tabs.set_count(count, TITLE))
        return editing

    @cached_property
    def replacement(self) -> DocumentReplacement:
        """Puts another document in the place of the one shown, with the view as it was."""
        from inspector.ui.docview.replacement import DocumentReplacement

        return DocumentReplacement(self, self.shown, self.requests, self.docks, lambda: self.center, self.show_anew)

    @cached_property
    def sources(self) -> SourceEditing:
        """Adds and removes sources of the document."""
        from inspector.ui.features.source_editing import SourceEditing

        sources = SourceEditing(
            self, self.shown, self.application, notices=self.notices, status=self.status,
            show_instead=self.replacement.replace_by, usual_folder=lambda: self.capture_saving.usual_folder(),
            is_reading=lambda: self.opening.reading,
        )  # fmt: skip
        sources.replaced.connect(lambda document, path: self.gateway.adopt(document))
        sources.replaced.connect(lambda document, path: self.opening.adopt(document, path))
        sources.replaced.connect(lambda document, path: self.marking.carried_over())
        sources.list_saved.connect(lambda path: self.opening.remember(path))
        return sources

    @cached_property
    def agent_sessions(self) -> AgentSessions:
        """Lists the sessions of coding agents on this machine."""
        from inspector.ui.features.agent_sessions import AgentSessions

        agent_sessions = AgentSessions(self, self.application, self.notices)
        agent_sessions.chosen.connect(lambda target: self.opening.open_target(target))
        return agent_sessions

    @cached_property
    def tapping(self) -> Tapping:
        """Taps MCP servers of clients on this machine."""
        from inspector.ui.features.tapping import Tapping

        tapping = Tapping(self, self.application, self.notices)
        tapping.arrived.connect(lambda target: self.opening.open_target(target))
        self.shown.closing.connect(tapping.close)
        return tapping

    @cached_property
    def creating(self) -> MspCreating:
        """Makes sessions from nothing, which open like any file."""
        from inspector.ui.msp import create_sessions

        creating = create_sessions(self, self.theme, self.notices, lambda: self.capture_saving.usual_folder())
        creating.made.connect(lambda path: self.opening.open_path(path))
        return creating

    @cached_property
    def next_message(self) -> NextMessage:
        """Goes to the next message of a kind."""
        from inspector.ui.features.next_message import NextMessage

        next_message = NextMessage(self.shown, self.notices, self.status, self.keys, self)
        next_message.filter_requested.connect(lambda text: self.filtering.apply(text))
        return next_message

    @cached_property
    def memory_limit(self) -> MemoryLimit:
        """Says that the memory set for messages is used up."""
        from inspector.ui.features.memory_limit import MemoryLimit

        return MemoryLimit(self.shown, self.notices, self.opening, self)

    @cached_property
    def deferred_checks(self) -> DeferredChecks:
        """Has the checks do what they put off, and says when one has failed."""
        from inspector.ui.features.deferred_checks import DeferredChecks

        return DeferredChecks(self.shown, self.notices, lambda: self.opening.reading, self)

    @cached_property
    def counting(self) -> TokenCounting:
        """Has tokens counted, and says how far that is."""
        from inspector.ui.features.token_counting import TokenCounting

        return TokenCounting(
            self.shown, self.application, self.notices, self.status, lambda: self.opening.reading, self
        )

    @cached_property
    def documents(self) -> Showing:
        """Brings documents into the window, and has features listen to their panes."""
        from inspector.ui.window.showing import Showing

        attaching = (
            self.presets.attach, self.filtering.attach, self.next_message.attach, self.highlighting.attach,
            self._listen_to_view,
            self.filter_conditions.attach, self.deferred_checks.start, self.memory_limit.attach, self.counting.start,
            self.document_status.attach, self.action_state.attach, self.display.attach, self.navigation.attach,
            self.sources.attach, self.exporting.attach, self.saving.attach, self.comparing.attach, self.dock_row.attach,
        )  # fmt: skip
        for attach in attaching:
            self.shown.attached.connect(attach)
        self.center.changed.connect(lambda _view: self.action_state.show_view(self.center.currentWidget()))
        showing = Showing(
            self, self.shown, self.theme, pages=self.pages, bars=self.bars, head=self.view_head, center=self.center,
            docks=self.dock_row, layout=self.layout_keeper, restoring=self.restoring,
        )  # fmt: skip
        for stop in (
            self.sources.stop, self.exporting.stop, self.deferred_checks.stop, self.counting.stop,
            self.document_status.stop, self.marking.close, showing.stop,
        ):  # fmt: skip
            self.shown.closing.connect(stop)
        return showing

    @cached_property
    def document_status(self) -> DocumentStatus:
        """What the window says of its document outside the panes."""
        from inspector.ui.window.status import DocumentStatus

        status = DocumentStatus(
            self, self.shown, self.status, filter_bar=self.filter_bar, presets=self.presets,
            conditions=self.filter_conditions, gateway=self.gateway, saving=self.capture_saving, msp=self.msp,
        )  # fmt: skip
        status.hung.connect(lambda: self.dock_row.offer("Waiting"))
        return status

    @cached_property
    def closing(self) -> Closing:
        """What is asked before the window closes."""
        from inspector.ui.window.closing import Closing

        return Closing(self, self.application, self.gateway, self.capture_saving, self.msp)

    def _name_keys(self) -> None:
        """Keys are named in sentences and on buttons as they are now."""
        self.start_page.show_keys(self.keys.words)
        self.status.show_palette_key(self.keys.words("help.palette"))
        if self.panes is not None:
            self.panes.show_keys(self.keys.words)

    def _listen_to_start_page(self) -> None:
        """Who does what it asks for is made when it asks."""
        page = self.start_page
        page.open_requested.connect(lambda: self.opening.ask_for_files())
        page.sessions_requested.connect(lambda: self.agent_sessions.ask())
        page.paste_requested.connect(lambda: self.opening.paste_text())
        page.recent_file_requested.connect(lambda target: self.opening.open_target(target))
        page.recover_requested.connect(lambda unsaved: self.capture_saving.recover(unsaved))
        page.discard_requested.connect(lambda unsaved: self.capture_saving.discard_unsaved(unsaved))
        page.connect_requested.connect(lambda: self.gateway.ask_for_gateway())
        page.demo_requested.connect(lambda: self.gateway.start_demo())
        page.recent_connection_requested.connect(lambda chosen: self.connections.join(chosen))
        page.edit_connection_requested.connect(lambda chosen: self.connections.edit(chosen))
        page.delete_connection_requested.connect(lambda chosen: self.connections.ask_to_delete(chosen))
        page.keep_connection_requested.connect(lambda chosen: self.connections.ask_for(chosen))
        page.forget_requested.connect(lambda recent: self.connections.forget_recent(recent))
        page.clear_recent_requested.connect(lambda: self.connections.clear_recent())

    def _listen_to_requests(self) -> None:
        """Do what features ask for."""
        requests = self.requests
        requests.actions_changed.connect(self.action_state.enable)
        requests.counts_changed.connect(lambda: self.document_status.refresh_counts())
        requests.title_changed.connect(self.show_title)
        requests.clock_changed.connect(lambda: self.document_status.refresh_clock())
        requests.center_requested.connect(self.focus_center)
        requests.start_requested.connect(self.show_start)
        requests.close_requested.connect(self.close)
        requests.replaced.connect(self._give_way)
        requests.view_requested.connect(lambda view: self.navigation.show_view(view))
        requests.dock_requested.connect(self.dock_row.bring_up)
        requests.pane_requested.connect(lambda title: self.pane_focus.enter(title))

    def _name_details(self) -> None:
        """Say in the menu where details are while there is no room beside the messages."""
        lacks_room = self.layout_keeper.lacks_room_for_details
        self.actions_by_id["view.details"].setText("&Details (below the messages)" if lacks_room else "&Details")

    # Start page and document

    def _show_failed(self) -> None:
        from inspector.present.findings import failed_filter  # with the first document

        self.filtering.apply(failed_filter(self.document.capture))

    def show_start(self) -> None:
        """Show the start page, which is for a window without a document."""
        self.pages.show_start()
        self.setWindowTitle("Context Inspector")
        self.status.show_empty()
        self.start_page.show_unsaved(self.application.unsaved())
        self.action_state.enable()

    @property
    def taken(self) -> bool:
        """Whether it shows something, or something is on its way to it."""
        shows_survey = "surveys" in self.__dict__ and self.surveys.path is not None
        return self.panes is not None or self.opening.reading or self.gateway.starting or shows_survey

    def free_window(self, opening: str = "") -> MainWindow:
        """This window while it is on the start page, else a new one.

        Args:
            opening: what a new window says that it opens.
        """
        return self.application.new_window(opening) if self.taken else self

    def _give_way(self) -> None:
        """Another window shows the same, and takes the place of this one."""
        self.application.windows[-1].setGeometry(self.geometry())
        self.close()

    async def prepare(self) -> None:
        """Make what a document needs, while keys and clicks come through."""
        await self.warming.finish()
        self.complete()

    def show_opening(self, name: str) -> None:
        """Show that a document is on its way, with nothing that would be gone at once."""
        self.pages.show_document()
        self.status.show_opening(name)

    def showing(self, document: CaptureDocument) -> Steps[Panes]:
        """Show a document, in steps between which the loop may turn; a window does so once."""
        self.complete()
        return self.documents.show(document, self._fill)

    def _fill(self, panes: Panes) -> None:
        """What stands around the panes says what there is."""
        self.apply_settings()
        self.show_title()
        self.filtering.show_first()
        self.filter_conditions.refresh()
        self.document_status.refresh_counts()
        self.action_state.enable()
        self.action_state.show_view(self.center.currentWidget())
        self.center.take_focus()
        self.marking.attach(panes, self.opening.home_of(panes.document))
        self.msp.attach(panes, self.center)
        panes.show_keys(self.keys.words)
        self.restoring.attach(panes)

    def show_anew(self, document: CaptureDocument) -> Panes:
        """Show another document in place of the one shown, which holds the same but for edits; docks stay."""
        self.deferred_checks.stop()
        self.counting.stop()
        panes = self.documents.replace(document)
        self.apply_settings()
        self.filter_conditions.refresh()
        self.document_status.refresh_counts()
        self.marking.attach(panes, self.opening.home_of(document))
        self.msp.view.speak_of(panes)
        panes.show_keys(self.keys.words)
        return panes

    def _listen_to_view(self, panes: Panes) -> None:
        """Another filter or scope: neither what was said of the one before is true, nor a name asked for it wanted."""
        for changed in (panes.filter_state.filter_applied, panes.filter_state.scope_changed):
            changed.connect(self.notices.end_note)
            changed.connect(self.view_chosen)

    def show_title(self) -> None:
        """The title names the document; where that makes two alike, the other window's is told from it as well."""
        for window in self.application.windows:
            if window.panes is not None:
                window.document_status.show_title()

    def _origin(self) -> Origin:
        """Where what is shown comes from."""
        from inspector.ui.features.restoring import Origin

        if self.shown.runs is not None:
            return Origin(None, self.shown.runs.runs.path, is_together=False, is_demo=False)
        session = self.gateway.session
        home = self.opening.home_of(self.document) if self.capture_saving.own is None else None
        return Origin(
            None if session is None else session.connection, home, self.opening.is_together, self.gateway.is_demo
        )

    def apply_settings(self) -> None:
        """Take over what the settings say about display."""
        from inspector.analysis.passes.tokens.listed_prices import prices_in_force

        self.keys.apply(self.application.settings.keys)
        if self.panes is not None:
            self.display.apply(self.panes)
            self.document.use_tool_aliases(self.application.tool_aliases)
            self.panes.use_contexts(self.application.settings.contexts)
            prices = self.application.settings.prices
            self.document.use_prices(*prices_in_force(prices.lines, prices.dated, listed=prices.listed))
            self.counting.apply_settings()
            self.msp.view.apply_settings()
        self.developer.show_menu()
        self.can_do.show_switches()

    def _layout_now(self) -> tuple[str, str, bool, str]:
        """Docks as they are (base64), the view of the middle, whether somebody dragged the sides, which gave way."""
        docks, dragged, gave_way = self.layout_keeper.docks_now()
        return docks, self.center.current, dragged, gave_way

    def _share_rules(self) -> None:
        """The rules and the budget of sub-sessions were edited here: the other windows show them, too."""
        for window in self.application.windows:
            if window is not self:
                window.msp.view.apply_settings()

    # Qt events

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            if own_keys.wants(QApplication.focusWidget(), event):
                event.accept()
                return True
        elif not self._painted and event.type() is QEvent.Type.UpdateRequest:
            self._painted = True
            self.warming.start()
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        button = own_keys.presses(QApplication.focusWidget(), event)
        if button is not None:
            button.click()
            return
        if event.key() == Qt.Key.Key_Escape and not self.opening.cancel_reading():
            self.focus_center()
        super().keyPressEvent(event)

    def focus_center(self) -> None:
        """Give the keyboard back to the view in the middle."""
        if self.panes is not None:
            self.center.take_focus()

    @override
    def childEvent(self, event: QChildEvent) -> None:
        """Qt makes a tab bar of its own for docks that lie on one another, and gives it no name."""
        super().childEvent(event)
        if not event.polished():  # asking for a child that Python does not know makes its class: dear at the start
            return
        child = event.child()
        if isinstance(child, QTabBar):
            child.setObjectName("dockTabs")
            child.setAccessibleName("Panes that lie on one another")
            child.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # else Tab goes there also while it is empty and not seen

    @override
    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes through the window as it is read; Qt's order is that in which panes were made."""
        panes = self.panes
        if panes is None:
            return super().focusNextPrevChild(next)
        details = panes.details
        return tab_order.step(self, (
            self.bars.tool_bar, self.presets.bar, panes.contexts.head, panes.contexts.find_box, panes.contexts,
            panes.participants.head, panes.participants, self.view_head, self.center, self.view_head.notices,
            *self.findChildren(QTabBar, "dockTabs"), *(part for panel in panes.bottom for part in (panel.head, panel)),
            details.head, details.tabs, details, self.status,
        ), next)  # fmt: skip

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.layout_keeper.window_resized(event.oldSize().width(), event.size().width())

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.opening.open_paths(paths)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """A live session ends first: the close is put off until it is settled what becomes of the capture."""
        if self.closing.put_off():
            event.ignore()
            return
        self.application.window_closing(self)
        self.opening.stop_reading()
        self.gateway.close()
        self.connections.stop_waiting()
        self.msp.stop()
        self.layout_keeper.store()
        self.shown.closing.emit()
        self.undo_history.close()
        if self.panes is not None:
            self.panes.detach()
            self.center.stop()
            self.filter_conditions.stop()
        self.document.close()
        self.opening.clear_away()
        self.capture_saving.clear_away()
        event.accept()
        self.application.window_closed(self)
        self.deleteLater()
