"""Moves through a list of rows, and opens and closes its groups, by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from inspector.ui.widgets.rows.model import RowsModel

if TYPE_CHECKING:
    from inspector.ui.widgets.rows.view import RowsView

_KEYS = Qt.Key


def go_through_groups(view: RowsView, rows: RowsModel, row: int, key: int) -> bool:
    """Expands, collapses, or moves between a head and its rows. Returns False if the key is for something else."""
    out, into = key in (_KEYS.Key_Left, _KEYS.Key_Minus), key in (_KEYS.Key_Right, _KEYS.Key_Plus)
    if view.head_of is None or not (out or into):
        return False
    if row < 0:
        return True
    is_open = rows.spec(row).expanded
    if is_open is None:
        if out and (head := view.head_of(row)) >= 0:
            view.pick_row(head)
    elif out and not is_open:
        if 0 <= (head := view.head_of(row)) < row:
            view.pick_row(head)
    elif into and is_open:
        view.pick_row(row + 1)
    else:
        view.expanded.emit(row, into)
    return True


def navigate(view: RowsView, rows: RowsModel, row: int, key: int) -> bool:
    """Moves to another row. Returns False if the key is no navigation key."""
    last = rows.rowCount() - 1
    page = max(1, view.viewport().height() // view.row_height - 1)
    wanted = {
        _KEYS.Key_Down: row + 1, _KEYS.Key_Up: row - 1, _KEYS.Key_PageDown: row + page,
        _KEYS.Key_PageUp: row - page, _KEYS.Key_Home: 0, _KEYS.Key_End: last,
    }.get(_KEYS(key))  # fmt: skip
    if wanted is None or last < 0:
        return wanted is not None
    if view.selected is None and key in (_KEYS.Key_Down, _KEYS.Key_Up):
        # Qt makes the first row current when the view gets the focus; the user starts from it.
        wanted = max(row, 0)
    wanted = min(max(wanted, 0), last)
    if wanted != row or view.selected is None:
        view.pick_row(rows.nearest_selectable(wanted, -1 if wanted < row else 1))
    return True
