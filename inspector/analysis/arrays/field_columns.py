"""Defines the kinds of field columns that filters evaluate and views read.

A column has one value per message of the capture, in capture order. It owns no data: it is a short-lived view that a
`Field` makes from arrays and tables of the capture or of a pass. `inspector.filters.fields` defines the values of each
column, and `inspector.filters.evaluate` turns a column into a mask.

There are five kinds (docs/design.md 4): strings interned in a table, lists of strings interned in a table, numbers, one
bit of a flags array, and values decoded from the record on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.store.messages.payload_values import ValueBatch

ABSENT_ID = 0
"""The id that means "no value" in `Interned` and "empty list" in `InternedSets`."""


class LazyArray:
    """An array with values computed per access, so that a read of a few messages stays cheap.

    Args:
        length: messages covered.
        at: returns the values at a slice or at an array of indexes.
    """

    def __init__(self, length: int, at: Callable[[slice | NDArray[np.integer[Any]]], NDArray[Any]]) -> None:
        self._length = length
        self._values_at = at

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, rows: int | slice | NDArray[np.integer[Any]]) -> Any:
        """Returns the values at some indexes; a single value for one index."""
        if isinstance(rows, slice | np.ndarray):
            return self._values_at(rows)
        return self._values_at(slice(rows, rows + 1))[0]


class Column(Protocol):
    """One value per message; the common interface of all columns."""

    def __len__(self) -> int:
        """Returns the number of messages covered."""
        ...

    def value(self, message: int) -> object:
        """Returns the value of one message: None if absent, an empty list for an absent list."""
        ...


@dataclass(frozen=True, slots=True)
class Interned:
    """Strings interned in a table.

    A table is append-only: an entry never changes while the table object and `generation` stay the same. Callers may
    therefore cache results per entry. A table with changed entries (paths after the tree moved) comes as a new object
    or with another generation.
    """

    ids: NDArray[np.integer[Any]] | LazyArray
    """(n,) indexes into `table`, capture order; 0 = absent."""
    table: Sequence[str]
    """Entry 0 is never read as a value."""
    generation: int = 0
    """Changes when an existing entry of the table changes."""

    def __len__(self) -> int:
        return len(self.ids)

    def value(self, message: int) -> str | None:
        """Returns the string of one message, or None if absent."""
        entry = int(self.ids[message])
        return None if entry == ABSENT_ID else self.table[entry]


@dataclass(frozen=True, slots=True)
class InternedSets:
    """Lists of strings (recipients, correlation ids, badges), with each distinct list interned in a table.

    The table is append-only as in `Interned`.
    """

    ids: NDArray[np.integer[Any]] | LazyArray
    """(n,) indexes into `table`, capture order; 0 = the empty list, which counts as absent."""
    table: Sequence[tuple[str, ...]]
    """Entry 0 is `()`."""
    generation: int = 0
    """Changes when an existing entry of the table changes."""

    def __len__(self) -> int:
        return len(self.ids)

    def value(self, message: int) -> list[str]:
        """Returns the list of one message; a new list each time."""
        return list(self.table[int(self.ids[message])])


@dataclass(frozen=True, slots=True)
class Numbers:
    """Integers or floats, one per message."""

    values: NDArray[np.integer[Any]] | NDArray[np.floating[Any]] | LazyArray
    """(n,) any integer or float dtype, capture order; the field defines unit and meaning."""
    absent: float | None = None
    """The value for "absent"; None if every message has a value. NaN always counts as absent."""

    def __len__(self) -> int:
        return len(self.values)

    def value(self, message: int) -> int | float | None:
        """Returns the number of one message as a Python number, or None if absent."""
        number: int | float = self.values[message].item()
        # NaN is the only number that differs from itself.
        if number == self.absent or number != number:
            return None
        return number

    def present(self, rows: slice | NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Returns (len(rows),) bool flags of messages with a value."""
        return self.holding(self.values[rows])

    def holding(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Returns (n,) bool flags of values that are not absent."""
        if np.issubdtype(values.dtype, np.floating):
            present = ~np.isnan(values)
            # A float column may have a sentinel beside NaN.
            return present if self.absent is None else present & (values != self.absent)
        return np.ones(len(values), np.bool_) if self.absent is None else values != self.absent


@dataclass(frozen=True, slots=True)
class Flags:
    """A boolean stored as bits of a shared array; present only if true."""

    bits: NDArray[np.unsignedinteger[Any]]
    """(n,) unsigned, capture order."""
    mask: int
    """True if any of these bits is set; must fit the dtype of `bits`."""

    def __len__(self) -> int:
        return len(self.bits)

    def value(self, message: int) -> bool | None:
        """Returns True, or None if the flag is not set."""
        return True if int(self.bits[message]) & self.mask else None


@dataclass(frozen=True, slots=True)
class Decoded:
    """Values computed or decoded for one message at a time. They are slow, so filters request as few as possible."""

    decode: Callable[[int], object]
    """Returns str, int, float, bool, a list of these, or None if absent, by message index. Must not raise."""
    length: int
    """Number of messages covered."""
    may_have: Callable[[slice | NDArray[np.integer[Any]], tuple[str, ...] | None], NDArray[np.bool_]] | None = None
    """Returns (k,) bool without decoding: True if a message may have a value, or may have one of the given texts.

    Where False, the value is absent, or matches none of the texts. None if the column cannot tell.
    """
    decode_many: Callable[[NDArray[np.integer[Any]]], Iterator[object]] | None = None
    """Yields values of (k,) messages, if that is cheaper than one by one."""
    masked: bool = False
    """True if the values have no secrets."""
    decode_held: Callable[[NDArray[np.integer[Any]]], Iterator[ValueBatch]] | None = None
    """Replaces `decode_many` by runs, for fields with many messages known to have no value."""

    def __len__(self) -> int:
        return self.length

    def value(self, message: int) -> object:
        """Decodes the value of one message; the field defines the cost, usually one parse of the record."""
        return self.decode(message)

    def values(self, messages: NDArray[np.integer[Any]]) -> Iterator[object]:
        """Yields the values of (k,) messages as `value` returns them, decoded one after another."""
        if self.decode_held is not None:
            return (value for run in self.decode_held(messages) for value in run.value_per_message())
        return map(self.decode, messages.tolist()) if self.decode_many is None else self.decode_many(messages)

    def value_runs(self, messages: NDArray[np.integer[Any]]) -> Iterator[ValueBatch]:
        """Yields the same as runs, without messages known to have no value."""
        if self.decode_held is not None:
            return self.decode_held(messages)
        # Without knowledge about absent values all messages form one run.
        return iter([ValueBatch(len(messages), np.arange(len(messages)), self.values(messages))])
