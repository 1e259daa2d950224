"""Item model of a query's result. Rows with a message number lead to their message."""

from __future__ import annotations

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.engine.requests.queries import QueryColumn, QueryRows
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.widgets.rows.table_model import TableModel

_LONGEST = 1_000
_TOOLTIP_FROM = 20


class AnswerModel(TableModel[list[str]]):
    """Rows of a result in its order, as texts of cells.

    Attributes:
        columns: columns of the result.
    """

    has_names = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(None, parent)
        self.columns: list[QueryColumn] = []
        self._messages: list[int | None] = []

    def begin(self, columns: list[QueryColumn]) -> None:
        """Starts another result without rows."""
        self.beginResetModel()
        self.columns, self.rows, self._messages = columns, [], []
        self.endResetModel()

    def add(self, part: QueryRows) -> None:
        self._messages += part.messages
        self.add_rows(part.rows)

    def message(self, row: int) -> int | None:
        """Returns the message of a row's number, or None."""
        return self._messages[row] if 0 <= row < len(self._messages) else None

    def messages(self) -> list[int]:
        """Returns the distinct messages of all rows, ascending."""
        return sorted({message for message in self._messages if message is not None})

    @override
    def row_text(self, row: int) -> str:
        return "\t".join(text.replace("\t", " ") for text in self.rows[row])

    @override
    def column(self, section: int) -> int:
        return section

    @override
    def text(self, one: list[str], column: int) -> str:
        return safe_line(one[column][:_LONGEST], _LONGEST)

    @override
    def cell_tip(self, one: list[str], column: int) -> str:
        return tool_tip(one[column][:_LONGEST]) if len(one[column]) > _TOOLTIP_FROM else ""

    @override
    def is_figure(self, column: int) -> bool:
        return self.columns[column].is_number

    @override
    def heading(self, column: int) -> str:
        return safe_line(self.columns[column].name, 200)

    @override
    def heading_tip(self, column: int) -> str:
        return tool_tip(self.columns[column].type)
