"""The marks panel: head, list, row delegate, context menu and updates with the view."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.user_marks import ContextTarget, Target
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present.subject import ContextPlace
from inspector.ui import budgets
from inspector.ui.input.keys import KeyWords
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_delegate import GAP, ICON, ListDelegate
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_panel import ListPanel
from inspector.ui.panels.list_view import ListView
from inspector.ui.panels.marks.model import MarkLine, MarksModel, key_of
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

_ABOUT_FROM, _CONTEXT_FROM, _ROOMY_FROM = 520, 680, 1150
"""Minimum widths at 100 % for sender and kind, the context, and a longer context. The text has priority."""
_ABOUT, _CONTEXT, _LONG_CONTEXT = 150, 114, 220


class MarkDelegate(ListDelegate):
    """A row of the marks panel."""

    def __init__(self, model: MarksModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        line, zoom, width = self._model.line(row), self._zoom, cell.width()
        gap, hidden = round(GAP * zoom), not self._model.is_shown(row)
        number = self.number_left(cell)
        wide = _LONG_CONTEXT if width >= _ROOMY_FROM * zoom else _CONTEXT
        context = number - (round(wide * zoom) if width >= _CONTEXT_FROM * zoom else 0)
        about = context - (round(_ABOUT * zoom) if width >= _ABOUT_FROM * zoom else 0)
        x = cell.left() + self._themes.theme.metrics.pane_padding
        self._icon(painter, "mark" if line.note.marked else "comment", "accent.text", x, cell, 14)
        x += round(ICON * zoom)
        # The user's own comment is in primary ink; the message text replaces it only if there is none.
        ink = "ink.tertiary" if hidden else "ink.primary" if line.note.comment else "ink.secondary"
        if line.note.marked and line.note.comment:
            self._icon(painter, "comment", "ink.tertiary", x, cell, 12)
            x += round(18 * zoom)
        self._draw(painter, "body", ink, x, cell, line.text, about - gap - x)
        if about < context:
            self._draw(painter, "body", "ink.tertiary", about, cell, line.about, context - gap - about)
        if context < number:
            ink = "ink.tertiary" if hidden else "ink.secondary"
            self._draw(painter, "body", ink, context, cell, line.context, number - gap - context)
        self.draw_number(painter, cell, line.number)


_COMMENT, _MARK, _REMOVE, _COPY = "comment", "mark", "remove", "copy"


class MarkMenu(QMenu):
    """Context menu of a row.

    Signals:
        comment_chosen(), mark_chosen(), remove_chosen(): edit the comment; mark or unmark; remove both.
        filter_chosen(str, str): an expression and its way of joining the active filter (`filter_menu.FilterMode`).
    """

    comment_chosen = Signal()
    mark_chosen = Signal()
    remove_chosen = Signal()
    filter_chosen = Signal(str, str)

    def __init__(self, line: MarkLine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("markMenu")
        self.setAccessibleName("Mark")
        self._add(_COMMENT, "Edit comment..." if line.note.comment else "Comment...")
        self._add(_MARK, "Unmark" if line.note.marked else "Mark")
        self._add(_REMOVE, "Remove mark and comment" if line.note.comment else "Remove mark")
        self.addSeparator()
        if isinstance(line.target, int):
            add_filter_actions(self, "comment" if line.note.comment else "mark", self.filter_chosen.emit)
            self.addSeparator()
        self._add(_COPY, "Copy row", line.copied).setIcon(icons.icon("copy"))
        if line.note.comment:
            self._add("copy.comment", "Copy comment", line.note.comment)
        self.triggered.connect(self._on_triggered)

    def _add(self, name: str, title: str, copied: str = "") -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setData(copied)
        return action

    def _on_triggered(self, action: QAction) -> None:
        acts = {_COMMENT: self.comment_chosen, _MARK: self.mark_chosen, _REMOVE: self.remove_chosen}
        chosen = acts.get(action.objectName())
        if chosen is not None:
            chosen.emit()
        elif isinstance(action.data(), str) and action.data():
            QGuiApplication.clipboard().setText(action.data())


FILTER = "mark || comment"
"""The display filter for all marked or commented messages."""


class MarksView(ListView):
    """The list of marks. Delete removes a row.

    Signals:
        remove_asked(int): remove the mark and comment of a row.
    """

    remove_asked = Signal(int)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and not event.modifiers() and row >= 0:
            self.remove_asked.emit(row)
        else:
            super().keyPressEvent(event)


class MarksPanel(ListPanel):
    """Marks and comments of one document.

    Signals:
        place_requested(ContextPlace): show this context.
        comment_requested(Target), mark_requested(Target), remove_requested(Target): edit its comment; mark or unmark
        it;
            remove both.
        clear_requested(): remove all marks and comments.

    Attributes:
        head, view, model: its parts.
    """

    place_requested = Signal(object)
    comment_requested = Signal(object)
    mark_requested = Signal(object)
    remove_requested = Signal(object)
    clear_requested = Signal()

    def __init__(
        self,
        document: CaptureDocument,
        theme_controller: ThemeController,
        rows: VisibleRows,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, rows, "Marks", parent)
        self._shown_state: tuple[object, ...] = ()
        self._message: int | None = None
        self._key_of: KeyWords = lambda _name: ""
        self.model = MarksModel(document, rows, self)
        self.head = ListHead(theme_controller, "Marks", name="marks", parent=self)
        self.view = MarksView(self.model, theme_controller, name="marksList", title="Marks", parent=self)
        self.view.setItemDelegate(MarkDelegate(self.model, theme_controller, self.view))
        self.throttle = RefreshThrottle(self, self._list, lambda: budgets.current.lists_ms)
        self._fill_menu()
        self._connect()
        self.update_texts()

    def _fill_menu(self) -> None:
        menu = self.head.menu  # the panel owns the actions: their state is read after the menu has closed, too
        self._comments = self._choice("commentsOnly", "Comments only")
        self._view_only = self._choice("viewOnly", "Visible messages only")
        menu.addSeparator()
        self._filter = QAction("Filter by marked messages", self)
        menu.addAction(self._filter)
        self._filter.setObjectName("filterMarks")
        self._filter.triggered.connect(lambda: self.filter_requested.emit(FILTER, "replace"))
        menu.addSeparator()
        self._clear = QAction("Clear all marks and comments", self)
        menu.addAction(self._clear)
        self._clear.setObjectName("clearMarks")
        self._clear.triggered.connect(lambda: self.clear_requested.emit())

    def _choice(self, name: str, words: str) -> QAction:
        action = QAction(words, self)
        self.head.menu.addAction(action)
        action.setObjectName(name)
        action.setCheckable(True)
        action.toggled.connect(self._on_chosen)
        return action

    def _connect(self) -> None:
        self.view.remove_asked.connect(self._on_remove_asked)
        self.put_together(self.head, self.view, self.model)
        self.head.reach_switched.connect(self._view_only.toggle)

    # Calls of the window

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush that changed a marked message or the tree of contexts. O(marks)."""
        marks = self._document.analysis.marks
        if len(marks) and (changes.tree_moved or bool(np.isin(marks.rows, changes.changed).any())):
            self.throttle.request()
        else:
            self.apply_view()

    def apply_view(self) -> None:
        """Updates the rows after a change of filter, scope or marks."""
        if self._shown_state != self._present_state():
            self.throttle.request()

    def _present_state(self) -> tuple[object, ...]:
        return self._document.analysis.marks.version, self._shown.filter, self._shown.scope

    def show_message(self, message: int | None) -> None:
        """Selects the row of the message selected in the table, or clears the selection if it has no mark."""
        self._message = message
        key = None if message is None else key_of(message)
        self.view.select(key if key is not None and self.model.rows.row_of(key) >= 0 else None)

    def stop(self) -> None:
        """Stops reading the document."""
        self.throttle.stop()

    # Updates

    def refresh(self) -> None:
        """Updates the rows and the count."""
        self.head.count_things(len(self._document.analysis.marks), "mark")
        self.throttle.run()

    def _list(self) -> None:
        self._shown_state = self._present_state()
        selected = self.view.selected
        self.model.refresh()
        if selected is None or self.model.rows.row_of(selected) < 0:
            self.show_message(self._message)

    @override
    def update_texts(self) -> None:
        rows, total = self.model.rows, len(self._document.analysis.marks)
        self.head.count_things(total, "mark")
        hint, link = "", ""
        if rows.outside and self.model.choice.view_only:
            hint, link = f"{rows.outside:,} more {_is_or_are(rows.outside)} hidden by {self.hider()}", "List all"
        elif rows.outside:
            hint, link = f"{rows.outside:,} {_is_or_are(rows.outside)} hidden by {self.hider()}", "List this view only"
        self.head.show_hint(hint, link)
        for action in (self._filter, self._clear):
            action.setEnabled(total > 0)
        self.view.set_empty_text("" if len(rows) else self._nothing_words() if not total else self._empty_words())

    def show_keys(self, words: KeyWords) -> None:
        """Updates the names of the keys for marks and comments."""
        self._key_of = words
        self.update_texts()

    def _nothing_words(self) -> str:
        ways = (("edit.mark", "marks"), ("edit.comment", "comments on"))
        hints = " and ".join([f"{self._key_of(name)} {does}" for name, does in ways if self._key_of(name)])
        return f"No marks yet. {hints} the current message or context." if hints else "No marks yet."

    def _empty_words(self) -> str:
        total = len(self._document.analysis.marks)
        return f"No visible marks ({total:,} in total). The menu above lists all of them."

    # User input

    def _on_chosen(self) -> None:
        self.model.choice.comments_only = self._comments.isChecked()
        self.model.choice.view_only = self._view_only.isChecked()
        self.model.refresh()

    @override
    def go_to_row(self, row: int) -> bool:
        target = self.model.target(row)
        if isinstance(target, ContextTarget):
            self.place_requested.emit(ContextPlace(target.space, target.node))
        else:
            self.message_requested.emit(target)
        return True

    @override
    def row_text(self, row: int) -> str:
        return self.model.line(row).copied

    def _on_remove_asked(self, row: int) -> None:
        self.remove_requested.emit(self.model.target(row))

    @property
    def current(self) -> Target | None:
        """The target of the current row."""
        row = self.view.currentIndex().row()
        return self.model.target(row) if row >= 0 else None

    @override
    def menu_for(self, row: int) -> MarkMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        target = self.model.target(row)
        menu = MarkMenu(self.model.line(row), self)
        menu.comment_chosen.connect(lambda: self.comment_requested.emit(target))
        menu.mark_chosen.connect(lambda: self.mark_requested.emit(target))
        menu.remove_chosen.connect(lambda: self.remove_requested.emit(target))
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"
