"""Declares SQL tables, their columns and types, and the source of their values; builds common columns."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, LazyArray, Numbers
from inspector.document.document import CaptureDocument

Rows: TypeAlias = "NDArray[np.integer[Any]]"


class SqlType(enum.Enum):
    """A DuckDB type in SQL notation."""

    TEXT = "VARCHAR"
    TEXTS = "VARCHAR[]"
    INTEGER = "BIGINT"
    NUMBER = "DOUBLE"
    TIME = "TIMESTAMP_NS"
    """UTC."""
    BOOLEAN = "BOOLEAN"
    SEVERITY = "SEVERITY"
    """ENUM in the order of `Severity`, so that it compares as in filters."""
    JSON = "JSON"
    BYTES = "BLOB"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table."""

    name: str
    type: SqlType
    help: str
    """One sentence."""
    is_decoded: bool = False
    """Its values are read from records, for the requested rows."""
    needs_checks: bool = False
    """It is complete only after all checks of the capture."""
    needs_token_counts: bool = False
    """It is complete only after tokens are counted."""


@dataclass(frozen=True, slots=True)
class Content:
    """Present content of a table.

    Attributes:
        length: rows.
        columns: the requested columns by name, with a value for each row; `Decoded` if declared so.
    """

    length: int
    columns: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class TableShape:
    """Name and columns of a table, independent of the origin of its rows."""

    name: str
    help: str
    """Meaning of a row, as one sentence."""
    columns: tuple[TableColumn, ...]

    def column(self, name: str) -> TableColumn:
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True, slots=True)
class Table(TableShape):
    """One table of a document."""

    read: Callable[[CaptureDocument, Collection[str]], Content]
    """Returns a document's rows with the named columns."""


def sql_literal(text: str) -> str:
    """Returns a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def select_rows(column: Column, rows: Rows) -> Column:
    """Returns a column of selected rows, in their order."""
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
        # Decoding is expensive, so the selection stays lazy.
        lambda row: column.value(int(rows[row])), len(rows),
        decode_many=lambda some: column.values(rows[some]), masked=column.masked,
    )  # fmt: skip


def text_column(values: Sequence[str | None]) -> Interned:
    """Returns a column of texts; None is absent."""
    table: dict[str | None, int] = {None: 0}
    ids = np.fromiter((table.setdefault(value, len(table)) for value in values), np.uint32, len(values))
    return Interned(ids, [value or "" for value in table])


def text_list_column(values: Sequence[Sequence[str]]) -> InternedSets:
    table: dict[tuple[str, ...], int] = {(): 0}
    ids = np.fromiter((table.setdefault(tuple(value), len(table)) for value in values), np.uint32, len(values))
    return InternedSets(ids, list(table))


def boolean_column(values: Any) -> Flags:
    return Flags(np.asarray(values, np.bool_).astype(np.uint8), 1)


def message_number_column(messages: Any, absent: int) -> Numbers:
    """Returns a column of message indices as the numbers users see; `absent` marks missing ones."""
    found = np.asarray(messages).astype(np.int64)
    return Numbers(np.where(found == absent, 0, found + 1), 0)


def all_values(values: Any, length: int) -> NDArray[Any]:
    """Returns all values of an array, computed if it is lazy."""
    return values[slice(0, length)] if isinstance(values, LazyArray) else np.asarray(values[:length])
