"""Messages panel: assembles table, empty state, find bar and minimap; sums up the selection."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.account import PENDING_FILTER
from inspector.engine.requests.copies import SelectionTotals, TotalsOfMessages
from inspector.engine.requests.fields import describe_field, describe_fields
from inspector.engine.requests.filters import Scope, ValidFilter
from inspector.engine.requests.views import Messages, ShownRows
from inspector.engine.update import Update
from inspector.settings import HighlightRule, Table, TableColumn
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.columns import BUILT_IN, ChosenColumns
from inspector.ui.panels.messages.empty_state import EmptyState
from inspector.ui.panels.messages.message_copies import What
from inspector.ui.panels.messages.minimap import Minimap, MinimapMarks
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.sorter import Sorter
from inspector.ui.panels.messages.view import MessageView
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.widgets.filter_menu import FilterMode
from inspector.ui.widgets.find_bar import FindBar
from inspector.ui.widgets.latest_answer import Client, Pending

_MORE_MS = 4
"""Pause before more new messages are evaluated."""


class MessagesPanel(QWidget):
    """Message table of one document.

    Signals:
        current_changed(object): the selected message, or None.
        chosen(int): the user picked a message, even the selected one.
        follow_changed(bool): following began or paused.
        new_count(int): new messages below since the pause.
        shown_changed(int): number of messages that pass filter and scope.
        filter_requested(str, str): an expression, and its combination with the current filter: replace, and, or,
        and_not.
        open_details_requested(int): show this message's details.
        save_requested(int): write this message's bytes to a file.
        chain_requested(int): show only the causal chain of this message.
        mark_requested(int), comment_requested(int): mark or unmark this message; edit its comment.
        sees_requested(int): show the model context at this message.
        compare_requested(): compare the two selected messages.
        selection_changed(SelectionTotals | None): the selection changed; None for the current message alone.
        mark_selected_requested(), export_requested(): mark or unmark, or export, all selected messages.
        copy_refused(str): the selection is too large; carries a sentence.
        copy_reported(str): description of a copy.
        caught_up(): deferred rows of a flush have arrived.
        column_requested(str): add a column for this field.
        table_changed(Table): the user changed the columns or the mode of the column Time.
        columns_dialog_requested: open the Columns dialog.
        clear_filter_requested, search_all_requested: the links of the empty table.

    Attributes:
        client: asks the engine.
        model: the table's model; the only writer of `rows`.
        view: the table.
        empty: the empty state.
        sorter: sorts the rows.
        table: columns and mode of the column Time.
        find_bar: search in the view; hidden at first.
        minimap: positions of problems, marks, gaps and hits.
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
        client: Client,
        theme_controller: ThemeController,
        rows: ViewRows,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messagesPanel")
        self.setAccessibleName("Messages")
        self.client = client
        state = client.state
        self._connected: tuple[str, int] | None = (state.name, time.time_ns()) if state.is_live else None
        self._shown = -1
        self._empty_text = "This log has no messages. New messages will appear here."
        self._more_timer = QTimer(self)
        self._more_timer.setSingleShot(True)
        self._more_timer.setInterval(_MORE_MS)
        self._more_timer.timeout.connect(self._on_more)
        self.model = MessageTableModel(client, rows, self)
        self.view = MessageView(client, self.model, theme_controller, self)
        self.sorter = Sorter(client, self.view, self)
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
        self._totals_pending: Pending | None = None
        self._count_timer = QTimer(self)
        self._count_timer.setObjectName("selectionTimer")
        self._count_timer.setSingleShot(True)
        self._count_timer.setInterval(intervals.REPEAT_MS)
        self._count_timer.timeout.connect(self._report_selection)
        self._connect_view()
        self.empty.clear_filter_requested.connect(self.clear_filter_requested)
        self.empty.search_all_requested.connect(self.search_all_requested)
        self.view.viewport().installEventFilter(self)
        theme_controller.changed.connect(self.empty.use_theme)
        self._refresh_empty()

    def _connect_view(self) -> None:
        view = self.view
        self.model.followed.connect(self._on_followed)
        self.model.located.connect(view.viewport().update)
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
        """Keeps the empty state at the size of the viewport."""
        if event.type() is QEvent.Type.Resize:
            self.empty.setGeometry(self.view.viewport().geometry())
            self._show_rows_in_sight()
        return super().eventFilter(watched, event)

    # Input from document and window

    def apply_changes(self, changes: Update, *, clock: bool = False) -> None:
        """Shows the effect of a flush of the document.

        If the filter must decode many records, it continues in later turns of the event loop (`caught_up`).

        Args:
            changes: the changes.
            clock: time has passed: evaluate fields that depend on the clock again.
        """
        self.model.apply_changes(changes, clock=clock)
        self.view.selection.chain.take_in(changes)

    def _on_followed(self) -> None:
        self.view.columns.lay_out()
        self._refresh_empty()
        if self.model.rows.is_behind:
            self._more_timer.start()

    def stop(self) -> None:
        """Cancels deferred work."""
        self._more_timer.stop()
        self._count_timer.stop()
        self.sorter.give_up()

    def _report_selection(self) -> None:
        selection = self.view.selection
        if self._totals_pending is not None:
            self._totals_pending.cancel()
            self._totals_pending = None
        if not selection.several or (selection.count == 1 and self._current_is_selected()):
            self._show_totals(None)
            return
        messages = None if selection.count == len(self.model.rows.visible) else selection.shown()
        self._totals_pending = self.client.send_request(TotalsOfMessages(VIEW, messages), self._show_totals)

    def _show_totals(self, totals: SelectionTotals | None) -> None:
        if totals != self._totals:
            self._totals = totals
            self.selection_changed.emit(totals)

    def _on_more(self) -> None:
        self.apply_changes(Update(0, 0, 0, 0, np.zeros(0, np.int64)))
        self.caught_up.emit()

    def show_rows(self, filter_: ValidFilter, scope: Scope | None, shown: ShownRows) -> None:
        """Shows the rows of a filter and a scope."""
        self.model.show_rows(filter_, scope, shown)
        self.sorter.again()
        self._refresh_empty()

    def set_context_hints(self, on: bool) -> None:
        self.model.set_context_hints(on)

    def set_states_shown(self, on: bool) -> None:
        """Shows or hides states at the end of rows."""
        self.model.set_states_shown(on)

    def set_streams_folded(self, on: bool) -> None:
        """Gives the frames of each stream one row, or one each."""
        if self.model.fold_streams(on):
            self.sorter.again()

    def set_bookkeeping_hidden(self, on: bool) -> bool:
        """Hides or shows bookkeeping records of programs; returns True on a change."""

        def show_current() -> None:
            # The reset may have moved the current row out of view.
            current = self.current_message()
            if current is not None and self.model.rows.row_of(current) is not None:
                self.go_to(current)

        changed = self.model.hide_bookkeeping(on, show_current)
        if changed:
            self.sorter.again()
        return changed

    def expect(self, share: float) -> None:
        """Sets the part of the log read so far (0 to 1), so that columns reserve width for the rest."""
        self.view.columns.expect(share)

    def set_connected(self, name: str | None, since_ns: int = 0) -> None:
        """Sets the live connection and its start (Unix nanoseconds), or None."""
        # Only the start of a connection may begin to follow.
        began = name is not None and self._connected is None
        self._connected = None if name is None else (name, since_ns)
        # A selected message means that somebody is reading: do not scroll away.
        if began and self.view.selection.current is None:
            self.view.anchor.follow(True)
        self._refresh_empty()

    def say_when_empty(self, words: str) -> None:
        """Sets the text for an empty document without a connection."""
        self._empty_text = words
        self._refresh_empty()

    def _refresh_empty(self) -> None:
        shown, total = self.model.rows.state.matches, self.model.rows.seen_count
        if shown != self._shown:
            self._shown = shown
            self.shown_changed.emit(shown)
        if shown and len(self.model.rows):
            self.empty.hide()
            return
        if shown:
            self.empty.show_words("All rows here are bookkeeping, which is hidden.")
        elif total and self.model.rows.filter.text.strip() == PENDING_FILTER:
            self.empty.show_no_match(total, "No message is waiting for an answer.")
        elif total:
            self.empty.show_no_match(total)
        elif self._connected is not None:
            self.empty.show_silence(*self._connected)
        else:
            self.empty.show_words(self._empty_text if self.client.state.path is not None else "")
        self.empty.setGeometry(self.view.viewport().geometry())
        self.empty.show()
        self.empty.raise_()

    def show_marks(self, marks: MinimapMarks) -> None:
        """Shows marks in the minimap, and hits on the scroll bar."""
        self.minimap.show_marks(marks)
        self.view.ticks.update()
        self._show_rows_in_sight()

    def _show_rows_in_sight(self, *_: object) -> None:
        """Updates the minimap's range of rows on screen."""
        height, bar = self.view.paints.metrics.row, self.view.verticalScrollBar()
        self.minimap.show_seen(bar.value() // height, (bar.value() + self.view.viewport().height()) // height)

    # Columns and times

    def set_table(self, table: Table) -> None:
        """Applies the table settings."""
        if table == self.table:
            return
        names = (column.name for column in table.columns if column.name not in BUILT_IN)
        columns = ChosenColumns(table.columns, describe_fields(names))
        if columns.columns != self.model.columns.columns:
            self.model.set_columns(columns)
            self.model.report_heads()
        if table.time != self.table.time:
            self.model.set_times(table.time, self.model.times.reference)
        self.table = table.model_copy()
        self.view.columns.use_columns()

    def _change_table(self, table: Table) -> None:
        self.set_table(table)
        self.table_changed.emit(self.table)

    def choose_columns(self, columns: list[TableColumn]) -> None:
        """Shows other columns; an empty list resets them."""
        self._change_table(self.table.model_copy(update={"columns": list(columns)}))

    def add_column(self, name: str) -> None:
        """Shows a column for a field, `payload.<path>` included.

        Raises:
            RequestError: the field is unknown, or the limit of columns is reached.
        """
        name = describe_field(name).name
        self.choose_columns(self.model.columns.with_field(name))
        shown = self.model.columns.named(name)
        if shown is not None:
            self.view.columns.bring_into_view(shown)

    def show_column(self, name: str) -> None:
        """Like `add_column`, but ignores names that are no field."""
        try:
            self.add_column(name)
        except RequestError:
            return

    def show_columns(self, names: Sequence[str]) -> None:
        """Shows columns of fields in this window, without a change of the settings."""
        for name in names:
            if self.model.columns.named(name) is None:
                columns = self.model.columns.with_field(name)
                self.set_table(self.table.model_copy(update={"columns": columns}))

    def choose_time(self, mode: str) -> None:
        """Changes the column Time: an id of `times.MODES`.

        The mode "mark" needs a reference: an earlier one, else the current message.
        """
        if mode == "mark" and self.model.times.reference is None:
            current = self.current_message()
            if current is None:
                return
            self.model.set_times(mode, current)
        self._change_table(Table.model_validate({**self.table.model_dump(), "time": mode}))

    def count_times_from(self, message: int) -> None:
        self.model.set_times("mark", message)
        self.choose_time("mark")

    def tick(self, *, live: bool) -> None:
        """Updates content that depends on the clock; called once a second.

        Args:
            live: time passes for waiting requests.
        """
        self.model.tick(live=live)
        if self.model.looks.on_clock():
            self.view.viewport().update()

    def set_highlights(self, rules: Sequence[HighlightRule]) -> None:
        if self.model.looks.set_rules(rules):
            self.view.viewport().update()

    def highlight_context(self, path: str | None) -> None:
        """Sets the context that `$context` stands for in highlight rules."""
        if self.model.looks.select_context(path):
            self.view.viewport().update()

    # Commands of the window

    def current_message(self) -> int | None:
        """Returns the selected message, or None."""
        return self.view.selection.current

    def go_to(self, message: int) -> bool:
        """Selects a message and scrolls to it; returns False if filter and scope hide it."""
        return self.view.go_to(message)

    def step(self, by: int) -> None:
        """Selects the next (1) or previous (-1) visible message."""
        self.view.step(by)

    def go_to_first(self) -> None:
        self.view.go_to_first()

    def go_to_last(self) -> None:
        """Selects the last visible message and follows."""
        self.view.go_to_last()

    @property
    def following(self) -> bool:
        """True while new messages keep the view at the bottom."""
        return self.view.anchor.follower.following

    def follow(self, on: bool) -> None:
        """Starts or stops following; a start also drops the sort order."""
        if on:
            self.sorter.clear()
        self.view.anchor.follow(on)

    def toggle_original(self) -> bool:
        """Expands or collapses the current result's original; returns True if it has one."""
        return self.view.toggle_original()

    # The selection

    @property
    def holds_focus(self) -> bool:
        """True if the table has the keyboard focus."""
        return self.view.hasFocus()

    def select_all(self) -> None:
        self.view.selectAll()

    def selected_messages(self) -> Messages:
        """Returns the visible selected messages in capture order, (n,) uint32."""
        return self.view.selection.shown()

    def _current_is_selected(self) -> bool:
        current = self.current_message()
        return current is not None and self.view.selection.is_selected(current)

    def filter_by_selected(self, mode: FilterMode) -> None:
        """Requests a filter by the numbers of the selected messages."""
        self.view.menu.filter_by_selected(mode)

    def copy(self, what: What) -> None:
        """Copies the selected messages in a format, with secrets masked."""
        self.view.copies.copy(what, self.current_message())
