"""Keeps the message table still: rows stay in place unless the user scrolls or follows.

A reset or an insertion keeps the top row of the view, or the selected message if it is visible. Only the user starts
following (docs/design.md 14, Follow).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QTableView

from inspector.engine.requests.views import SortOrder
from inspector.present.message_columns import Column
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.panels.messages.column_layout import ColumnLayout
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selection import Selection
from inspector.ui.panels.messages.view_rows import ViewRows
from inspector.ui.widgets.latest_answer import Client


class Follower(QObject):
    """State of following: decides and counts; the view moves.

    Signals:
        changed(bool): following began or paused.
        count_changed(int): new messages below since the pause; 0 while following.
    """

    changed = Signal(bool)
    count_changed = Signal(int)

    def __init__(self, rows: ViewRows, *, following: bool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._following = following
        self._mark = -1
        self._count = 0

    @property
    def following(self) -> bool:
        """True while new rows keep the view at the bottom."""
        return self._following

    @property
    def count(self) -> int:
        """New messages since the pause; in a sorted table, the unsorted ones at the bottom."""
        return self._count

    def set_following(self, on: bool) -> None:
        """Starts or pauses following."""
        if on == self._following:
            return
        self._following = on
        visible = self._rows.visible
        self._mark = int(visible[-1]) if len(visible) else -1
        self.changed.emit(on)
        self.recount()

    def recount(self, *, forget: bool = False) -> None:
        """Counts again after a change of rows.

        Args:
            forget: present rows are not new (they come from a log, not from traffic).
        """
        visible = self._rows.visible
        if forget and len(visible):
            self._mark = int(visible[-1])
        count = 0 if self._following else len(visible) - self._rows.messages_before(self._mark + 1)
        if self._rows.sorted_by is not None:
            count = self._rows.unsorted_count
        if count != self._count:
            self._count = count
            self.count_changed.emit(count)


class Anchor(NamedTuple):
    """Fixed point of the view: a message, and the pixels from the view's top to its row's top."""

    message: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Before:
    """State of the table before its rows were replaced."""

    view: tuple[object, ...]
    """The filter and the scope."""
    order: SortOrder | None
    anchor: Anchor | None
    in_sight: bool
    """True if the anchor is the selected message, else it is the top row."""
    hidden: bool
    """True if the user's chosen message was hidden."""


