"""The menu of the table's head: sort, what the column Time says, which columns are shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from inspector.filters.errors import FilterError
from inspector.filters.fields import FieldType
from inspector.filters.naming import field_named
from inspector.present.message_columns import TIME_MODES, Column
from inspector.ui.panels.messages.table import MessageTable


class HeaderMenu(QObject):
    """Makes the menu of a column; what it says is done elsewhere.

    Signals:
        sort_requested(str, bool): sort by a field ("": order of arrival), the largest first or not.
        columns_changed(object): other columns, `list[TableColumn]`.
        time_requested(str): what the column Time shall say, an id of `message_columns.TIME_MODES`.
        dialog_requested: choose columns in the dialog.
    """

    sort_requested = Signal(str, bool)
    columns_changed = Signal(object)
    time_requested = Signal(str)
    dialog_requested = Signal()

    def __init__(self, table: MessageTable) -> None:
        super().__init__(table)
        self._table = table
        self._model = table.messages

    def popup(self, column: int, at: QPoint) -> QMenu:
        """Open the menu at a place on the screen; it deletes itself when it closes."""
        menu = self.build(column)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)
        return menu

    def build(self, column: int) -> QMenu:
        """The menu of a column; -1 for that of none."""
        menu = QMenu(self._table)
        menu.setObjectName("columnMenu")
        menu.setAccessibleName("Columns")
        self._add_sorting(menu, column)
        if column in (-1, Column.TIME):
            self._add_times(menu)
        if column >= 0:
            self._add_own(menu, column)
        self._add_columns(menu)
        menu.addSeparator()
        _add(menu, "columns.dialog", "Columns...", self.dialog_requested.emit)
        _add(menu, "columns.default", "Usual columns", lambda: self.columns_changed.emit([]))
        return menu

    def _add_sorting(self, menu: QMenu, column: int) -> None:
        by = self._model.rows.sorted_by
        if column >= 0:
            name = self._model.columns.sort_name(column)
            mine = by is not None and by.field.name == name
            group = QActionGroup(menu)
            for words, descending in zip(_way_words(name), (False, True), strict=True):
                own = "descending" if descending else "ascending"
                action = _add(menu, f"sort.{own}", words, lambda d=descending: self.sort_requested.emit(name, d))
                action.setCheckable(True)
                action.setChecked(mine and by is not None and by.descending == descending)
                group.addAction(action)
        arrival = _add(menu, "sort.clear", "Order of arrival", lambda: self.sort_requested.emit("", False))
        arrival.setEnabled(by is not None)
        menu.addSeparator()

    def _add_times(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for mode, words in TIME_MODES:
            action = _add(menu, f"time.{mode}", words, lambda m=mode: self.time_requested.emit(m))
            action.setCheckable(True)
            action.setChecked(mode == self._model.times.mode)
            group.addAction(action)
        menu.addSeparator()

    def _add_own(self, menu: QMenu, column: int) -> None:
        columns = self._model.columns
        if column != Column.MESSAGE:
            words = "Remove this column" if columns.field(column) is not None else "Hide this column"
            _add(menu, "columns.hide", words, lambda: self.columns_changed.emit(columns.without(column)))
            usual = _add(menu, "columns.width", "Usual width", lambda: self._resize(column))
            usual.setEnabled(column in columns.wanted.widths)
            menu.addSeparator()

    def _resize(self, column: int) -> None:
        self.columns_changed.emit(self._model.columns.changed(widths={column: 0}))

    def _add_columns(self, menu: QMenu) -> None:
        columns = self._model.columns
        for column in columns.order:
            if column in (Column.GUTTER, Column.MESSAGE):
                continue
            shown = not self._table.isColumnHidden(column)
            action = _add(
                menu,
                f"columns.show.{columns.name(column)}",
                columns.words(column).replace("&", "&&"),
                lambda c=column, s=shown: self.columns_changed.emit(columns.changed(shown={c: not s})),
            )
            action.setCheckable(True)
            action.setChecked(shown)


def _way_words(name: str) -> tuple[str, str]:
    """What the two ways of sorting by a field are called."""
    try:
        kind = field_named(name).type
    except FilterError:
        kind = FieldType.ANY
    return _WAYS.get(kind, ("A to Z", "Z to A"))


_SIZES = ("Smallest first", "Largest first")
_WAYS = {
    FieldType.INTEGER: _SIZES, FieldType.NUMBER: _SIZES, FieldType.TIME: ("Earliest first", "Latest first"),
    FieldType.SEVERITY: ("Least severe first", "Most severe first"), FieldType.BOOLEAN: ("No first", "Yes first"),
    FieldType.ANY: ("Smallest or A first", "Largest or Z first"),
}  # fmt: skip
"""Fields of other types are sorted by their letters."""


def _add(menu: QMenu, name: str, words: str, act: Callable[[], object]) -> QAction:
    action = menu.addAction(words)
    action.setObjectName(name)
    action.triggered.connect(lambda *_checked: act())
    return action
