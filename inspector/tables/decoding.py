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

from inspector.analysis.columns import Decoded
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.tables.arrays import encodable
from inspector.tables.columns import Rows

Read = Callable[[Callable[[], Any]], Any]
"""Calls what reads records where they may be read; None where nobody reads any more. DuckDB asks on its own threads."""

_AHEAD = 256
"""Rows that are decoded together."""
_SLICE_S = 0.008
"""And no longer than this at once: whoever reads may have more to do."""
_MOST_HELD = 1 << 15
_MISSING: Any = object()


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
        if not 0 <= row < self._length:
            return None
        held = self._held(name)
        found = held.values.pop(row, _MISSING)
        if found is _MISSING:
            found = self._decode_from(name, row, ahead=row == held.last + 1)
        held.last = row
        return found

    def rows(self, names: Sequence[str], rows: Rows) -> Iterator[tuple[object, ...]]:
        """The values of some columns in some rows, in their order."""
        for start in range(0, len(rows), _AHEAD):
            left = rows[start : start + _AHEAD]
            while len(left):
                found = self._read(partial(self._decoded, names, left)) or [(None,) * len(names)] * len(left)
                yield from found
                left = left[len(found) :]

    def _held(self, name: str) -> _Held:
        """What a thread has decoded of a column, and not asked for yet."""
        columns: dict[str, _Held] = self._of_threads.__dict__
        found = columns.get(name)
        if found is None:
            found = columns[name] = _Held()
        return found

    def _decode_from(self, name: str, row: int, *, ahead: bool) -> object:
        columns: dict[str, _Held] = self._of_threads.__dict__
        names = [name, *(other for other, held in columns.items() if other != name and held.last < row)]
        stop = min(row - row % _AHEAD + _AHEAD, self._length) if ahead else row + 1
        found = self._read(partial(self._decoded, names, np.arange(row, stop)))
        if not found:
            return None
        for other, values in zip(names, zip(*found, strict=True), strict=True):
            held = columns[other].values
            if len(held) > _MOST_HELD:
                held.clear()
            held.update(zip(range(row, row + len(values)), values, strict=True))
        return columns[name].values.pop(row)

    def _decoded(self, names: Sequence[str], rows: Rows) -> list[tuple[object, ...]]:
        """The values of the first of some rows, as many as the time suffices for."""
        until = time.perf_counter() + _SLICE_S
        self._first = self._first or names[0]
        columns = [self._columns[name] for name in names]
        shown = [self._shown_of(column) for column in columns]
        found: list[tuple[object, ...]] = []
        for values in zip(*(column.values(rows) for column in columns), strict=True):
            found.append(tuple([show(value) for show, value in zip(shown, values, strict=True)]))
            if time.perf_counter() > until:
                break
        self.done += len(found) if self._first in names else 0
        return found

    def _shown_of(self, column: Decoded) -> Callable[[Any], object]:
        return _shown_masked if self._masked and not column.masked else _shown


class _Held:
    """Values of one column that were decoded beforehand, and the row that was asked for last."""

    def __init__(self) -> None:
        self.values: dict[int, object] = {}
        self.last = -1


def _shown(found: Any) -> object:
    if isinstance(found, str):
        return encodable(found)
    return [encodable(one) for one in found] or None if isinstance(found, list) else found


def _shown_masked(found: Any) -> object:
    if isinstance(found, str):
        return encodable(mask_text(found))
    return [encodable(one) for one in mask_secrets(found)] or None if isinstance(found, list) else found