class ScrollAnchor(QObject):
    """Keeps the scroll position of one table by message.

    Signals:
        rows_moved(): the rows under the pointer may have changed.

    Attributes:
        follower: state of following.
    """

    rows_moved = Signal()

    def __init__(
        self,
        client: Client,
        model: MessageTableModel,
        table: QTableView,
        selection: Selection,
        columns: ColumnLayout,
        paints: PaintCache,
    ) -> None:
        super().__init__(table)
        self._client = client
        self._model = model
        self._table = table
        self._selection = selection
        self._columns = columns
        self._paints = paints
        self.follower = Follower(model.rows, following=client.state.is_live, parent=self)
        # Last position of the user's chosen message.
        self._preferred_at: Anchor | None = None
        # Message whose row was not known when the rows were replaced.
        self._unlocated: int | None = None
        self._insertion_anchor: Anchor | None = None
        self._pending_growth = 0
        self._is_clamped = False
        self._before = self._snapshot()
        self._bar = table.verticalScrollBar()
        selection.picked.connect(self._on_picked)
        model.modelAboutToBeReset.connect(self._before_reset)
        model.modelReset.connect(self._after_reset)
        model.rowsAboutToBeInserted.connect(self._before_insertion)
        model.rowsInserted.connect(self._on_rows_inserted)
        model.located.connect(self._on_located)
        self._bar.rangeChanged.connect(self._on_range_changed)
        self._bar.valueChanged.connect(self._on_scrolled)

    # Resizes

    def resized(self, seen: Anchor | None) -> None:
        """Adjusts to a new height of the view.

        Args:
            seen: result of `selected_in_sight` before the resize.
        """
        self._apply_growth()
        if self.follower.following:
            self.to_bottom()
        # For example after a notice appeared above: keep the row in view.
        elif seen is not None:
            self._keep_in_view(self._model.rows.nearest_row(seen.message))

    def push(self, by: int) -> None:
        """Compensates growth above the table by `by` pixels, so that rows stay at their screen position."""
        self._pending_growth += by
        # In case no resize follows.
        QTimer.singleShot(0, self, self._apply_growth)

    def _apply_growth(self) -> None:
        by, self._pending_growth = self._pending_growth, 0
        # Otherwise the first message would scroll away unseen.
        if by > 0 and self._is_untouched:
            return
        if by and not self.follower.following:
            with self._selection.by_table():
                self._table.updateGeometries()
                self._bar.setValue(self._bar.value() + by)

    # Anchors

    @property
    def _is_untouched(self) -> bool:
        """True if the view is at its first row, without selection and pointer."""
        return self._bar.value() == 0 and self._selection.current is None and not self._table.underMouse()

    def at_top(self) -> Anchor | None:
        """Returns the message at the top of the view and its offset in pixels; None without rows."""
        row = self._table.rowAt(0)
        if row < 0:
            return None
        message, part = self._model.message_at_row(row)
        return Anchor(message, self._table.rowViewportPosition(row) - part * self._paints.metrics.row)

    def selected_in_sight(self, height: int) -> Anchor | None:
        """Returns the selected message if its whole row is inside a view of this height."""
        row, message = self._selection.current_row(), self._selection.current
        y = -1 if row is None else self._table.rowViewportPosition(row)
        return Anchor(message, y) if message is not None and 0 <= y <= height - self._paints.metrics.row else None

    def put_at_top(self, message: int, offset: int) -> None:
        """Scrolls to an anchor of `at_top`; to the nearest message if it is hidden."""
        row = self._model.rows.nearest_row(message)
        if row < 0:
            return
        with self._selection.by_table():
            self._table.executeDelayedItemsLayout()
            self._table.updateGeometries()
            self._bar.setValue(row * self._paints.metrics.row - offset)

    def hold(self, anchor: Anchor | None) -> None:
        """Scrolls to an anchor of `at_top`; None keeps the position."""
        if anchor is not None:
            self.put_at_top(*anchor)

    def _keep_in_view(self, row: int) -> None:
        with self._selection.by_table():
            self.bring_into_view(row)

    def _snapshot(self) -> _Before:
        rows, seen = self._model.rows, self.selected_in_sight(self._table.viewport().height())
        preferred = self._selection.preferred
        hidden = preferred is not None and rows.row_of(preferred) is None
        view = (rows.filter, rows.scope)
        return _Before(view, rows.sorted_by, seen or self.at_top(), in_sight=seen is not None, hidden=hidden)

    def _before_reset(self) -> None:
        before = self._before = self._snapshot()
        if before.in_sight and self._selection.current == self._selection.preferred:
            self._preferred_at = before.anchor

    def _after_reset(self) -> None:
        before, rows, selection = self._before, self._model.rows, self._selection
        chosen_anew = before.view != (rows.filter, rows.scope)
        # Traffic alone never moves the selection; only a new filter or scope restores a hidden choice.
        preferred = selection.preferred
        message = preferred if chosen_anew or selection.current is None else selection.current
        self._unlocated = None if message is None or rows.row_of(message) is not None else message
        with selection.by_table():
            row = selection.put_back(message, stays=not chosen_anew)
        anchor, in_sight = before.anchor, before.in_sight
        if chosen_anew and before.hidden and preferred is not None and rows.row_of(preferred) is not None:
            # A choice hidden for a while returns to its old position.
            in_sight = True
            if self._preferred_at is not None and self._preferred_at.message == preferred:
                anchor = self._preferred_at
        if self.follower.following:
            self.to_bottom()
        elif not in_sight and rows.sorted_by is not None and rows.sorted_by != before.order:
            # No selected row is visible: show the first rows.
            with selection.by_table():
                self._bar.setValue(0)
        else:
            self.hold(anchor)
            if in_sight and chosen_anew and row >= 0:
                self._keep_in_view(row)
        self._columns.lay_out()
        self._recount()
        selection.chain.rows_replaced()
        self.rows_moved.emit()
        selection.announce()

    def _on_located(self) -> None:
        """Returns to the message whose row was not known when the rows were replaced."""
        message, row = self._unlocated, None
        if message is not None:
            row = self._model.rows.row_of(message)
        if message is not None and row is not None:
            self._unlocated = None
            with self._selection.by_table():
                self._selection.put_back(message, stays=False)
                self.bring_into_view(row)
            self._selection.announce()
        self._selection.chain.rows_replaced()

    def _before_insertion(self, _parent: QModelIndex, first: int, _last: int) -> None:
        """Notes the anchor before lines are inserted among the rows, as in a growing stream."""
        among = first < self._model.rowCount() and not self._selection.restoring
        self._insertion_anchor = self.at_top() if among else None

    def _on_rows_inserted(self, _parent: QModelIndex, _first: int, last: int) -> None:
        if self._selection.restoring:
            return
        if last != self._model.rowCount() - 1:
            if self.follower.following:
                self.to_bottom()
            else:
                self.hold(self._insertion_anchor)
            return
        if self.follower.following:
            self.to_bottom()
        self._recount()

    def _recount(self) -> None:
        """Counts new rows below; rows visible without scrolling do not count."""
        seen = self._model.rowCount() * self._paints.metrics.row <= self._table.viewport().height()
        self.follower.recount(forget=seen or (not self._client.state.is_live and not self.follower.count))

    # Follow

    @property
    def can_follow(self) -> bool:
        """True if new rows arrive at the bottom, as in unsorted tables."""
        return self._model.rows.sorted_by is None

    def follow(self, on: bool) -> None:
        """Scrolls to the newest message and stays there, or pauses; sorted tables cannot follow."""
        self.follower.set_following(on and self.can_follow)
        if on:
            self.to_bottom()

    def to_bottom(self) -> None:
        with self._selection.by_table():
            self._table.scrollToBottom()

    def _on_picked(self) -> None:
        self._unlocated = None
        self.follower.set_following(False)

    def _on_range_changed(self, _least: int, most: int) -> None:
        """Notes a clamp by Qt: the end of a shorter table is no request to follow."""
        # The scroll that follows is Qt's, not the user's.
        self._is_clamped = self._bar.value() > most

    def _on_scrolled(self, value: int) -> None:
        clamped, self._is_clamped = self._is_clamped, False
        if not self._selection.restoring and not clamped:
            self.follower.set_following(self.can_follow and value >= self._bar.maximum())
        self.rows_moved.emit()

    def bring_into_view(self, row: int) -> None:
        """Scrolls to an invisible row; far rows go to the middle."""
        self._table.executeDelayedItemsLayout()
        y, height = self._table.rowViewportPosition(row), self._paints.metrics.row
        if y < 0 or y + height > self._table.viewport().height():
            # Next to the edge a minimal scroll keeps the context in view.
            near = -height <= y <= self._table.viewport().height()
            hints = QAbstractItemView.ScrollHint
            hint = hints.EnsureVisible if near else hints.PositionAtCenter
            self._table.scrollTo(self._model.index(row, Column.MESSAGE), hint)
