"""Columns of messages and deliveries: names and dtypes, and the growing arrays that hold them.

A column with a single distinct value takes no memory. A column that equals another so far shares that one's array.
Unsigned numbers use the narrowest dtype for the values so far. A million messages of a usual log take 63 bytes each;
full dtypes would take 114.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.flags import Flag

Array = NDArray[Any]

_INITIAL_CAPACITY = 1024
_MAX_SINGLE_COPY = 1 << 17
"""Longest array, in values, that is copied at once when it is full. Copying 10,000,000 would take 100 ms."""


@cache
def _zero(dtype: np.dtype[Any]) -> Array:
    """(1,) initial value shared by all columns; never written to."""
    return np.zeros(1, dtype)


# `np.iinfo` takes 2 µs, which each column would pay for each batch.
@cache
def _dtype_max(dtype: np.dtype[Any]) -> int:
    return int(np.iinfo(dtype).max)


def locate_rows(rows: Array, ascending: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns for each number its index in the ascending array, and a mask of matches: (n,) and (n,) bool. O(n log k).

    The lookup uses the dtype of the array; otherwise numpy would copy the whole array each time.
    """
    if not len(ascending):
        return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_)
    # clipped values differ from their row, so they do not match
    asked = np.minimum(rows, _dtype_max(ascending.dtype)).astype(ascending.dtype)
    places = np.minimum(np.searchsorted(ascending, asked), len(ascending) - 1)
    return places, ascending[places] == rows


class _Column:
    """One array that grows; a single value as long as it has held no other.

    When a long array is almost full, the next one is filled gradually, so that no append takes long.

    Args:
        dtype: the widest dtype it may take; signed dtypes stay at full width.
        least: the narrowest dtype.
        growth: factor of growth. It differs between columns, so that they are not all copied at once.
    """

    __slots__ = ("_array", "_copied", "_dtype", "_growth", "_least", "_next", "_value")

    def __init__(self, dtype: Any, least: Any, growth: float) -> None:
        self._dtype = np.dtype(dtype)
        self._least = np.dtype(least) if self._dtype.kind == "u" else self._dtype
        self._growth = growth
        self._array: Array | None = None
        self._next: Array | None = None
        self._copied = 0
        self._value = _zero(self._least)

    def view(self, length: int) -> Array:
        """Returns its (length,) values, read-only."""
        if self._array is None:
            found = np.ndarray((length,), self._value.dtype, self._value, 0, (0,))
        else:
            found = self._array[:length]
        found.flags.writeable = False
        return found

    def append(self, values: Array | int, length: int, count: int) -> None:
        """Appends `count` values, or one value `count` times, after the present `length`."""
        if not count:
            return
        given = np.asarray(values)
        # A column with one constant value stays a single number until a different value comes.
        if self._array is None:
            if not length:
                first = given if given.ndim == 0 else given[0]
                self._value = np.array([first], self._dtype_for(int(first)))
            if (given == self._value[0]).all():
                return
        array = self._ensure_capacity(length, length + count, given)
        array[length : length + count] = given
        self._copy_gradually(array, length + count)

    def replace(self, rows: Any, values: Any, length: int) -> bool:
        """Replaces values; returns True if that made another array necessary."""
        given, before = np.asarray(values), self._array
        if not given.size or (before is None and (given == self._value[0]).all()):
            return False
        array = self._ensure_capacity(length, length, given)
        array[:length][rows] = given
        if self._next is not None:  # the part not yet copied needs no write
            self._next[:length][rows] = given
        return array is not before

    def copy_from(self, other: Array) -> None:
        """Replaces all values by these."""
        if len(other):
            self.append(other, 0, len(other))

    def _dtype_for(self, most: int) -> np.dtype[Any]:
        """Returns the narrowest dtype for numbers up to `most`."""
        if self._dtype.kind != "u":
            return self._dtype
        needed = np.min_scalar_type(most)
        return needed if needed.itemsize > self._least.itemsize else self._least

    def _ensure_capacity(self, length: int, stop: int, given: Array) -> Array:
        """Returns the array with room for `stop` values and width for the given ones."""
        array, dtype = self._array, self._value.dtype if self._array is None else self._array.dtype
        if self._dtype.kind == "u" and dtype != self._dtype:
            most = int(given.max())
            if most > _dtype_max(dtype):
                dtype = self._dtype_for(most)
        if array is not None and array.dtype == dtype:
            if stop <= len(array):
                return array
            if self._next is not None and stop <= len(self._next):
                self._next[self._copied : length] = array[self._copied : length]
                self._array, self._next = self._next, None
                return self._array
        self._next = None
        room = len(array) if array is not None and stop <= len(array) else max(stop, int(length * self._growth))
        # Memory past the length is never touched, so generous steps cost no resident pages.
        self._array = np.empty(max(room, _INITIAL_CAPACITY), dtype)
        self._array[:length] = self._value[0] if array is None else array[:length]
        return self._array

    def _copy_gradually(self, array: Array, length: int) -> None:
        """Copies into the next array in proportion to the use of this array's last twentieth."""
        room = len(array)
        full = room - room // 20
        if room <= _MAX_SINGLE_COPY or length <= full:
            return
        if self._next is None:
            self._next, self._copied = np.empty(int(room * self._growth), array.dtype), 0
        due = length * (length - full) // (room - full)
        self._next[self._copied : due] = array[self._copied : due]
        self._copied = due


