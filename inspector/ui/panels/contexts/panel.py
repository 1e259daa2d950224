"""Contexts panel: head, find box, tree and menus; turns clicks into scopes, filters and details."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.findings.naming_problems import naming_problems
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.filters.visible import Scope
from inspector.present.subject import ContextPlace, Place
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.menu import ContextMenu
from inspector.ui.panels.contexts.model import ContextTreeModel
from inspector.ui.panels.contexts.rows import source_code
from inspector.ui.panels.contexts.view import ContextTreeView
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.labels import IconLabel

# The fade of 0.14 s needs three or four pictures.
_HALO_MS = 40
PROBLEMS = "finding.severity >= warning"
"""Display filter for messages with problems, as in the preset."""


class ContextsPanel(QWidget):
    """Live context tree of a document.

    Attributes:
        head: title, count and buttons.
        tokens_action: shows estimated tokens in rows.
        sources_action: shows sources as the first level; offered for several sources.
        usage_action: shows usage reported by model calls; switched on at the first report.
        model, view: the rows and their view.

    Signals:
        scope_requested(Scope | None): bind the table to a part of the tree, or to everything.
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        selected(int, int): the user picked a context: string id of its space, and node, MAIN for a main context.
        space_selected(): the user picked a whole space.
        details_requested(): show the details.
        mark_requested(Target), comment_requested(Target): mark or unmark a context; edit its comment.
        export_requested(ContextTarget): export a context as a sub-session.
        message_requested(int): select the message of an irregularity.
    """

    scope_requested = Signal(object)
    filter_requested = Signal(str, str)
    selected = Signal(int, int)
    space_selected = Signal()
    details_requested = Signal()
    message_requested = Signal(int)
    mark_requested = Signal(object)
    comment_requested = Signal(object)
    export_requested = Signal(object)

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._themes = theme_controller
        self._scope: Scope | None = None
        self._message_context: tuple[int, int] | None = None
        self._place: Place | None = None
        self.setObjectName("contextsPanel")
        self.setAccessibleName("Contexts")
        self.setProperty("variant", "chrome")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = ContextTreeModel(document, self)
        self.view = ContextTreeView(self.model, theme_controller, self)
        self.head = PaneHead(theme_controller, "Contexts", name="contextsHead", parent=self)
        self._build()
        self._halo_timer = QTimer(self)
        self._halo_timer.setInterval(_HALO_MS)
        self._halo_timer.timeout.connect(self._on_halo_tick)
        self.model.rows_settled.connect(self._show_mark)
        self.view.scope_asked.connect(self._on_scope_requested)
        self.view.cleared.connect(self.clear_scope)
        self.view.typed.connect(self._on_typed)
        self.view.customContextMenuRequested.connect(self._on_menu_requested)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._enable_usage()
        self._show_counts()

    def _build(self) -> None:
        self._expand_button = self.head.add_button("expand_all", "Expand all", name="contextsExpand")
        self._expand_button.clicked.connect(self._on_expand_clicked)
        self._more_button = self.head.add_button("more", "Context options", name="contextsMore")
        self._more_button.clicked.connect(self._on_more_clicked)
        self._more = QMenu(self)
        self._more.setObjectName("contextsMoreMenu")
        self._more.setAccessibleName("Context options")
        self._more.addAction("Expand all", self.expand_all)
        self._more.addAction("Collapse all", self.collapse_all)
        self._more.addSeparator()
        self.tokens_action = self._add_switch("Show tokens", "contextsShowTokens", self.model.show_tokens)
        self.usage_action = self._add_switch("Show reported tokens", "contextsShowUsage", self.model.show_usage)
        self.usage_action.setEnabled(False)
        self.usage_action.triggered.connect(self.model.ask_for_usage)
        self.sources_action = self._add_switch("Show sources", "contextsShowSources", self.model.show_sources, on=True)
        self._more.addSeparator()
        self._clear_action = QAction("Clear scope", self)
        self._clear_action.triggered.connect(lambda: self.clear_scope())
        self._more.addAction(self._clear_action)
        self.find_box = QLineEdit(self)
        self.find_box.setObjectName("contextsFind")
        self.find_box.setAccessibleName("Find context")
        self.find_box.setPlaceholderText("Find context")
        self.find_box.setProperty("variant", "search")
        self.find_box.setClearButtonEnabled(False)
        self._find_icon = IconLabel(self._themes, "find", "ink.tertiary", name="contextsFindIcon", parent=self.find_box)
        # A click on the icon is for the field.
        self._find_icon.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        inside = QHBoxLayout(self.find_box)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self._find_icon)
        inside.addStretch(1)
        self.find_box.textChanged.connect(self._on_find_changed)
        self.find_box.returnPressed.connect(self._go_to_match)
        self.find_box.installEventFilter(self)
        self._find_row = QVBoxLayout()
        self._find_row.addWidget(self.find_box)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addLayout(self._find_row)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)

    def _add_switch(self, text: str, name: str, show: Callable[[bool], None], *, on: bool = False) -> QAction:
        """Adds a switch to the panel's menu."""
        action = QAction(text, self)
        action.setObjectName(name)
        action.setCheckable(True)
        action.setChecked(on)
        action.toggled.connect(show)
        self._more.addAction(action)
        return action

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        side = metrics.cell_padding
        self._find_row.setContentsMargins(side, metrics.unit + 2, side, metrics.unit)
        inside = self.find_box.layout()
        if inside is not None:
            inside.setContentsMargins(side, 0, 0, 0)
        self.find_box.setTextMargins(metrics.icon + 2 * metrics.unit, 0, 0, 0)

    # Input from the window

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Applies a flush. Scope, cursor, expansion and scroll position stay."""
        self.model.apply_changes(changes)
        self._enable_usage()
        self._show_counts()
        if not self.model.activity.still() and not self._halo_timer.isActive():
            self._halo_timer.start()

    def _enable_usage(self) -> None:
        """Enables and shows usage at the first report; the user's later choice stays."""
        if not self.usage_action.isEnabled() and self.model.usage.is_known:
            self.usage_action.setEnabled(True)
            self.usage_action.setChecked(True)

    def tick(self, now_ns: int | None) -> None:
        """Updates states once a second while traffic is live; they depend on `Analysis.now_ns`."""
        if now_ns is not None and self.isVisible():
            # States such as idle depend on the clock alone.
            self.view.update_states()
        # Sums were postponed during traffic: paint them once they are ready.
        if self.model.is_behind:
            self.view.viewport().update()

    def set_animated(self, animated: bool) -> None:
        """Enables or disables halos."""
        self.model.animated = animated
        if not animated:
            self.model.activity.forget_halos()
            self._halo_timer.stop()
            self.view.viewport().update()

    def show_scope(self, scope: Scope | None) -> None:
        """Shows the table's scope; None for everything."""
        self._scope = scope
        self._show_mark()

    def show_message_context(self, space: int, node: int | None) -> None:
        """Marks the context of the selected message, if there is no scope.

        Args:
            space: string id of its space.
            node: its node, MAIN for the main context, None without a selection.
        """
        self._message_context = None if node is None else (space, node)
        self._show_mark()

    def show_place(self, place: Place | None) -> None:
        """Marks the context of the details page, if there is no scope; None without such a page."""
        if place != self._place:
            self._place = place
            self._show_mark()

    def _details_context(self) -> tuple[int, int] | None:
        """Returns the context of the details; None for a participant, which has no context."""
        if self._place is None:
            return self._message_context
        return (self._place.space, self._place.node) if isinstance(self._place, ContextPlace) else None

    @property
    def scope(self) -> Scope | None:
        """The current scope, with its node resolved after merges."""
        scope = self._scope
        if scope is None or scope.node is None or scope.node == MAIN:
            return scope
        return replace(scope, node=self._document.analysis.contexts.tree.resolve(scope.node), calls=False)

    @property
    def current(self) -> ContextTarget | None:
        """The context at the cursor; None on a space."""
        row = self.view.currentIndex().row()
        node = self.model.node(row) if row >= 0 else None
        return None if node is None else ContextTarget(self.model.space(row), node)

    def place_of(self, target: ContextTarget) -> tuple[QWidget, QRect] | None:
        """Returns the widget and rectangle of a visible context; None if it is hidden."""
        code = self.model.rows.code_of(*target)
        row = -1 if code is None else self.model.rows.shown_row(code)
        if row < 0 or not self.isVisible():
            return None
        rect = self.view.visualRect(self.model.index(row, 0)).intersected(self.view.viewport().rect())
        return None if rect.isEmpty() else (self.view.viewport(), rect)

    def show_notes(self) -> None:
        """Repaints after a change of marks or comments."""
        self.view.viewport().update()

    def expand_all(self) -> None:
        self.model.expand_to()
        self._show_expansion()

    def collapse_all(self) -> None:
        """Collapses all but root contexts."""
        self.model.expand_to(1)
        self._show_expansion()

    def clear_scope(self) -> None:
        if self._scope is not None:
            self._request_scope(None)

    # Display

    def _show_mark(self) -> None:
        target = (self._scope.space, self._scope.node) if self._scope is not None else self._details_context()
        code = None if target is None else self.model.rows.code_of(*target)
        if self._scope is not None and self._scope.source is not None:
            code = source_code(self._scope.source)
        row = -1 if code is None else self.model.rows.shown_row(code)
        exact = row >= 0 and self.model.code(row) == code
        if not exact and self.model.rows.found is not None:
            # The search does not hide a context's own row behind an ancestor's.
            row = -1
        self.view.mark(row, selected=self._scope is not None and exact)

    def _show_counts(self) -> None:
        nodes = self.model.rows.nodes
        self.head.count_things(nodes, "context")
        found = self.model.rows.found
        if found is not None:
            # -2 is the main context of the first space.
            self.view.set_empty_text("" if found.matches or found.shows(-2) else "No context matches.")
        else:
            self.view.set_empty_text(
                "" if nodes or not len(self.model.rows) else "All messages are in the main context."
            )

    def _show_expansion(self) -> None:
        expanded = self.model.rows.expands_all
        self._expand_button.set_description("Collapse all" if expanded else "Expand all")

    def _on_halo_tick(self) -> None:
        self.view.update_dots(self.model.activity.fading(time.monotonic()))
        if self.model.activity.still():
            self._halo_timer.stop()

    # Actions

    def _on_scope_requested(self, row: int) -> None:
        """Sets the scope to a clicked row; a click on the current scope clears it."""
        scope, shown = self.model.scope(row), self.scope
        same = shown is not None and shown.identity == scope.identity
        self._request_scope(None if same else scope)
        self._emit_selected(scope)

    def _on_details_chosen(self, target: Scope) -> None:
        self._emit_selected(target)
        self.details_requested.emit()

    def _emit_selected(self, picked: Scope) -> None:
        if picked.node is None:
            self.space_selected.emit()
        else:
            self.selected.emit(picked.space, picked.node)

    def _request_scope(self, scope: Scope | None) -> None:
        self.show_scope(scope)
        self.scope_requested.emit(scope)

    def _on_menu_requested(self, point: QPoint) -> None:
        row = self.view.rowAt(point.y())
        if row >= 0:
            self.menu_for(row).popup(self.view.viewport().mapToGlobal(point))

    def menu_for(self, row: int) -> ContextMenu:
        space, node, source = self.model.space(row), self.model.node(row), self.model.source(row)
        tree = self._document.analysis.contexts.tree
        filter_ = self.filter_for(space, node) if source is None else f"source == {quote(self._source_name(source))}"
        menu = ContextMenu(self.model.scope(row), self.scope, filter_, self)
        menu.scope_chosen.connect(self._request_scope)
        menu.filter_chosen.connect(self.filter_requested)
        menu.details_chosen.connect(self._on_details_chosen)
        menu.problems_chosen.connect(self._on_problems_chosen)
        menu.message_chosen.connect(self.message_requested)
        contexts = self._document.analysis.contexts
        menu.add_problems(self.model.tally(row).problems, [] if node is None else naming_problems(contexts, node))
        if node is not None:
            target = ContextTarget(space, node)
            menu.add_notes(self._document.analysis.marks.note(target))
            menu.mark_chosen.connect(lambda: self.mark_requested.emit(target))
            menu.comment_chosen.connect(lambda: self.comment_requested.emit(target))
        if source is not None:
            menu.add_copy("Copy name", self._source_name(source))
        elif node is None:
            menu.add_copy("Copy name", self.model.space_name(space))
            if self.model.is_session(space):
                menu.add_copy("Copy id", self._document.capture.strings[space])
        elif node != MAIN:
            menu.add_export()
            menu.export_chosen.connect(lambda: self.export_requested.emit(ContextTarget(space, node)))
            menu.add_copy("Copy path", tree.path(node))
            menu.add_copy("Copy id", tree.name[node])
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _on_problems_chosen(self, target: Scope) -> None:
        self._request_scope(target)
        self.filter_requested.emit(PROBLEMS, "replace")

    def _source_name(self, source: int) -> str:
        return self._document.capture.sources[source].name

    def filter_for(self, space: int, node: int | None) -> str:
        """Returns the display filter of a space, its main context (MAIN), or a context's subtree."""
        name = self._document.capture.strings[space]
        in_space = f"space == {quote(name)}" if space else "!space"
        if node is None:
            return in_space
        tree = self._document.analysis.contexts.tree
        part = "!context" if node == MAIN else f"context under {quote(tree.path(node))}"
        return part if len(self.model.rows.spaces) == 1 else f"{in_space} && {part}"

    # Search

    def _on_find_changed(self, text: str) -> None:
        self.model.find(text)
        self._show_counts()

    def _on_typed(self, text: str) -> None:
        self.find_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_box.setText(self.find_box.text() + text)

    def _go_to_match(self) -> None:
        """Moves the focus from the find box to the first match in the tree."""
        found = self.model.rows.found
        rows = range(self.model.rowCount())
        first = next((row for row in rows if found is not None and self.model.code(row) in found.matches), 0)
        if self.model.rowCount():
            self.view.setCurrentIndex(self.model.index(first, 0))
            self.view.setFocus(Qt.FocusReason.TabFocusReason)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.find_box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.find_box.clear()
                self.view.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
            if event.key() == Qt.Key.Key_Down:
                self._go_to_match()
                return True
        return super().eventFilter(watched, event)

    def _on_expand_clicked(self) -> None:
        self.collapse_all() if self.model.rows.expands_all else self.expand_all()

    def _on_more_clicked(self) -> None:
        self.sources_action.setVisible(self.model.rows.sources.is_there)
        self._clear_action.setEnabled(self._scope is not None)
        self._more.popup(self._more_button.mapToGlobal(QPoint(0, self._more_button.height())))
