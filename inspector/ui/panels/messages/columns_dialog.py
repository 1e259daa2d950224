"""Columns dialog: visible columns, their order, added fields, and sort order."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QCompleter,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.filters.errors import FilterError
from inspector.filters.fields import FIELD_BY_NAME
from inspector.present.message_columns import TIME_MODES, Column
from inspector.settings import TableColumn
from inspector.ui.dialogs.base_dialog import FittedDialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.columns import ALWAYS
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.widgets.buttons import IconButton, WordButton
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel

_WIDTH = 480
_LIST_HEIGHT = 272
_HELP = "A field of the filter language, or a value inside the payload, as in payload.text."
_COLUMN = Qt.ItemDataRole.UserRole
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
            names: payload paths offered besides the fields.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="columnsDialog", title="Columns", width=_WIDTH, parent=parent)
        self._panel = panel
        self._filling = False
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
        self._list = QListWidget(frame)
        self._list.setObjectName("columnsList")
        self._list.setAccessibleName("Columns from left to right")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setFixedHeight(round(_LIST_HEIGHT * self._themes.theme.zoom))
        self.gives_way = self._list
        self._list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self._list.setDefaultDropAction(Qt.DropAction.MoveAction)
        self._list.setUniformItemSizes(True)
        self._list.itemChanged.connect(self._on_item_changed)
        self._list.currentRowChanged.connect(self._on_current_changed)
        self._list.model().rowsMoved.connect(self._on_rows_moved)
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
        completer = QCompleter([*FIELD_BY_NAME, *names], self._name)
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
        self._filling = True
        columns = self._panel.model.columns
        self._list.clear()
        for column in columns.order:
            if column == Column.GUTTER:
                continue
            words = columns.words(column)
            field = columns.field(column)
            item = QListWidgetItem(words if field is None or words == field.name else f"{words} ({field.name})")
            item.setData(_COLUMN, column)
            shown = not self._panel.view.isColumnHidden(column)
            item.setCheckState(Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked)
            # Drops go between columns; a drop on one would replace it.
            flags = item.flags() & ~Qt.ItemFlag.ItemIsDropEnabled
            item.setSizeHint(QSize(0, self._themes.theme.metrics.row))
            item.setFlags(flags & ~Qt.ItemFlag.ItemIsUserCheckable if column in ALWAYS else flags)
            self._list.addItem(item)
        self._filling = False
        self._list.setCurrentRow(min(max(row, 0), self._list.count() - 1))
        self._time.setCurrentIndex(self._time.findData(self._panel.model.times.mode))

    def _current(self) -> int:
        item = self._list.currentItem()
        return int(item.data(_COLUMN)) if item is not None else int(Column.MESSAGE)

    def _on_current_changed(self, row: int) -> None:
        if self._filling or row < 0:
            return
        is_field = self._current() >= len(Column)
        self._buttons["Up"].setEnabled(row > 0)
        self._buttons["Down"].setEnabled(row < self._list.count() - 1)
        self._buttons["Remove"].setEnabled(is_field)
        self._show_sort()

    def _show_sort(self) -> None:
        columns, by = self._panel.model.columns, self._panel.model.rows.sorted_by
        mine = by is not None and by.field.name == columns.sort_name(self._current())
        how = "" if by is None or not mine else "down" if by.descending else "up"
        self._sort.setCurrentIndex(self._sort.findData(how))
        order = f"By {columns.words(self._current())}, the column selected above."
        if by is not None and not mine:
            order = f"Currently sorted by {by.field.label}."
        self._sort_row.say_help(order)

    def _on_table_changed(self, _table: object) -> None:
        self._fill(self._list.currentRow())

    # Changes

    def _change(self, columns: list[TableColumn], row: int) -> None:
        self._panel.choose_columns(columns)
        self._list.setCurrentRow(min(row, self._list.count() - 1))

    def _on_item_changed(self, item: QListWidgetItem) -> None:
        if not self._filling:
            shown = item.checkState() is Qt.CheckState.Checked
            columns = self._panel.model.columns.changed(shown={int(item.data(_COLUMN)): shown})
            self._change(columns, self._list.row(item))

    def _on_rows_moved(self) -> None:
        """Applies the order after a drag."""
        order = [int(self._list.item(row).data(_COLUMN)) for row in range(self._list.count())]
        self._change(self._panel.model.columns.moved(order), self._list.currentRow())

    def _move(self, by: int, *_checked: bool) -> None:
        row = self._list.currentRow()
        order = [column for column in self._panel.model.columns.order if column != Column.GUTTER]
        if 0 <= row + by < len(order):
            order.insert(row + by, order.pop(row))
            self._change(self._panel.model.columns.moved(order), row + by)

    def _on_remove_clicked(self) -> None:
        self._change(self._panel.model.columns.without(self._current()), self._list.currentRow())

    def _on_add_clicked(self) -> None:
        name = self._name.text().strip()
        try:
            self._panel.add_column(name)
        except FilterError as error:
            self._name_row.say_trouble(str(error))
            return
        self._name.clear()
        columns = self._panel.model.columns
        added = next((c for c in columns.order if columns.name(c) == name), int(Column.MESSAGE))
        self._list.setCurrentRow(columns.order.index(added) - 1)

    def _on_time_chosen(self) -> None:
        self._panel.choose_time(self._time.currentData())
        self._fill(self._list.currentRow())

    def _on_sort_chosen(self) -> None:
        how = self._sort.currentData()
        name = self._panel.model.columns.sort_name(self._current())
        self._panel.sorter.sort(name if how else "", how == "down")
        self._show_sort()
