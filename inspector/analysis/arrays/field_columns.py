"""The kinds of column a field can offer: what filters evaluate and views read.

A column has one value per message of the capture, in capture order. It owns no data: it is a short-lived view that a
`Field` makes from arrays and tables which the capture or a pass owns. Which values a column holds is the business of
`inspector.filters.fields`; how a filter turns it into a mask is that of `inspector.filters.compile`.

Five kinds are enough (docs/design.md 4): strings interned in a table, lists of strings interned in a table, numbers,
one bit of a flags array, and values that are decoded from the record on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.store.messages.payload_values import Held

ABSENT_ID = 0
"""The id that means "no value" in `Interned` and "empty list" in `InternedSets`."""


class Lazy:
    """An array that is worked out where it is asked for, so that one made for a few messages costs no more than they.

    Args:
        length: messages covered.
        at: the values at a slice or at an array of places.
    """

    def __init__(self, length: int, at: Callable[[slice | NDArray[np.integer[Any]]], NDArray[Any]]) -> None:
        self._length = length
        self._at = at

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, rows: int | slice | NDArray[np.integer[Any]]) -> Any:
        """The values at some places; one value for one place."""
        if isinstance(rows, slice | np.ndarray):
            return self._at(rows)
        return self._at(slice(rows, rows + 1))[0]


class Column(Protocol):
    """One value per message; what every kind of column has in common."""

    def __len__(self) -> int:
        """Number of messages covered."""
        ...

    def value(self, message: int) -> object:
        """The value of one message: None when absent, an empty list for an absent list."""
        ...


@dataclass(frozen=True, slots=True)
class Interned:
    """Strings held once in a table.

    A table is append-only: an entry never changes while the table object and `generation` stay the same, so that
    whoever evaluated something per entry may keep the result. A table whose entries did change (paths after the
    tree moved) comes as a new object or with another generation.
    """

    ids: NDArray[np.integer[Any]] | Lazy
    """(n,) places in `table`, capture order; 0 = absent."""
    table: Sequence[str]
    """Entry 0 is never read as a value."""
    generation: int = 0
    """Changes whenever an entry that was already in the table changes."""

    def __len__(self) -> int:
        """Number of messages covered."""
        return len(self.ids)

    def value(self, message: int) -> str | None:
        """The string of one message, or None when absent."""
        entry = int(self.ids[message])
        return None if entry == ABSENT_ID else self.table[entry]


@dataclass(frozen=True, slots=True)
class InternedSets:
    """Lists of strings (recipients, correlation ids, badges), each distinct list held once in a table.

    The table is append-only as in `Interned`.
    """

    ids: NDArray[np.integer[Any]] | Lazy
    """(n,) places in `table`, capture order; 0 = the empty list, which counts as absent."""
    table: Sequence[tuple[str, ...]]
    """Entry 0 is `()`."""
    generation: int = 0
    """Changes whenever an entry that was already in the table changes."""

    def __len__(self) -> int:
        """Number of messages covered."""
        return len(self.ids)

    def value(self, message: int) -> list[str]:
        """The list of one message; a new list each time."""
        return list(self.table[int(self.ids[message])])


@dataclass(frozen=True, slots=True)
class Numbers:
    """Integers or floats, one per message."""

    values: NDArray[np.integer[Any]] | NDArray[np.floating[Any]] | Lazy
    """(n,) any integer or float dtype, capture order; unit and meaning are the field's."""
    absent: float | None = None
    """The value that means absent; None when every message has a value. NaN is never a value, given here or not."""

    def __len__(self) -> int:
        """Number of messages covered."""
        return len(self.values)

    def value(self, message: int) -> int | float | None:
        """The number of one message as a Python number, or None when absent."""
        number: int | float = self.values[message].item()
        if number == self.absent or number != number:
            return None
        return number

    def present(self, rows: slice | NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Which of the messages at `rows` have a value: (len(rows),) bool."""
        return self.holding(self.values[rows])

    def holding(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of some of its values are any."""
        if np.issubdtype(values.dtype, np.floating):
            present = ~np.isnan(values)
            return present if self.absent is None else present & (values != self.absent)
        return np.ones(len(values), np.bool_) if self.absent is None else values != self.absent


@dataclass(frozen=True, slots=True)
class Flags:
    """A boolean kept as bits of a shared array; present only when true."""

    bits: NDArray[np.unsignedinteger[Any]]
    """(n,) unsigned, capture order."""
    mask: int
    """True when any of these bits is set; must fit the dtype of `bits`."""

    def __len__(self) -> int:
        """Number of messages covered."""
        return len(self.bits)

    def value(self, message: int) -> bool | None:
        """True, or None when the flag is not set."""
        return True if int(self.bits[message]) & self.mask else None


@dataclass(frozen=True, slots=True)
class Decoded:
    """Values computed or decoded for one message at a time: dear, so filters ask for as few as they can."""

    decode: Callable[[int], object]
    """Message index to str, int, float, bool, a list of these, or None when absent. Must not raise."""
    length: int
    """Number of messages covered."""
    may_hold: Callable[[slice | NDArray[np.integer[Any]], tuple[str, ...] | None], NDArray[np.bool_]] | None = None
    """Which of some messages may have a value, or given texts may have one of them: (k,) bool, without decoding. Where
    it is false the value is absent, or none of the texts; None when nothing is known beforehand."""
    decode_many: Callable[[NDArray[np.integer[Any]]], Iterator[object]] | None = None
    """Values of (k,) messages, where that is cheaper than one by one."""
    masked: bool = False
    """Its values hold no secrets any more."""
    decode_held: Callable[[NDArray[np.integer[Any]]], Iterator[Held]] | None = None
    """The same in place of `decode_many`, run by run, where it is known of many that they have none."""

    def __len__(self) -> int:
        """Number of messages covered."""
        return self.length

    def value(self, message: int) -> object:
        """The value of one message, decoded now; cost is the field's, commonly one parse of the record."""
        return self.decode(message)

    def values(self, messages: NDArray[np.integer[Any]]) -> Iterator[object]:
        """The values of (k,) messages, as `value` gives them, decoded as they are asked for."""
        if self.decode_held is not None:
            return (value for run in self.decode_held(messages) for value in run.each())
        return map(self.decode, messages.tolist()) if self.decode_many is None else self.decode_many(messages)

    def held(self, messages: NDArray[np.integer[Any]]) -> Iterator[Held]:
        """The same, run by run, without those of which it is known that they have none."""
        if self.decode_held is not None:
            return self.decode_held(messages)
        return iter([Held(len(messages), np.arange(len(messages)), self.values(messages))])
