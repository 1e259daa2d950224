"""`messages`: a row a message, a column a field; and what other tables take of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from inspector.analysis import Analysis
from inspector.analysis.columns import Column, Decoded
from inspector.capture.capture import Capture
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME, FIELDS, Field, FieldType
from inspector.tables.columns import Content, Rows, SqlType, Table, TableColumn, taken

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
_NOTHING = Analysis(Capture())
"""A field's kind of column does not depend on what there is."""


def column_name(field: str) -> str:
    """What the column of a field is called: dots are underscores."""
    return field.replace(".", "_")


def column_of(field: Field) -> TableColumn:
    """The column of a field."""
    type_ = SqlType.TEXTS if field.many else _TYPES[field.type]
    return TableColumn(
        column_name(field.name), type_, field.help, isinstance(field.column(_NOTHING), Decoded),
        checked=field.name.startswith("finding") or field.name == "state", counted=field.name == "tokens",
    )  # fmt: skip


def field_column(analysis: Analysis, field: str, rows: Rows) -> Column:
    """A field of some messages."""
    return taken(FIELD_BY_NAME[field].column(analysis), rows)


FIELD_OF_COLUMN = {column_name(field.name): field for field in FIELDS}


def _read(document: CaptureDocument, names: Collection[str]) -> Content:
    analysis = document.analysis
    return Content(len(analysis), {name: FIELD_OF_COLUMN[name].column(analysis) for name in names})


def messages_of(document: CaptureDocument, names: Collection[str], rows: Rows | None) -> Content:
    """Some messages, in their order, or all; each is read from its record once for all columns that are decoded."""
    content = _read(document, names) if rows is None else Content(
        len(rows), {name: field_column(document.analysis, FIELD_OF_COLUMN[name].name, rows) for name in names}
    )  # fmt: skip
    decoded = {name: column.decode for name, column in content.columns.items() if isinstance(column, Decoded)}
    together = _Together(decoded)
    shared = {name: Decoded(partial(together.value, name), content.length) for name in decoded}
    return Content(content.length, {**content.columns, **shared})


class _Together:
    """Decodes all columns of a row when the first is asked for, as a record is decoded for some rows behind it only.

    Args:
        decoders: by column, what gives its value of a row.
    """

    def __init__(self, decoders: Mapping[str, Callable[[int], object]]) -> None:
        self._decoders = decoders
        self._left: dict[int, dict[str, object]] = {}

    def value(self, name: str, row: int) -> object:
        """The value of a column; each is asked for once."""
        values = self._left.get(row)
        if values is None:
            if len(self._left) >= _MOST_LEFT:
                self._left.clear()
            values = self._left[row] = {column: decode(row) for column, decode in self._decoders.items()}
        if name not in values:
            return self._decoders[name](row)
        found = values.pop(name)
        if not values:
            del self._left[row]
        return found


_MOST_LEFT = 1 << 15


MESSAGES = Table("messages", "A row for each message; the columns are the fields of filters.",
                 tuple(map(column_of, FIELDS)), _read)  # fmt: skip
