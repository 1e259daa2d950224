"""Which messages of the table are selected, and how Qt's own selection says so.

One message is current, which is what the details show; several may be selected (`SelectedMessages`). Rows are addressed
by message: what is selected stays so however rows are replaced. Of several, Qt's own selection, which is what screen
readers are told, holds the rows on screen and some around them: a range a row of a million would cost seconds.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject, QPoint, QTimer, Signal
from PySide6.QtWidgets import QTableView

from inspector.document.document import CaptureDocument
from inspector.filters.visible import Messages, VisibleRows
from inspector.present.message_columns import Column
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.chain_rail import SelectedChain
from inspector.ui.panels.messages.model import MessageTableModel

_NO_UPDATE = QItemSelectionModel.SelectionFlag.NoUpdate
_CLEAR_AND_SELECT = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_SCROLL_MS = 40
_MOST_ROWS = 40
"""Rows moved at a time where the pointer is dragged far outside."""
_NONE = np.empty(0, np.uint32)
_FEW = 2_000
"""So many sorted rows are asked for one by one sooner than all of them are put in order."""


class SelectedMessages:
    """The selected messages of one table: the current one alone, until the user makes them several.

    Several are kept as one bool a message, by its place in the capture: they stay selected however rows are filtered,
    sorted, expanded, appended or reset. What a filter or scope hides does not count while it is hidden: it is neither
    copied nor exported nor counted, as nothing should happen to what cannot be seen. Shown again it is selected again,
    unless the user has selected something else alone meanwhile. Where none of several is shown, the current one
    alone is selected.

    Attributes:
        anchor: the message ranges start from; None for the current one.
        gathering: the user picks them one by one, so that there may be several although there is but one yet.
    """

    def __init__(self, rows: VisibleRows) -> None:
        self._rows = rows
        self._mask: NDArray[np.bool_] | None = None
        self._base: NDArray[np.bool_] | None = None
        self._counted: tuple[object, int] | None = None
        self._number = 0
        self.anchor: int | None = None
        self.gathering = False

    # What is selected

    @property
    def count(self) -> int:
        """How many of several are shown; 0 where the current one is all. O(rows) after a change, then O(1)."""
        if self._mask is None:
            return 0
        visible = self._rows.visible
        # Every change of what is shown makes another array, or a longer view of the same.
        known = self._counted
        if known is None or known[0] is not visible.base or known[1] != len(visible):
            self._number = int(np.count_nonzero(self._among(visible)))
            self._counted = (visible.base, len(visible))
        return self._number

    @property
    def several(self) -> bool:
        """Whether the user has made a selection that is not just the current message, and some of it is shown."""
        return self.count > 0

    def holds(self, message: int, current: int | None) -> bool:
        """Whether a message that is shown is selected. O(1)."""
        if not self.several or self._mask is None:
            return message == current
        return message < len(self._mask) and bool(self._mask[message])

    def shown(self) -> Messages:
        """Those of several that are shown, ascending; none where the current one is all. O(rows)."""
        visible = self._rows.visible
        return _NONE if self._mask is None else visible[self._among(visible)]

    def shown_in_order(self) -> Messages:
        """As `shown`, as they stand in the table."""
        standing = self._rows.in_order()
        return _NONE if self._mask is None else standing[self._among(standing)]

    def _among(self, messages: Messages) -> NDArray[np.bool_]:
        mask = self._wide()
        if len(messages) == len(mask) and self._rows.sorted_by is None:
            return mask
        return mask.take(messages)

    def _wide(self) -> NDArray[np.bool_]:
        """The mask, as long as the capture at least; new messages are not selected."""
        needed = len(self._rows.analysis)
        mask = self._mask
        if mask is None or len(mask) < needed:
            wider = np.zeros(needed, np.bool_)
            if mask is not None:
                wider[: len(mask)] = mask
            self._mask = mask = wider
        return mask

    # Selecting

    def alone(self) -> None:
        """The current message is all that is selected."""
        self._mask = self._base = self._counted = None
        self.anchor = None
        self.gathering = False

    def everything(self) -> None:
        """Select every message shown, and no other. O(rows)."""
        mask = np.zeros(len(self._rows.analysis), np.bool_)
        visible = self._rows.visible
        if len(visible) == len(mask):
            mask[:] = True
        else:
            mask[visible] = True
        self._put(mask)

    def begin(self, anchor: int | None, current: int | None, *, add: bool) -> None:
        """Begin a range.

        Args:
            anchor: the message it starts from; None for where the last one did, else the current one.
            current: the current message.
            add: what is selected already stays.
        """
        if anchor is None and self.anchor is not None and self._rows.position(self.anchor) is not None:
            anchor = self.anchor
        self.anchor = current if anchor is None else anchor
        self._base = self._held(current).copy() if add else None

    def reach(self, message: int) -> None:
        """Select from the anchor to a message as they stand in the table, with what was selected when it began."""
        rows = self._rows
        to = rows.position(message)
        if to is None:
            return
        start = None if self.anchor is None else rows.position(self.anchor)
        if start is None:
            start, self.anchor = to, message
        first, last = min(start, to), max(start, to)
        mask = np.zeros(len(rows.analysis), np.bool_)
        if self._base is not None:
            mask[: len(self._base)] = self._base
        self._mark_between(mask, first, last)
        if first == last and self._base is None:
            self._mask = self._counted = None
            return
        self._put(mask)

    def _mark_between(self, mask: NDArray[np.bool_], first: int, last: int) -> None:
        """Mark the messages at positions, both ends included."""
        rows = self._rows
        if rows.sorted_by is None:
            run = rows.visible[first : last + 1]
            begin, end = int(run[0]), int(run[-1])
            if end - begin == last - first:
                mask[begin : end + 1] = True
            else:
                mask[run] = True
        elif last - first < _FEW:
            mask[[rows.message_at(position) for position in range(first, last + 1)]] = True
        else:
            mask[rows.in_order()[first : last + 1]] = True

    def toggle(self, message: int, current: int | None) -> None:
        """Select one more message, or one less; where the current one is all, it is held for more to come. O(rows)."""
        held = self.several or message != current
        mask = self._held(current)
        if message >= len(mask):
            return
        if held:
            mask[message] = not mask[message]
        self._put(mask)
        self.anchor, self._base, self.gathering = message, None, True

    def _held(self, current: int | None) -> NDArray[np.bool_]:
        """The mask of what is selected now: of the current message where it is all."""
        if self.several:
            return self._wide()
        mask = np.zeros(len(self._rows.analysis), np.bool_)
        if current is not None and self._rows.position(current) is not None:
            mask[current] = True
        return mask

    def _put(self, mask: NDArray[np.bool_]) -> None:
        self._mask, self._counted = mask, None


class Selection(QObject):
    """The selection of one table: its current message, and the messages selected with it.

    Signals:
        current_changed(object): the current message, or None.
        changed(): other messages are selected, or other ones of them are shown.
        chosen(int): the user picked a message, be it the one that was current already.
        picked(): the user has selected something, maybe what was selected already.

    Attributes:
        current: the current message.
        preferred: what the user chose; another message stands in for it while it is hidden.
        messages: those selected, where they are more than the current one.
        chain: the causal chain of the current message.
        restoring: what happens is the table's own doing: nothing is picked by it.
    """

    current_changed = Signal(object)
    changed = Signal()
    chosen = Signal(int)
    picked = Signal()

    def __init__(
        self, document: CaptureDocument, model: MessageTableModel, table: QTableView, paints: PaintCache
    ) -> None:
        super().__init__(table)
        self._model = model
        self._table = table
        self._paints = paints
        self.current: int | None = None
        self.preferred: int | None = None
        self.messages = SelectedMessages(model.rows)
        self.chain = SelectedChain(document, model.rows, self)
        self.restoring = False
        self._mirroring = False
        self._mirrored = False  # Qt's selection holds what is on screen of several
        self._dragging = False  # only where the pointer is let go is picked
        model.rowsInserted.connect(self._on_rows_inserted)
        table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        table.verticalScrollBar().valueChanged.connect(self._mirror)

    @contextmanager
    def by_table(self) -> Generator[None]:
        """What is done meanwhile is the table's own doing, not the user's: nothing is picked by it."""
        before, self.restoring = self.restoring, True
        try:
            yield
        finally:
            self.restoring = before

    # The current message

    def current_row(self) -> int | None:
        """The row of the current message; None where it is not shown."""
        return None if self.current is None else self._model.rows.row_of(self.current)

    def prefer_current(self) -> None:
        """Let the selected message stay so in the next view, although it only stands in for one that is hidden."""
        if self.current is not None:
            self.preferred = self.current

    def select_row(self, row: int, column: int = Column.MESSAGE) -> None:
        """Make a row the current one, and all that is selected; where the view is restored several stay so."""
        if self.restoring and self.messages.several:
            self.move_to_row(row, column)
            return
        if not self.restoring:
            self.messages.alone()
        self._table.selectionModel().setCurrentIndex(self._model.index(row, column), _CLEAR_AND_SELECT)
        if not self.restoring and self.current != self._model.at(row)[0]:
            self._set_current(self._model.at(row)[0])  # Qt sees no difference where its rows are the same
        self.announce()

    def move_to_row(self, row: int, column: int | None = None) -> None:
        """Make a row the current one; what is selected stays so."""
        column = max(self._table.currentIndex().column(), Column.NUMBER) if column is None else column
        self._mirroring = True
        self._table.selectionModel().setCurrentIndex(self._model.index(row, column), _NO_UPDATE)
        self._mirroring = False
        if not self.restoring:
            self.picked.emit()
        self._set_current(self._model.at(row)[0])

    def choose_row(self, row: int, column: int = Column.MESSAGE) -> None:
        """Select a row for the user, who means it also where it was selected already."""
        selected = self.current
        self.select_row(row, column)
        if selected is not None and self.current == selected:
            self.picked.emit()
            self.chosen.emit(selected)

    def put_back(self, message: int | None, *, stays: bool) -> int:
        """Make a message current after rows were replaced, else the one nearest to it; its row, -1 without rows.

        Args:
            message: the current one; None for none.
            stays: one that has left the view by itself, answered say, is still what is selected and shown.
        """
        rows = self._model.rows
        row = -1 if message is None else rows.nearest_row(message)
        if stays and self.current is not None and self.current_row() is None:
            self._table.selectionModel().clearSelection()
            if row >= 0:  # where keys go on from
                self._table.selectionModel().setCurrentIndex(self._model.index(row, Column.MESSAGE), _NO_UPDATE)
        elif row >= 0:
            self.select_row(row)
        else:
            self._set_current(None)
        return row

    def _on_selection_changed(self, selected: QItemSelection, _deselected: QItemSelection) -> None:
        if self._mirroring or (self.messages.several and (self.restoring or selected.isEmpty())):
            return  # what is seen of several has changed: rows of an original went, say
        rows = [index.row() for index in self._table.selectionModel().selectedRows(Column.MESSAGE)]
        if len(rows) > 1 and not self.restoring:
            self._take_rows(rows)
            return
        message = self._model.at(rows[0])[0] if rows else None
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
            self._mirrored = False  # what Qt has selected is its own
            self.announce()

    def _take_rows(self, rows: list[int]) -> None:
        """Rows were selected through Qt, which is what screen readers do."""
        wanted = {self._model.at(row)[0] for row in rows}
        for message in wanted - {self.current}:
            if not self.messages.holds(message, self.current):
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
        """Whether the user has made a selection that is not just the current message, and some of it is shown."""
        return self.messages.several

    @property
    def count(self) -> int:
        """How many of several are shown; 0 where the current one is all."""
        return self.messages.count

    def holds(self, message: int) -> bool:
        """Whether a message that is shown is selected. O(1)."""
        return self.messages.holds(message, self.current)

    def shown(self) -> Messages:
        """(n,) uint32, the messages shown that are selected, ascending."""
        return self.messages.shown() if self.messages.several else self._current_alone()

    def shown_in_order(self) -> Messages:
        """(n,) uint32, as `shown`, as they stand in the table."""
        return self.messages.shown_in_order() if self.messages.several else self._current_alone()

    def _current_alone(self) -> Messages:
        shown = self.current_row() is not None
        return np.array([self.current] if shown else [], np.uint32)

    def select_all(self) -> None:
        """Select every message shown; the current one stays current."""
        if not len(self._model.rows.visible):
            return
        if self.current_row() is None:
            self.move_to_row(max(0, self._table.rowAt(0)))
        self.picked.emit()
        self.messages.everything()
        self.announce()

    def select_current_alone(self) -> None:
        """Select no message but the current one."""
        row = self._table.currentIndex().row()
        if row >= 0:
            self.select_row(row, self._table.currentIndex().column())

    def extend_to_row(self, row: int, column: int | None = None, *, add: bool = False) -> None:
        """Select from where the last range began, else from the current row, to another row, which becomes current.

        Args:
            row: of the table.
            column: of the current cell; the one it is in by default.
            add: what is selected already stays.
        """
        self.messages.begin(None, self.current, add=add)
        self.messages.reach(self._model.at(row)[0])
        self.move_to_row(row, column)
        self.announce()

    def toggle_row(self, row: int, column: int | None = None) -> None:
        """Select one more row, or one less; it becomes the current one."""
        self.messages.toggle(self._model.at(row)[0], self.current)
        self.move_to_row(row, column)
        self.announce()

    def _on_rows_inserted(self) -> None:
        if self.messages.several:
            self.announce()

    def announce(self) -> None:
        """Say that other messages are selected."""
        self._mirror()
        self._table.viewport().update()
        self.changed.emit()

    def _mirror(self) -> None:
        """Let Qt's selection hold the rows on screen, a screen above and one below, as far as they are selected."""
        if not self.messages.several and not self._mirrored:
            return
        model, page = self._model, self.page_rows()
        top = self._table.verticalScrollBar().value() // self._paints.metrics.row
        near = range(max(0, top - page), min(model.rowCount(), top + 2 * page + 1))
        rows = [row for row in near if self.holds(model.at(row)[0])]
        selection = QItemSelection()
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if rows else ():
            selection.select(model.index(int(run[0]), 0), model.index(int(run[-1]), model.columnCount() - 1))
        self._mirroring = True
        self._table.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._mirroring = False
        self._mirrored = self.messages.several

    def page_rows(self) -> int:
        """Rows that are on screen at once."""
        return max(1, self._table.viewport().height() // self._paints.metrics.row)

    # Dragged over

    def press(self, row: int, column: int) -> None:
        """Select a row alone, where a range may begin."""
        self.choose_row(row, column)
        message = self._model.at(row)[0]
        self.messages.begin(message, message, add=False)

    def press_more(self, row: int, column: int) -> None:
        """Select one more row, or one less, where a range that adds may begin."""
        self.toggle_row(row, column)
        message = self._model.at(row)[0]
        self.messages.begin(message, message, add=True)

    def drag_to(self, row: int) -> None:
        """Select as far as a row the pointer was dragged to; it is picked where it is let go."""
        self._dragging = True
        self.messages.reach(self._model.at(row)[0])
        self.move_to_row(row)
        self._dragging = False
        self.announce()

    def drop(self) -> None:
        """The pointer was let go after it had been dragged to another row."""
        if self.current is not None:
            self.chosen.emit(self.current)


class RowDrag(QObject):
    """Dragging over the rows: they are selected as far as the pointer, and scroll where it is near an edge.

    Attributes:
        row: where the button was pressed; -1 while it is not.
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
        """The button was pressed on a row."""
        self.row = row
        self._reached = -1

    def move(self, at: QPoint) -> None:
        """The pointer is at a place of the viewport, or outside of it."""
        self._at = at
        self._reach()
        if self._reached >= 0 and self._beyond() and not self._timer.isActive():
            self._timer.start()

    def end(self) -> None:
        """The button was let go."""
        self._timer.stop()
        dragged, self.row, self._reached = self._reached >= 0, -1, -1
        if dragged:
            self._selection.drop()

    def _reach(self) -> None:
        height = self._table.viewport().height()
        row = self._table.rowAt(min(max(self._at.y(), 0), height - 1))
        if row < 0 or row == self._reached or (self._reached < 0 and row == self.row):
            return
        self._reached = row
        self._selection.drag_to(row)

    def _beyond(self) -> int:
        """Rows to move at a time: below the middle of the last row on screen or above that of the first, and faster."""
        row, y = self._paints.metrics.row, self._at.y()
        below = y - (self._table.viewport().height() - row // 2)
        above = row // 2 - y
        far = max(below, above)
        if far <= 0:
            return 0
        rows = min(_MOST_ROWS, 1 + far // row)
        return rows if below > 0 else -rows

    def _scroll(self) -> None:
        rows = self._beyond()
        bar = self._table.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + rows * self._paints.metrics.row)
        if not rows or bar.value() == before:
            self._timer.stop()
        self._reach()
