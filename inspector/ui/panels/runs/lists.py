"""Lists of findings and tools in the visible runs, the most frequent first. Each row filters by its runs."""

from __future__ import annotations

import enum

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import quote
from inspector.engine.requests.finding_rows import CHECK_BY_CODE
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Cell, Text
from inspector.present.wire_text import safe_line, tool_tip
from inspector.survey.runs import CountedItem
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel


class FindingColumn(enum.IntEnum):
    """Columns of the findings."""

    NAME = 0
    COUNT = 1
    RUNS = 2


class ToolColumn(enum.IntEnum):
    """Columns of the tools."""

    NAME = 0
    COUNT = 1
    FAILED = 2
    RUNS = 3


class CountedModel(TableModel[CountedItem]):
    """Rows of findings or tools."""

    def __init__(self, columns: type[enum.IntEnum], titles: tuple[str, ...], parent: QObject | None = None) -> None:
        self.columns = columns  # type: ignore[misc] - each list has its own
        self.titles = titles  # type: ignore[misc] - as above
        super().__init__(columns(1), parent)

    @override
    def key_of(self, one: CountedItem) -> int:
        return hash(one.name)

    @override
    def in_order(self, rows: list[CountedItem], column: enum.IntEnum, *, descending: bool) -> list[CountedItem]:
        return sorted(rows, key=lambda one: getattr(one, column.name.lower()), reverse=descending)

    @override
    def text(self, one: CountedItem, column: enum.IntEnum) -> str:
        value = getattr(one, column.name.lower())
        return (safe_line(value) or "unnamed") if not column else f"{value:,}"

    @override
    def tip(self, one: CountedItem) -> str:
        check = CHECK_BY_CODE.get(one.name)
        return tool_tip(f"{one.name}\n{check.title}" if check is not None else one.name)

    @override
    def cell(self, one: CountedItem, column: enum.IntEnum) -> Cell:
        text = self.text(one, column)
        if not column:
            severe = one.severity in ("error", "warning")
            mono = "mono-row" if self.columns is ToolColumn else "body"
            return (Text(text, mono, f"severity.{one.severity}" if severe else PRIMARY, link=True),)
        count = getattr(one, column.name.lower())
        failed = column.name == "FAILED"
        return (Text(text, "figure", TERTIARY if not count else "severity.error" if failed else SECONDARY),)

    @override
    def heading_tip(self, column: int) -> str:
        return ""


class CountedTable(TableView):
    """A list of findings or tools.

    Args:
        field: the filter field of a row's name.
    """

    least_name = 80
    click_enters = True

    def __init__(
        self, model: CountedModel, themes: ThemeController, parent: QWidget | None, *, name: str, field: str
    ) -> None:
        widths = {column: "8,888" for column in model.columns if column}
        self.gives_way = [column for column in reversed(model.columns) if column > 1]
        super().__init__(model, themes, parent, name=name, widths=widths)
        self._model = model
        self._field = field
        self.clicked.connect(lambda index: self.enter_row(index.row()))

    @override
    def enter_row(self, row: int) -> None:
        self.filter_requested.emit(f"{self._field} == {quote(self._model.rows[row].name)}", "replace")

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        name = quote(self._model.rows[row].name)
        for words, operator in (("Show runs with it", "=="), ("Show runs without it", "!=")):
            text = f"{self._field} {operator} {name}"
            menu.addAction(words).triggered.connect(
                lambda _on=False, text=text: self.filter_requested.emit(text, "replace")
            )
