"""Decodes record values for SQL functions in batches of some hundred rows.

DuckDB calls a function for some thousand rows of one column, then for the next column. So sequential requests decode
the following rows too, of all columns requested so far: each record is read once. For selected rows only these are
decoded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from inspector.analysis.arrays.field_columns import Decoded
from inspector.protocol.secrets.masking import mask_secrets
from inspector.tables.column_arrays import encodable, masked_texts
from inspector.tables.columns import Rows

RunRead = Callable[[Callable[[], Any]], Any]
"""Calls a function that reads records on the right thread; returns None after the end.

DuckDB calls from its own threads.
"""

# DuckDB asks for a column of some thousand rows before the next one; decoded values must last until then.
_BATCH_ROWS = 256
"""Rows decoded together."""
_SLICE_S = 0.008
"""Time limit in seconds of one batch, since the reading thread may have other work."""
# Bounds memory if a query asks for one column often and for another one never again.
_MAX_CACHED = 1 << 15


class TableDecoder:
    """The decoded columns of one table.

    Args:
        columns: by name.
        length: rows.
        read: calls functions that read records.
        masked: mask secrets.

    Attributes:
        decoded_count: decoded rows of the first requested column.
    """

    def __init__(self, columns: Mapping[str, Decoded], length: int, read: RunRead, *, masked: bool) -> None:
        self._columns, self._length = columns, length
        self._read, self._masked = read, masked
        # SQL runs on several threads, and each reads its own rows in order.
        self._of_threads = threading.local()
        self._first = ""
        self.decoded_count = 0

    def value_at(self, name: str, row: int) -> object:
        """Returns a value as in SQL: secrets masked, NULL for an empty list. Thread-safe."""
        held = self._cached_column(name)
        place = row - held.first
        if not 0 <= place < len(held.values):
            # Reading row by row looks ahead; a single row is decoded alone.
            if not 0 <= row < self._length or not self._decode_from(name, row, ahead=row == held.last + 1):
                return None
            place = row - held.first
        held.last = row
        return held.values[place]

    def read_rows(self, names: Sequence[str], rows: Rows) -> Iterator[tuple[object, ...]]:
        """Yields the values of columns in the given rows, in order."""
        for start in range(0, len(rows), _BATCH_ROWS):
            left = rows[start : start + _BATCH_ROWS]
            while len(left):
                # The document refuses to read after its end, so all values are NULL then.
                found = self._read(partial(self._decoded, names, left)) or [[None] * len(left)] * len(names)
                yield from zip(*found, strict=True)
                left = left[len(found[0]) :]

    def _cached_column(self, name: str) -> _CachedColumn:
        """Returns a thread's decoded values of a column."""
        columns: dict[str, _CachedColumn] = self._of_threads.__dict__
        found = columns.get(name)
        if found is None:
            found = columns[name] = _CachedColumn()
        return found

    def _decode_from(self, name: str, row: int, *, ahead: bool) -> bool:
        """Decodes a row with the following rows and other requested columns; returns False after the end."""
        columns: dict[str, _CachedColumn] = self._of_threads.__dict__
        # Columns of one row come from one line, so the others are decoded along.
        names = [name, *(other for other, held in columns.items() if other != name and held.needs_row(row))]
        stop = min(row - row % _BATCH_ROWS + _BATCH_ROWS, self._length) if ahead else row + 1
        found = self._read(partial(self._decoded, names, np.arange(row, stop)))
        for other, values in zip(names, found or (), strict=False):
            columns[other].append_values(row, values)
        return bool(found)

    def _decoded(self, names: Sequence[str], rows: Rows) -> list[list[object]]:
        """Returns the values of columns in the first of the rows, as many as the time limit allows."""
        until = time.perf_counter() + _SLICE_S
        self._first = self._first or names[0]
        columns = [self._columns[name] for name in names]
        found: list[tuple[object, ...]] = []
        for values in zip(*(_values_in(column, rows) for column in columns), strict=True):
            found.append(values)
            # The limit keeps each step short; the caller asks again for the rest.
            if time.perf_counter() > until:
                break
        self.decoded_count += len(found) if self._first in names else 0
        return [
            _sql_values(values, masked=self._masked and not column.masked)
            for column, values in zip(columns, zip(*found, strict=True), strict=True)
        ]


class _CachedColumn:
    """Decoded values of consecutive rows of one column, in one thread.

    Attributes:
        first: row of the first value.
        last: last requested row.
    """

    def __init__(self) -> None:
        self.first, self.last = 0, -1
        self.values: list[object] = []

    def needs_row(self, row: int) -> bool:
        """Returns True if a row will be requested and is not decoded yet."""
        return self.last < row and self.first + len(self.values) <= row

    def append_values(self, first: int, values: list[object]) -> None:
        """Appends values, and evicts requested ones."""
        # After a jump, or with too many values, the earlier ones are dropped.
        if first != self.first + len(self.values) or len(self.values) > _MAX_CACHED:
            self.first, self.values = first, values
            return
        asked = max(0, self.last + 1 - self.first)
        del self.values[:asked]
        self.first += asked
        self.values += values


def _values_in(column: Decoded, rows: Rows) -> Iterator[object]:
    """Yields the values of rows, without decoding rows that cannot have one."""
    if column.may_have is None:
        return column.values(rows)
    may = column.may_have(rows, None)
    if may.all():
        return column.values(rows)
    held = column.values(rows[may])
    return (next(held) if one else None for one in may.tolist())


def _sql_values(values: Sequence[Any], *, masked: bool) -> list[object]:
    """Returns values of one column as in SQL; texts are masked together."""
    # Texts of a column are masked together, which is much faster.
    places = [place for place, value in enumerate(values) if isinstance(value, str)]
    texts = [values[place] for place in places]
    found: list[object] = [_shown_list(value, masked=masked) if isinstance(value, list) else value for value in values]
    for place, text in zip(places, masked_texts(texts) if masked else texts, strict=True):
        found[place] = encodable(text)
    return found


def _shown_list(value: list[Any], *, masked: bool) -> list[str] | None:
    return [encodable(one) for one in (mask_secrets(value) if masked else value)] or None