class GrowingColumns:
    """Named arrays of equal length, grown together.

    `columns["kind"]` is a read-only view of the first `len(columns)` values, in a dtype no wider than requested. A view
    does not grow, and may or may not show later writes. Request it again after `append` or `replace`.

    Args:
        dtypes: the widest dtype of each column by name.
        least: the narrowest dtype of a column, for masks and the like.
        like: columns that commonly equal another, by name; the other column is never written by `replace`.
    """

    def __init__(
        self,
        dtypes: Mapping[str, Any],
        *,
        least: Mapping[str, Any] | None = None,
        like: Mapping[str, str] | None = None,
    ) -> None:
        self._length = 0
        self._columns = {
            name: _Column(dtype, (least or {}).get(name, np.uint8), 1.5 + place / (2 * len(dtypes)))
            for place, (name, dtype) in enumerate(dtypes.items())
        }
        self._like = dict(like or {})
        self._views: dict[str, Array] = {}  # cached: passes request columns more often than the columns grow

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Array:
        found = self._views.get(name)
        if found is None:
            found = self._views[name] = self._columns[self._like.get(name, name)].view(self._length)
        return found

    def append(self, values: Mapping[str, Array | int], count: int | None = None) -> int:
        """Appends to every column an array, or a number `count` times. Returns the first new row."""
        start = self._length
        if count is None:
            count = next(len(given) for given in values.values() if not isinstance(given, int))
        # An alias shares the array of another column; the first difference ends it.
        for name, other in list(self._like.items()):
            if not np.array_equal(values[name], values[other]):
                self._columns[name].copy_from(self[other])
                del self._like[name]
        for name, column in self._columns.items():
            if name not in self._like:
                column.append(values[name], start, count)
        self._length = start + count
        # The views show the old length.
        self._views.clear()
        return start

    def replace(self, name: str, rows: Any, values: Any) -> None:
        """Replaces values of a column.

        Args:
            rows: an index, an array of indices, or a slice.
            values: one for all or one for each.
        """
        if self._columns[name].replace(rows, values, self._length):
            self._views.pop(name, None)


MESSAGE_COLUMNS: dict[str, Any] = {
    "source": np.uint16,  # index into Capture.sources
    "connection": np.uint32,  # number of the connection within its source; a reopened connection gets a new one
    "offset": np.int64,  # bytes, of the record's line in its source
    "length": np.uint32,  # bytes, without the line end
    "time_ns": np.int64,  # arrival or log time, else the sender's; nanoseconds UTC, NO_TIME
    "ts_ns": np.int64,  # the sender's clock; NO_TIME
    "kind": np.uint32,  # string id of the canonical kind
    "kind_raw": np.uint32,  # string id, 0 absent
    "sender": np.uint32,
    "to_set": np.uint32,  # id into Capture.to_sets
    "context": np.uint32,  # string id of the observed context key; never rewritten
    "method": np.uint32,  # from the message itself
    "target": np.uint32,
    "space": np.uint32,
    "protocol": np.uint32,
    "direction": np.uint32,
    "stream": np.uint32,
    "id_hash": np.uint64,  # NO_HASH when there is no id
    "correlation_hash": np.uint64,  # of the first id named; NO_HASH
    "rpc_hash": np.uint64,  # of the JSON-RPC id as JSON text; NO_HASH
    "content_hash": np.uint64,  # of the envelope's bytes, to compare copies; NO_HASH if copies cannot occur
    "size": np.uint32,  # bytes of the envelope, message or frame
    "flags": np.uint32,
    "part": np.uint16,  # 1-based index among the messages of one record; 0 if the record is itself the message
}
"""Columns of a block, in these dtypes; a capture keeps them narrower."""

_CAPTURE_DTYPES = {"offset": np.uint64, "content_hash": np.uint32}
"""Dtypes that differ in a capture. Half of a content hash is enough to compare copies of one message."""


def message_columns() -> GrowingColumns:
    """Returns empty columns for the messages of a capture."""
    # In a log of bare envelopes the sender's time is the only one, and each line holds one message and nothing else.
    like = {"ts_ns": "time_ns", "size": "length", "kind_raw": "kind"}
    least = {"flags": np.min_scalar_type(max(Flag))}  # wide enough for any mask
    return GrowingColumns({**MESSAGE_COLUMNS, **_CAPTURE_DTYPES}, least=least, like=like)


DELIVERY_COLUMNS: dict[str, Any] = {
    "message": np.uint32,
    "source": np.uint16,
    "offset": np.uint64,
    "length": np.uint32,
    "participant": np.uint32,  # string id of the recipient
    "event": np.uint32,  # string id: delivered, rejected
}

SIGHTING_COLUMNS: dict[str, Any] = {
    "message": np.uint32,
    "source": np.uint16,
    "offset": np.uint64,
    "length": np.uint32,
    "time_ns": np.int64,  # in the clock of the document
    "content_hash": np.uint64,
}
"""Columns of records of a message that another source had first."""
