"""Columns dialog: visible columns, their order, added fields, and sort order."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.present.message_columns import TIME_MODES, Column
from inspector.present.rows import Check, Layout, ListedRows, Row, Space, Text
from inspector.settings import TableColumn
from inspector.ui.dialogs.base_dialog import FittedDialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.columns import ALWAYS
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.widgets.buttons import IconButton, WordButton
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_WIDTH = 480
_LIST_HEIGHT = 272
_HELP = "A field of the filter language, or a value inside the payload, as in payload.text."
_LAYOUT = Layout(height="row")
_SORTS = (
    ("", "Unsorted (order of arrival)"),
    ("up", "Ascending: A to Z, smallest or earliest first"),
    ("down", "Descending: Z to A, largest or latest first"),
)


class ColumnsDialog(FittedDialog):
    """Dialog that changes the columns of a table; changes apply at once."""

    def __init__(
        self, theme_controller: ThemeController, panel: MessagesPanel, names: list[str], parent: QWidget | None = None
    ) -> None:
        """Creates the dialog.

        Args:
            theme_controller: theme source.
            panel: the panel of the columns.
            names: names of fields to offer.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="columnsDialog", title="Columns", width=_WIDTH, parent=parent)
        self._panel = panel
        lines = QVBoxLayout(self)
        zoom = theme_controller.theme.zoom
        self.take_margins(lines)
        lines.setSpacing(round(12 * zoom))
        lines.addWidget(TextLabel("Columns", variant="title", name="columnsTitle", parent=self))
        lines.addWidget(self._build_list())
        lines.addLayout(self._build_tools())
        lines.addLayout(self._build_form(names))
        lines.addLayout(self._build_buttons())
        panel.table_changed.connect(self._on_table_changed)
        panel.sorter.changed.connect(self._show_sort)
        self._fill(0)
        self._show_sort()
        self._list.setFocus()

    def _build_list(self) -> ListFrame:
        frame = ListFrame("columnsFrame", self)
        self._model = RowsModel(ListedRows(_LAYOUT), self, reorders=True)
        self._list = RowsView(
            self._model, self._themes, name="columnsList", title="Columns from left to right", parent=frame,
            in_dialog=True, removes=True, toggles="box",
        )  # fmt: skip
        self._list.setFixedHeight(round(_LIST_HEIGHT * self._themes.theme.zoom))
        self.gives_way = self._list
        self._list.selectionModel().currentChanged.connect(lambda *_indices: self._show_current())
        self._list.toggled.connect(lambda row, _alt: self._toggle(row))
        self._list.moved.connect(self._move_to)
        self._list.removed.connect(lambda _row: self._on_remove_clicked())
        frame.lines.addWidget(self._list)
        return frame

    def _build_tools(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        self._buttons: dict[str, IconButton] = {}
        for name, icon, words in (
            ("Up", "ri.arrow-up-line", "Move left in the table"),
            ("Down", "ri.arrow-down-line", "Move right in the table"),
            ("Remove", "ri.subtract-line", "Remove this column"),
        ):
            button = IconButton(self._themes, icon, words, name=f"columns{name}", variant="small", parent=self)
            self._buttons[name] = button
            row.addWidget(button)
        self._buttons["Up"].clicked.connect(partial(self._move, -1))
        self._buttons["Down"].clicked.connect(partial(self._move, 1))
        self._buttons["Remove"].clicked.connect(self._on_remove_clicked)
        row.addStretch(1)
        row.addWidget(TextLabel("From left to right", variant="hint", name="columnsHint", parent=self))
        return row

    def _build_form(self, names: list[str]) -> Form:
        form = Form(self._themes, self)
        row = QWidget(self)
        inside = QHBoxLayout(row)
        inside.setContentsMargins(0, 0, 0, 0)
        self._name = QLineEdit(row)
        self._name.setObjectName("columnsField")
        self._name.setAccessibleName("Field")
        self._name.setPlaceholderText("payload.text")
        self._name.returnPressed.connect(self._on_add_clicked)
        self._name.textEdited.connect(lambda _text: self._name_row.say_trouble(""))
        completer = QCompleter(names, self._name)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        popup = QListView(self)
        popup.setObjectName("columnsCompletions")
        popup.setAccessibleName("Fields")
        completer.setPopup(popup)
        self._name.setCompleter(completer)
        self._add = WordButton("Add", name="columnsAdd", parent=row)
        self._add.clicked.connect(self._on_add_clicked)
        inside.addWidget(self._name, 1)
        inside.addWidget(self._add)
        self._name_row = FieldColumn(row, name="columnsFieldHelp", help_text=_HELP, parent=self)
        form.add_field("Add a field", self._name_row, self._name)
        self._time = self._box("columnsTime", "Time", TIME_MODES)
        self._time.activated.connect(self._on_time_chosen)
        form.add_field("Time", self._time, self._time)
        self._sort = self._box("columnsSort", "Sort rows by the selected column", _SORTS)
        self._sort.activated.connect(self._on_sort_chosen)
        self._sort_row = FieldColumn(self._sort, name="columnsSortHelp", help_text=" ", parent=self)
        form.add_field("Sort rows", self._sort_row, self._sort)
        return form

    def _box(self, name: str, words: str, choices: tuple[tuple[str, str], ...]) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName(name)
        box.setAccessibleName(words)
        for value, text in choices:
            box.addItem(text, value)
        return box

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        usual = WordButton("Reset columns", name="columnsUsual", parent=self)
        usual.clicked.connect(lambda: self._change([], 0))
        row.addWidget(usual)
        row.addStretch(1)
        row.addWidget(TextLabel("Changes apply at once", variant="hint", name="columnsApply", parent=self))
        row.addSpacing(12)
        close = WordButton("Close", name="columnsClose", parent=self, default=True)
        close.clicked.connect(self.accept)
        row.addWidget(close)
        return row

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._name.hasFocus():
            # Enter adds the field and must not close the dialog.
            return
        super().keyPressEvent(event)

    # Display

    def _fill(self, row: int) -> None:
        """Shows the current columns and selects a row."""
        columns = self._panel.model.columns
        rows = [self._row_of(column) for column in columns.order if column != Column.GUTTER]
        self._model.show_rows(_LAYOUT, rows)
        self._list.select_row(min(max(row, 0), len(rows) - 1))
        self._show_current()
        self._time.setCurrentIndex(self._time.findData(self._panel.model.times.mode))

    def _row_of(self, column: int) -> Row:
        columns = self._panel.model.columns
        words, field = columns.words(column), columns.field(column)
        text = words if field is None or words == field.name else f"{words} ({field.name})"
        shown = not self._panel.view.isColumnHidden(column)
        # Some columns cannot be hidden.
        box = Space(Check("on").advance) if column in ALWAYS else Check("on" if shown else "off")
        return Row(column, (((box, Text(text)),),), text, checked=None if column in ALWAYS else shown)

    def _current(self) -> int:
        key = self._model.key_at(self._list.row)
        return key if isinstance(key, int) else int(Column.MESSAGE)

    def _show_current(self) -> None:
        row = self._list.row
        if row < 0:
            return
        self._buttons["Up"].setEnabled(row > 0)
        self._buttons["Down"].setEnabled(row < self._model.rowCount() - 1)
        self._buttons["Remove"].setEnabled(self._current() >= len(Column))
        self._show_sort()

    def _show_sort(self) -> None:
        columns, by = self._panel.model.columns, self._panel.model.rows.sorted_by
        mine = by is not None and by.field == columns.sort_name(self._current())
        how = "" if by is None or not mine else "down" if by.descending else "up"
        self._sort.setCurrentIndex(self._sort.findData(how))
        order = f"By {columns.words(self._current())}, the column selected above."
        if by is not None and not mine:
            order = f"Currently sorted by {by.label}."
        self._sort_row.say_help(order)

    def _on_table_changed(self, _table: object) -> None:
        self._fill(self._list.row)

    # Changes

    def _change(self, columns: list[TableColumn], row: int) -> None:
        self._panel.choose_columns(columns)
        self._list.select_row(min(row, self._model.rowCount() - 1))

    def _toggle(self, row: int) -> None:
        column = self._current()
        if column not in ALWAYS:
            shown = self._panel.view.isColumnHidden(column)
            self._change(self._panel.model.columns.changed(shown={column: shown}), row)

    def _move_to(self, row: int, target: int) -> None:
        order = [column for column in self._panel.model.columns.order if column != Column.GUTTER]
        if 0 <= target < len(order):
            order.insert(target, order.pop(row))
            self._change(self._panel.model.columns.moved(order), target)

    def _move(self, by: int, *_checked: bool) -> None:
        self._move_to(self._list.row, self._list.row + by)

    def _on_remove_clicked(self) -> None:
        if self._current() >= len(Column):
            self._change(self._panel.model.columns.without(self._current()), self._list.row)

    def _on_add_clicked(self) -> None:
        name = self._name.text().strip()
        try:
            self._panel.add_column(name)
        except RequestError as error:
            self._name_row.say_trouble(str(error))
            return
        self._name.clear()
        columns = self._panel.model.columns
        added = next((c for c in columns.order if columns.name(c) == name), int(Column.MESSAGE))
        self._list.select_row(columns.order.index(added) - 1)

    def _on_time_chosen(self) -> None:
        self._panel.choose_time(self._time.currentData())
        self._fill(self._list.row)

    def _on_sort_chosen(self) -> None:
        how = self._sort.currentData()
        name = self._panel.model.columns.sort_name(self._current())
        self._panel.sorter.sort(name if how else "", how == "down")
        self._show_sort()
