"""Values that are read from records, as SQL asks for them: a row at a time, and decoded some hundred rows at a time.

DuckDB asks a function for row after row of one column, some thousand rows, and then for those of the next column. So
where rows are asked for one after the other those behind are decoded as well, of all columns that were asked for so
far: each record is read once. Where SQL has chosen rows, those alone are decoded.
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
from inspector.tables.arrays import encodable, masked_texts
from inspector.tables.columns import Rows

Read = Callable[[Callable[[], Any]], Any]
"""Calls what reads records where they may be read; None where nobody reads any more. DuckDB asks on its own threads."""

_AHEAD = 256
"""Rows that are decoded together."""
_SLICE_S = 0.008
"""And no longer than this at once: whoever reads may have more to do."""
_MOST_HELD = 1 << 15


class Decoding:
    """The columns of one table that are decoded.

    Args:
        columns: by name.
        length: rows.
        read: calls what reads records.
        masked: secrets are masked.

    Attributes:
        done: rows of which the column that was asked for first was decoded.
    """

    def __init__(self, columns: Mapping[str, Decoded], length: int, read: Read, *, masked: bool) -> None:
        self._columns, self._length = columns, length
        self._read, self._masked = read, masked
        self._of_threads = threading.local()
        self._first = ""
        self.done = 0

    def value(self, name: str, row: int) -> object:
        """A value as SQL has it: secrets masked, a list that is empty absent. Of any thread."""
        held = self._held(name)
        place = row - held.first
        if not 0 <= place < len(held.values):
            if not 0 <= row < self._length or not self._decode_from(name, row, ahead=row == held.last + 1):
                return None
            place = row - held.first
        held.last = row
        return held.values[place]

    def rows(self, names: Sequence[str], rows: Rows) -> Iterator[tuple[object, ...]]:
        """The values of some columns in some rows, in their order."""
        for start in range(0, len(rows), _AHEAD):
            left = rows[start : start + _AHEAD]
            while len(left):
                found = self._read(partial(self._decoded, names, left)) or [[None] * len(left)] * len(names)
                yield from zip(*found, strict=True)
                left = left[len(found[0]) :]

    def _held(self, name: str) -> _Held:
        """What a thread has decoded of a column."""
        columns: dict[str, _Held] = self._of_threads.__dict__
        found = columns.get(name)
        if found is None:
            found = columns[name] = _Held()
        return found

    def _decode_from(self, name: str, row: int, *, ahead: bool) -> bool:
        """Decode a row of a column, with those behind it and what else is asked for; whether somebody reads."""
        columns: dict[str, _Held] = self._of_threads.__dict__
        names = [name, *(other for other, held in columns.items() if other != name and held.waits_for(row))]
        stop = min(row - row % _AHEAD + _AHEAD, self._length) if ahead else row + 1
        found = self._read(partial(self._decoded, names, np.arange(row, stop)))
        for other, values in zip(names, found or (), strict=False):
            columns[other].take(row, values)
        return bool(found)

    def _decoded(self, names: Sequence[str], rows: Rows) -> list[list[object]]:
        """The values of each of some columns in the first of some rows, as many as the time suffices for."""
        until = time.perf_counter() + _SLICE_S
        self._first = self._first or names[0]
        columns = [self._columns[name] for name in names]
        found: list[tuple[object, ...]] = []
        for values in zip(*(_values_in(column, rows) for column in columns), strict=True):
            found.append(values)
            if time.perf_counter() > until:
                break
        self.done += len(found) if self._first in names else 0
        return [
            _shown(values, masked=self._masked and not column.masked)
            for column, values in zip(columns, zip(*found, strict=True), strict=True)
        ]


class _Held:
    """Values of one column that were decoded beforehand: of rows in a row, in one thread.

    Attributes:
        first: the row of the first one.
        last: the row that was asked for last.
    """

    def __init__(self) -> None:
        self.first, self.last = 0, -1
        self.values: list[object] = []

    def waits_for(self, row: int) -> bool:
        """Whether a row will be asked for, and is not decoded yet."""
        return self.last < row and self.first + len(self.values) <= row

    def take(self, first: int, values: list[object]) -> None:
        """Hold more values, and forget those that were asked for."""
        if first != self.first + len(self.values) or len(self.values) > _MOST_HELD:
            self.first, self.values = first, values
            return
        asked = max(0, self.last + 1 - self.first)
        del self.values[:asked]
        self.first += asked
        self.values += values


def _values_in(column: Decoded, rows: Rows) -> Iterator[object]:
    """The values of some rows, without decoding those that cannot have any."""
    if column.may_hold is None:
        return column.values(rows)
    may = column.may_hold(rows, None)
    if may.all():
        return column.values(rows)
    held = column.values(rows[may])
    return (next(held) if one else None for one in may.tolist())


def _shown(values: Sequence[Any], *, masked: bool) -> list[object]:
    """Values of one column as SQL has them; texts are masked together."""
    places = [place for place, value in enumerate(values) if isinstance(value, str)]
    texts = [values[place] for place in places]
    found: list[object] = [_shown_list(value, masked=masked) if isinstance(value, list) else value for value in values]
    for place, text in zip(places, masked_texts(texts) if masked else texts, strict=True):
        found[place] = encodable(text)
    return found


def _shown_list(value: list[Any], *, masked: bool) -> list[str] | None:
    return [encodable(one) for one in (mask_secrets(value) if masked else value)] or None
