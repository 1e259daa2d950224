"""Selection of messages in the table: by keys, pointer and dragging; mirrored into Qt near the screen.

One message is current and shown in the details; several may be selected (`SelectedMessages`). The selection holds
messages, so it survives any change of rows. Qt's own selection serves screen readers. It holds only the rows around the
screen: one range for each of a million rows would cost seconds.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject, QPoint, QTimer, Signal
from PySide6.QtWidgets import QTableView

from inspector.engine.requests.views import Messages, TableRows
from inspector.present.message_columns import Column
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.chain_rail import SelectedChain
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.widgets.latest_answer import Client

_NO_UPDATE = QItemSelectionModel.SelectionFlag.NoUpdate
_CLEAR_AND_SELECT = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_SCROLL_MS = 40
_MAX_SCROLLED_ROWS = 40
"""Most rows scrolled at once while the pointer is dragged far outside."""
_NONE = np.empty(0, np.uint32)
_ONE_BY_ONE_LIMIT = 2_000
"""Sorted rows asked one by one up to this number; more rows are cheaper through the whole order."""


class SelectedMessages:
    """Selected messages of one table: only the current one, until the user selects several.

    Several are stored as one bool a message, by index in the capture. They survive filters, sorts, expansion, appends
    and resets. Hidden messages do not count: they are neither copied nor exported, so that no action touches invisible
    rows. They are selected again once they are visible, unless the user has selected a single message meanwhile. If all
    of several are hidden, only the current one is selected.

    Attributes:
        anchor: start of ranges; None for the current message.
        gathering: the user selects one by one, so a single message counts as several.
    """

    def __init__(self, rows: TableRows) -> None:
        self._rows = rows
        self._mask: NDArray[np.bool_] | None = None
        self._base: NDArray[np.bool_] | None = None
        self._counted: tuple[object, int] | None = None
        self._number = 0
        self.anchor: int | None = None
        self.gathering = False

    # State

    @property
    def count(self) -> int:
        """Visible messages of a multiple selection; 0 for the current one alone. O(rows) after a change, then O(1)."""
        if self._mask is None:
            return 0
        visible = self._rows.visible
        # Each change of the visible rows creates another array, or a longer view of the same.
        known = self._counted
        if known is None or known[0] is not visible.base or known[1] != len(visible):
            self._number = int(np.count_nonzero(self._selected_among(visible)))
            self._counted = (visible.base, len(visible))
        return self._number

    @property
    def several(self) -> bool:
        """True if a multiple selection has visible messages."""
        return self.count > 0

    def is_selected(self, message: int, current: int | None) -> bool:
        """Returns True if a visible message is selected. O(1)."""
        if not self.several or self._mask is None:
            return message == current
        return message < len(self._mask) and bool(self._mask[message])

    def shown(self) -> Messages:
        """Returns the visible messages of a multiple selection, ascending; else empty. O(rows)."""
        visible = self._rows.visible
        return _NONE if self._mask is None else visible[self._selected_among(visible)]

    def shown_in_order(self) -> Messages:
        """Like `shown`, in table order."""
        standing = self._rows.in_order()
        return _NONE if self._mask is None else standing[self._selected_among(standing)]

    def _selected_among(self, messages: Messages) -> NDArray[np.bool_]:
        mask = self._full_mask()
        if len(messages) == len(mask) and self._rows.sorted_by is None:
            return mask
        return mask.take(messages)

    def _full_mask(self) -> NDArray[np.bool_]:
        """Returns the mask, extended to the length of the capture; new messages are not selected."""
        needed = self._rows.seen_count
        mask = self._mask
        if mask is None or len(mask) < needed:
            wider = np.zeros(needed, np.bool_)
            if mask is not None:
                wider[: len(mask)] = mask
            self._mask = mask = wider
        return mask

    # Changes

    def alone(self) -> None:
        """Selects only the current message."""
        self._mask = self._base = self._counted = None
        self.anchor = None
        self.gathering = False

    def everything(self) -> None:
        """Selects exactly the visible messages. O(rows)."""
        mask = np.zeros(self._rows.seen_count, np.bool_)
        visible = self._rows.visible
        # Without filter a slice is faster than an index array.
        if len(visible) == len(mask):
            mask[:] = True
        else:
            mask[visible] = True
        self._put(mask)

    def begin(self, anchor: int | None, current: int | None, *, add: bool) -> None:
        """Begins a range.

        Args:
            anchor: start; None for the last anchor, else the current message.
            current: the current message.
            add: keeps the present selection.
        """
        if anchor is None and self.anchor is not None and self._rows.position(self.anchor) is not None:
            anchor = self.anchor
        self.anchor = current if anchor is None else anchor
        self._base = self._selected_mask(current).copy() if add else None

    def reach(self, message: int) -> None:
        """Selects from the anchor to a message in table order, added to the selection at `begin`."""
        rows = self._rows
        to = rows.position(message)
        if to is None:
            return
        start = None if self.anchor is None else rows.position(self.anchor)
        if start is None:
            start, self.anchor = to, message
        first, last = min(start, to), max(start, to)
        mask = np.zeros(rows.seen_count, np.bool_)
        if self._base is not None:
            mask[: len(self._base)] = self._base
        self._mark_between(mask, first, last)
        if first == last and self._base is None:
            self._mask = self._counted = None
            return
        self._put(mask)

    def _mark_between(self, mask: NDArray[np.bool_], first: int, last: int) -> None:
        """Marks the messages from position `first` to `last`, inclusive."""
        rows = self._rows
        if rows.sorted_by is None:
            run = rows.visible[first : last + 1]
            begin, end = int(run[0]), int(run[-1])
            # A run without gaps is a slice of the mask.
            if end - begin == last - first:
                mask[begin : end + 1] = True
            else:
                mask[run] = True
        elif last - first < _ONE_BY_ONE_LIMIT:
            mask[[rows.message_at(position) for position in range(first, last + 1)]] = True
        else:
            mask[rows.in_order()[first : last + 1]] = True

    def toggle(self, message: int, current: int | None) -> None:
        """Toggles a message; the first toggle only starts a multiple selection at the current message. O(rows)."""
        held = self.several or message != current
        mask = self._selected_mask(current)
        if message >= len(mask):
            return
        if held:
            mask[message] = not mask[message]
        self._put(mask)
        self.anchor, self._base, self.gathering = message, None, True

    def _selected_mask(self, current: int | None) -> NDArray[np.bool_]:
        """Returns the present selection as a mask."""
        if self.several:
            return self._full_mask()
        mask = np.zeros(self._rows.seen_count, np.bool_)
        if current is not None and self._rows.position(current) is not None:
            mask[current] = True
        return mask

    def _put(self, mask: NDArray[np.bool_]) -> None:
        self._mask, self._counted = mask, None


class Selection(QObject):
    """Selection of one table: its current message, and the messages selected with it.

    Signals:
        current_changed(object): the current message, or None.
        changed(): the selection, or its visible part, changed.
        chosen(int): the user picked a message, even the current one.
        picked(): the user selected a row, even a selected one.

    Attributes:
        current: the current message.
        preferred: the user's choice; while it is hidden, another message is current.
        messages: the multiple selection.
        chain: the causal chain of the current message.
        restoring: True while the table itself changes the selection; `picked` is not emitted.
    """

    current_changed = Signal(object)
    changed = Signal()
    chosen = Signal(int)
    picked = Signal()

    def __init__(self, client: Client, model: MessageTableModel, table: QTableView, paints: PaintCache) -> None:
        super().__init__(table)
        self._model = model
        self._table = table
        self._paints = paints
        self.current: int | None = None
        self.preferred: int | None = None
        self.messages = SelectedMessages(model.rows)
        self.chain = SelectedChain(client, model.rows, self)
        self.restoring = False
        self._mirroring = False
        # True if Qt's selection holds the visible part of several.
        self._mirrored = False
        # `chosen` is emitted at the end of a drag.
        self._dragging = False
        model.rowsInserted.connect(self._on_rows_inserted)
        table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        table.verticalScrollBar().valueChanged.connect(self._mirror_to_qt)

    @contextmanager
    def by_table(self) -> Generator[None]:
        """Marks changes as the table's own: `picked` is not emitted."""
        before, self.restoring = self.restoring, True
        try:
            yield
        finally:
            self.restoring = before

    # The current message

    def current_row(self) -> int | None:
        """Returns the row of the current message; None if it is hidden."""
        return None if self.current is None else self._model.rows.row_of(self.current)

    def prefer_current(self) -> None:
        """Makes the current message the preferred one, so that the next view keeps it."""
        if self.current is not None:
            self.preferred = self.current

    def select_row(self, row: int, column: int = Column.MESSAGE) -> None:
        """Selects only a row and makes it current; while the view is restored, several stay selected."""
        if self.restoring and self.messages.several:
            self.move_to_row(row, column)
            return
        if not self.restoring:
            self.messages.alone()
        self._request_rows_around(row)
        self._table.selectionModel().setCurrentIndex(self._model.index(row, column), _CLEAR_AND_SELECT)
        if not self.restoring and self.current != self._model.message_at_row(row)[0]:
            # Qt emits no signal for an unchanged row index.
            self._set_current(self._model.message_at_row(row)[0])
        self.announce()

    def _request_rows_around(self, row: int) -> None:
        """Asks for the rows that will be on screen, if the row is not known; requests about its message come later."""
        if not self._model.knows(self._model.message_at_row(row)[0]):
            page = self.page_rows()
            near = range(max(0, row - page), min(self._model.rowCount(), row + page + 1))
            self._model.prepare([self._model.message_at_row(one)[0] for one in near])

    def move_to_row(self, row: int, column: int | None = None) -> None:
        """Makes a row current and keeps the selection."""
        column = max(self._table.currentIndex().column(), Column.NUMBER) if column is None else column
        self._mirroring = True
        self._table.selectionModel().setCurrentIndex(self._model.index(row, column), _NO_UPDATE)
        self._mirroring = False
        if not self.restoring:
            self.picked.emit()
        self._set_current(self._model.message_at_row(row)[0])

    def choose_row(self, row: int, column: int = Column.MESSAGE) -> None:
        """Selects a row on behalf of the user; emits signals even for the current row."""
        selected = self.current
        self.select_row(row, column)
        if selected is not None and self.current == selected:
            self.picked.emit()
            self.chosen.emit(selected)

    def put_back(self, message: int | None, *, stays: bool) -> int:
        """Restores the current message, or the nearest one, after rows were replaced; returns its row, -1 without rows.

        Args:
            message: the current message, or None.
            stays: keeps a message that left the view by itself, for example because it was answered.
        """
        rows = self._model.rows
        row = -1 if message is None else rows.nearest_row(message)
        if stays and self.current is not None and self.current_row() is None:
            self._table.selectionModel().clearSelection()
            # Start of later key moves.
            if row >= 0:
                self._table.selectionModel().setCurrentIndex(self._model.index(row, Column.MESSAGE), _NO_UPDATE)
        elif row >= 0:
            self.select_row(row)
        else:
            self._set_current(None)
        return row

    def _on_selection_changed(self, selected: QItemSelection, _deselected: QItemSelection) -> None:
        if self._mirroring or (self.messages.several and (self.restoring or selected.isEmpty())):
            # Only the visible part of several changed, for example by collapsed lines.
            return
        rows = [index.row() for index in self._table.selectionModel().selectedRows(Column.MESSAGE)]
        if len(rows) > 1 and not self.restoring:
            self._take_rows(rows)
            return
        message = self._model.message_at_row(rows[0])[0] if rows else None
        if self.restoring:
            if message is not None:
                self._set_current(message)
            return
        several = self.messages.several
        self.messages.alone()
        self._set_current(message)
        if message is not None:
            self.picked.emit()
        if several:
            # Qt's selection is independent from here on.
            self._mirrored = False
            self.announce()

    def _take_rows(self, rows: list[int]) -> None:
        """Applies a selection of several rows made through Qt, as by screen readers."""
        wanted = {self._model.message_at_row(row)[0] for row in rows}
        for message in wanted - {self.current}:
            if not self.messages.is_selected(message, self.current):
                self.messages.toggle(message, self.current)
        self.announce()

    def _set_current(self, message: int | None) -> None:
        if message is not None and not self.restoring:
            self.preferred = message
        if message == self.current:
            return
        self.current = message
        self.chain.find_for(message)
        self._table.viewport().update()
        self.current_changed.emit(message)
        if message is not None and not self.restoring and not self._dragging:
            self.chosen.emit(message)

    # Several messages

    @property
    def several(self) -> bool:
        """True if a multiple selection has visible messages."""
        return self.messages.several

    @property
    def count(self) -> int:
        """Visible messages of a multiple selection; 0 for the current one alone."""
        return self.messages.count

    def is_selected(self, message: int) -> bool:
        """Returns True if a visible message is selected. O(1)."""
        return self.messages.is_selected(message, self.current)

    def shown(self) -> Messages:
        """Returns the visible selected messages, ascending, (n,) uint32."""
        return self.messages.shown() if self.messages.several else self._current_alone()

    def shown_in_order(self) -> Messages:
        """Returns the visible selected messages in table order, (n,) uint32."""
        return self.messages.shown_in_order() if self.messages.several else self._current_alone()

    def _current_alone(self) -> Messages:
        shown = self.current_row() is not None
        return np.array([self.current] if shown else [], np.uint32)

    def select_all(self) -> None:
        """Selects every visible message; the current one stays current."""
        if not len(self._model.rows.visible):
            return
        if self.current_row() is None:
            self.move_to_row(max(0, self._table.rowAt(0)))
        self.picked.emit()
        self.messages.everything()
        self.announce()

    def select_current_alone(self) -> None:
        row = self._table.currentIndex().row()
        if row >= 0:
            self.select_row(row, self._table.currentIndex().column())

    def extend_to_row(self, row: int, column: int | None = None, *, add: bool = False) -> None:
        """Selects a range from the last anchor, else from the current row, to a row that becomes current.

        Args:
            row: of the table.
            column: of the current cell; by default the same column.
            add: keeps the present selection.
        """
        self.messages.begin(None, self.current, add=add)
        self.messages.reach(self._model.message_at_row(row)[0])
        self.move_to_row(row, column)
        self.announce()

    def toggle_row(self, row: int, column: int | None = None) -> None:
        """Toggles a row and makes it current."""
        self.messages.toggle(self._model.message_at_row(row)[0], self.current)
        self.move_to_row(row, column)
        self.announce()

    def _on_rows_inserted(self) -> None:
        if self.messages.several:
            self.announce()

    def announce(self) -> None:
        """Mirrors the selection to Qt and emits `changed`."""
        self._mirror_to_qt()
        self._table.viewport().update()
        self.changed.emit()

    def _mirror_to_qt(self) -> None:
        """Mirrors the selected rows on screen, one screen above and one below into Qt's selection."""
        if not self.messages.several and not self._mirrored:
            return
        model, page = self._model, self.page_rows()
        top = self._table.verticalScrollBar().value() // self._paints.metrics.row
        near = range(max(0, top - page), min(model.rowCount(), top + 2 * page + 1))
        rows = [row for row in near if self.is_selected(model.message_at_row(row)[0])]
        selection = QItemSelection()
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if rows else ():
            selection.select(model.index(int(run[0]), 0), model.index(int(run[-1]), model.columnCount() - 1))
        self._mirroring = True
        self._table.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._mirroring = False
        self._mirrored = self.messages.several

    def page_rows(self) -> int:
        """Returns the number of rows on screen."""
        return max(1, self._table.viewport().height() // self._paints.metrics.row)

    # Drags

    def press(self, row: int, column: int) -> None:
        """Selects a row alone and anchors a range there."""
        self.choose_row(row, column)
        message = self._model.message_at_row(row)[0]
        self.messages.begin(message, message, add=False)

    def press_more(self, row: int, column: int) -> None:
        """Toggles a row and anchors an additional range there."""
        self.toggle_row(row, column)
        message = self._model.message_at_row(row)[0]
        self.messages.begin(message, message, add=True)

    def drag_to(self, row: int) -> None:
        """Selects up to the row under a dragged pointer; `chosen` follows at the end."""
        self._dragging = True
        self.messages.reach(self._model.message_at_row(row)[0])
        self.move_to_row(row)
        self._dragging = False
        self.announce()

    def drop(self) -> None:
        """Ends a drag to another row."""
        if self.current is not None:
            self.chosen.emit(self.current)


class RowDrag(QObject):
    """Drags over rows: selects up to the pointer and scrolls near the edges.

    Attributes:
        row: row of the press; -1 without a pressed button.
    """

    def __init__(self, table: QTableView, selection: Selection, paints: PaintCache) -> None:
        super().__init__(table)
        self._table = table
        self._selection = selection
        self._paints = paints
        self.row = -1
        self._at = QPoint()
        self._reached = -1
        self._timer = QTimer(self)
        self._timer.setInterval(_SCROLL_MS)
        self._timer.timeout.connect(self._scroll)

    def begin(self, row: int) -> None:
        """Starts at the pressed row."""
        self.row = row
        self._reached = -1

    def move(self, at: QPoint) -> None:
        """Moves the pointer to a viewport position, which may be outside."""
        self._at = at
        self._select_to_pointer()
        if self._reached >= 0 and self._scroll_rows() and not self._timer.isActive():
            self._timer.start()

    def end(self) -> None:
        """Ends at the release of the button."""
        self._timer.stop()
        dragged, self.row, self._reached = self._reached >= 0, -1, -1
        if dragged:
            self._selection.drop()

    def _select_to_pointer(self) -> None:
        height = self._table.viewport().height()
        row = self._table.rowAt(min(max(self._at.y(), 0), height - 1))
        if row < 0 or row == self._reached or (self._reached < 0 and row == self.row):
            return
        self._reached = row
        self._selection.drag_to(row)

    def _scroll_rows(self) -> int:
        """Returns the signed number of rows to scroll; more with the distance from the edge rows."""
        row, y = self._paints.metrics.row, self._at.y()
        below = y - (self._table.viewport().height() - row // 2)
        above = row // 2 - y
        far = max(below, above)
        if far <= 0:
            return 0
        # The further the pointer, the faster the scroll.
        rows = min(_MAX_SCROLLED_ROWS, 1 + far // row)
        return rows if below > 0 else -rows

    def _scroll(self) -> None:
        rows = self._scroll_rows()
        bar = self._table.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + rows * self._paints.metrics.row)
        if not rows or bar.value() == before:
            self._timer.stop()
        self._select_to_pointer()
