"""The marks panel: head, list, context menu and updates with the view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.marks import ContextTarget, DescribeMarks, ListMarks, MarkLine, MarkList, Target
from inspector.present.places import ContextPlace
from inspector.ui import intervals
from inspector.ui.input.keys import KeyWords
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_panel import ListPanel, ShownMessages
from inspector.ui.panels.marks.source import MarksSource, key_of
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer, raise_failure
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

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


class MarksPanel(ListPanel):
    """Marks and comments of one document.

    Signals:
        place_requested(ContextPlace): show this context.
        comment_requested(Target), mark_requested(Target), remove_requested(Target): edit its comment; mark or unmark
        it;
            remove both.
        clear_requested(): remove all marks and comments.

    Attributes:
        head, view, source, model: its parts.
    """

    place_requested = Signal(object)
    comment_requested = Signal(object)
    mark_requested = Signal(object)
    remove_requested = Signal(object)
    clear_requested = Signal()

    def __init__(
        self, client: Client, theme_controller: ThemeController, rows: ShownMessages, parent: QWidget | None = None
    ) -> None:
        """Creates the panel.

        Args:
            client: asks the engine.
            theme_controller: gives the look.
            rows: the messages that the table shows.
            parent: owner.
        """
        super().__init__(rows, "Marks", parent)
        self._client = client
        self._total = self._outside = 0
        self._message: int | None = None
        self._key_of: KeyWords = lambda _name: ""
        self.source = MarksSource(client, lambda row: self.model.renew(row, row))
        self.model = RowsModel(self.source, self)
        self.head = ListHead(theme_controller, "Marks", name="marks", parent=self)
        self.view = RowsView(self.model, theme_controller, name="marksList", title="Marks", parent=self, removes=True)
        self.latest: LatestAnswer[MarkList] = LatestAnswer(
            self, client, self._question, self._show, every_ms=lambda: intervals.LISTS_MS
        )
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
        self.view.removed.connect(self._on_remove_asked)
        self.put_together(self.head, self.view, self.model)
        self.head.reach_switched.connect(self._view_only.toggle)

    # Calls of the window

    def apply_view(self) -> None:
        """Updates the rows after a change of filter, scope or marks."""
        self.latest.invalidate()

    def show_message(self, message: int | None) -> None:
        """Selects the row of the message selected in the table, or clears the selection if it has no mark."""
        self._message = message
        key = None if message is None else key_of(message)
        self.view.select(key if key is not None and self.source.row_of(key) >= 0 else None)

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    # Updates

    def refresh(self) -> None:
        """Updates the rows and the count."""
        self.latest.request_now()

    def _question(self) -> ListMarks:
        return ListMarks(VIEW, self._view_only.isChecked(), self._comments.isChecked())

    def _show(self, found: MarkList) -> None:
        self._total, self._outside = found.total, found.outside
        selected = self.view.selected
        self.source.described.drop()
        if found.targets == self.source.targets:
            self.model.renew()
            self.update_texts()
        else:
            with self.model.changing():
                self.source.replace_targets(found.targets)
        if selected is None or self.source.row_of(selected) < 0:
            self.show_message(self._message)

    @override
    def update_texts(self) -> None:
        total, outside = self._total, self._outside
        self.head.count_things(total, "mark")
        hint, link = "", ""
        if outside and self._view_only.isChecked():
            hint, link = f"{outside:,} more {_is_or_are(outside)} hidden by {self.hider()}", "List all"
        elif outside:
            hint, link = f"{outside:,} {_is_or_are(outside)} hidden by {self.hider()}", "List this view only"
        self.head.show_hint(hint, link)
        for action in (self._filter, self._clear):
            action.setEnabled(total > 0)
        self.view.set_empty_text(
            "" if len(self.source) else self._nothing_words() if not total else self._empty_words()
        )

    def show_keys(self, words: KeyWords) -> None:
        """Updates the names of the keys for marks and comments."""
        self._key_of = words
        self.update_texts()

    def _nothing_words(self) -> str:
        ways = (("edit.mark", "marks"), ("edit.comment", "comments on"))
        hints = " and ".join([f"{self._key_of(name)} {does}" for name, does in ways if self._key_of(name)])
        return f"No marks yet. {hints} the current message or context." if hints else "No marks yet."

    def _empty_words(self) -> str:
        return f"No visible marks ({self._total:,} in total). The menu above lists all of them."

    # User input

    def _on_chosen(self) -> None:
        self.latest.request_now()

    @override
    def go_to_row(self, row: int) -> bool:
        target = self.source.targets[row]
        if isinstance(target, ContextTarget):
            self.place_requested.emit(ContextPlace(target.space, target.node))
        else:
            self.message_requested.emit(target)
        return True

    def _on_remove_asked(self, row: int) -> None:
        self.remove_requested.emit(self.source.targets[row])

    @property
    def current(self) -> Target | None:
        """The target of the current row."""
        row = self.view.currentIndex().row()
        return self.source.targets[row] if row >= 0 else None

    @override
    def request_texts(self, rows: Sequence[int], take: Callable[[list[str]], object]) -> None:
        targets = tuple(self.source.targets[row] for row in rows)
        self._client.send_request(
            DescribeMarks(VIEW, targets), lambda lines: take([line.copied for line in lines]), raise_failure
        )  # fmt: skip

    @override
    def menu_for(self, row: int) -> MarkMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        target = self.source.targets[row]
        (line,) = self._client.answer_now(DescribeMarks(VIEW, (target,)))
        menu = MarkMenu(line, self)
        menu.comment_chosen.connect(lambda: self.comment_requested.emit(target))
        menu.mark_chosen.connect(lambda: self.mark_requested.emit(target))
        menu.remove_chosen.connect(lambda: self.remove_requested.emit(target))
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"
