"""Item view with rows of variable height; only visible rows are laid out.

Other rows have estimated heights. When a row becomes visible and is laid out, rows already visible stay in place and
the others move. Nothing jumps, and the scroll bar stays correct.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget
from typing_extensions import override

from inspector.ui.widgets.accessible_rows import read_rows_aloud


class Heights:
    """Heights of rows in pixels.

    Attributes:
        exact: (n,) bool, True for rows that were laid out.
    """

    def __init__(self) -> None:
        self._heights = np.zeros(0, np.int64)
        self.exact = np.zeros(0, np.bool_)
        self._tops: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self._heights)

    def reset_to(self, estimates: NDArray[np.int64]) -> None:
        """Resets to estimates: (n,) int64 pixels."""
        self._heights = estimates.astype(np.int64)
        self.exact = np.zeros(len(estimates), np.bool_)
        self._tops = None

    def insert(self, row: int, estimates: NDArray[np.int64]) -> None:
        """Inserts estimates before a row."""
        self._heights = np.insert(self._heights, row, estimates)
        self.exact = np.insert(self.exact, row, np.zeros(len(estimates), np.bool_))
        self._tops = None

    def remove(self, row: int, count: int) -> None:
        """Removes rows."""
        self._heights = np.delete(self._heights, slice(row, row + count))
        self.exact = np.delete(self.exact, slice(row, row + count))
        self._tops = None

    def tops(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the tops of rows."""
        return self._all_tops()[rows]

    def set_exact(self, rows: Sequence[int], heights: Sequence[int]) -> bool:
        """Sets measured heights. Returns True if any differs from the present one."""
        if not len(rows):
            return False
        places = np.asarray(rows, np.int64)
        found = np.asarray(heights, np.int64)
        self.exact[places] = True
        moved = bool(np.any(self._heights[places] != found))
        if moved:
            self._heights[places] = found
            self._tops = None
        return moved

    def invalidate_row(self, row: int) -> None:
        """Marks a row for layout; it keeps its height until then."""
        self.exact[row] = False

    @property
    def total(self) -> int:
        return int(self._all_tops()[-1])

    def top(self, row: int) -> int:
        """Returns the top of a row; for the row count the bottom of the last row."""
        return int(self._all_tops()[row])

    def height(self, row: int) -> int:
        return int(self._heights[row])

    def row_at(self, y: int) -> int:
        """Returns the row at a height, clamped to the first and last row; -1 without rows."""
        found = int(np.searchsorted(self._all_tops(), y, side="right")) - 1
        return min(max(found, 0), len(self._heights) - 1)

    def _all_tops(self) -> NDArray[np.int64]:
        if self._tops is None:
            self._tops = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._heights)))
        return self._tops


_KEYS = Qt.Key
_ROUNDS = 8
"""Maximum of layout rounds, because laying out visible rows may make others visible; far fewer are needed."""
_LEAST_WIDTH = 120
_MARGIN = 4
_Index = QModelIndex | QPersistentModelIndex


