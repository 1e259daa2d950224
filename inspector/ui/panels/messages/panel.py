"""The messages panel: the table, its empty states, and what the window asks of both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import Changes
from inspector.analysis.passes.changes import NO_ROWS
from inspector.analysis.views.account.unanswered import PENDING_FILTER
from inspector.document.document import CaptureDocument
from inspector.filters.cache import Answers
from inspector.filters.compile import DisplayFilter
from inspector.filters.errors import FilterError
from inspector.filters.visible import Messages, Scope, VisibleRows
from inspector.protocol.timestamps import NO_TIME
from inspector.settings import HighlightRule, Table, TableColumn
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.columns import ChosenColumns
from inspector.ui.panels.messages.copies import What
from inspector.ui.panels.messages.empty import EmptyState
from inspector.ui.panels.messages.minimap import Minimap, MinimapMarks
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.sorter import Sorter
from inspector.ui.panels.messages.view import MessageView
from inspector.ui.widgets.filter_menu import FilterMode
from inspector.ui.widgets.find_bar import FindBar


@dataclass(frozen=True, slots=True)
class SelectionTotals:
    """How much is selected: messages, their size in bytes, and the time from the first to the last one."""

    count: int
    size_bytes: int
    span_ns: int | None


class MessagesPanel(QWidget):
    """The message table of one document.

    Signals:
        current_changed(object): the selected message, or None.
        chosen(int): the user picked a message, be it the one that was selected already.
        follow_changed(bool): following began or paused.
        new_count(int): messages that came below since it paused.
        shown_changed(int): how many messages filter and scope let through.
        filter_requested(str, str): an expression, and how it joins the filter in force: replace, and, or, and_not.
        open_details_requested(int): show this message's details.
        save_requested(int): write this message's bytes to a file.
        chain_requested(int): show the causal chain of this message alone.
        mark_requested(int), comment_requested(int): mark or unmark this message; write a comment on it.
        sees_requested(int): show what the model saw when this message had arrived.
        compare_requested(): show what differs between the two messages that are selected.
        selection_changed(SelectionTotals | None): other messages are selected; None for the current one alone.
        mark_selected_requested(), export_requested(): mark or unmark, or export, all that are selected.
        copy_refused(str): there is too much to copy, as a sentence.
        copy_reported(str): what was copied, in words.
        caught_up(): rows came that a flush had left for later.
        column_requested(str): make a column of this field.
        table_changed(Table): the user has chosen other columns, or what the column Time says.
        columns_dialog_requested: choose columns in the dialog.
        clear_filter_requested, search_all_requested: the links of the empty table.

    Attributes:
        model: the table's model; the only one to change `rows`.
        view: the table.
        empty: what stands in its place when nothing is shown.
        sorter: the order of its rows.
        table: its columns and what the column Time says.
        find_bar: what is looked for in the view; hidden until it is asked for.
        minimap: where in the view problems, marks, gaps and hits are.
    """

    current_changed = Signal(object)
    chosen = Signal(int)
    follow_changed = Signal(bool)
    new_count = Signal(int)
    shown_changed = Signal(int)
    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    table_changed = Signal(object)
    columns_dialog_requested = Signal()
    open_details_requested = Signal(int)
    save_requested = Signal(int)
    chain_requested = Signal(int)
    mark_requested = Signal(object)
    comment_requested = Signal(object)
    sees_requested = Signal(int)
    compare_requested = Signal()
    selection_changed = Signal(object)
    mark_selected_requested = Signal()
    export_requested = Signal()
    copy_refused = Signal(str)
    copy_reported = Signal(str)
    caught_up = Signal()
    clear_filter_requested = Signal()
    search_all_requested = Signal()

    def __init__(
        self,
        document: CaptureDocument,
        theme_controller: ThemeController,
        rows: VisibleRows,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messagesPanel")
        self.setAccessibleName("Messages")
        self._document = document
        self._connected: tuple[str, int] | None = (document.name, time.time_ns()) if document.live else None
        self._shown = -1
        self._when_empty = "This log holds no messages. What is written to it will be listed here."
        self._more_timer = QTimer(self)
        self._more_timer.setSingleShot(True)
        self._more_timer.setInterval(budgets.current.more_ms)
        self._more_timer.timeout.connect(self._on_more)
        self.model = MessageTableModel(document, rows, self)
        self.view = MessageView(document, self.model, theme_controller, self)
        self.sorter = Sorter(self.view, self)
        self.table = Table()
        self.empty = EmptyState(self.view)
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        self.find_bar = FindBar(theme_controller, self)
        self.minimap = Minimap(rows, theme_controller, self)
        lines.addWidget(self.find_bar)
        table = QHBoxLayout()
        table.setSpacing(0)
        table.addWidget(self.view, 1)
        table.addWidget(self.minimap)
        lines.addLayout(table, 1)
        self.minimap.message_requested.connect(self.go_to)
        self.minimap.row_requested.connect(self.view.show_row)
        self.view.verticalScrollBar().valueChanged.connect(self._show_rows_in_sight)
        self.view.ticks.fractions = lambda: self.minimap.fractions("hit")
        self.setFocusProxy(self.view)
        self._totals: SelectionTotals | None = None
        self._count_timer = QTimer(self)
        self._count_timer.setObjectName("selectionTimer")
        self._count_timer.setSingleShot(True)
        self._count_timer.setInterval(budgets.current.repeat_ms)
        self._count_timer.timeout.connect(self._report_selection)
        self._connect_view()
        self.empty.clear_filter_requested.connect(self.clear_filter_requested)
        self.empty.search_all_requested.connect(self.search_all_requested)
        self.view.viewport().installEventFilter(self)
        theme_controller.changed.connect(self.empty.use_theme)
        self._refresh_empty()

    def _connect_view(self) -> None:
        view = self.view
        view.open_details_requested.connect(self.open_details_requested)
        view.selection.current_changed.connect(self.current_changed)
        view.selection.chosen.connect(self.chosen)
        view.selection.changed.connect(self._count_timer.start)
        view.anchor.follower.changed.connect(self.follow_changed)
        view.anchor.follower.count_changed.connect(self.new_count)
        view.columns.changed.connect(self.choose_columns)
        view.copies.refused.connect(self.copy_refused)
        view.copies.reported.connect(self.copy_reported)
        heads = view.head_menu
        heads.columns_changed.connect(self.choose_columns)
        heads.time_requested.connect(self.choose_time)
        heads.dialog_requested.connect(self.columns_dialog_requested)
        menu = view.menu
        menu.reference_requested.connect(self.count_times_from)
        for name in (
            "filter_requested", "column_requested", "save_requested", "chain_requested", "mark_requested",
            "comment_requested", "sees_requested", "mark_selected_requested", "export_requested", "compare_requested",
        ):  # fmt: skip
            getattr(menu, name).connect(getattr(self, name))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The empty state covers the viewport, whatever its size."""
        if event.type() is QEvent.Type.Resize:
            self.empty.setGeometry(self.view.viewport().geometry())
            self._show_rows_in_sight()
        return super().eventFilter(watched, event)

    # What the document and the window say

    def apply_changes(self, changes: Changes, *, clock: bool = False) -> None:
        """Take in a flush of the document; called on the loop's thread.

        Where a filter has to decode many records it goes on in later turns of the loop (`caught_up`).

        Args:
            changes: what changed.
            clock: time has passed, so that fields that go by it are looked at again.
        """
        self.model.apply_changes(changes, clock=clock, until=time.perf_counter() + budgets.current.slice_s)
        self.view.columns.lay_out()
        self.view.selection.chain.take_in(changes)
        self._refresh_empty()
        if self.model.rows.behind:
            self._more_timer.start()

    def stop(self) -> None:
        """Look at no more messages."""
        self._more_timer.stop()
        self._count_timer.stop()
        self.sorter.give_up()

    def _report_selection(self) -> None:
        totals = self.selection()
        if totals != self._totals:
            self._totals = totals
            self.selection_changed.emit(totals)

    def _on_more(self) -> None:
        self.apply_changes(Changes(0, 0, NO_ROWS, tree_moved=False))
        self.caught_up.emit()

    def show_rows(
        self,
        filter_: DisplayFilter,
        scope: Scope | None,
        visible: Messages | None = None,
        answers: Answers | None = None,
    ) -> None:
        """Put a filter and a scope in force; `visible` and `answers` are as for `VisibleRows.choose`."""
        self.model.show_rows(filter_, scope, visible, answers)
        self.sorter.again()
        self._refresh_empty()

    def set_context_hints(self, on: bool) -> None:
        """Show or hide badges."""
        self.model.set_context_hints(on)

    def set_states_shown(self, on: bool) -> None:
        """Show or hide what became of messages at the end of their rows."""
        self.model.set_states_shown(on)

    def set_streams_folded(self, on: bool) -> None:
        """Give the frames of each stream one row, or each its own."""
        if self.model.fold_streams(on):
            self.sorter.again()

    def set_bookkeeping_hidden(self, on: bool) -> bool:
        """Give records that programs write for themselves rows, or none; returns whether that makes a difference."""
        current = self.current_message()
        if not self.model.hide_bookkeeping(on):
            return False
        self.sorter.again()
        self._refresh_empty()
        if current is not None and self.model.rows.row_of(current) is not None:
            self.go_to(current)
        return True

    def expect(self, share: float) -> None:
        """So much of the log is read (0 to 1): columns keep room for what is to come, so that they need not move."""
        self.view.columns.expect(share)

    def set_connected(self, name: str | None, since_ns: int = 0) -> None:
        """A live connection stands since a time (Unix nanoseconds), or none does."""
        began = name is not None and self._connected is None
        self._connected = None if name is None else (name, since_ns)
        if began and self.view.selection.current is None:
            self.view.anchor.follow(True)
        self._refresh_empty()

    def say_when_empty(self, words: str) -> None:
        """Say this where there are no messages and no connection stands."""
        self._when_empty = words
        self._refresh_empty()

    def _refresh_empty(self) -> None:
        shown, total = len(self.model.rows.chosen), len(self._document.analysis)
        if shown != self._shown:
            self._shown = shown
            self.shown_changed.emit(shown)
        if shown and len(self.model.rows):
            self.empty.hide()
            return
        if shown:
            self.empty.show_words("All rows here are bookkeeping, which is hidden.")
        elif total and self.model.rows.filter.text.strip() == PENDING_FILTER:
            self.empty.show_no_match(total, "Nothing waits for an answer.")
        elif total:
            self.empty.show_no_match(total)
        elif self._connected is not None:
            self.empty.show_silence(*self._connected)
        else:
            self.empty.show_words(self._when_empty if self._document.path is not None else "")
        self.empty.setGeometry(self.view.viewport().geometry())
        self.empty.show()
        self.empty.raise_()

    def show_marks(self, marks: MinimapMarks) -> None:
        """Show these beside the scroll bar, and hits on it."""
        self.minimap.show_marks(marks)
        self.view.ticks.update()
        self._show_rows_in_sight()

    def _show_rows_in_sight(self, *_: object) -> None:
        """Tell the minimap which rows are on screen."""
        height, bar = self.view.paints.metrics.row, self.view.verticalScrollBar()
        self.minimap.show_seen(bar.value() // height, (bar.value() + self.view.viewport().height()) // height)

    # Columns and times

    def set_table(self, table: Table) -> None:
        """Take over what the settings say."""
        if table == self.table:
            return
        columns = ChosenColumns(table.columns)
        if columns.columns != self.model.columns.columns:
            self.model.set_columns(columns)
            self.model.report_heads()
        if table.time != self.table.time:
            self.model.set_times(table.time, self.model.times.reference)
        self.table = table.model_copy()
        self.view.columns.use_columns()

    def _change(self, table: Table) -> None:
        self.set_table(table)
        self.table_changed.emit(self.table)

    def choose_columns(self, columns: list[TableColumn]) -> None:
        """Show other columns; none named are those of the start."""
        self._change(self.table.model_copy(update={"columns": list(columns)}))

    def add_column(self, name: str) -> None:
        """Show a column for a field, `payload.<path>` included.

        Raises:
            FilterError: there is no field of this name, or no room for one more.
        """
        self.choose_columns(self.model.columns.with_field(name))
        shown = self.model.columns.named(name)
        if shown is not None:
            self.view.columns.bring_into_view(shown)

    def show_column(self, name: str) -> None:
        """As `add_column`, for a name that came from a value; what is no field changes nothing."""
        try:
            self.add_column(name)
        except FilterError:
            return

    def choose_time(self, mode: str) -> None:
        """Let the column Time say something else: an id of `times.MODES`.

        Times that count from a message need one: the current one unless another was chosen before.
        """
        if mode == "mark" and self.model.times.reference is None:
            current = self.current_message()
            if current is None:
                return
            self.model.set_times(mode, current)
        self._change(Table.model_validate({**self.table.model_dump(), "time": mode}))

    def count_times_from(self, message: int) -> None:
        """Count times from a message."""
        self.model.set_times("mark", message)
        self.choose_time("mark")

    def tick(self) -> None:
        """A second has passed: what goes by the clock is read again."""
        self.model.tick()
        if self.model.highlights.tick():
            self.view.viewport().update()

    def set_highlights(self, rules: Sequence[HighlightRule]) -> None:
        """Let other rows stand out."""
        if self.model.highlights.use(rules):
            self.view.viewport().update()

    def highlight_context(self, path: str | None) -> None:
        """Say which context `$context` stands for in highlight rules."""
        if self.model.highlights.select_context(path):
            self.view.viewport().update()

    # What the window asks

    def current_message(self) -> int | None:
        """The selected message; None when there is none."""
        return self.view.selection.current

    def go_to(self, message: int) -> bool:
        """Select a message and bring it into view; False when filter and scope hide it."""
        return self.view.go_to(message)

    def step(self, by: int) -> None:
        """Select the next (1) or previous (-1) message shown."""
        self.view.step(by)

    def go_to_first(self) -> None:
        """Select the first message shown."""
        self.view.go_to_first()

    def go_to_last(self) -> None:
        """Select the last message shown, and follow."""
        self.view.go_to_last()

    @property
    def following(self) -> bool:
        """Whether new messages keep the view at the bottom."""
        return self.view.anchor.follower.following

    def follow(self, on: bool) -> None:
        """Go to the newest message and stay there, or hold still; what is sorted goes back to the order of arrival."""
        if on:
            self.sorter.clear()
        self.view.anchor.follow(on)

    def toggle_original(self) -> bool:
        """Expand or collapse the current result's original; whether it has one."""
        return self.view.toggle_original()

    # What is selected

    @property
    def holds_focus(self) -> bool:
        """Whether keys go to the table."""
        return self.view.hasFocus()

    def select_all(self) -> None:
        """Select every message shown."""
        self.view.selectAll()

    def selected_messages(self) -> Messages:
        """(n,) uint32, the messages shown that are selected, in capture order."""
        return self.view.selection.shown()

    def selection(self) -> SelectionTotals | None:
        """How many messages are selected and how much they are; None where it is the current one alone."""
        if not self.view.selection.several or (self.view.selection.count == 1 and self._current_is_selected()):
            return None
        messages, columns = self.view.selection.shown(), self._document.capture.columns
        times = columns["time_ns"][messages]
        times = times[times != NO_TIME]
        span = int(times.max()) - int(times.min()) if len(times) > 1 else None
        return SelectionTotals(len(messages), int(columns["size"][messages].sum(dtype=np.int64)), span)

    def _current_is_selected(self) -> bool:
        current = self.current_message()
        return current is not None and self.view.selection.holds(current)

    def filter_by_selected(self, mode: FilterMode) -> None:
        """Ask for a filter by the numbers of the messages selected."""
        self.view.menu.filter_by_selected(mode)

    def copy(self, what: What) -> None:
        """Put the selected messages on the clipboard as something, secrets masked; nothing without any."""
        self.view.copies.put(self.view.copies.of(what, self.current_message()))

    def copied(self, what: What) -> str | None:
        """The text that `copy` copies; None without a message."""
        texts = self.view.copies.of(what, self.current_message())
        return texts and texts.whole()
