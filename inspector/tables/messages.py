"""SQL table `messages`: a row per message, a column per field; and field columns for other tables."""

from __future__ import annotations

from collections.abc import Collection

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded
from inspector.document.document import CaptureDocument
from inspector.filters.field import Field, FieldType
from inspector.filters.fields import FIELD_BY_NAME, all_fields
from inspector.store.messages.capture import Capture
from inspector.tables.columns import Content, Rows, SqlType, Table, TableColumn, select_rows

_TYPES = {
    FieldType.STRING: SqlType.TEXT,
    FieldType.KIND: SqlType.TEXT,
    FieldType.CONTEXT: SqlType.TEXT,
    FieldType.INTEGER: SqlType.INTEGER,
    FieldType.NUMBER: SqlType.NUMBER,
    FieldType.TIME: SqlType.TIME,
    FieldType.SEVERITY: SqlType.SEVERITY,
    FieldType.BOOLEAN: SqlType.BOOLEAN,
}
_EMPTY_ANALYSIS = Analysis(Capture())
"""An empty analysis: the column type of a field does not depend on data."""


def column_name(field: str) -> str:
    """Returns the column name of a field: dots become underscores."""
    return field.replace(".", "_")


def column_of(field: Field) -> TableColumn:
    type_ = SqlType.TEXTS if field.many else _TYPES[field.type]
    return TableColumn(
        column_name(field.name), type_, field.help, isinstance(field.column(_EMPTY_ANALYSIS), Decoded),
        needs_checks=field.name.startswith("finding") or field.name == "state",
        needs_token_counts=field.name == "tokens",
    )  # fmt: skip


def field_column(analysis: Analysis, field: str, rows: Rows) -> Column:
    """Returns a field of selected messages."""
    return select_rows(FIELD_BY_NAME[field].column(analysis), rows)


class _FieldOfColumn(dict[str, Field]):
    """Fields by column, also those that a plug-in has added since."""

    def __missing__(self, column: str) -> Field:
        for field in all_fields():
            if column_name(field.name) == column:
                return field
        raise KeyError(column)


FIELD_OF_COLUMN = _FieldOfColumn((column_name(field.name), field) for field in all_fields())
"""Fields by column. Fields of plug-ins that are loaded later are columns of SQL tables from the next start on."""


def _read(document: CaptureDocument, names: Collection[str]) -> Content:
    analysis = document.analysis
    return Content(len(analysis), {name: FIELD_OF_COLUMN[name].column(analysis) for name in names})


def messages_of(document: CaptureDocument, names: Collection[str], rows: Rows | None) -> Content:
    """Returns messages in the given order, or all."""
    if rows is None:
        return _read(document, names)
    columns = {name: select_rows(FIELD_OF_COLUMN[name].column(document.analysis), rows) for name in names}
    return Content(len(rows), columns)


MESSAGES = Table("messages", "A row for each message; the columns are the fields of filters.",
                 tuple(map(column_of, FIELD_OF_COLUMN.values())), _read)  # fmt: skip
