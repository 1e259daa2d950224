"""The main window: start page or one document, with menus, tool bar, notices and status bar.

Assembles only. panes.py connects panes, actions.py lists the actions. document_display.py brings a document into the
window, and closing.py closes it.

Parts that the start page does not need import most of the program. Without them the window is painted in half the time.
`Warming` creates them as soon as the window is painted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QChildEvent, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QTabBar
from typing_extensions import override

from inspector.ui.debug.developer import Developer
from inspector.ui.docview.window_content import Shown
from inspector.ui.docview.window_requests import WindowRequests
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
from inspector.ui.window.preload import Warming
from inspector.ui.window.recent_menus import RecentMenus
from inspector.ui.window.window_features import WindowFeatures
from inspector.ui.window.window_menu import WindowMenu

if TYPE_CHECKING:
    from inspector.ui.window.owner import WindowOwner


class MainWindow(WindowFeatures):
    """One window.

    Attributes:
        application: the services that windows share.
        shown: the document and its panes.
        requests: the requests of features to the window.
        warming: creates the parts for a document in advance.
        undo_history: the undoable steps.
        display: the display settings, with this window's overrides.
        can_do: all actions.
        action_state: enables the actions.
        actions_by_id, menus: the actions by id, and the menus by title.
        keys: the keyboard shortcuts.
        developer: the Developer menu and the log.
        dock_row: shows and hides docks.
        docks: the docks by title.
        pages: the middle, with the start page or the document.
        start_page, notices: parts of `pages`.
        status: the status bar.

    Signals:
        modified_changed(): the mark of unsaved changes was set or removed.
    """

    modified_changed = Signal()

    _painted = False

    def __init__(self, application: WindowOwner[MainWindow], actions: Sequence[Action[MainWindow]]) -> None:
        super().__init__()
        self.application = application
        self.theme = application.theme
        self.shown = Shown(self)
        self.requests = WindowRequests(self)
        self.undo_history = UndoHistory(application, self)
        self.display = Display(application, self.shown, lambda: self.name_card, self)
        # lambdas, because each attribute imports and creates its part on first access
        self.waiting_parts: tuple[Callable[[], object], ...] = (
            self._list_sessions, application.load_plugins, lambda: self.bars, lambda: self.filter_conditions,
            lambda: self.pages.document_page, lambda: self.opening, lambda: self.gateway, lambda: self.documents,
            lambda: self.capture_saving,
        )  # fmt: skip
        self.warming = Warming(self.waiting_parts, lambda: self.panes is None and not self.isHidden(), self)
        self.dock_row = Docks(self)
        self.docks = self.dock_row.by_title
        self.layout_keeper = WindowLayout(self, self.theme, self.docks, remembers=application.remembers)
        self.setObjectName("mainWindow")
        self.setAccessibleName("Context Inspector")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.layout_keeper.place_window([one.window() for one in application.windows])
        self.can_do = Actions(self, actions)
        self.actions_by_id = self.can_do.by_id
        self.keys = Keys(self, application.settings.keys)
        self.keys.take_all(self.can_do.keyed())
        self.menus = self.can_do.fill_menus(self.menuBar())
        self.menuBar().setAccessibleName("Menu bar")
        self.menus["&View"].aboutToShow.connect(self.complete)  # the menu lists the presets
        recent = self.recent_menus = RecentMenus(application, self.menus["&File"])
        # lambdas defer the creation of `opening` and `connections` until the first use
        recent.file_chosen.connect(lambda target: self.opening.open_target(target))
        recent.gateway_chosen.connect(lambda chosen: self.connections.join(chosen))
        recent.clear_requested.connect(lambda: self.connections.clear_recent())
        self.window_menu = WindowMenu(self, self.menus["&Window"])
        self.developer = Developer(
            self, self.shown, application, self.menuBar(), self.menus["&Developer"], self.can_do.needing("developer")
        )
        self.action_state = ActionState(
            self.can_do, self.undo_history, self.shown, self.developer,
            unsaved=lambda: self.shown.state.unsaved is not None, connected=lambda: self.gateway.connection is not None,
            of_sessions=lambda: self.msp.present, tab_needs=lambda: application.tabs.needs_of(self), parent=self,
        )  # fmt: skip
        self.dock_row.changed.connect(self.can_do.show_switches)
        self.dock_row.left.connect(self.focus_center)
        self.pages = Pages(self.theme, application.settings, lambda: self.view_head, lambda: self.center, self)
        self.start_page, self.notices = self.pages.start_page, self.pages.notices
        self.notices.left.connect(self.focus_center)
        self.setCentralWidget(self.pages)
        self._connect_start_page()
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
        self.layout_keeper.room_changed.connect(self._update_details_title)
        self.dock_row.details_wanted.connect(self.layout_keeper.make_room_for_details)
        self.theme.changed.connect(self.can_do.renew_icons)
        self.keys.changed.connect(self._update_key_texts)
        self._update_key_texts()
        self._connect_requests()
        self.show_start()
        self.undo_history.refused.connect(lambda sentence: self.notices.show_sentence(sentence))
        if application.notice:
            self.notices.show_sentence(application.notice, "severity.warning")

    def _update_key_texts(self) -> None:
        """Shows the current shortcuts in sentences and on buttons."""
        self.start_page.show_keys(self.keys.words)
        self.status.show_palette_key(self.keys.words("help.palette"))
        if self.panes is not None:
            self.panes.show_keys(self.keys.words)

    def _connect_start_page(self) -> None:
        """Connects the start page. The features are created when a signal arrives."""
        page = self.start_page
        page.open_requested.connect(lambda: self.opening.ask_for_files())
        page.sessions_requested.connect(lambda: self.agent_sessions.show_dialog())
        page.session_requested.connect(lambda target: self.opening.open_target(target))
        page.tap_requested.connect(lambda: self.tapping.show_dialog())
        page.paste_requested.connect(lambda: self.opening.paste_text())
        page.recent_file_requested.connect(lambda target: self.opening.open_target(target))
        page.compare_requested.connect(lambda target, other: self.compare_logs(target, other))
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
        page.version_requested.connect(lambda: self.application.versions.ask_to_open(self))
        self.application.versions.show_on(page)

    def _list_sessions(self) -> None:
        """Lists the newest sessions on the start page. The engine looks them up while the other parts are created."""
        if not self.is_in_use:
            self.agent_sessions.list_newest(self.start_page)

    def _connect_requests(self) -> None:
        """Connects the requests of features."""
        requests = self.requests
        requests.actions_changed.connect(self.action_state.enable)
        requests.counts_changed.connect(lambda: self.document_status.refresh_counts())
        requests.title_changed.connect(self.show_title)
        requests.clock_changed.connect(lambda: self.document_status.refresh_clock())
        requests.center_requested.connect(self.focus_center)
        requests.start_requested.connect(self.show_start)
        requests.close_requested.connect(self.close)
        requests.replaced.connect(self._close_for_replacement)
        requests.view_requested.connect(lambda view: self.navigation.show_view(view))
        requests.dock_requested.connect(self.dock_row.bring_up)
        requests.settings_requested.connect(lambda page: self.settings_editing.open(page))
        requests.pane_requested.connect(lambda title: self.pane_focus.enter(title))

    def _update_details_title(self) -> None:
        """Names the place of the details in the menu while they are below the messages."""
        lacks_room = self.layout_keeper.lacks_room_for_details
        self.actions_by_id["view.details"].setText("&Details (below the messages)" if lacks_room else "&Details")

    # Document

    def _show_failed(self) -> None:
        from inspector.engine.requests.problems import CountFailures  # imported with the first document

        if self.panes is not None:
            self.filtering.apply(self.panes.client.answer_now(CountFailures()).filter)

    def _close_for_replacement(self) -> None:
        """Gives its geometry to another window with the same document, and closes."""
        self.application.windows[-1].setGeometry(self.geometry())
        self.close()

    # Qt events

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride and own_keys.wants(QApplication.focusWidget(), event):
                # Accepted, so that Qt sends the key to the focused widget and not to a shortcut.
                event.accept()
                return True
        elif isinstance(event, QMouseEvent):
            if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
                self.layout_keeper.on_mouse(pressed=event.type() is QEvent.Type.MouseButtonPress)
        # Qt paints on this event, so everything that was deferred for the first picture can begin.
        elif not self._painted and event.type() is QEvent.Type.UpdateRequest:
            self.after_first_paint()
        return super().event(event)

    def after_first_paint(self) -> None:
        """Starts the work that the first picture need not wait for; the window with its tab calls it, too."""
        if not self._painted:
            self._painted = True
            self.warming.start()
            QTimer.singleShot(0, self, self.application.warm_engine)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        button = own_keys.presses(QApplication.focusWidget(), event)
        if button is not None:
            button.click()
            return
        if event.key() == Qt.Key.Key_Escape and not self.opening.cancel_reading():
            focus = QApplication.focusWidget()
            if self.panes is not None and focus is not None and self.center.isAncestorOf(focus):
                self.panes.leave_innermost()
            self.focus_center()
        super().keyPressEvent(event)

    @override
    def childEvent(self, event: QChildEvent) -> None:
        """Names the tab bar that Qt creates for tabbed docks."""
        super().childEvent(event)
        if not event.polished():  # access to a child unknown to Python builds its class, which is slow at startup
            return
        child = event.child()
        if isinstance(child, QTabBar):
            child.setObjectName("dockTabs")
            child.setAccessibleName("Pane tabs")
            child.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # else Tab also stops there while it is empty and invisible

    @override
    def focusNextPrevChild(self, next: bool) -> bool:
        """Moves the focus in reading order. Qt's own order is the order of creation."""
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
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.ModifiedChange:
            self.modified_changed.emit()

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
        """Defers the close until the live session has ended and the user has decided about the capture."""
        if self.closing.put_off():
            self.application.tabs.bring_up(self)
            event.ignore()
            return
        # Before anything closes, since the list of open windows is saved here.
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
        if self.shown.client is not None:
            self.shown.client.close(discard=self.capture_saving.discards)
            self.capture_saving.delete_discarded()
        self.opening.clear_away()
        event.accept()
        self.application.window_closed(self)
        self.deleteLater()
