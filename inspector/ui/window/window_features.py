"""The features of a window, each imported and created on first use.

The start page needs few of them. Without the others the window is painted in half the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu

from inspector.present.wire_text import window_title
from inspector.ui.docview.panel import COMPARE, CONVERSATION, OVERVIEW
from inspector.ui.services import usual_folder
from inspector.ui.window.panels import PANELS

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.base.slices import SlicedWork
    from inspector.ui.debug.developer import Developer
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.document_replacement import DocumentReplacement
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.view_head import ViewHead
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.features.agent_sessions import AgentSessions
    from inspector.ui.features.capture_saving import CaptureSaving
    from inspector.ui.features.comparison import Comparing
    from inspector.ui.features.connections import Connections
    from inspector.ui.features.deferred_checks import DeferredChecks
    from inspector.ui.features.engine_watch import EngineWatch
    from inspector.ui.features.exporting import Exporting
    from inspector.ui.features.filter_conditions import FilterConditions
    from inspector.ui.features.filter_editing import Filtering
    from inspector.ui.features.format_declaring import FormatDeclaring
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.features.highlighting import Highlighting
    from inspector.ui.features.marking import Marking
    from inspector.ui.features.memory_limit import MemoryLimit
    from inspector.ui.features.message_saving import MessageSaving
    from inspector.ui.features.navigation import Navigation
    from inspector.ui.features.next_message import NextMessage
    from inspector.ui.features.opening import Opening
    from inspector.ui.features.plugin_notices import PluginNotices
    from inspector.ui.features.presets import Presets
    from inspector.ui.features.run_comparing import RunComparing
    from inspector.ui.features.server_tapping import Tapping
    from inspector.ui.features.settings_editing import SettingsEditing
    from inspector.ui.features.source_editing import SourceEditing
    from inspector.ui.features.surveys import Surveys
    from inspector.ui.features.token_counting import TokenCounting
    from inspector.ui.features.turn_comparison import TurnComparing
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.features.window_restoring import Restoring
    from inspector.ui.input.action import Actions
    from inspector.ui.input.keys import Keys
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.msp import MspCreating, MspEditing, MspSaving
    from inspector.ui.panels.start.panel import StartPage
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.widgets.name_card import NameCard
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar
    from inspector.ui.window.action_state import ActionState
    from inspector.ui.window.bar_stack import BarStack
    from inspector.ui.window.closing import Closing
    from inspector.ui.window.display import Display
    from inspector.ui.window.docks import Docks
    from inspector.ui.window.document_display import Showing
    from inspector.ui.window.guide_opening import GuideOpening
    from inspector.ui.window.layout import WindowLayout
    from inspector.ui.window.main_window import MainWindow
    from inspector.ui.window.owner import WindowOwner
    from inspector.ui.window.pages import Pages
    from inspector.ui.window.palette import Palette
    from inspector.ui.window.pane_focus import PaneFocus
    from inspector.ui.window.preload import Warming
    from inspector.ui.window.side_by_side import SideBySide
    from inspector.ui.window.status import DocumentStatus


class WindowFeatures(QMainWindow):
    """Creates and connects the features of one window. `MainWindow` creates the parts of the start page.

    Attributes:
        application, shown, requests, undo_history, display, keys, theme, notices, status, pages, action_state,
        actions_by_id, menus, dock_row, docks, layout_keeper: set by `MainWindow`, which describes them.
    Signals:
        view_chosen(): filter or scope has changed.
    """

    view_chosen = Signal()

    application: WindowOwner[MainWindow]
    theme: ThemeController
    shown: Shown
    requests: WindowRequests
    undo_history: UndoHistory
    display: Display
    keys: Keys
    notices: NoticeStack
    status: StatusBar
    pages: Pages
    action_state: ActionState
    actions_by_id: Mapping[str, QAction]
    menus: Mapping[str, QMenu]
    dock_row: Docks
    docks: Mapping[str, QDockWidget]
    layout_keeper: WindowLayout
    start_page: StartPage
    developer: Developer
    can_do: Actions[MainWindow]
    warming: Warming
    waiting_parts: tuple[Callable[[], object], ...]
    _awaits_document = False

    @cached_property
    def guide(self) -> GuideOpening:
        from inspector.ui.window.guide_opening import GuideOpening

        return GuideOpening(self)

    @cached_property
    def view_head(self) -> ViewHead:
        from inspector.ui.docview.view_head import ViewHead

        head = ViewHead(self.theme, self)
        head.notices.left.connect(self.focus_center)
        head.bookkeeping_switched.connect(self.display.switch_bookkeeping)
        return head

    @cached_property
    def center(self) -> Center:
        from inspector.ui.docview.center import Center

        center = Center(PANELS, self)
        # Lambdas, here and below: the feature is created when the signal comes.
        center.framed = lambda view, made: self.msp.view.frame_view(view, made)
        return center

    @cached_property
    def bars(self) -> BarStack:
        from inspector.ui.window.bar_stack import BarStack

        return BarStack(self, self.theme, self.keys, self.actions_by_id, self.filter_bar, self.presets.bar)

    @property
    def filter_bar(self) -> FilterBar:
        return self.filtering.bar

    @cached_property
    def name_card(self) -> NameCard:
        from inspector.ui.widgets.name_card import NameCard

        card = NameCard(self.theme, self)
        self.view_chosen.connect(card.leave)
        return card

    @cached_property
    def command_palette(self) -> Palette:
        from inspector.ui.window.palette import Palette

        self.complete()  # the palette lists the presets
        return Palette(
            self, self.theme, self.keys, self.application, self.dock_row, self.pane_focus,
            open_target=self.opening.open_target, join=self.connections.join,
        )  # fmt: skip

    @cached_property
    def pane_focus(self) -> PaneFocus:
        from inspector.ui.window.pane_focus import PaneFocus

        return PaneFocus(self.shown, self.filter_bar, self.center, self.docks)

    @cached_property
    def navigation(self) -> Navigation:
        from inspector.ui.features.navigation import Navigation

        return Navigation(self.shown, self.center, self.requests, self.undo_history, self.theme, self)

    @cached_property
    def settings_editing(self) -> SettingsEditing:
        from inspector.ui.dialogs.memory_page import MemoryPage
        from inspector.ui.dialogs.plugins_page import PluginsPage
        from inspector.ui.dialogs.prices_page import PricesPage
        from inspector.ui.dialogs.settings_dialog import FurtherPage
        from inspector.ui.dialogs.updates_page import UpdatesPage
        from inspector.ui.features.settings_editing import SettingsEditing
        from inspector.ui.msp import SUBSESSIONS, TITLE, subsessions_page

        pages = (
            FurtherPage("prices", "Prices", PricesPage),
            FurtherPage("memory", "Memory", MemoryPage),
            FurtherPage("updates", "Updates", UpdatesPage),
            FurtherPage("plugins", "Plug-ins", PluginsPage),
            FurtherPage(SUBSESSIONS, TITLE, subsessions_page),
        )
        editing = SettingsEditing(self.application, self.keys, self.complete, pages, self)
        editing.edited.connect(lambda: self.presets.refresh())
        return editing

    @cached_property
    def filtering(self) -> Filtering:
        from inspector.ui.features.filter_editing import Filtering

        filtering = Filtering(self.theme, self.application, self.presets, self.notices, self)
        filtering.left.connect(self.focus_center)
        return filtering

    @cached_property
    def presets(self) -> Presets:
        from inspector.ui.features.presets import Presets

        presets = Presets(self.theme, self.application, self.keys, self.notices, lambda: self.name_card, self)
        presets.chosen.connect(lambda text: self.filtering.apply(text))
        presets.edit_requested.connect(lambda place: self.settings_editing.edit_preset(place))
        presets.fill_menu(self.menus["&View"], self.actions_by_id["view.presets"])
        if not self._awaits_document:  # which shows the presets that fit it
            presets.show_presets()
        return presets

    @cached_property
    def filter_conditions(self) -> FilterConditions:
        from inspector.ui.features.filter_conditions import FilterConditions

        return FilterConditions(self.theme, self.filter_bar, self.bars.conditions)

    @property
    def saver(self) -> MspSaving | CaptureSaving:
        """The saver for the shown content: edited sessions, else the capture."""
        return self.msp.saving if self.shown.state.is_sessions else self.capture_saving

    @cached_property
    def opening(self) -> Opening:
        from inspector.ui.features.opening import Opening

        opening = Opening(
            self, self.shown, self, self.application, requests=self.requests, notices=self.notices, status=self.status,
            free=lambda name: self.free_window(name).opening,
        )  # fmt: skip
        opening.failed.connect(lambda: self.restoring.give_up())
        opening.read_through.connect(lambda: self.marking.restore(complete=True))
        opening.read_through.connect(lambda: self.restoring.restore_remaining())
        opening.read_through.connect(self._follow_sessions)
        opening.survey_found.connect(lambda path: self.surveys.show(path))
        opening.session_wanted.connect(lambda path: self.sources.show_session(path))
        opening.declaration_wanted.connect(self._declare_format)
        return opening

    def _follow_sessions(self) -> None:
        if self.shown.state.is_sessions:
            self.msp.following.start()

    @cached_property
    def surveys(self) -> Surveys:
        from inspector.ui.features.surveys import Surveys

        surveys = Surveys(
            self, self.shown, self.theme, self.application, self.undo_history, notices=self.notices,
            status=self.status, put=self.pages.show_page,
        )  # fmt: skip
        surveys.run_requested.connect(
            lambda path, number, together: self.opening.open_path(path, at=number, together=together)
        )
        surveys.compare_requested.connect(self.compare_logs)
        surveys.failed.connect(lambda: self.restoring.give_up())
        surveys.failed.connect(self.show_start)
        surveys.attached.connect(lambda page: self.restoring.attach_runs(page))
        surveys.attached.connect(lambda page: self.opening.remember(page.runs.path))
        surveys.attached.connect(self.action_state.enable)
        return surveys

    @cached_property
    def gateway(self) -> GatewayWatch:
        from inspector.ui.features.gateway_window import GatewayWatch

        gateway = GatewayWatch(
            self, self.shown, self, self.application, requests=self.requests, notices=self.notices, status=self.status,
            free=lambda: self.free_window().gateway,
        )  # fmt: skip
        gateway.connection_saved.connect(lambda save: self.connections.keep(save))
        gateway.secrets_wanted.connect(lambda lost: self.connections.join_again(lost))
        gateway.demo_begun.connect(self.display.show_hints_here)
        gateway.save_as_requested.connect(lambda: self.capture_saving.save_as())
        return gateway

    @cached_property
    def connections(self) -> Connections:
        from inspector.ui.features.connections import Connections

        return Connections(self, self.application, gateway=self.gateway, notices=self.notices)

    @cached_property
    def restoring(self) -> Restoring:
        from inspector.ui.features.window_restoring import Restoring

        return Restoring(
            self,
            self.shown,
            notices=self.notices,
            joined=lambda: self.gateway.connection,
            is_demo=lambda: self.gateway.is_demo,
            layout=self.layout_now,
        )

    @cached_property
    def capture_saving(self) -> CaptureSaving:
        from inspector.ui.features.capture_saving import CaptureSaving

        saving = CaptureSaving(
            self, self.shown, self.application, requests=self.requests, notices=self.notices, gateway=self.gateway
        )
        saving.copied.connect(lambda path: self.marking.copied_to(path))
        saving.moved.connect(lambda path: self.marking.moved_to(path))
        saving.saved.connect(lambda path: self.opening.remember(path))
        saving.recovered.connect(lambda path, name: self.opening.open_unsaved(path, name))
        return saving

    @cached_property
    def saving(self) -> MessageSaving:
        from inspector.ui.features.message_saving import MessageSaving

        return MessageSaving(self.shown, self.notices, self)

    @cached_property
    def side_by_side(self) -> SideBySide:
        from inspector.ui.window.side_by_side import SideBySide

        return SideBySide(cast("MainWindow", self))

    @cached_property
    def run_comparing(self) -> RunComparing:
        from inspector.ui.features.run_comparing import RunComparing

        comparing = RunComparing(
            self, self.shown, self.application, self.notices, center=lambda: self.center, open_logs=self._other_logs
        )
        comparing.other_requested.connect(self._open_beside)
        return comparing

    def compare_logs(self, target: str, other: str) -> None:
        """Opens a log and compares it with another one; "" asks for that."""
        free = self.free_window(target)
        free.run_comparing.await_log(target, other)
        free.opening.read_through.connect(free.run_comparing.on_read)
        free.opening.open_target(target)

    def _open_beside(self, target: str, message: int) -> None:
        """Shows a message of a log in the window that has it, else in a new one."""
        from inspector.base.targets import is_session, target_path

        for window in self.application.windows:
            if window.panes is not None and window.shown.location.target(window.shown.location.opened) == target:
                self.application.tabs.bring_up(window)
                window.navigation.show_view("messages")
                window.panes.go_to(message)
                return
        self.opening.open_path(target_path(target), together=is_session(target), at=message + 1)

    def _other_logs(self) -> list[tuple[str, str]]:
        """Returns title and target of the logs in other windows."""
        found: list[tuple[str, str]] = []
        for window in self.application.windows:
            path = (
                None if window is self or window.panes is None else window.shown.location.kept_file(window.shown.state)
            )
            if path is not None:
                found.append((window.shown.state.name, window.shown.location.target(path)))
        return found

    @cached_property
    def comparing(self) -> Comparing:
        from inspector.ui.features.comparison import Comparing

        return Comparing(self.theme, self.shown, self.notices, self)

    @cached_property
    def turn_comparing(self) -> TurnComparing:
        from inspector.ui.features.turn_comparison import TurnComparing

        return TurnComparing(self.theme, self.shown, self.notices, self)

    @cached_property
    def exporting(self) -> Exporting:
        from inspector.ui.features.exporting import Exporting

        exporting = Exporting(self.theme, self.shown, self.notices, self)
        exporting.open_requested.connect(lambda path: self.opening.open_path(path))
        exporting.reads_conversation = lambda: self.center.current == CONVERSATION
        return exporting

    @cached_property
    def highlighting(self) -> Highlighting:
        from inspector.ui.features.highlighting import Highlighting

        highlighting = Highlighting(self.application, self.shown, self.filter_bar, lambda: self.name_card, self)
        highlighting.edit_requested.connect(lambda: self.settings_editing.open("highlights"))
        return highlighting

    @cached_property
    def marking(self) -> Marking:
        from inspector.ui.features.marking import Marking

        return Marking(self.theme, self.undo_history, self.notices, self)

    @cached_property
    def msp(self) -> MspEditing:
        from inspector.ui.dialogs.questions import Asking
        from inspector.ui.msp import edit_sessions

        actions = self.actions_by_id
        editing = edit_sessions(
            self, self.shown, self.application, self.requests, self.notices, self.status, self.undo_history,
            self.docks, Asking(self, self.theme), save=actions["file.save"], save_as=actions["file.save_as"],
            usual_folder=lambda: usual_folder(self.application), show_instead=self.replacement.replace_by,
        )  # fmt: skip
        editing.saving.moved.connect(lambda path: self.opening.moved_to(path))
        editing.saving.moved.connect(lambda path: self.marking.moved_to(path))
        editing.view.rules_changed.connect(self.share_rules)
        return editing

    @cached_property
    def replacement(self) -> DocumentReplacement:
        from inspector.ui.docview.document_replacement import DocumentReplacement

        return DocumentReplacement(self, self.shown, self.requests, self.docks, lambda: self.center, self.show_anew)

    @cached_property
    def sources(self) -> SourceEditing:
        from inspector.ui.features.source_editing import SourceEditing

        sources = SourceEditing(
            self, self.shown, self.application, notices=self.notices, status=self.status,
            show_instead=self.replacement.replace_by, usual_folder=lambda: usual_folder(self.application),
            is_reading=lambda: self.opening.reading,
        )  # fmt: skip
        sources.replaced.connect(lambda path: self.opening.adopt(path))
        sources.replaced.connect(lambda _path: self.marking.carried_over())
        sources.list_saved.connect(lambda path: self.opening.remember(path))
        return sources

    @cached_property
    def agent_sessions(self) -> AgentSessions:
        from inspector.ui.features.agent_sessions import AgentSessions

        agent_sessions = AgentSessions(self, self.application, self.notices)
        agent_sessions.chosen.connect(lambda target: self.opening.open_target(target))
        return agent_sessions

    @cached_property
    def declaring(self) -> FormatDeclaring:
        from inspector.ui.features.format_declaring import FormatDeclaring

        declaring = FormatDeclaring(self, self.application)
        declaring.saved.connect(lambda path, name: self.opening.open_path(path, reading=name))
        return declaring

    def _declare_format(self, path: Path | None, name: str | None) -> None:
        if path is None:
            self.declaring.ask_for_log()
        else:
            self.declaring.show_dialog(path, name)

    @cached_property
    def tapping(self) -> Tapping:
        from inspector.ui.features.server_tapping import Tapping

        tapping = Tapping(self, self.application, self.notices)
        tapping.arrived.connect(lambda target: self.opening.open_target(target))
        self.shown.closing.connect(tapping.close)
        return tapping

    @cached_property
    def creating(self) -> MspCreating:
        from inspector.ui.msp import create_sessions

        creating = create_sessions(self, self.theme, self.notices, lambda: usual_folder(self.application))
        creating.made.connect(lambda path: self.opening.open_path(path))
        return creating

    @cached_property
    def next_message(self) -> NextMessage:
        from inspector.ui.features.next_message import NextMessage

        next_message = NextMessage(self.shown, self.notices, self.status, self.keys, self)
        next_message.filter_requested.connect(lambda text: self.filtering.apply(text))
        return next_message

    @cached_property
    def memory_limit(self) -> MemoryLimit:
        from inspector.ui.features.memory_limit import MemoryLimit

        return MemoryLimit(self.shown, self.notices, self.opening, self)

    @cached_property
    def engine_watch(self) -> EngineWatch:
        from inspector.ui.features.engine_watch import EngineWatch

        def free() -> tuple[Opening, GatewayWatch, Restoring]:
            window = self.free_window()
            return window.opening, window.gateway, window.restoring

        return EngineWatch(
            self.shown,
            self.notices,
            self.opening,
            self.gateway,
            self.restoring,
            self.msp.saving.lose_edits,
            free,
            self,
        )

    @cached_property
    def deferred_checks(self) -> DeferredChecks:
        from inspector.ui.features.deferred_checks import DeferredChecks

        return DeferredChecks(self.shown, self.notices, self)

    @cached_property
    def plugin_notices(self) -> PluginNotices:
        from inspector.ui.features.plugin_notices import PluginNotices

        return PluginNotices(
            self.notices, lambda: self.settings_editing.open("plugins"), lambda: self.application.settings.plugins,
            lambda: self.engine_watch.reopen(), self,
        )  # fmt: skip

    @cached_property
    def counting(self) -> TokenCounting:
        from inspector.ui.features.token_counting import TokenCounting

        return TokenCounting(self.application, self.notices, self.status, self)

    @cached_property
    def documents(self) -> Showing:
        from inspector.ui.docview import center
        from inspector.ui.window.document_display import Showing

        attaching = (
            self.presets.attach, self.filtering.attach, self.next_message.attach, self.highlighting.attach,
            self.listen_to_view, self.watch_choice,
            self.filter_conditions.attach, self.gateway.attach, self.deferred_checks.start,
            self.plugin_notices.attach, self.memory_limit.attach, self.engine_watch.attach, self.counting.start,
            self.document_status.attach, self.action_state.attach, self.display.attach, self.navigation.attach,
            self.sources.attach, self.exporting.attach, self.saving.attach, self.comparing.attach,
            self.turn_comparing.attach, self.dock_row.attach,
        )  # fmt: skip
        for attach in attaching:
            self.shown.attached.connect(attach)
        self.center.changed.connect(lambda _view: self.action_state.show_view(self.center.currentWidget()))
        self.center.changed.connect(self.free_sides)
        self.layout_keeper.reserved.connect(self.view_head.reserve)
        self.dock_row.changed.connect(self.layout_keeper.report_reserved)
        showing = Showing(
            self, self.shown, self.theme, pages=self.pages, bars=self.bars, head=self.view_head, center=self.center,
            docks=self.dock_row, layout=self.layout_keeper, restoring=self.restoring,
            first_view=lambda: center.first_view(self.application.settings),
        )  # fmt: skip
        for stop in (
            self.sources.stop, self.exporting.stop, self.deferred_checks.stop, self.counting.stop,
            self.plugin_notices.stop, self.document_status.stop, self.marking.close, showing.stop,
        ):  # fmt: skip
            self.shown.closing.connect(stop)
        return showing

    @cached_property
    def document_status(self) -> DocumentStatus:
        from inspector.ui.window.status import DocumentStatus

        status = DocumentStatus(
            self, self.shown, self.status, filter_bar=self.filter_bar, presets=self.presets,
            conditions=self.filter_conditions, gateway=self.gateway, saving=self.capture_saving, msp=self.msp,
        )  # fmt: skip
        status.hung.connect(lambda: self.dock_row.offer("Waiting"))
        return status

    @cached_property
    def closing(self) -> Closing:
        from inspector.ui.window.closing import Closing

        return Closing(self, self.shown, self.application, self.gateway, self.capture_saving, self.msp)

    # Document and start page

    @property
    def panes(self) -> Panes | None:
        """The panes of the document; None on the start page."""
        return self.shown.panes

    @property
    def document(self) -> Any:
        """The shown document in tests whose engine is in their process; None on the start page."""
        return None if self.shown.client is None else self.shown.client.document

    def complete(self) -> None:
        """Creates the parts that only a document needs."""
        for make in self.waiting_parts:
            make()

    def focus_center(self) -> None:
        """Focuses the view in the middle."""
        if self.panes is not None:
            self.center.take_focus()

    def show_start(self) -> None:
        """Shows the start page in a window without a document."""
        self.pages.show_start()
        self.setWindowTitle("Context Inspector")
        self.status.show_empty()
        self.start_page.show_unsaved(self.application.unsaved())
        self.action_state.enable()

    @property
    def is_in_use(self) -> bool:
        """True if the window shows a document or survey, or is about to."""
        # Asking for the feature would create it.
        shows_survey = "surveys" in self.__dict__ and self.surveys.path is not None
        return self.panes is not None or self.opening.reading or self.gateway.starting or shows_survey

    def free_window(self, opening: str = "") -> WindowFeatures:
        """Returns this window if it shows the start page, else a new one.

        Args:
            opening: name of the document that a new window shows while loading.
        """
        return self.application.new_window(opening, beside=cast("MainWindow", self)) if self.is_in_use else self

    async def prepare(self) -> None:
        """Creates the parts for a document while input events are handled."""
        await self.warming.finish()
        self.complete()

    def show_opening(self, name: str) -> None:
        """Shows that a document is loading, without short-lived widgets."""
        self.pages.show_document()
        self.setWindowTitle(window_title(name))
        self.status.show_opening(name)

    def showing(self, client: DocumentClient) -> SlicedWork[Panes]:
        """Shows the first document in steps that let the event loop run."""
        self._awaits_document = True
        self.complete()
        return self.documents.show(client, self._fill_surroundings)

    def _fill_surroundings(self, panes: Panes) -> None:
        """Fills the widgets around the panes."""
        self.apply_settings()
        self.show_title()
        self.filtering.show_first()
        self.filter_conditions.refresh()
        self.document_status.refresh_counts()
        self.action_state.enable()
        self.action_state.show_view(self.center.currentWidget())
        self.center.take_focus()
        self.marking.attach(panes, self.shown.location.kept_file(panes.client.state))
        self.msp.attach(panes, self.center)
        panes.show_keys(self.keys.words)
        self.restoring.attach(panes)

    def show_anew(self, client: DocumentClient) -> Panes:
        """Replaces the shown document by an edited version. Docks stay in place."""
        self.deferred_checks.stop()
        self.counting.stop()
        panes = self.documents.replace(client)
        self.apply_settings()
        self.filter_conditions.refresh()
        self.document_status.refresh_counts()
        self.marking.attach(panes, self.shown.location.kept_file(client.state))
        self.msp.view.speak_of(panes)
        panes.show_keys(self.keys.words)
        return panes

    def watch_choice(self, panes: Panes) -> None:
        """Frees the sides when contexts appear, or the whole log has none."""
        panes.client.state_changed.connect(self.free_sides)
        self.free_sides()

    def free_sides(self) -> None:
        """Gives the view the place of side panes: all for the overview, the left ones where they offer no choice.

        The conversation of one session has the list of its turns in the place of the contexts.
        """
        from inspector.ui.docview import center

        state, view = self.shown.state, self.center.current
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        may_offer = state.has_choice or state.is_live or state.unread_bytes > 0
        folds = center.folds_sides(self.application.settings)
        if view in (OVERVIEW, COMPARE):
            self.layout_keeper.free_sides((left, right), view)
        elif folds and (not may_offer or (view == CONVERSATION and state.has_turns)):
            self.layout_keeper.free_sides((left,), view)
        else:
            self.layout_keeper.free_sides((), view)

    def listen_to_view(self, panes: Panes) -> None:
        """Ends notes and name cards when filter or scope change, since they concern the old view."""
        for changed in (panes.filter_state.filter_applied, panes.filter_state.scope_changed):
            changed.connect(self.notices.end_note)
            changed.connect(self.view_chosen)

    def show_title(self) -> None:
        """Shows titles in all windows, since equal titles are made distinguishable."""
        for window in self.application.windows:
            if window.panes is not None:
                window.document_status.show_title()

    def apply_settings(self) -> None:
        self.keys.apply(self.application.settings.keys)
        if self.panes is not None:
            self.display.apply(self.panes)
            self._apply_to_document(self.panes)
            self.counting.apply_settings()
            self.plugin_notices.apply_settings()
            self.msp.view.apply_settings()
        self.developer.show_menu()
        self.can_do.show_switches()

    def _apply_to_document(self, panes: Panes) -> None:
        from inspector.engine.requests.document_settings import ApplySettings
        from inspector.engine.requests.prices import prices_in_force

        settings = self.application.settings
        prices, dated = prices_in_force(settings.prices.lines, settings.prices.dated, listed=settings.prices.listed)
        contexts = settings.contexts
        request = ApplySettings(
            tuple(rule.text for rule in self.application.tool_aliases.rules), tuple(prices), dated,
            contexts.collapses == "newest", contexts.idle_after_s, settings.display.count_tokens,
        )  # fmt: skip
        panes.client.send_request(request, lambda moved: panes.refresh_contexts() if moved else None)

    def layout_now(self) -> tuple[str, str, bool, str]:
        """Returns the docks (base64), the middle view, True if the user dragged the sides, and the hidden panes."""
        docks, dragged, gave_way = self.layout_keeper.docks_now()
        return docks, self.center.current, dragged, gave_way

    def share_rules(self) -> None:
        """Shows edited sub-session rules and budgets in the other windows."""
        for window in self.application.windows:
            if window is not self:
                window.msp.view.apply_settings()