class VariableHeightView(QAbstractItemView):
    """Lays out rows, keeps visible ones in place, and handles navigation keys.

    Attributes:
        heights: of all rows.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        read_rows_aloud()
        self.heights = Heights()
        self._width = 0
        self._settling = False
        self._at_end = True
        self._anchor: tuple[int, int] | None = None
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        # Qt would scroll while the user drags over the view.
        self.setAutoScroll(False)

    def expected(self, first: int, stop: int) -> NDArray[np.int64]:
        """Estimates heights of rows: (stop - first,) int64 pixels."""
        raise NotImplementedError

    def measured(self, row: int) -> int:
        """Lays out a row and returns its height."""
        raise NotImplementedError

    def row_words(self, row: int) -> tuple[str, str]:
        """Returns heading and text of a row for screen readers; the text begins with the heading."""
        return "", str(self.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) or "")

    # Changes of the model

    @override
    def reset(self) -> None:
        super().reset()
        self._at_end = True
        self._reset_layout()

    @override
    def rowsInserted(self, parent: _Index, start: int, end: int) -> None:
        super().rowsInserted(parent, start, end)
        self.heights.insert(start, self.expected(start, end + 1))
        self._lay_out_visible()

    @override
    def rowsAboutToBeRemoved(self, parent: _Index, start: int, end: int) -> None:
        super().rowsAboutToBeRemoved(parent, start, end)
        self.heights.remove(start, end - start + 1)

    @override
    def dataChanged(self, topLeft: _Index, bottomRight: _Index, roles: object = ()) -> None:
        self.heights.exact[topLeft.row() : bottomRight.row() + 1] = False
        self._lay_out_visible()
        self.viewport().update()

    def _reset_layout(self) -> None:
        """Discards all layouts; the top row stays on top, and a view at the end stays there."""
        count, anchor = self.model().rowCount(), self._anchor
        self.heights.reset_to(self.expected(0, count))
        held = anchor if anchor is not None and not self._at_end and anchor[0] < count else None
        if held is not None:
            self._set_value(self.heights.top(held[0]) - held[1])
        self._lay_out_visible(held)
        self.viewport().update()

    @property
    def _row_width(self) -> int:
        return max(_LEAST_WIDTH, self.viewport().width())

    # Positions

    def _top(self, row: int) -> int:
        """Returns the top of a row in the viewport."""
        return self.heights.top(row) - self.verticalScrollBar().value()

    def _rect(self, row: int) -> QRect:
        return QRect(0, self._top(row), self.viewport().width(), self.heights.height(row))

    def rows_in_sight(self) -> range:
        """Returns the rows that are at least partly visible."""
        if not len(self.heights):
            return range(0)
        top = self.verticalScrollBar().value()
        first = self.heights.row_at(top)
        return range(first, self.heights.row_at(top + self.viewport().height() - 1) + 1)

    def _lay_out_visible(self, held: tuple[int, int] | None = None) -> None:
        """Lays out visible rows and keeps the ones laid out before in place.

        Args:
            held: a row and its top in the viewport, kept whatever is laid out above it.
        """
        if self._settling:
            return
        self._settling = True
        bar = self.verticalScrollBar()
        at_end = self._at_end
        self._fit_bar()
        for _ in range(_ROUNDS):
            if at_end:
                bar.setValue(bar.maximum())
            seen = self.rows_in_sight()
            new = [row for row in seen if not self.heights.exact[row]]
            if not new:
                break
            anchor = next((row for row in seen if self.heights.exact[row]), seen.start)
            offset = self.heights.top(anchor) - bar.value()
            if held is not None:
                anchor, offset = held
            found = [self.measured(row) for row in new]
            if self.heights.set_exact(new, found):
                self._fit_bar()
                bar.setValue(self.heights.top(anchor) - offset)
        if at_end:
            bar.setValue(bar.maximum())
        seen = self.rows_in_sight()
        self._anchor = (seen.start, self._top(seen.start)) if len(seen) else None
        self._settling = False

    def _fit_bar(self) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(max(1, height))
        bar.setRange(0, max(0, self.heights.total - height) if len(self.heights) else 0)

    def _set_value(self, value: int) -> None:
        was, self._settling = self._settling, True
        self._fit_bar()
        self.verticalScrollBar().setValue(value)
        self._settling = was

    def scroll_to_end(self) -> None:
        """Scrolls to the last row and follows appended rows."""
        self._at_end = True
        self._lay_out_visible()
        self.viewport().update()

    def show_row(self, row: int, *, quietly: bool = False) -> None:
        """Makes a row current and scrolls to it, unless `quietly`."""
        if not 0 <= row < len(self.heights):
            return
        index = self.model().index(row, 0)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if not quietly:
            self.scrollTo(index)
        self.viewport().update()

    @property
    def place(self) -> tuple[int, int, bool]:
        """Scroll position: the top row, its top in the viewport, and True at the end."""
        row, top = self._anchor or (0, 0)
        return row, top, self._at_end

    def return_to(self, place: tuple[int, int, bool]) -> None:
        """Restores a scroll position."""
        row, top, at_end = place
        self._at_end = at_end
        held = (row, top) if not at_end and row < len(self.heights) else None
        if held is not None:
            self._set_value(self.heights.top(row) - top)
        self._lay_out_visible(held)
        self.viewport().update()

    def lay_out_again(self, row: int) -> None:
        """Lays out a changed row again; rows above it stay."""
        self._at_end = False
        self.heights.invalidate_row(row)
        self._lay_out_visible()
        self.viewport().update()

    @property
    def whole_in_sight(self) -> list[int]:
        """Rows that are completely visible; without any, the first visible one."""
        seen, high = self.rows_in_sight(), self.viewport().height()
        return [row for row in seen if self._top(row) >= 0 and self._rect(row).bottom() < high] or [*seen[:1]]

    # Overrides of QAbstractItemView

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        # Changes of the scroll bar made by `_lay_out_visible` come back here.
        if self._settling:
            return
        bar = self.verticalScrollBar()
        self._at_end = bar.value() >= bar.maximum()
        self._lay_out_visible()
        self.viewport().update()

    @override
    def visualRect(self, index: _Index) -> QRect:
        return self._rect(index.row()) if index.isValid() and index.row() < len(self.heights) else QRect()

    @override
    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalScrollBar().value()
        if not len(self.heights) or not 0 <= y < self.heights.total:
            return QModelIndex()
        return self.model().index(self.heights.row_at(y), 0)

    @override
    def scrollTo(
        self, index: _Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        row = index.row()
        if not 0 <= row < len(self.heights):
            return
        # The target's height must be known before its position is used.
        self.heights.set_exact([row], [self.measured(row)])
        self._fit_bar()
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top = self.heights.top(row)
        bottom = top + self.heights.height(row)
        if top < bar.value() or bottom - top > height:
            bar.setValue(top - _MARGIN)
        elif bottom > bar.value() + height:
            bar.setValue(bottom - height)
        self._lay_out_visible()
        self.viewport().update()

    @override
    def horizontalOffset(self) -> int:
        return 0

    @override
    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    @override
    def isIndexHidden(self, index: _Index) -> bool:
        return False

    @override
    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        index = self.indexAt(rect.center())
        self.selectionModel().select(QItemSelection(index, index), command)

    @override
    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        region = QRegion()
        for index in selection.indexes():
            region += self.visualRect(index)
        return region

    @override
    def moveCursor(self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        return self.currentIndex()  # `_navigate` handles the keys

    @override
    def updateGeometries(self) -> None:
        super().updateGeometries()
        if not self._settling:
            self._lay_out_visible()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._row_width != self._width:
            self._width = self._row_width
            self._reset_layout()
        else:
            self._lay_out_visible()

    # Navigation

    def _navigate(self, row: int, key: Qt.Key) -> bool:
        """Handles a navigation key; False for others. Scrolls through a row higher than the view before leaving it."""
        bar, height, last = self.verticalScrollBar(), self.viewport().height(), len(self.heights) - 1
        if last < 0:
            return False
        if key in (_KEYS.Key_PageDown, _KEYS.Key_PageUp):
            bar.setValue(bar.value() + (height if key == _KEYS.Key_PageDown else -height))
            self.show_row(self.whole_in_sight[-1 if key == _KEYS.Key_PageDown else 0], quietly=True)
            return True
        if 0 <= row <= last and key == _KEYS.Key_Down and self._rect(row).bottom() + 1 - height > 0:
            bar.setValue(bar.value() + min(height // 2, self._rect(row).bottom() + 1 - height))
            return True
        if 0 <= row <= last and key == _KEYS.Key_Up and self._top(row) < 0 < self._rect(row).bottom():
            bar.setValue(bar.value() + max(-height // 2, self._top(row)))
            return True
        wanted = {_KEYS.Key_Down: row + 1, _KEYS.Key_Up: row - 1, _KEYS.Key_Home: 0, _KEYS.Key_End: last}.get(key)
        if wanted is None:
            return False
        self.show_row(min(max(wanted, 0), last))
        if key == _KEYS.Key_End:
            self.scroll_to_end()
        return True

    @override
    def keyboardSearch(self, search: str) -> None:
        """Disables Qt's type-ahead search, which would format every row at each letter."""
