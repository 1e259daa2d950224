"""Contexts panel: head, find box, tree and menus; turns clicks into scopes, filters and details."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.context_tree import MAIN, ActionsOfContext
from inspector.engine.requests.filters import Scope
from inspector.engine.requests.marks import ContextTarget
from inspector.present.context_codes import source_code
from inspector.present.places import ContextPlace, Place
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.menu import ContextMenu
from inspector.ui.panels.contexts.model import ContextTreeModel
from inspector.ui.panels.contexts.view import ContextTreeView
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.labels import IconLabel
from inspector.ui.widgets.latest_answer import Client

# The fade of 0.14 s needs three or four pictures.
_HALO_MS = 40
PROBLEMS = "finding.severity >= warning"
"""Display filter for messages with problems, as in the preset."""

_NARROWING = ("replace", "and")
"""Modes of a filter that leave only its messages."""


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
        context_filtered(int, int): the user filtered by a context; as `selected`.
        details_requested(): show the details.
        mark_requested(Target), comment_requested(Target): mark or unmark a context; edit its comment.
        export_requested(ContextTarget): export a context as a sub-session.
        message_requested(int): select the message of an irregularity.
    """

    scope_requested = Signal(object)
    filter_requested = Signal(str, str)
    selected = Signal(int, int)
    space_selected = Signal()
    context_filtered = Signal(int, int)
    details_requested = Signal()
    message_requested = Signal(int)
    mark_requested = Signal(object)
    comment_requested = Signal(object)
    export_requested = Signal(object)

    def __init__(self, client: Client, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._themes = theme_controller
        self._scope: Scope | None = None
        self._message_context: tuple[int, int] | None = None
        self._place: Place | None = None
        self._goes_to_match = False  # once the matches have arrived
        self.setObjectName("contextsPanel")
        self.setAccessibleName("Contexts")
        self.setProperty("variant", "chrome")
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = ContextTreeModel(client, self)
        self.view = ContextTreeView(self.model, theme_controller, self)
        self.head = PaneHead(theme_controller, "Contexts", name="contextsHead", parent=self)
        self._build()
        self._halo_timer = QTimer(self)
        self._halo_timer.setInterval(_HALO_MS)
        self._halo_timer.timeout.connect(self._on_halo_tick)
        self.model.rows_settled.connect(self._show_mark)
        self.model.rows_settled.connect(self._show_counts)
        self.model.followed.connect(self._on_followed)
        self.model.matches_shown.connect(self._on_matches_shown)
        self.view.scope_asked.connect(self._on_scope_requested)
        self.view.left.connect(self.clear_scope)
        self.view.typed.connect(self._on_typed)
        self.view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
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

    def _on_followed(self) -> None:
        """Shows new figures. Scope, cursor, expansion and scroll position stay."""
        self._enable_usage()
        if not self.model.halos.still() and not self._halo_timer.isActive():
            self._halo_timer.start()

    def stop(self) -> None:
        """Ends all requests."""
        self.model.stop()

    def _enable_usage(self) -> None:
        """Enables and shows usage at the first report; the user's later choice stays."""
        if not self.usage_action.isEnabled() and self.model.has_usage:
            self.usage_action.setEnabled(True)
            self.usage_action.setChecked(True)

    def tick(self, now_ns: int | None) -> None:
        """Updates states once a second while traffic is live; they depend on the clock."""
        if self.model.is_behind:
            # Sums were postponed during traffic.
            self.model.changes.invalidate()
        elif now_ns is not None and self.isVisible():
            self.view.renew_rows()

    def set_animated(self, animated: bool) -> None:
        """Enables or disables halos."""
        self.model.animated = animated
        if not animated:
            self.model.halos.clear()
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
        return replace(scope, node=self.model.rows.tree.resolve(scope.node), calls=False)

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
        """Shows changed marks or comments."""
        self.view.renew_rows()

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
        self.view.update_dots(self.model.halos.fading(time.monotonic()))
        if self.model.halos.still():
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

    def menu_for(self, row: int) -> ContextMenu:
        space, node = self.model.space(row), self.model.node(row)
        facts = self._client.answer_now(ActionsOfContext(self.model.code(row)))
        menu = ContextMenu(self.model.scope(row), self.scope, facts.filter, self)
        menu.scope_chosen.connect(self._request_scope)
        menu.filter_chosen.connect(self.filter_requested)
        if node is not None:
            menu.filter_chosen.connect(
                lambda _text, mode: self.context_filtered.emit(space, node) if mode in _NARROWING else None
            )
        menu.details_chosen.connect(self._on_details_chosen)
        menu.problems_chosen.connect(self._on_problems_chosen)
        menu.message_chosen.connect(self.message_requested)
        menu.add_problems(facts.problems, facts.odd_names)
        if node is not None:
            target = ContextTarget(space, node)
            menu.add_notes(facts.note)
            menu.mark_chosen.connect(lambda: self.mark_requested.emit(target))
            menu.comment_chosen.connect(lambda: self.comment_requested.emit(target))
        if node is None:
            menu.add_copy("Copy name", facts.name)
            if facts.is_session:
                menu.add_copy("Copy id", facts.id)
        elif node != MAIN:
            menu.add_export()
            menu.export_chosen.connect(lambda: self.export_requested.emit(ContextTarget(space, node)))
            menu.add_copy("Copy path", facts.path)
            menu.add_copy("Copy id", facts.id)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _on_problems_chosen(self, target: Scope) -> None:
        self._request_scope(target)
        self.filter_requested.emit(PROBLEMS, "replace")

    # Search

    def _on_find_changed(self, text: str) -> None:
        self._goes_to_match = False
        self.model.find(text)

    def _on_matches_shown(self) -> None:
        if self._goes_to_match:
            self._go_to_match()

    def _on_typed(self, text: str) -> None:
        self.find_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_box.setText(self.find_box.text() + text)

    def _go_to_match(self) -> None:
        """Moves the focus from the find box to the first match in the tree, once it is known."""
        self._goes_to_match = self.model.is_searching
        if self._goes_to_match:
            return
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
        self.sources_action.setVisible(self.model.rows.tree.sources > 0)
        self._clear_action.setEnabled(self._scope is not None)
        self._more.popup(self._more_button.mapToGlobal(QPoint(0, self._more_button.height())))
