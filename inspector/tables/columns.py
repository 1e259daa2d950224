"""What a table is: its columns with their SQL types, and where their values come from."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, Lazy, Numbers
from inspector.document.document import CaptureDocument

Rows: TypeAlias = "NDArray[np.integer[Any]]"


class SqlType(enum.Enum):
    """A type of DuckDB's, as it is written in SQL."""

    TEXT = "VARCHAR"
    TEXTS = "VARCHAR[]"
    INTEGER = "BIGINT"
    NUMBER = "DOUBLE"
    TIME = "TIMESTAMP_NS"
    """UTC."""
    BOOLEAN = "BOOLEAN"
    SEVERITY = "SEVERITY"
    """An ENUM in the order of `Severity`, so that it compares as filters do."""
    JSON = "JSON"
    BYTES = "BLOB"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table."""

    name: str
    type: SqlType
    help: str
    """One sentence."""
    decoded: bool = False
    """Its values are read from records, for the rows that are asked for."""
    checked: bool = False
    """It is whole only when all checks have looked at the capture."""
    counted: bool = False
    """It is whole only when tokens are counted."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a table holds of a document now.

    Attributes:
        length: rows.
        columns: those that were asked for, by name, with a value for each row. `Decoded` of those declared so.
    """

    length: int
    columns: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a table has, wherever its rows come from."""

    name: str
    help: str
    """What a row is, in a sentence."""
    columns: tuple[TableColumn, ...]

    def column(self, name: str) -> TableColumn:
        """The column of a name."""
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True, slots=True)
class Table(TableShape):
    """One table of a document."""

    read: Callable[[CaptureDocument, Collection[str]], Content]
    """A document's rows, with the columns of some names."""


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def taken(column: Column, rows: Rows) -> Column:
    """A column of some of the rows of another, in their order."""
    if isinstance(column, Interned):
        return Interned(column.ids[rows], column.table, column.generation)
    if isinstance(column, InternedSets):
        return InternedSets(column.ids[rows], column.table, column.generation)
    if isinstance(column, Numbers):
        return Numbers(column.values[rows], column.absent)
    if isinstance(column, Flags):
        return Flags(column.bits[rows], column.mask)
    assert isinstance(column, Decoded)  # there is no other kind
    return Decoded(
        lambda row: column.value(int(rows[row])), len(rows),
        decode_many=lambda some: column.values(rows[some]), masked=column.masked,
    )  # fmt: skip


def texts(values: Sequence[str | None]) -> Interned:
    """A column of texts; None is absent."""
    table: dict[str | None, int] = {None: 0}
    ids = np.fromiter((table.setdefault(value, len(table)) for value in values), np.uint32, len(values))
    return Interned(ids, [value or "" for value in table])


def text_lists(values: Sequence[Sequence[str]]) -> InternedSets:
    """A column of lists of texts."""
    table: dict[tuple[str, ...], int] = {(): 0}
    ids = np.fromiter((table.setdefault(tuple(value), len(table)) for value in values), np.uint32, len(values))
    return InternedSets(ids, list(table))


def flags(values: Any) -> Flags:
    """A column of what holds or does not."""
    return Flags(np.asarray(values, np.bool_).astype(np.uint8), 1)


def numbered(messages: Any, absent: int) -> Numbers:
    """A column of message indices as the numbers users see; `absent` stands for none."""
    found = np.asarray(messages).astype(np.int64)
    return Numbers(np.where(found == absent, 0, found + 1), 0)


def whole(values: Any, length: int) -> NDArray[Any]:
    """All values of an array that may be worked out where it is asked for."""
    return values[slice(0, length)] if isinstance(values, Lazy) else np.asarray(values[:length])
