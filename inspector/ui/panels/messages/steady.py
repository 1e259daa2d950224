"""The message table as the user meets it: selection by message, expansion in place, following, nothing that jumps.

Rows are addressed by message everywhere: a reset or an insertion keeps the current message, the selection and what
stands at the top of the view. One message is current, which is what the details show; several may be selected
(`SelectedMessages`). Of those Qt's own selection, which is what screen readers are told, holds the rows on screen and
some around them: a range a row of a million would cost seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget
from typing_extensions import override

from inspector.analysis import Changes
from inspector.document import CaptureDocument
from inspector.filters.sorting import SortBy, same_order
from inspector.filters.visible import Messages
from inspector.ui.panels.messages.chain import ChainRail
from inspector.ui.panels.messages.columns import Column
from inspector.ui.panels.messages.follow import Follower
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.pill import NewPill
from inspector.ui.panels.messages.selected_chain import SelectedChain
from inspector.ui.panels.messages.table import MessageTable
from inspector.ui.theme import ThemeController

_NO_UPDATE = QItemSelectionModel.SelectionFlag.NoUpdate
_CLEAR_AND_SELECT = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


def _itself(message: int) -> int:
    return message


@dataclass(frozen=True, slots=True)
class _Anchor:
    """What must not move: a message and how far its row's top is from the top of the view, in pixels."""

    message: int
    offset: int


