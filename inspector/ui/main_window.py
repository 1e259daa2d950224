"""A window: start page or one document, with menus, tool bar, notices and status bar.

Assembly only. What panes do among themselves is in panes.py; what actions there are is in actions.py; opening
and live sessions are in opening.py.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QChildEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QInputDialog,
    QMainWindow,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.context_tree import MAIN
from inspector.document import CaptureDocument
from inspector.filters import FilterError, compile_filter
from inspector.filters.visible import Reach, Scope
from inspector.settings import Preset
from inspector.ui.actions import ACTIONS, add_pane_actions, build_actions, enable_actions, fill_menus
from inspector.ui.commands import Commands
from inspector.ui.layout import WindowLayout
from inspector.ui.opening import Opening
from inspector.ui.panels.start.panel import StartPage
from inspector.ui.panes import Panes
from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.widgets.flat_tool_bar import FlatToolBar
from inspector.ui.widgets.notice import Link, NoticeStack
from inspector.ui.widgets.preset_bar import PresetBar
from inspector.ui.widgets.scope_chip import ScopeChip
from inspector.ui.widgets.status_bar import StatusBar
from inspector.ui.widgets.view_tabs import ViewTabs

if TYPE_CHECKING:
    from inspector.ui.app import Application


PANES_OF_ACTIONS = {"view.contexts": ("Contexts", "Participants"), "view.details": ("Details",)}
"""Docks that each switch shows and hides."""


class MainWindow(QMainWindow):
    """One window.

    Attributes:
        application: what windows share.
        document: what it shows; empty on the start page.
        panes: the panes of the document; None on the start page.
        opening: how it gets its document, and the live session behind it.
        docks: by title.
        hints_here: whether this window shows context hints whatever the settings say; None goes by them.
    """

    def __init__(self, application: Application) -> None:
        super().__init__()
        self.application = application
        self.theme = application.theme
        self.document = CaptureDocument()
        self.panes: Panes | None = None
        self.opening = Opening(self)
        self.hints_here: bool | None = None
        self._closing = False
        self.docks: dict[str, QDockWidget] = {}
        self.layout_keeper = WindowLayout(self)
        self.setObjectName("mainWindow")
        self.setAccessibleName("Context Inspector")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.layout_keeper.place_window()
        self.actions_by_id = build_actions(self, Commands(self))
        fill_menus(self.menuBar(), self.actions_by_id)
        self._build_tool_bar()
        self._build_preset_bar()
        self._build_center()
        self.status = StatusBar(self.theme, self)
        self.setStatusBar(self.status)
        self.status.unreadable_clicked.connect(self._show_unreadable)
        self.status.paused_clicked.connect(self.actions_by_id["capture.pause"].trigger)
        self._clock = QTimer(self)
        self._clock.setInterval(1_000)
        self._clock.timeout.connect(self.refresh_clock)
        self._clock.start()
        self.theme.changed.connect(self._on_theme_changed)
        self._show_start()
        if application.notice:
            self.say(application.notice, "severity.warning")

    # Building

    def _build_tool_bar(self) -> None:
        bar = QToolBar("Tool bar", self)
        bar.setObjectName("toolBar")
        bar.setMovable(False)
        bar.setIconSize(QSize(16, 16))
        bar.toggleViewAction().setEnabled(False)
        for name in ("file.open", "file.connect"):
            bar.addAction(self.actions_by_id[name])
            button = bar.widgetForAction(self.actions_by_id[name])
            if isinstance(button, QToolButton):
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar.addSeparator()
        for name in ("capture.pause", "capture.follow"):
            bar.addAction(self.actions_by_id[name])
        self.filter_bar = FilterBar(self.theme, self._check_filter, self)
        self.filter_bar.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.filter_bar.applied.connect(self._apply_filter)
        self.filter_bar.save_requested.connect(self._save_preset)
        self.filter_bar.left.connect(self._focus_messages)
        bar.addWidget(self.filter_bar)
        for name in ("view.contexts", "view.details"):
            bar.addAction(self.actions_by_id[name])
        for action in bar.actions():
            button = bar.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setObjectName(f"tool.{action.objectName()}")
                button.setAccessibleName(action.toolTip())
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)
        self.tool_bar = bar

    def _build_preset_bar(self) -> None:
        self.addToolBarBreak(Qt.ToolBarArea.TopToolBarArea)
        bar = FlatToolBar("Presets", "presetToolBar", self)
        self.preset_bar = PresetBar(self.theme, self._presets(), self)
        self.preset_bar.chosen.connect(lambda preset: self._apply_filter(preset.filter))
        self.preset_bar.add_requested.connect(lambda: self._save_preset(self._filter_text()))
        self.preset_bar.removed.connect(self._remove_preset)
        self.preset_bar.rename_requested.connect(self._ask_for_preset_name)
        bar.hold(self.preset_bar)
        bar.setFixedHeight(self.theme.theme.metrics.presets)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)
        self.preset_tool_bar = bar

    def _build_center(self) -> None:
        self.notices = NoticeStack(self.theme, self)
        self.start_page = StartPage(self.theme, self.application.settings, self)
        self.opening.connect_start_page(self.start_page)
        self.view_tabs = ViewTabs(self.theme, self)
        self.scope_chip = ScopeChip(self.theme, self)
        self.scope_chip.reach_chosen.connect(self._set_reach)
        self.scope_chip.cleared.connect(self._clear_scope)
        self.view_tabs.set_corner(self.scope_chip)
        self._document_page = QWidget(self)
        self._document_layout = QVBoxLayout(self._document_page)
        self._document_layout.setContentsMargins(0, 0, 0, 0)
        self._document_layout.setSpacing(0)
        self._document_layout.addWidget(self.view_tabs)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.start_page)
        self._pages.addWidget(self._document_page)
        center = QWidget(self)
        layout = QVBoxLayout(center)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.view_notices = NoticeStack(self.theme, self)
        self._document_layout.addWidget(self.view_notices)
        layout.addWidget(self.notices)
        layout.addWidget(self._pages, 1)
        self.setCentralWidget(center)

    def _on_theme_changed(self) -> None:
        self.preset_tool_bar.setFixedHeight(self.theme.theme.metrics.presets)
        self.layout_keeper.zoom_docks()
        for declared in ACTIONS:
            if declared.icon:
                self.actions_by_id[declared.id].setIcon(declared.qt_icon())

    # Start page and document

    def _show_start(self) -> None:
        self._pages.setCurrentWidget(self.start_page)
        self.preset_tool_bar.hide()
        self.tool_bar.hide()
        self.setWindowTitle("Context Inspector")
        self.status.show_empty()
        self.enable_actions()

    def show_document(self, document: CaptureDocument) -> Panes:
        """Show a document; a window does so once."""
        self.document = document
        panes = self.panes = Panes(document, self.theme, self)
        self._document_layout.addWidget(panes.messages, 1)
        self._add_dock("Contexts", panes.contexts, Qt.DockWidgetArea.LeftDockWidgetArea)
        self._add_dock("Participants", panes.participants, Qt.DockWidgetArea.LeftDockWidgetArea)
        self._add_dock("Details", panes.details, Qt.DockWidgetArea.RightDockWidgetArea)
        self.layout_keeper.default_docks()
        self.layout_keeper.restore_docks()
        panes.filter_applied.connect(self._on_filter_applied)
        panes.filter_failed.connect(self.filter_bar.show_error)
        panes.scope_changed.connect(self._on_scope_changed)
        panes.counts_changed.connect(self.refresh_counts)
        panes.selection_changed.connect(self._on_selection_changed)
        panes.messages.open_details_requested.connect(self._show_details)
        panes.messages.follow_changed.connect(self.actions_by_id["capture.follow"].setChecked)
        self._pages.removeWidget(self.start_page)  # unseen, it would still keep the window wide
        self.start_page.hide()
        self.tool_bar.show()
        self.preset_tool_bar.show()
        for pane in (panes.messages, panes.contexts, panes.participants):
            add_pane_actions(pane, self.actions_by_id)
        self._show_which_panes()
        self.apply_settings()
        self.setWindowTitle(f"{document.name} - Context Inspector")
        self._on_filter_applied("")
        self._on_scope_changed(None)
        self.refresh_counts()
        self.enable_actions()
        self.actions_by_id["capture.follow"].setChecked(panes.messages.following)
        panes.messages.setFocus()
        return panes

    def _add_dock(self, title: str, panel: QWidget, area: Qt.DockWidgetArea) -> None:
        dock = QDockWidget(title, self)
        dock.setObjectName(f"dock.{title.lower()}")
        dock.setWidget(panel)
        head = getattr(panel, "head", None)
        if isinstance(head, QWidget):  # the pane's own head, by which it can be dragged
            dock.setTitleBarWidget(head)
        self.addDockWidget(area, dock)
        dock.show()
        dock.toggleViewAction().toggled.connect(self._show_which_panes)
        self.docks[title] = dock

    def panes_of(self, switch: str) -> tuple[str, ...]:
        """Titles of the docks a switch shows and hides."""
        return PANES_OF_ACTIONS[switch]

    def _show_which_panes(self, *_shown: object) -> None:
        """The switches say what is shown, however it came to be: by them, by a menu of Qt's, by the stored layout."""
        for name, titles in PANES_OF_ACTIONS.items():
            shown = any(not self.docks[title].isHidden() for title in titles if title in self.docks)
            self.actions_by_id[name].setChecked(shown)

    def apply_settings(self) -> None:
        """Take over what the settings say about display."""
        settings = self.application.settings
        hints = settings.display.show_context_hints if self.hints_here is None else self.hints_here
        if self.panes is not None:
            self.panes.apply_settings(settings, hints=hints)
        self.actions_by_id["view.hints"].setChecked(hints)

    # What panes report

    def _on_filter_applied(self, text: str) -> None:
        self.filter_bar.set_applied(text)
        self.preset_bar.set_active_filter(text)
        self._show_saved()
        self._say_hidden_calls()

    def _on_scope_changed(self, scope: Scope | None) -> None:
        tree = self.document.analysis.contexts.tree
        contexts = self.document.analysis.contexts
        if scope is None:
            self.scope_chip.show_scope(None, None)
        elif scope.node is None:
            self.scope_chip.show_scope(self.document.capture.strings[scope.space] or self.document.name, None)
        elif tree.resolve(scope.node) == MAIN:
            self.scope_chip.show_scope("main", None)
        else:
            names: list[str] = []
            node = tree.resolve(scope.node)
            while node != MAIN:
                names.append(contexts.label(node))
                node = tree.parent[node]
            self.scope_chip.show_scope(" / ".join(reversed(names)), scope.reach)
        self._update_context_presets()
        self._say_hidden_calls()

    def _on_selection_changed(self, _message: object) -> None:
        self._update_context_presets()
        self.enable_actions()

    def _update_context_presets(self) -> None:
        self.preset_bar.set_context_selected(self.panes is not None and bool(self.panes.selected_context))
        self.filter_bar.recheck()

    def refresh_counts(self) -> None:
        """Show how many messages there are and how many are shown."""
        if self.panes is None:
            return
        total, shown = len(self.document.capture), len(self.panes.rows.visible)
        self.filter_bar.set_counts(shown, total)
        self.view_tabs.set_count(shown)
        self.status.set_counts(total, shown, self.document.unreadable)
        self._say_hidden_calls()

    def _say_hidden_calls(self) -> None:
        requests, proposals = self.panes.rows.hidden_calls() if self.panes is not None else (0, 0)
        if not requests and not proposals:
            self.view_notices.dismiss("hidden-calls")
            return
        parts = [
            f"{n:,} {word}{'s' if n != 1 else ''}" for n, word in ((requests, "request"), (proposals, "proposal")) if n
        ]
        verb = "is" if requests + proposals == 1 else "are"
        self.view_notices.show_notice(
            "hidden-calls", "hidden", f"{' and '.join(parts)} {verb} hidden by this view; agents must act on those.",
            [("Show them", self._show_hidden_calls)],
        )  # fmt: skip

    def _show_details(self, _message: int) -> None:
        self.docks["Details"].show()
        self.docks["Details"].raise_()

    def _show_hidden_calls(self) -> None:
        if self.panes is not None:
            self.panes.show_hidden_calls()

    def refresh_clock(self) -> None:
        """A second has passed: rates, states and waiting times."""
        live = self.document.live
        if self.panes is not None:
            now = time.time_ns() if live else None
            self.panes.tick(now)
            self.status.tick(len(self.document.capture), live)
            self.status.set_paused(self.panes.bridge.waiting if self.panes.bridge.paused else None)

    # Filter and presets

    def _check_filter(self, text: str) -> FilterError | None:
        return self.panes.check_filter(text) if self.panes is not None else None

    def _apply_filter(self, text: str) -> None:
        if self.panes is not None:
            self.panes.apply_filter(text)

    def _filter_text(self) -> str:
        return self.panes.rows.filter.text if self.panes is not None else ""

    def _presets(self) -> list[Preset]:
        """The presets whose fields exist by now."""
        return [preset for preset in self.application.settings.presets if _compiles(preset.filter)]

    def _save_preset(self, text: str) -> None:
        if not text.strip() or any(p.filter == text for p in self.application.settings.presets):
            return
        name = text if len(text) <= 24 else f"{text[:23]}…"
        self.application.settings.presets.append(Preset(name=name, filter=text))
        self.presets_changed()

    def _show_saved(self) -> None:
        text = self._filter_text()
        saved = self.preset_bar.holds(text)
        self.filter_bar.set_saved(saved)
        self.preset_bar.set_can_add(bool(text.strip()) and not saved)

    def _ask_for_preset_name(self, preset: Preset) -> None:
        dialog = QInputDialog(self)
        dialog.setObjectName("renameDialog")
        dialog.setWindowTitle("Rename preset")
        dialog.setLabelText("Name of the preset:")
        dialog.setTextValue(preset.name)
        dialog.textValueSelected.connect(lambda name: self._rename_preset(preset, name))
        dialog.open()

    def _rename_preset(self, preset: Preset, name: str) -> None:
        if name.strip():
            preset.name = name.strip()
            self.presets_changed()

    def _remove_preset(self, preset: Preset) -> None:
        presets = self.application.settings.presets
        if preset in presets:
            presets.remove(preset)
            self.presets_changed()

    def presets_changed(self) -> None:
        """Presets were added, removed or edited."""
        self.preset_bar.set_presets(self._presets())
        self.preset_bar.set_active_filter(self._filter_text())
        self._show_saved()
        self.application.save_settings()

    def _clear_scope(self) -> None:
        if self.panes is not None:
            self.panes.set_scope(None)

    def _set_reach(self, reach: Reach) -> None:
        if self.panes is not None and self.panes.rows.scope is not None:
            scope = self.panes.rows.scope
            self.panes.set_scope(Scope(scope.space, scope.node, reach))

    def _show_unreadable(self) -> None:
        self._apply_filter('kind == ""')

    # State

    def say(self, sentence: str, severity: str = "severity.note", link: Link | None = None) -> None:
        """Show a sentence above the document until it is closed or replaced."""
        icon = {"severity.error": "error", "severity.warning": "warning"}.get(severity, "note")
        self.notices.show_notice("message", icon, sentence, [link] if link else [], token=severity, closable=True)

    def enable_actions(self) -> None:
        """Enable the actions that make sense now."""
        present: set[str] = set()
        if self.panes is not None:
            present.add("document")
            if self.panes.messages.current_message() is not None:
                present.add("message")
        if self.document.live:
            present.add("live")
        enable_actions(self.actions_by_id, present)

    # Qt events

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._focus_messages()
        super().keyPressEvent(event)

    def _focus_messages(self) -> None:
        if self.panes is not None:
            self.panes.messages.setFocus()

    @override
    def childEvent(self, event: QChildEvent) -> None:
        """Qt makes a tab bar of its own for docks that lie on one another, and gives it no name."""
        super().childEvent(event)
        child = event.child()
        if event.polished() and isinstance(child, QTabBar):
            child.setObjectName("dockTabs")
            child.setAccessibleName("Panes that lie on one another")

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
        """A live session ends first: the close is put off until what was received is on disk."""
        if self.opening.session is not None and not self._closing:
            event.ignore()
            self.application.spawn(self.aclose(), "close the window")
            return
        self.opening.stop_reading()
        self.layout_keeper.store()
        self._clock.stop()
        if self.panes is not None:
            self.panes.bridge.detach()
        self.document.close()
        self.opening.clear_away()
        event.accept()
        self.application.window_closed(self)
        self.deleteLater()

    async def aclose(self) -> None:
        """Leave the gateway, end the demo, then close the window."""
        self._closing = True
        await self.opening.end_session()
        self.close()


def _compiles(text: str) -> bool:
    try:
        compile_filter(text, selected_context="context")
    except FilterError:
        return False
    return True
