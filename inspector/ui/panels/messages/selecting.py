"""Which messages of the table are selected, and how Qt's own selection says so.

One message is current, which is what the details show; several may be selected (`SelectedMessages`). Rows are addressed
by message: what is selected stays so however rows are exchanged. Of several, Qt's own selection, which is what screen
readers are told, holds the rows on screen and some around them: a range a row of a million would cost seconds.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis import Changes
from inspector.document.document import CaptureDocument
from inspector.filters.visible import Messages
from inspector.present.message_columns import Column
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selected_chain import SelectedChain
from inspector.ui.panels.messages.table import MessageTable

_NO_UPDATE = QItemSelectionModel.SelectionFlag.NoUpdate
_CLEAR_AND_SELECT = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class SelectingTable(MessageTable):
    """A message table in which messages are selected.

    Signals:
        current_changed(object): the selected message, or None.
        selected_changed(): other messages are selected, or other ones of them are shown.
        chosen(int): the user picked a message, be it the one that was selected already.
    """

    current_changed = Signal(object)
    selected_changed = Signal()
    chosen = Signal(int)

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        theme_controller: ThemeController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, model, theme_controller, parent)
        self._wanted: int | None = None  # what the user chose; another row stands in for it while it is hidden
        self._restoring = False
        self._mirroring = False
        self._mirrored = False  # Qt's selection holds what is on screen of several
        self._quiet = False  # the pointer is dragged: only where it is let go is picked
        self._chain = SelectedChain(document, model.rows, self)
        self._chain.rail_changed.connect(self._draw_rail)
        model.rowsInserted.connect(self._on_rows_came)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.verticalScrollBar().valueChanged.connect(self._mirror)

    @contextmanager
    def _by_itself(self) -> Generator[None]:
        """What the table does meanwhile was not done by the user: nothing is picked by it."""
        before, self._restoring = self._restoring, True
        try:
            yield
        finally:
            self._restoring = before

    def _on_picked(self) -> None:
        """The user has selected something, maybe what was selected already."""

    # The current message

    def _selected_row(self) -> int | None:
        return None if self.selected_message is None else self.messages.rows.row_of(self.selected_message)

    def keep_selected(self) -> None:
        """Let the selected message stay so in the next view, although it only stands in for one that is hidden."""
        if self.selected_message is not None:
            self._wanted = self.selected_message

    def _select_row(self, row: int, column: int = Column.MESSAGE) -> None:
        """Make a row the current one, and all that is selected; where the view is restored several stay so."""
        if self._restoring and self.selected.several:
            self._move_to_row(row, column)
            return
        if not self._restoring:
            self.selected.alone()
        self.selectionModel().setCurrentIndex(self.messages.index(row, column), _CLEAR_AND_SELECT)
        if not self._restoring and self.selected_message != self.messages.at(row)[0]:
            self._note_selected(self.messages.at(row)[0])  # Qt sees no difference where its rows are the same
        self._tell_selection()

    def _move_to_row(self, row: int, column: int | None = None) -> None:
        """Make a row the current one; what is selected stays so."""
        column = max(self.currentIndex().column(), Column.NUMBER) if column is None else column
        self._mirroring = True
        self.selectionModel().setCurrentIndex(self.messages.index(row, column), _NO_UPDATE)
        self._mirroring = False
        if not self._restoring:
            self._on_picked()
        self._note_selected(self.messages.at(row)[0])

    def _choose_row(self, row: int, column: int = Column.MESSAGE) -> None:
        """Select a row for the user, who means it also where it was selected already."""
        selected = self.selected_message
        self._select_row(row, column)
        if selected is not None and self.selected_message == selected:
            self._on_picked()
            self.chosen.emit(selected)

    def _put_back(self, message: int | None, *, stays: bool) -> int:
        """Make a message current after rows were exchanged, else the one nearest to it; its row, -1 without rows.

        Args:
            message: the current one; None for none.
            stays: one that has left the view by itself, answered say, is still what is selected and shown.
        """
        rows = self.messages.rows
        row = -1 if message is None else rows.nearest_row(message)
        if stays and self.selected_message is not None and self._selected_row() is None:
            self.selectionModel().clearSelection()
            if row >= 0:  # where keys go on from
                self.selectionModel().setCurrentIndex(self.messages.index(row, Column.MESSAGE), _NO_UPDATE)
        elif row >= 0:
            self._select_row(row)
        else:
            self._note_selected(None)
        return row

    def _on_selection_changed(self, selected: QItemSelection, _deselected: QItemSelection) -> None:
        if self._mirroring or (self.selected.several and (self._restoring or selected.isEmpty())):
            return  # what is seen of several has changed: rows of an original went, say
        rows = [index.row() for index in self.selectionModel().selectedRows(Column.MESSAGE)]
        if len(rows) > 1 and not self._restoring:
            self._take_rows(rows)
            return
        message = self.messages.at(rows[0])[0] if rows else None
        if self._restoring:
            if message is not None:
                self._note_selected(message)
            return
        several = self.selected.several
        self.selected.alone()
        self._note_selected(message)
        if message is not None:
            self._on_picked()
        if several:
            self._mirrored = False  # what Qt has selected is its own
            self._tell_selection()

    def _take_rows(self, rows: list[int]) -> None:
        """Rows were selected through Qt, which is what screen readers do."""
        wanted = {self.messages.at(row)[0] for row in rows}
        for message in wanted - {self.selected_message}:
            if not self.selected.holds(message, self.selected_message):
                self.selected.toggle(message, self.selected_message)
        self._tell_selection()

    def _note_selected(self, message: int | None) -> None:
        if message is not None and not self._restoring:
            self._wanted = message
        if message == self.selected_message:
            return
        self.selected_message = message
        self._chain.look_for(message)
        self.viewport().update()
        self.current_changed.emit(message)
        if message is not None and not self._restoring and not self._quiet:
            self.chosen.emit(message)

    # Several messages

    def selected_messages(self) -> Messages:
        """(n,) uint32, the messages shown that are selected, ascending."""
        return self.selected.shown() if self.selected.several else self._current_alone()

    def selected_in_order(self) -> Messages:
        """(n,) uint32, as `selected_messages`, as they stand in the table."""
        return self.selected.shown_in_order() if self.selected.several else self._current_alone()

    def _current_alone(self) -> Messages:
        shown = self._selected_row() is not None
        return np.array([self.selected_message] if shown else [], np.uint32)

    @override
    def selectAll(self) -> None:
        """Select every message shown; the current one stays current."""
        if not len(self.messages.rows.visible):
            return
        if self._selected_row() is None:
            self._move_to_row(max(0, self.rowAt(0)))
        self._on_picked()
        self.selected.everything()
        self._tell_selection()

    def select_current_alone(self) -> None:
        """Select no message but the current one."""
        row = self.currentIndex().row()
        if row >= 0:
            self._select_row(row, self.currentIndex().column())

    def extend_to_row(self, row: int, column: int | None = None, *, add: bool = False) -> None:
        """Select from where the last range began, else from the current row, to another row, which becomes current.

        Args:
            row: of the table.
            column: of the current cell; the one it is in by default.
            add: what is selected already stays.
        """
        self.selected.begin(None, self.selected_message, add=add)
        self.selected.reach(self.messages.at(row)[0])
        self._move_to_row(row, column)
        self._tell_selection()

    def toggle_row(self, row: int, column: int | None = None) -> None:
        """Select one more row, or one less; it becomes the current one."""
        self.selected.toggle(self.messages.at(row)[0], self.selected_message)
        self._move_to_row(row, column)
        self._tell_selection()

    def _on_rows_came(self) -> None:
        if self.selected.several:
            self._tell_selection()

    def _tell_selection(self) -> None:
        self._mirror()
        self.viewport().update()
        self.selected_changed.emit()

    def _mirror(self) -> None:
        """Let Qt's selection hold the rows on screen, a screen above and one below, as far as they are selected."""
        if not self.selected.several and not self._mirrored:
            return
        model, page = self.messages, self._page_rows()
        top = self.verticalScrollBar().value() // self.paints.metrics.row
        near = range(max(0, top - page), min(model.rowCount(), top + 2 * page + 1))
        rows = [row for row in near if self.is_selected(model.at(row)[0])]
        selection = QItemSelection()
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if rows else ():
            selection.select(model.index(int(run[0]), 0), model.index(int(run[-1]), model.columnCount() - 1))
        self._mirroring = True
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._mirroring = False
        self._mirrored = self.selected.several

    def _page_rows(self) -> int:
        """Rows that are on screen at once."""
        return max(1, self.viewport().height() // self.paints.metrics.row)

    # The chain of the current one

    def take_in(self, changes: Changes) -> None:
        """Find the chain again where a flush may have changed it. O(messages that came or changed)."""
        self._chain.take_in(changes)

    def _draw_rail(self) -> None:
        self.rail = self._chain.rail
        self.viewport().update(0, 0, self.columnWidth(Column.GUTTER), self.viewport().height())