class SteadyTable(MessageTable):
    """A message table that holds still: the selection is a message, and following is a decision.

    Signals:
        current_changed(object): the selected message, or None.
        selected_changed(): other messages are selected, or other ones of them are shown.
        chosen(int): the user picked a message, be it the one that was selected already.
        follow_changed(bool): following began or paused.
        new_count(int): messages that came below since it paused.
        pill_clicked(): while rows are sorted: sort again, or give up a sort that is under way.

    Attributes:
        follower: whether it follows, and what is new.
        pill: floats over the table while something is new.
    """

    current_changed = Signal(object)
    selected_changed = Signal()
    chosen = Signal(int)
    follow_changed = Signal(bool)
    new_count = Signal(int)
    pill_clicked = Signal()

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        theme_controller: ThemeController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, model, theme_controller, parent)
        self._anchor: _Anchor | None = None
        self._wanted: int | None = None  # what the user chose; another row stands in for it while it is hidden
        self._wanted_at: _Anchor | None = None  # where it was seen last
        self._was_hidden = False
        self._pushed = 0
        self._view: tuple[object, ...] = ()
        self._order: SortBy | None = None
        self._in_sight = False
        self._restoring = False
        self._mirroring = False
        self._mirrored = False  # Qt's selection holds what is on screen of several
        self._quiet = False  # the pointer is dragged: only where it is let go is picked
        self._clamped = False
        self._work = ""
        self.follower = Follower(model.rows, following=document.live, parent=self)
        self.pill = NewPill(self.kit, self)
        self.pill.hide()
        self._chain = SelectedChain(document, self)
        self._connect()

    def _connect(self) -> None:
        self._themes.changed.connect(self._on_theme_changed)
        self.messages.modelAboutToBeReset.connect(self._before_reset)
        self.messages.modelReset.connect(self._after_reset)
        self.messages.rowsInserted.connect(self._on_rows_inserted)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._chain.known.connect(self._draw_rail)
        self.follower.changed.connect(self.follow_changed)
        self.follower.count_changed.connect(self._on_new_count)
        self.pill.clicked.connect(self._on_pill_clicked)

    def _on_theme_changed(self) -> None:
        anchor = self._anchor_now()
        self.use_theme()
        self.pill.use_kit(self.kit)
        self._hold(anchor)
        self._place_pill()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        row = self._selected_row()
        seen = row is not None and 0 <= self.rowViewportPosition(row) <= event.oldSize().height() - self.kit.metrics.row
        super().resizeEvent(event)
        self.lay_out_columns()
        self._place_pill()
        self._take_push()
        if self.follower.following:
            self._to_bottom()
        elif seen and row is not None:  # a notice above has taken the room, say: what is read stays in view
            self._keep_in_view(row)

    def push(self, by: int) -> None:
        """What stands above the table has grown by so many pixels: rows are to stay where they are on the screen."""
        self._pushed += by
        QTimer.singleShot(0, self, self._take_push)  # where no resize follows

    def _take_push(self) -> None:
        by, self._pushed = self._pushed, 0
        if by and not self.follower.following:
            self._restoring = True
            self.updateGeometries()
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + by)
            self._restoring = False

    def _keep_in_view(self, row: int) -> None:
        self._restoring = True
        self._bring_into_view(row)
        self._restoring = False

    def _selected_row(self) -> int | None:
        return None if self.selected_message is None else self.messages.rows.row_of(self.selected_message)

    # Holding still

    def _anchor_now(self) -> _Anchor | None:
        row = self.rowAt(0)
        if row < 0:
            return None
        message, part = self.messages.at(row)
        return _Anchor(message, self.rowViewportPosition(row) - part * self.kit.metrics.row)

    def _hold(self, anchor: _Anchor | None) -> None:
        """Put the anchor where it stood."""
        row = self.messages.rows.nearest_row(anchor.message) if anchor is not None else -1
        if anchor is None or row < 0:
            return
        self._restoring = True
        self.executeDelayedItemsLayout()
        self.updateGeometries()
        self.verticalScrollBar().setValue(row * self.kit.metrics.row - anchor.offset)
        self._restoring = False

    def at_top(self) -> tuple[int, int] | None:
        """The message at the top of the view and how far its row's top is from there, in pixels; None without rows."""
        anchor = self._anchor_now()
        return None if anchor is None else (anchor.message, anchor.offset)

    def put_at_top(self, message: int, offset: int) -> None:
        """Scroll to where `at_top` said so."""
        self._hold(_Anchor(message, offset))

    def _before_reset(self) -> None:
        self._anchor = self._anchor_now()
        rows = self.messages.rows
        self._view = (rows.filter, rows.scope)
        self._order = rows.sorted_by
        self._in_sight = False
        selected = self.selected_message
        row = rows.row_of(selected) if selected is not None else None
        self._was_hidden = self._wanted is not None and rows.row_of(self._wanted) is None
        if selected is None or row is None:
            return
        y = self.rowViewportPosition(row)
        if 0 <= y <= self.viewport().height() - self.kit.metrics.row:
            # What the eye is on holds still rather than what happens to be at the top.
            self._anchor = _Anchor(selected, y)
            self._in_sight = True
            if selected == self._wanted:
                self._wanted_at = self._anchor

    def _after_reset(self) -> None:
        self._restoring = True
        rows = self.messages.rows
        chosen_anew = self._view != (rows.filter, rows.scope)
        # Nobody's reading is disturbed by traffic: only another view brings back what the last one had hidden.
        message = self._wanted if chosen_anew or self.selected_message is None else self.selected_message
        row = rows.nearest_row(message) if message is not None else -1
        if not chosen_anew and self.selected_message is not None and rows.row_of(self.selected_message) is None:
            self._leave_row(row)
        elif row >= 0:
            self._select_row(row)
        else:
            self._note_selected(None)
        self._restoring = False
        back = message is not None and message == self._wanted and rows.row_of(message) is not None
        if chosen_anew and self._was_hidden and back:
            self._in_sight = True  # what was hidden for a while comes back to where it was
            if self._wanted_at is not None and self._wanted_at.message == message:
                self._anchor = self._wanted_at
        if self.follower.following:
            self._to_bottom()
        elif not same_order(rows.sorted_by, self._order) and not self._in_sight:
            self._show_sorted()
        else:
            self._hold(self._anchor)
            if self._in_sight and chosen_anew and row >= 0:
                self._keep_in_view(row)
        self.lay_out_columns()
        self._recount()
        self._place_rail()
        self.refresh_chain()
        self._follow_pointer()
        self._tell_selection()

    def keep_selected(self) -> None:
        """Let the selected message stay so in the next view, although it only stands in for one that is hidden."""
        if self.selected_message is not None:
            self._wanted = self.selected_message

    def _leave_row(self, nearest: int) -> None:
        """The selected message has left the view by itself, answered say: it stays what is selected and shown."""
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().clearSelection()
        if nearest >= 0:  # where keys go on from
            self.selectionModel().setCurrentIndex(self.messages.index(nearest, Column.MESSAGE), flags.NoUpdate)

    def _on_rows_inserted(self, _parent: QModelIndex, _first: int, last: int) -> None:
        if self.selected.several:
            self._tell_selection()
        if self._restoring or last != self.messages.rowCount() - 1:
            return
        if self.follower.following:
            self._to_bottom()
        self._recount()

    def _show_sorted(self) -> None:
        """Nothing that was chosen is in sight: what comes first is; in the order of arrival what was at the top."""
        if self.messages.rows.sorted_by is None:
            self._hold(self._anchor)
            return
        self._restoring = True
        self.verticalScrollBar().setValue(0)
        self._restoring = False

    def _recount(self) -> None:
        """Count what is new below; what needs no scrolling to be seen is not."""
        seen = self.messages.rowCount() * self.kit.metrics.row <= self.viewport().height()
        self.follower.recount(forget=seen or (not self.document.live and not self.follower.count))

    def _follow_pointer(self) -> None:
        """The rows have moved under the pointer."""

    # Following

    @property
    def following(self) -> bool:
        """Whether new rows keep the view at the bottom."""
        return self.follower.following

    @property
    def can_follow(self) -> bool:
        """Whether the bottom is where new rows come: not while rows are sorted."""
        return self.messages.rows.sorted_by is None

    def follow(self, on: bool) -> None:
        """Go to the newest message and stay there, or hold still; sorted rows are not followed."""
        self.follower.set_following(on and self.can_follow)
        if on:
            self._to_bottom()

    def _to_bottom(self) -> None:
        self._restoring = True
        self.scrollToBottom()
        self._restoring = False

    def _on_pill_clicked(self) -> None:
        if self._work or not self.can_follow:
            self.pill_clicked.emit()
        else:
            self.follow(True)
        self.setFocus()

    def _on_range_changed(self, _least: int, most: int) -> None:
        """There are fewer rows: that the view ends at their last one now is nobody's wish to follow."""
        self._clamped = self.verticalScrollBar().value() > most

    def _on_scrolled(self, value: int) -> None:
        if self.selected.several:
            self._mirror()
        clamped, self._clamped = self._clamped, False
        if not self._restoring and not clamped:
            bar = self.verticalScrollBar()
            self.follower.set_following(self.can_follow and value >= bar.maximum())
        self._follow_pointer()

    def _on_new_count(self, count: int) -> None:
        self._show_pill()
        self.new_count.emit(count)

    @property
    def working(self) -> bool:
        """Whether something is being done with the rows that can be given up."""
        return bool(self._work)

    def show_work(self, words: str) -> None:
        """Say what is being done with the rows, with a click to give it up; "" says nothing more."""
        self._work = words
        self._show_pill()

    def _show_pill(self) -> None:
        count = self.follower.count
        if self._work:
            self.pill.say(self._work, self._work, "Give it up", "clear")
        else:
            self.pill.set_count(count, is_sorted=not self.can_follow)
        self.pill.setVisible(count > 0 or bool(self._work))
        self._place_pill()

    def _place_pill(self) -> None:
        area = self.viewport().geometry()
        self.pill.move(area.x() + (area.width() - self.pill.width()) // 2, area.bottom() - self.pill.height() - 4)
        self.pill.raise_()

    # The current message

    def current_message(self) -> int | None:
        """The selected message; None when there is none."""
        return self.selected_message

    def go_to(self, message: int) -> bool:
        """Select a message and bring it into view, in the middle when it is far; whether it is shown at all."""
        row = self.messages.rows.row_of(message)
        if row is None:
            return False
        self._choose_row(row)
        self._bring_into_view(row)
        return True

    def step(self, by: int) -> None:
        """Select the next (1) or previous (-1) message shown; from nothing, the first or last one."""
        rows = self.messages.rows
        count = len(rows.visible)
        if not count:
            return
        selected = self.selected_message
        position = None if selected is None else rows.position(selected)
        if selected is None:
            wanted = 0 if by > 0 else count - 1
        elif position is None:
            wanted = rows.place(selected) + by - (by > 0)  # the next one stands in its place
        else:
            wanted = position + by
        row = rows.row_of(rows.message_at(min(max(wanted, 0), count - 1)))
        if row is not None:
            self._choose_row(row)
            self.scrollTo(self.messages.index(row, Column.MESSAGE))

    def go_to_first(self) -> None:
        """Select the first message shown."""
        if self.messages.rowCount():
            self._choose_row(0)
            self.verticalScrollBar().setValue(0)
            self.follow(False)

    def go_to_last(self) -> None:
        """Select the last message shown, and follow, unless rows are sorted."""
        rows = self.messages.rows
        row = rows.row_of(rows.message_at(len(rows.visible) - 1)) if len(rows.visible) else None
        if row is not None:
            self._choose_row(row)
        self.follow(True)

    def show_row(self, row: int) -> None:
        """Bring a row into the middle of the view; nothing is selected."""
        self.verticalScrollBar().setValue(row * self.kit.metrics.row - self.viewport().height() // 2)

    def _bring_into_view(self, row: int) -> None:
        self.executeDelayedItemsLayout()
        y, height = self.rowViewportPosition(row), self.kit.metrics.row
        if y < 0 or y + height > self.viewport().height():
            near = -height <= y <= self.viewport().height()
            hints = QAbstractItemView.ScrollHint
            hint = hints.EnsureVisible if near else hints.PositionAtCenter
            self.scrollTo(self.messages.index(row, Column.MESSAGE), hint)

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
            self.follower.set_following(False)
        self._note_selected(self.messages.at(row)[0])

    def _choose_row(self, row: int) -> None:
        """Select a row for the user, who means it also where it was selected already."""
        selected = self.selected_message
        self._select_row(row)
        if selected is not None and self.selected_message == selected:
            self._choose_again(selected)

    def _choose_again(self, message: int) -> None:
        """The user picked the message that is selected already."""
        self.follower.set_following(False)
        self.chosen.emit(message)

    def _on_selection_changed(self, selected: QItemSelection, _deselected: QItemSelection) -> None:
        if self._mirroring or (self.selected.several and (self._restoring or selected.isEmpty())):
            return  # what is seen of several has changed: rows of an original went, say
        indexes = self.selectionModel().selectedRows(Column.MESSAGE)
        rows = [index.row() for index in indexes]
        if len(rows) > 1 and not self._restoring:
            self._take_rows(rows)
            return
        message = self.messages.at(rows[0])[0] if rows else None
        if message is None and self._restoring:
            return
        if not self._restoring:
            self.selected.alone()
        self._note_selected(message)
        if message is not None and not self._restoring:
            self.follower.set_following(False)

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
        members = self.rail.members if message in self.rail.members else ()
        self.rail = self._rail_of(message, members)
        self.refresh_chain()
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
        self.follower.set_following(False)
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

    def _tell_selection(self) -> None:
        self._mirror()
        self.viewport().update()
        self.selected_changed.emit()

    def _mirror(self) -> None:
        """Let Qt's selection hold the rows on screen, a screen above and one below, as far as they are selected."""
        if not self.selected.several and not self._mirrored:
            return
        count, page = self.messages.rowCount(), self._page_rows()
        top = self.verticalScrollBar().value() // self.kit.metrics.row
        selection, model = QItemSelection(), self.messages
        first = last = -1
        for row in range(max(0, top - page), min(count, top + 2 * page) + 1):
            chosen = row < count and self.is_selected(model.at(row)[0])
            if chosen and first < 0:
                first = row
            if chosen:
                last = row
            elif first >= 0:
                selection.select(model.index(first, 0), model.index(last, model.columnCount() - 1))
                first = -1
        if first >= 0:
            selection.select(model.index(first, 0), model.index(last, model.columnCount() - 1))
        self._mirroring = True
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._mirroring = False
        self._mirrored = self.selected.several

    def _page_rows(self) -> int:
        """Rows that are on screen at once."""
        return max(1, self.viewport().height() // self.kit.metrics.row)

    def take_in(self, changes: Changes) -> None:
        """Find the chain again where a flush may have changed it. O(messages that came or changed)."""
        self._chain.take_in(changes)

    def refresh_chain(self) -> None:
        """Find the selected message's chain again, soon."""
        self._chain.look_for(self.selected_message)

    def _rail_of(self, message: int | None, members: Iterable[int]) -> ChainRail:
        """The rail; where messages stand is looked up only where that is not said by their numbers."""
        rows = self.messages.rows
        joined = rows.sorted_by is None or rows.sorted_by.field.name == "no"
        return ChainRail(message, members, _itself if self.can_follow else rows.position, joined=joined)

    def _place_rail(self) -> None:
        """Rows stand otherwise."""
        if self.rail:
            self.rail = self._rail_of(self.rail.selected, self.rail.members)

    def _draw_rail(self, selected: int) -> None:
        """Show the chain as far as its messages are shown now. O(chain)."""
        rows = self.messages.rows
        rail = self._rail_of(selected, (m for m in self._chain.members if rows.row_of(m) is not None))
        if rail.members != self.rail.members or rail.selected != self.rail.selected:
            self.rail = rail
            self.viewport().update(0, 0, self.columnWidth(Column.GUTTER), self.viewport().height())

    # Expanding

    def toggle_original(self, message: int | None = None) -> bool:
        """Expand or collapse the original of a result (the current one by default); whether it has one."""
        message = self.selected_message if message is None else message
        if message is None:
            return False
        anchor = self._anchor_now()
        self._restoring = True
        if self.messages.is_expanded(message):
            row = self.messages.rows.row_of(message)
            if message == self.selected_message and row is not None:
                self._select_row(row)
            done = self.messages.collapse(message)
        else:
            done = self.messages.expand(message)
        self._restoring = False
        if done:
            self._hold(anchor)
            self._tell_selection()
        return done
