"""Qt model of the message table: a row per (message, part), cell texts, tooltips, expanded originals."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from typing_extensions import override

from inspector.engine.requests.columns import ColumnFigures, FiguresOfColumns
from inspector.engine.requests.filters import Scope, ValidFilter
from inspector.engine.requests.rows import MessageRows, Original, OriginalLines, RemarksOfRow, RowContent, RowRemarks
from inspector.engine.requests.views import ChangedRows, FollowRows, ShownRows, SortedRows
from inspector.engine.update import Update
from inspector.present import formats, wire_text
from inspector.present.badges import Badge, shown_in_row
from inspector.present.message_columns import COLUMN_TEXTS, RIGHT_ALIGNED, Column, TimeColumn
from inspector.present.original_result import OriginalLineKind
from inspector.present.row_state import RowState
from inspector.ui.look.roles import Role
from inspector.ui.panels.messages.columns import ChosenColumns
from inspector.ui.panels.messages.row_cache import LookCache, RowCache
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.widgets.latest_answer import Client

_MAX_SPANS = 16
"""Most ranges of changed rows reported separately."""
_MERGE_DISTANCE = 200
"""Rows between two changed ones merged into one report if ranges are many; a few screens."""
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_BADGE_FIELDS = frozenset(("badge", "collapsed.by", "consumes"))
"""Filter fields that show badges in rows, whatever the settings."""
_AnyIndex = QModelIndex | QPersistentModelIndex


class MessageTableModel(QAbstractTableModel):
    """Rows of the message table.

    The model owns all changes of `rows`; no other code may apply, choose, expand or collapse there. Contents of rows
    come from the engine and are cached for the last few hundred messages.

    Signals:
        arrived(): contents of rows arrived later than they were asked for.
        figures_changed(): the same of `figures`.
        followed(): the rows show the present state of the engine.
        located(): rows of folded messages became known later than they were needed.

    Attributes:
        rows: the visible messages.
        columns: built-in columns (docs/design.md 14) and columns of fields, by logical index.
        times: content of the column Time.
        contents: contents of rows.
        looks: highlights of rows.
        figures: figures for the widths of columns.
        clock_ns: returns the wall clock, for waiting requests.
    """

    arrived = Signal()
    figures_changed = Signal()
    followed = Signal()
    located = Signal()

    def __init__(self, client: Client, rows: ViewRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self.rows = rows
        rows.located = self.located.emit
        self.columns = ChosenColumns()
        self.contents = RowCache(client, self._rows_request, self)
        self.looks = LookCache(client, self)
        for cache in (self.contents, self.looks):
            cache.arrived.connect(self.arrived)
        self.times = TimeColumn(
            lambda message: self.content(message).time_ns, lambda message: rows.neighbour_of(message, -1)
        )
        self.figures = ColumnFigures()
        self.clock_ns: Callable[[], int] = time.time_ns
        self._ticks = True
        self._remarks: RowRemarks | None = None
        self._hints = False
        self._states_shown = True
        self._originals: dict[int, Original] = {}
        self._serving: dict[int, Callable[[int, int, int], object]] = {
            int(Qt.ItemDataRole.DisplayRole): self._display,
            int(Qt.ItemDataRole.ToolTipRole): self._tool_tip,
            int(Qt.ItemDataRole.AccessibleTextRole): self._accessible,
            int(Qt.ItemDataRole.TextAlignmentRole): self._alignment,
            Role.MESSAGE: lambda message, part, column: message,
            Role.PART: lambda message, part, column: part,
            Role.KIND: lambda message, part, column: self.content(message).kind,
            Role.BADGES: lambda message, part, column: tuple(b.id for b in self.badges(self.content(message))),
            Role.COLLAPSED: lambda message, part, column: self.content(message).collapsed,
            Role.EXPANDED: lambda message, part, column: self.is_expanded(message),
            Role.ERROR: lambda message, part, column: self.content(message).error,
            Role.SENT: lambda message, part, column: self.content(message).sent,
            Role.UNREADABLE: lambda message, part, column: self.content(message).unreadable,
            Role.WAITING: lambda message, part, column: self.waiting_text(self.content(message)),
        }
        self.update_figures()
        rows.request_all(self._show_all)

    # Qt interface

    @override
    def rowCount(self, parent: _AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: _AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    @override
    def data(self, index: _AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        serve = self._serving.get(role)
        if serve is None or not index.isValid():
            return None
        message, part = self.rows.row_at(index.row())
        return serve(message, part, index.column())

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.times.title if section == Column.TIME else self.columns.title(section)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._head_words(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            field = self.columns.field(section)
            details = "" if field is None else f": {field.name}\n{field.help}"
            return wire_text.tool_tip(self._head_words(section) + details)
        return self._alignment(0, 0, section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _head_words(self, column: int) -> str:
        words = self.times.title_words if column == Column.TIME else self.columns.words(column)
        by = self.rows.sorted_by
        if by is None or by.field != self.columns.sort_name(column):
            return words
        return f"{words}, sorted, {'largest' if by.descending else 'smallest'} first"

    # Row content

    def message_at_row(self, row: int) -> tuple[int, int]:
        """Returns the (message, part) of a row."""
        return self.rows.row_at(row)

    def _rows_request(self, messages: tuple[int, ...]) -> MessageRows:
        fields = tuple(field.name for field in self.columns.fields)
        return MessageRows(messages, folded=self.rows.is_folded, fields=fields)

    def content(self, message: int) -> RowContent:
        """Returns the content of a message's row; only its number while it is on its way."""
        return self.contents.content(message)

    def knows(self, message: int) -> bool:
        """Returns True if a message's row content is cached."""
        return message in self.contents

    def prepare(self, messages: Sequence[int]) -> bool:
        """Asks for the rows of messages together, and for their highlights.

        Returns:
            False if it must be called again, in a later turn of the event loop, for the rest of long messages.
        """
        self.looks.prepare(messages)
        return self.contents.prepare(messages)

    def prefetch(self, first: int, last: int) -> None:
        """Asks for rows above and below the screen, before the user scrolls to them."""
        self.contents.prefetch(first, last, len(self.rows), lambda row: self.rows.row_at(row)[0])

    def update_figures(self) -> None:
        """Asks for the figures of columns."""
        asking = True

        def take(figures: ColumnFigures) -> None:
            self.figures, self.times.start_ns = figures, figures.start_ns
            if not asking:
                self.figures_changed.emit()

        self._client.send_request(FiguresOfColumns(), take)
        asking = False

    @property
    def start_ns(self) -> int:
        """Time of the first message with one; default origin of the column Time."""
        return self.times.start_ns

    def time_text(self, content: RowContent) -> str:
        """Returns the text of the column Time for a visible message."""
        return self.times.text(content.message)

    def field_text(self, content: RowContent, column: int) -> str:
        """Returns the text of a column of a field."""
        field = self.columns.field(column)
        return "" if field is None else content.fields.get(field.name, "")

    def badges(self, content: RowContent) -> tuple[Badge, ...]:
        """Returns the badges of a row; empty if context hints are off and the filter does not use badges."""
        asked = self._hints or not _BADGE_FIELDS.isdisjoint(self.rows.filter.fields)
        return shown_in_row(content.badges) if asked and content.badges else ()

    def state(self, content: RowContent) -> RowState | None:
        """Returns the state at the end of a row; None without one, or if states are off."""
        return content.state if self._states_shown else None

    def took_ns(self, content: RowContent) -> int | None:
        """Returns the duration for the bar behind a row's time; None for no bar."""
        return content.took_ns if self._states_shown else None

    def waiting_text(self, content: RowContent) -> str:
        """Returns the waiting time of a live request; "" for other messages."""
        since = content.awaits_since
        # In a log, time does not pass.
        if since is None or not self._ticks:
            return ""
        return formats.waiting_words(self.clock_ns() - since)

    def _display(self, message: int, part: int, column: int) -> str:
        if part:
            return self._line_text(message, part) if column == Column.MESSAGE else ""
        content = self.content(message)
        if column == Column.TIME:
            return self.time_text(content)
        return COLUMN_TEXTS[column](content) if column < len(Column) else self.field_text(content, column)

    def text(self, message: int, column: int) -> str:
        """Returns a message's text in a column."""
        return self._display(message, 0, column)

    def _line_text(self, message: int, part: int) -> str:
        line = self.original(message).lines[part - 1]
        text = wire_text.visible_controls(line.text)
        return f"{self.original(message).title}, {text}" if line.kind is OriginalLineKind.HEAD else text

    def _accessible(self, message: int, part: int, column: int) -> str:
        text = self._display(message, part, column)
        if column == Column.GUTTER and not part:
            return ", ".join(filter(None, (text, *self._highlight_words(message))))
        if part or column != Column.MESSAGE:
            return text
        content = self.content(message)
        state = ("expanded" if self.is_expanded(message) else "can be expanded") if content.expandable else ""
        words = [badge.text for badge in self.badges(content)]
        became = self.state(content)
        ends = (content.aside, became.word if became is not None else "", self.waiting_text(content), state)
        return ", ".join(filter(None, (*words, text, *ends)))

    def request_remarks(self, message: int, then: Callable[[], object] = lambda: None) -> RowRemarks | None:
        """Asks for the remarks about a row, for its tooltips; calls `then` once they are known.

        Returns:
            The remarks if they are known now.
        """

        def take(remarks: RowRemarks) -> None:
            self._remarks = remarks
            then()

        if self._remarks is not None and self._remarks.message == message:
            then()
        else:
            self._client.send_request(RemarksOfRow(message), take)
        return self._remarks if self._remarks is not None and self._remarks.message == message else None

    def _tool_tip(self, message: int, part: int, column: int) -> str | None:
        if part:
            return None
        content = self.content(message)
        if content.gap is not None:
            return wire_text.tool_tip(content.gap)
        if column >= len(Column):
            return wire_text.tool_tip(self.field_text(content, column)) or None
        remarks = self.request_remarks(message)
        return wire_text.tool_tip(self._tip_words(content, remarks, column)) or None if remarks is not None else None

    def _tip_words(self, content: RowContent, remarks: RowRemarks, column: int) -> str:
        match column:
            case Column.GUTTER:
                own = content.note.comment or ("marked" if content.note.marked else "")
                sources = f"From {', '.join(remarks.sources)}" if remarks.sources else ""
                return "\n".join(
                    filter(None, (own, *remarks.findings, *self._highlight_words(content.message), sources))
                )
            case Column.CONTEXT:
                return remarks.context if content.path else ""
            case Column.FROM_TO:
                everybody = ", ".join(remarks.recipients) or content.receivers
                return f"{content.sender} → {everybody}" if everybody else content.sender
            case Column.KIND:
                return remarks.raw_kind or content.kind or content.word
            case Column.TIME:
                took = self.took_ns(content)
                words = f"Answered after {formats.duration(took)}" if took is not None and took >= 0 else ""
                return "\n".join(filter(None, (self.times.tool_tip(content.message), words)))
            case Column.MESSAGE:
                badges = [f"{badge.text}: {badge.tooltip}" for badge in self.badges(content)]
                if "transient" in content.badges and not content.collapsed:
                    badges.append(remarks.consumers)
                return "\n\n".join((content.text, *badges))
            case _:
                return ""

    def _highlight_words(self, message: int) -> list[str]:
        """Returns the names of matching highlight rules; colour alone would not explain a highlight."""
        self.looks.prepare([message])
        return [f"Highlighted: {wire_text.safe_line(name)}" for name in self.looks.cached_look(message).names]

    def _alignment(self, message: int, part: int, column: int) -> int:
        return _RIGHT if self.is_right_aligned(column) else _LEFT

    def is_right_aligned(self, column: int) -> bool:
        """Returns True for right-aligned columns, such as numbers."""
        return column in RIGHT_ALIGNED or self.columns.is_figure(column)

    # Columns, times and order

    def set_columns(self, columns: ChosenColumns) -> None:
        """Replaces the columns."""
        if [field.name for field in columns.fields] == [field.name for field in self.columns.fields]:
            self.columns = columns
            return
        self.beginResetModel()
        self.columns = columns
        self.contents.clear()
        self.endResetModel()

    def set_times(self, mode: str, reference: int | None) -> None:
        """Changes the column Time; arguments as for `TimeColumn.set_mode`."""
        if self.times.set_mode(mode, reference):
            self._emit_rows(0, self.rowCount() - 1, [Qt.ItemDataRole.DisplayRole], Column.TIME)
            self.report_heads()

    def put_in_order(self, order: SortedRows | None = None) -> None:
        """Sorts the rows in a model reset; None for the order of arrival."""
        self.beginResetModel()
        self.rows.sort(order and order.order, order and order.places, order and order.messages)
        self.endResetModel()
        self.report_heads()

    def report_heads(self) -> None:
        """Emits a change of all column titles."""
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def tick(self, *, live: bool) -> None:
        """Reads columns of fields that depend on the clock again; called once a second.

        Args:
            live: time passes for waiting requests.
        """
        self._ticks = live
        if any(field.follows_clock for field in self.columns.fields):
            self.contents.invalidate()
            self._emit_rows(0, self.rowCount() - 1, [Qt.ItemDataRole.DisplayRole])

    # Changes

    def set_context_hints(self, on: bool) -> None:
        if on == self._hints:
            return
        self._hints = on
        self._emit_rows(0, self.rowCount() - 1, [Role.BADGES, Qt.ItemDataRole.AccessibleTextRole], Column.MESSAGE)

    def set_states_shown(self, on: bool) -> None:
        if on != self._states_shown:
            self._states_shown = on
            self._emit_rows(0, self.rowCount() - 1, [Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole])

    def apply_changes(self, changes: Update, *, clock: bool = False) -> None:
        """Asks for the effect of new traffic on the rows, and shows it; O(new and changed messages).

        Args:
            changes: the changes; an empty one continues with the remainder (`ViewRows.is_behind`).
            clock: time has passed.
        """
        changed = np.asarray(changes.changed, np.int64)
        self._invalidate(changed.tolist(), tree_moved=changes.tree_moved)
        self.update_figures()
        question = FollowRows(VIEW, changes.start, changes.stop, changed, changes.tree_moved, clock)
        self._client.send_request(question, lambda update: self._take_changes(update, tree_moved=changes.tree_moved))
        self._prepare_new_rows(changes)

    def _prepare_new_rows(self, changes: Update) -> None:
        """Asks for the contents of new rows that will be on screen, in the same turn as for the rows themselves."""
        rows = self.rows
        if len(rows) and not rows.is_filtered and self.contents.is_on_screen(rows.row_at(len(rows) - 1)[0]):
            self.contents.prepare(range(max(changes.start, changes.stop - self.contents.page), changes.stop))

    def _take_changes(self, update: ChangedRows, *, tree_moved: bool) -> None:
        if update.base != self.rows.revision:
            # The rows were replaced meanwhile; a pending request may have been cancelled after it was done.
            if not self.rows.is_awaited:
                self.rows.request_all(self._show_all)
            return
        # Rows of growing streams change with each frame.
        self.contents.invalidate(update.grown.tolist())
        earlier = len(self.rows.visible) if update.replaced is None else len(update.replaced)
        more = earlier + len(update.new) - len(self.rows.visible)
        if update.appended and more:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + more - 1)
            self.rows.apply(update)
            self.endInsertRows()
        elif update.appended:
            self.rows.apply(update)
        else:
            self.beginResetModel()
            self.rows.apply(update)
            self.endResetModel()
        for message in update.grown.tolist():
            if self.is_expanded(message):
                self._request_lines(message, self._put_lines)
        self._emit_changed(update.changed)
        if tree_moved:
            self._emit_rows(0, self.rowCount() - 1, [Qt.ItemDataRole.DisplayRole])
        self.followed.emit()

    def _show_all(self, shown: ShownRows, view: tuple[ValidFilter, Scope | None] | None = None) -> None:
        """Shows all rows in a model reset, of another filter and scope if given."""
        self.beginResetModel()
        if view is not None:
            self.rows.filter, self.rows.scope = view
        folded = self.rows.is_folded
        self.rows.show(shown)
        if self.rows.is_folded != folded:
            self._drop_stream_rows()
        self.endResetModel()
        self.followed.emit()

    def _invalidate(self, changed: list[int], *, tree_moved: bool) -> None:
        self._remarks = None
        self.looks.on_changes(changed, tree_moved=tree_moved)
        # Any visible context may have moved.
        self.contents.invalidate(None if tree_moved else changed)

    def _emit_changed(self, messages: NDArray[np.int64]) -> None:
        """Emits changed rows in few ranges, because each costs, but not in one that covers the whole screen."""
        if not len(messages):
            return
        rows = self.rows.rows_of(messages)
        # Merge over larger gaps until the number of ranges is small.
        for gap in (1, _MERGE_DISTANCE, len(self.rows)):
            breaks = np.flatnonzero(np.diff(rows) > gap)
            if len(breaks) < _MAX_SPANS:
                break
        firsts = rows[np.concatenate(([0], breaks + 1))]
        lasts = rows[np.concatenate((breaks, [len(rows) - 1]))]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            self._emit_rows(first, last)

    def _emit_rows(self, first: int, last: int, roles: list[int] | None = None, column: int | None = None) -> None:
        if 0 <= first <= last:
            left, right = (0, len(self.columns) - 1) if column is None else (column, column)
            self.dataChanged.emit(self.index(first, left), self.index(last, right), roles or [])

    def show_rows(self, filter_: ValidFilter, scope: Scope | None, shown: ShownRows) -> None:
        """Shows the rows of a filter and a scope in a model reset."""
        self._show_all(shown, (filter_, scope))

    def fold_streams(self, on: bool) -> bool:
        """Gives the frames of each stream one row, or one each, in a model reset; returns True on a change."""
        if on == self.rows.folding_enabled:
            return False
        self.rows.folding_enabled = on
        self.rows.request_all(self._show_all)
        return True

    def hide_bookkeeping(self, on: bool, then: Callable[[], object] = lambda: None) -> bool:
        """Hides or shows bookkeeping rows in a model reset and calls `then`; returns True on a change."""
        if on == self.rows.hides_bookkeeping:
            return False
        self.rows.hides_bookkeeping = on

        def show(shown: ShownRows) -> None:
            self._show_all(shown)
            then()

        self.rows.request_all(show)
        return True

    def _drop_stream_rows(self) -> None:
        """Drops cached rows and expanded lines of stream frames."""
        for message in [message for message, lines in self._originals.items() if lines.title != "Original"]:
            self.rows.collapse(message)
            del self._originals[message]
        self.contents.clear()

    # Originals

    def original(self, message: int) -> Original:
        """Returns the lines of an expanded result's original."""
        return self._originals[message]

    def _request_lines(self, message: int, take: Callable[[Original], object]) -> None:
        self._client.send_request(OriginalLines(message, folded=self.rows.is_folded), take)

    def _put_lines(self, lines: Original) -> None:
        """Shows the changed lines below the row of a growing stream."""
        message = lines.message
        before = self.rows.part_count(message)
        row = self.rows.row_of(message) if before else None
        if row is None:
            return
        self._originals[message] = lines
        count = len(lines.lines)
        if count > before:
            self.beginInsertRows(QModelIndex(), row + before + 1, row + count)
            self.rows.expand(message, count)
            self.endInsertRows()
        elif count < before:
            self.beginRemoveRows(QModelIndex(), row + count + 1, row + before)
            self.rows.expand(message, count)
            self.endRemoveRows()
        self._emit_rows(row + 1, row + count, column=Column.MESSAGE)

    def is_expanded(self, message: int) -> bool:
        """Returns True if the lines of a message's original are shown."""
        return self.rows.part_count(message) > 0

    def expand(
        self, message: int, within: Callable[[Callable[[], None]], object] = lambda insert: insert()
    ) -> bool:  # fmt: skip
        """Shows the original of a collapsed result below its row, once its lines are known.

        Args:
            message: the message of the row.
            within: called with a function that inserts the lines.

        Returns:
            True if the row can be expanded.
        """
        if self.rows.row_of(message) is None or self.is_expanded(message) or not self.content(message).expandable:
            return False

        folded = self.rows.is_folded

        def take(lines: Original) -> None:
            row = self.rows.row_of(message)
            # Rows may have changed until the lines are known.
            if row is not None and folded == self.rows.is_folded and not self.is_expanded(message):
                within(lambda: self._insert_lines(row, lines))

        self._request_lines(message, take)
        return True

    def _insert_lines(self, row: int, lines: Original) -> None:
        message, count = lines.message, len(lines.lines)
        self._originals[message] = lines
        self.beginInsertRows(QModelIndex(), row + 1, row + count)
        self.rows.expand(message, count)
        self.endInsertRows()
        self._emit_rows(row, row, [Role.EXPANDED], Column.MESSAGE)

    def collapse(self, message: int) -> bool:
        """Hides the original; returns True on a change."""
        count = self.rows.part_count(message)
        if not count:
            return False
        row = self.rows.row_of(message)
        if row is None:
            self.rows.collapse(message)
        else:
            self.beginRemoveRows(QModelIndex(), row + 1, row + count)
            self.rows.collapse(message)
            self.endRemoveRows()
            self._emit_rows(row, row, [Role.EXPANDED], Column.MESSAGE)
        self._originals.pop(message, None)
        return True
