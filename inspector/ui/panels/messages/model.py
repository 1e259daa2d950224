"""Qt model of the message table: a row per (message, part), cell texts, tooltips, expanded originals."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.arrays.field_columns import Column as FieldColumn
from inspector.analysis.findings import Finding
from inspector.document.document import CaptureDocument
from inspector.filters.cache import TermCache
from inspector.filters.compile import DisplayFilter
from inspector.filters.field import Depends, Field
from inspector.filters.highlight import Highlighter
from inspector.filters.order import Permutation
from inspector.filters.sorting import SortBy
from inspector.filters.visible import Messages, Scope, VisibleRows
from inspector.present import formats, wire_text
from inspector.present.badges import Badge, shown_in_row
from inspector.present.folded_stream import stream_lines
from inspector.present.lifecycle_facts import consumers_sentence
from inspector.present.message_columns import COLUMN_TEXTS, RIGHT_ALIGNED, Column, TimeColumn, cell_text
from inspector.present.message_row import RowContent, row_contents
from inspector.present.original_result import Original, OriginalLineKind, original_of
from inspector.present.row_state import RowState
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.large_headers import HEAD_BYTES, MAX_WHOLE_BYTES
from inspector.ui.look.roles import Role
from inspector.ui.panels.messages.columns import ChosenColumns

_CACHED_ROWS = 512  # several screens of rows; one takes 0.2 ms to make
_MAX_DECODED_BYTES = 1 << 19
"""Bytes decoded for one paint; a screen of 1 MB messages would take 500 ms."""
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

    The model owns all changes of `rows`; no other code may apply, choose, expand or collapse there. Texts of a message
    are built on first use and cached for the last few hundred messages.

    Attributes:
        rows: the visible messages.
        columns: built-in columns (docs/design.md 14) and columns of fields, by logical index.
        times: content of the column Time.
        highlights: highlight rules of rows.
        clock_ns: returns the wall clock, for waiting requests.
    """

    def __init__(self, document: CaptureDocument, rows: VisibleRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.rows = rows
        self.columns = ChosenColumns()
        self.times = TimeColumn(document, rows)
        self.highlights = Highlighter(document.analysis)
        self._read: dict[str, FieldColumn] = {}
        self.clock_ns: Callable[[], int] = time.time_ns
        self._hints = False
        self._states_shown = True
        self._contents: dict[int, RowContent] = {}
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
        if by is None or by.field.name != self.columns.sort_name(column):
            return words
        return f"{words}, sorted, {'largest' if by.descending else 'smallest'} first"

    # Row content

    def message_at_row(self, row: int) -> tuple[int, int]:
        """Returns the (message, part) of a row."""
        return self.rows.row_at(row)

    def content(self, message: int) -> RowContent:
        """Returns the content of a message's row; cached."""
        found = self._contents.get(message)
        if found is None:
            self.prepare([message])
            found = self._contents[message]
        return found

    def knows(self, message: int) -> bool:
        """Returns True if a message's row content is cached."""
        return message in self._contents

    def prepare(self, messages: Sequence[int]) -> bool:
        """Builds the row contents of messages in one batch; stops after `_MAX_DECODED_BYTES` bytes.

        Returns:
            True if all contents are cached. If not, call again in a later turn of the event loop.
        """
        new: list[int] = []
        wanted = [message for message in dict.fromkeys(messages) if message not in self._contents]
        lengths, decoded = self._document.capture.columns["length"], 0
        for message in wanted:
            # The budget is checked between messages, so at least one is decoded.
            if decoded >= _MAX_DECODED_BYTES:
                break
            new.append(message)
            length = int(lengths[message])
            decoded += HEAD_BYTES if length > MAX_WHOLE_BYTES else length
        if not new:
            return True
        # Half of the cache at once, so that evictions are rare.
        if len(self._contents) + len(new) > _CACHED_ROWS:
            for old in list(self._contents)[: _CACHED_ROWS // 2]:
                del self._contents[old]
        self._contents.update(zip(new, row_contents(self._document, new, folded=self.rows.is_folded), strict=True))
        # The cache may have evicted some of them meanwhile.
        return all(map(self.knows, messages))

    @property
    def start_ns(self) -> int:
        """Time of the first message with one; default origin of the column Time."""
        return self.times.start_ns

    def time_text(self, content: RowContent) -> str:
        """Returns the text of the column Time for a visible message."""
        return self.times.text(content.message)

    def field_text(self, content: RowContent, column: int) -> str:
        """Returns the text of a column of a field; read from the message on first use."""
        field = self.columns.field(column)
        if field is None:
            return ""
        # Values are cached per row content; both are dropped together.
        found = content.fields.get(field.name)
        if found is None:
            value = self._column_of(field).value(content.message)
            secret = field.secret_at(self._document.analysis, content.message)
            found = content.fields[field.name] = cell_text(field, value, secret)
        return found

    def _column_of(self, field: Field) -> FieldColumn:
        """Returns the field's column, cached until a change; creation may cost as much as many reads."""
        found = self._read.get(field.name)
        if found is None or len(found) < len(self._document.analysis):
            found = self._read[field.name] = field.column(self._document.analysis)
        return found

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
        if since is None or since == NO_TIME or self._document.analysis.now_ns is None:
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

    def _tool_tip(self, message: int, part: int, column: int) -> str | None:
        if part:
            return None
        content = self.content(message)
        if content.gap is not None:
            return wire_text.tool_tip(content.gap)
        if column == Column.GUTTER:
            findings = [f"{finding.severity.word}: {mask_text(finding.text)}" for finding in self._findings(message)]
            own = content.note.comment or ("marked" if content.note.marked else "")
            sources = [self._document.capture.sources[one].name for one in content.sources]
            read = f"From {', '.join(sources)}" if sources else ""
            lines = filter(None, (own, *findings, *self._highlight_words(message), read))
            return wire_text.tool_tip("\n".join(lines)) or None
        if column == Column.CONTEXT:
            return wire_text.tool_tip(self._context_story(message, content)) or None
        if column == Column.FROM_TO:
            everybody = ", ".join(self._document.capture.recipients(message)) or content.receivers
            return wire_text.tool_tip(f"{content.sender} → {everybody}" if everybody else content.sender) or None
        if column == Column.KIND:
            raw = self._document.capture.string("kind_raw", message)
            return wire_text.tool_tip(raw or content.kind or content.word) or None
        if column == Column.TIME:
            took = self.took_ns(content)
            words = f"Answered after {formats.duration(took)}" if took is not None and took >= 0 else ""
            return wire_text.tool_tip("\n".join(filter(None, (self.times.tool_tip(message), words)))) or None
        if column == Column.MESSAGE:
            badges = [f"{badge.text}: {badge.tooltip}" for badge in self.badges(content)]
            if "transient" in content.badges and not content.collapsed:
                badges.append(consumers_sentence(self._document.analysis, message))
            return wire_text.tool_tip("\n\n".join((content.text, *badges))) or None
        return wire_text.tool_tip(self.field_text(content, column)) or None

    def _highlight_words(self, message: int) -> list[str]:
        """Returns the names of matching highlight rules; colour alone would not explain a highlight."""
        return [f"Highlighted: {wire_text.safe_line(name)}" for name in self.highlights.evaluated_look(message).names]

    def _findings(self, message: int) -> list[Finding]:
        return self._document.analysis.findings.findings_about(message)

    def _context_story(self, message: int, content: RowContent) -> str:
        if not content.path:
            return ""
        contexts = self._document.analysis.contexts
        node = contexts.node_of(message)
        label = contexts.tree.label[node]
        return "\n".join(filter(None, (label, content.path, contexts.type_reason(node))))

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
        self._read.clear()
        self.endResetModel()

    def set_times(self, mode: str, reference: int | None) -> None:
        """Changes the column Time; arguments as for `TimeColumn.set_mode`."""
        if self.times.set_mode(mode, reference):
            self._emit_rows(0, self.rowCount() - 1, [Qt.ItemDataRole.DisplayRole], Column.TIME)
            self.report_heads()

    def put_in_order(
        self, by: SortBy | None, places: Permutation | None = None, messages: Messages | None = None
    ) -> None:
        """Sorts the rows in a model reset; arguments as for `VisibleRows.sort`."""
        self.beginResetModel()
        self.rows.sort(by, places, messages)
        self.endResetModel()
        self.report_heads()

    def report_heads(self) -> None:
        """Emits a change of all column titles."""
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def tick(self) -> None:
        """Reads columns of fields that depend on the clock again; called once a second."""
        going = [field.name for field in self.columns.fields if field.depends is Depends.CLOCK]
        if not going:
            return
        # Only fields that depend on the clock: others keep their cached texts.
        for name in going:
            self._read.pop(name, None)
            for content in self._contents.values():
                content.fields.pop(name, None)
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

    def apply_changes(self, changes: AnalysisChanges, *, clock: bool = False, until: float | None = None) -> None:
        """Applies the changes of a feed; runs on the UI thread, O(new and changed messages).

        Args:
            changes: the changes; an empty one continues with the remainder.
            clock: time has passed.
            until: deadline by `time.perf_counter`; the remainder stays in `VisibleRows.is_behind`.
        """
        update = self.rows.prepare(changes, clock=clock, until=until)
        self._drop_changed(changes)
        # Rows of growing streams change with each frame.
        for message in update.grown.tolist() if self._contents else ():
            self._contents.pop(message, None)
        self._read.clear()
        if update.appended and update.row_difference:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + update.row_difference - 1)
            self.rows.apply(update)
            self.endInsertRows()
        elif update.appended:
            self.rows.apply(update)
        else:
            self.beginResetModel()
            self.rows.apply(update)
            self.endResetModel()
        for message in update.grown.tolist():
            self._insert_stream_lines(message)
        self._emit_changed(update.changed)
        if changes.tree_moved:
            self._emit_rows(0, self.rowCount() - 1, [Qt.ItemDataRole.DisplayRole])

    def _drop_changed(self, changes: AnalysisChanges) -> None:
        self.highlights.on_changes(changes)
        if changes.tree_moved:
            # Any visible context may have moved.
            self._contents.clear()
        elif len(changes.changed) and self._contents:
            cached = np.fromiter(self._contents, np.int64, len(self._contents))
            for message in cached[np.isin(cached, changes.changed)].tolist():
                del self._contents[message]

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

    def show_rows(
        self,
        filter_: DisplayFilter,
        scope: Scope | None,
        visible: Messages | None = None,
        answers: TermCache | None = None,
    ) -> None:
        """Applies a filter and a scope in a model reset.

        Args:
            filter_: the display filter.
            scope: part of the context tree, or None.
            visible: earlier result of `rows.evaluate` for them.
            answers: earlier results of expensive filter terms.
        """
        self.beginResetModel()
        folded = self.rows.is_folded
        self.rows.apply_filter(filter_, scope, visible, answers)
        if self.rows.is_folded != folded:
            self._drop_stream_rows()
        self.endResetModel()

    def fold_streams(self, on: bool) -> bool:
        """Gives the frames of each stream one row, or one each, in a model reset; returns True on a change."""
        if on == self.rows.folding_enabled:
            return False
        self.beginResetModel()
        self.rows.set_folding(on)
        self._drop_stream_rows()
        self.endResetModel()
        return True

    def hide_bookkeeping(self, on: bool) -> bool:
        """Hides or shows bookkeeping rows in a model reset; returns True on a change."""
        if on == self.rows.hides_bookkeeping:
            return False
        self.beginResetModel()
        self.rows.hide_bookkeeping(on)
        self.endResetModel()
        return True

    def _drop_stream_rows(self) -> None:
        """Drops cached rows and expanded lines of stream frames."""
        runs = self._document.analysis.streams.columns["run"]
        for message in [message for message in self._originals if runs[message]]:
            self.rows.collapse(message)
            del self._originals[message]
        self._contents.clear()

    # Originals

    def original(self, message: int) -> Original:
        """Returns the lines of a result's original; cached while it is expanded."""
        found = self._originals.get(message)
        if found is None:
            found = self._lines_of(message)
            if self.is_expanded(message):
                self._originals[message] = found
        return found

    def _lines_of(self, message: int) -> Original:
        of_stream = self.content(message).stream is not None
        return (stream_lines if of_stream else original_of)(self._document, message)

    def _insert_stream_lines(self, message: int) -> None:
        """Shows new lines below the row of a growing stream."""
        before = self.rows.part_count(message)
        row = self.rows.row_of(message) if before else None
        if row is None:
            return
        lines = self._originals[message] = stream_lines(self._document, message)
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

    def expand(self, message: int) -> bool:
        """Shows the original of a collapsed result below its row; returns True on a change."""
        row = self.rows.row_of(message)
        if row is None or self.is_expanded(message) or not self.content(message).expandable:
            return False
        original = self._originals[message] = self._lines_of(message)
        count = len(original.lines)
        self.beginInsertRows(QModelIndex(), row + 1, row + count)
        self.rows.expand(message, count)
        self.endInsertRows()
        self._emit_rows(row, row, [Role.EXPANDED], Column.MESSAGE)
        return True

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
