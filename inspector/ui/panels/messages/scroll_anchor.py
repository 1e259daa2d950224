"""The message table holds still: what is read stays where it is, unless the user goes elsewhere or follows.

A reset or an insertion keeps what stands at the top of the view, or better the selected message where it is in sight;
following is a decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget
from typing_extensions import override

from inspector.document.document import CaptureDocument
from inspector.filters.sorting import SortBy, same_order
from inspector.present.message_columns import Column
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.follow import Follower
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.pill import NewPill
from inspector.ui.panels.messages.selecting import SelectingTable


class Anchor(NamedTuple):
    """What must not move: a message and how far its row's top is from the top of the view, in pixels."""

    message: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Before:
    """How the table stood before its rows were exchanged."""

    view: tuple[object, ...]
    """The filter and the scope."""
    order: SortBy | None
    anchor: Anchor | None
    in_sight: bool
    """The anchor is the selected message: what the eye is on, rather than what happens to be at the top."""
    hidden: bool
    """What the user chose was hidden."""


class SteadyTable(SelectingTable):
    """A message table that holds still.

    Signals:
        follow_changed(bool): following began or paused.
        new_count(int): messages that came below since it paused.
        pill_clicked(): while rows are sorted: sort again, or give up a sort that is under way.

    Attributes:
        follower: whether new rows keep the view at the bottom, and what is new.
        pill: floats over the table while something is new.
    """

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
        self._wanted_at: Anchor | None = None  # where what the user chose was seen last
        self._pushed = 0
        self._clamped = False
        self._before = self._standing()
        self.follower = Follower(model.rows, following=document.live, parent=self)
        self.pill = NewPill(self.paints, self)
        theme_controller.changed.connect(self._on_theme_changed)
        model.modelAboutToBeReset.connect(self._before_reset)
        model.modelReset.connect(self._after_reset)
        model.rowsInserted.connect(self._on_rows_inserted)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.follower.changed.connect(self.follow_changed)
        self.follower.count_changed.connect(self._on_new_count)
        self.pill.clicked.connect(self._on_pill_clicked)

    def _on_theme_changed(self) -> None:
        anchor = self.at_top()
        self.use_theme()
        self.pill.use_paints(self.paints)
        self._hold(anchor)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        seen = self._selected_in_sight(event.oldSize().height())
        super().resizeEvent(event)
        self.lay_out_columns()
        self.pill.place()
        self._take_push()
        if self.follower.following:
            self._to_bottom()
        elif seen is not None:  # a notice above has taken the room, say: what is read stays in view
            self._keep_in_view(self.messages.rows.nearest_row(seen.message))

    def push(self, by: int) -> None:
        """What stands above the table has grown by so many pixels: rows are to stay where they are on the screen."""
        self._pushed += by
        QTimer.singleShot(0, self, self._take_push)  # where no resize follows

    def _take_push(self) -> None:
        by, self._pushed = self._pushed, 0
        if by and not self.follower.following:
            with self._by_itself():
                self.updateGeometries()
                self.verticalScrollBar().setValue(self.verticalScrollBar().value() + by)

    # Holding still

    def at_top(self) -> Anchor | None:
        """The message at the top of the view and how far its row's top is from there, in pixels; None without rows."""
        row = self.rowAt(0)
        if row < 0:
            return None
        message, part = self.messages.at(row)
        return Anchor(message, self.rowViewportPosition(row) - part * self.paints.metrics.row)

    def _selected_in_sight(self, height: int) -> Anchor | None:
        """The selected message, where all of its row is seen in a view of this height."""
        row, message = self._selected_row(), self.selected_message
        y = -1 if row is None else self.rowViewportPosition(row)
        return Anchor(message, y) if message is not None and 0 <= y <= height - self.paints.metrics.row else None

    def put_at_top(self, message: int, offset: int) -> None:
        """Scroll to where `at_top` said so; to the nearest message where it is not shown."""
        row = self.messages.rows.nearest_row(message)
        if row < 0:
            return
        with self._by_itself():
            self.executeDelayedItemsLayout()
            self.updateGeometries()
            self.verticalScrollBar().setValue(row * self.paints.metrics.row - offset)

    def _hold(self, anchor: Anchor | None) -> None:
        if anchor is not None:
            self.put_at_top(*anchor)

    def _keep_in_view(self, row: int) -> None:
        with self._by_itself():
            self._bring_into_view(row)

    def _standing(self) -> _Before:
        rows, seen = self.messages.rows, self._selected_in_sight(self.viewport().height())
        hidden = self._wanted is not None and rows.row_of(self._wanted) is None
        view = (rows.filter, rows.scope)
        return _Before(view, rows.sorted_by, seen or self.at_top(), in_sight=seen is not None, hidden=hidden)

    def _before_reset(self) -> None:
        before = self._before = self._standing()
        if before.in_sight and self.selected_message == self._wanted:
            self._wanted_at = before.anchor

    def _after_reset(self) -> None:
        before, rows = self._before, self.messages.rows
        chosen_anew = before.view != (rows.filter, rows.scope)
        # Nobody's reading is disturbed by traffic: only another view brings back what the last one had hidden.
        message = self._wanted if chosen_anew or self.selected_message is None else self.selected_message
        with self._by_itself():
            row = self._put_back(message, stays=not chosen_anew)
        anchor, in_sight = before.anchor, before.in_sight
        if chosen_anew and before.hidden and self._wanted is not None and rows.row_of(self._wanted) is not None:
            in_sight = True  # what was hidden for a while comes back to where it was
            if self._wanted_at is not None and self._wanted_at.message == self._wanted:
                anchor = self._wanted_at
        if self.follower.following:
            self._to_bottom()
        elif not in_sight and rows.sorted_by is not None and not same_order(rows.sorted_by, before.order):
            with self._by_itself():  # nothing that was chosen is in sight: what comes first is
                self.verticalScrollBar().setValue(0)
        else:
            self._hold(anchor)
            if in_sight and chosen_anew and row >= 0:
                self._keep_in_view(row)
        self.lay_out_columns()
        self._recount()
        self._chain.place_anew()
        self._follow_pointer()
        self._tell_selection()

    def _on_rows_inserted(self, _parent: QModelIndex, _first: int, last: int) -> None:
        if self._restoring or last != self.messages.rowCount() - 1:
            return
        if self.follower.following:
            self._to_bottom()
        self._recount()

    def _recount(self) -> None:
        """Count what is new below; what needs no scrolling to be seen is not."""
        seen = self.messages.rowCount() * self.paints.metrics.row <= self.viewport().height()
        self.follower.recount(forget=seen or (not self.document.live and not self.follower.count))

    def _follow_pointer(self) -> None:
        """The rows have moved under the pointer."""

    # Following

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
        with self._by_itself():
            self.scrollToBottom()

    @override
    def _on_picked(self) -> None:
        self.follower.set_following(False)

    def _on_pill_clicked(self) -> None:
        if self.pill.working or not self.can_follow:
            self.pill_clicked.emit()
        else:
            self.follow(True)
        self.setFocus()

    def _on_range_changed(self, _least: int, most: int) -> None:
        """There are fewer rows: that the view ends at their last one now is nobody's wish to follow."""
        self._clamped = self.verticalScrollBar().value() > most

    def _on_scrolled(self, value: int) -> None:
        clamped, self._clamped = self._clamped, False
        if not self._restoring and not clamped:
            self.follower.set_following(self.can_follow and value >= self.verticalScrollBar().maximum())
        self._follow_pointer()

    def _on_new_count(self, count: int) -> None:
        self.pill.show_count(count, is_sorted=not self.can_follow)
        self.new_count.emit(count)

    # Going elsewhere

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
        self.verticalScrollBar().setValue(row * self.paints.metrics.row - self.viewport().height() // 2)

    def _bring_into_view(self, row: int) -> None:
        self.executeDelayedItemsLayout()
        y, height = self.rowViewportPosition(row), self.paints.metrics.row
        if y < 0 or y + height > self.viewport().height():
            near = -height <= y <= self.viewport().height()
            hints = QAbstractItemView.ScrollHint
            hint = hints.EnsureVisible if near else hints.PositionAtCenter
            self.scrollTo(self.messages.index(row, Column.MESSAGE), hint)

    def toggle_original(self, message: int | None = None) -> bool:
        """Expand or collapse the original of a result (the current one by default); whether it has one."""
        message = self.selected_message if message is None else message
        if message is None:
            return False
        anchor = self.at_top()
        with self._by_itself():
            if self.messages.is_expanded(message):
                row = self.messages.rows.row_of(message)
                if message == self.selected_message and row is not None:
                    self._select_row(row)
                done = self.messages.collapse(message)
            else:
                done = self.messages.expand(message)
        if done:
            self._hold(anchor)
            self._tell_selection()
        return done
