"""Messages put in the order of a field: by arrays at once, by values that must be decoded in slices.

The order is that of people: numbers by size, then no before yes, then texts without regard to letter case; what has no
value comes last whichever way is asked for, and what is equal stays in the order of arrival. `sort_key` is the whole of
it, and tests hold the order against `sorted`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.columns import Column, Decoded, Flags, Interned, InternedSets, Numbers
from inspector.analysis.findings import Severity
from inspector.fields import Field, FieldType
from inspector.filters.hints import hint_of_field, read_together
from inspector.filters.order import Places

MAX_TEXT = 100
"""Characters of a text that count for its place."""
_FIRST, _MOST = 32, 4096
_SLICE_S = 0.002
"""How long values are decoded between two looks at the clock."""
_RUN = 1 << 14
"""Values that are sorted at once; such runs are merged afterwards."""
_MERGED = 1 << 11
"""Values merged between two looks at the clock."""

Key: TypeAlias = "tuple[int, Any]"
_Item: TypeAlias = "tuple[Key, int]"


@dataclass(frozen=True, slots=True)
class SortBy:
    """What a table is sorted by."""

    field: Field
    """Its values decide."""
    descending: bool = False
    """The largest first; what has no value comes last all the same."""


def same_order(one: SortBy | None, other: SortBy | None) -> bool:
    """Whether two say the same."""
    if one is None or other is None:
        return one is other
    return (one.field.name, one.descending) == (other.field.name, other.descending)


def sort_key(field: Field, value: object) -> Key | None:
    """Where a value stands among others; None for no value. Keys of all values compare with each other."""
    if field.type is FieldType.SEVERITY:
        return None if value is None else (0, _SEVERITY[str(value)])
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, int | float):
        return (0, value) if value == value else None
    if isinstance(value, str):
        return 2, value[:MAX_TEXT].casefold()
    if value is None or value == [] or value == ():
        return None
    return 2, _list_text(value)[:MAX_TEXT].casefold()


_SEVERITY = {severity.word: severity.value for severity in Severity}


def _list_text(value: object) -> str:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)


class Sorting:
    """Finds the order of some messages by a field; where records must be decoded, in slices that can be given up.

    Attributes:
        by: what they are sorted by.
        messages: (n,) uint32, ascending; those to be sorted.
    """

    def __init__(self, analysis: Analysis, by: SortBy, messages: NDArray[np.uint32]) -> None:
        self.by = by
        self.messages = messages
        self._capture = analysis.capture
        self._hint = hint_of_field(by.field)
        self._column: Column = by.field.column(analysis)
        self._done = 0.0
        self._places: Places | None = None
        self._work = self._go()

    @property
    def fraction(self) -> float:
        """How far it is, 0 to 1."""
        return self._done

    def step(self, until: float) -> bool:
        """Go on until a time (`time.perf_counter`); whether the order is known then. Something is done each time."""
        while self._places is None:
            self._places = next(self._work)
            if time.perf_counter() >= until:
                break
        return self._places is not None

    def result(self) -> Places:
        """(n,) uint32, places in `messages` in their order, when `step` said that it is known."""
        if self._places is None:
            raise ValueError("the order is not known yet")
        return self._places

    def _go(self) -> Iterator[Places | None]:
        """The work, with a pause wherever the clock may be looked at; the last thing it gives is the order."""
        column, rows = self._column, self.messages.astype(np.int64)
        if isinstance(column, Numbers):
            values = column.values[rows]
            yield ordered(values, column.holding(values), descending=self.by.descending)
        elif isinstance(column, Flags):
            held = (column.bits[rows] & column.bits.dtype.type(column.mask)) != 0
            yield ordered(np.zeros(len(rows), np.uint8), held, descending=self.by.descending)
        elif isinstance(column, Interned | InternedSets):
            yield from self._by_entries(column, column.ids[rows])
        else:
            yield from self._by_values(column, rows)

    def _by_entries(self, column: Interned | InternedSets, ids: NDArray[Any]) -> Iterator[Places | None]:
        """The distinct entries are sorted; a message stands where its entry does."""
        occurs = np.zeros(len(column.table), np.bool_)
        occurs[ids] = True
        occurs[0] = False
        entries = np.flatnonzero(occurs)
        runs = _Runs(descending=False)
        table = column.table
        field = self.by.field
        for done in runs.take(entries.tolist(), lambda some: [sort_key(field, table[entry]) for entry in some]):
            self._done = done * 0.5
            yield None
        ranks = np.zeros(len(table), np.uint16 if len(entries) < 1 << 16 else np.uint32)  # sixteen bits sort by radix
        rank, last = 0, None
        for key, entry in runs.merged():
            rank += key != last
            last = key
            ranks[entry] = rank
            if not entry % _MERGED:
                yield None
        found = ranks[ids]
        yield ordered(found, found != 0, descending=self.by.descending)

    def _by_values(self, column: Column, rows: NDArray[np.int64]) -> Iterator[Places | None]:
        """Every value is asked for, and cut down to what decides its place."""
        asked = np.arange(len(rows))
        if isinstance(column, Decoded) and column.may_hold is not None:
            asked = np.flatnonzero(column.may_hold(rows, None))
        runs = _Runs(descending=self.by.descending)
        for done in runs.take(asked.tolist(), lambda places: self._keys(column, rows[places])):
            self._done = done * 0.95
            yield None
        places = np.empty(len(rows), np.uint32)
        count = 0
        for _, place in runs.merged():
            places[count] = place
            count += 1
            if not count % _MERGED:
                self._done = 0.95 + 0.05 * count / len(rows)
                yield None
        rest = np.ones(len(rows), np.bool_)
        rest[places[:count]] = False
        places[count:] = np.flatnonzero(rest)
        yield places

    def _keys(self, column: Column, rows: NDArray[np.int64]) -> list[Key | None]:
        """Keys of some messages; only those are decoded whose records have what the value goes by."""
        field, capture, read = self.by.field, self._capture, column.value
        if self._hint is None:
            with read_together(capture, rows):
                return [sort_key(field, read(row)) for row in rows.tolist()]
        likely = self._hint.likely(capture, rows)
        with read_together(capture, rows[likely]):
            pairs = zip(rows.tolist(), likely.tolist(), strict=True)
            return [sort_key(field, read(row)) if may else None for row, may in pairs]


class _Runs:
    """Keys sorted in runs, which are merged one by one: no single step takes long, however many there are."""

    def __init__(self, *, descending: bool) -> None:
        self._descending = descending
        self._runs: list[list[_Item]] = []

    def take(self, items: list[int], keys_of: Callable[[list[int]], list[Key | None]]) -> Iterator[float]:
        """Take in items; gives how far it is from time to time. Those without a key are left out."""
        sign = -1 if self._descending else 1  # what is equal stays in the order of arrival both ways
        run: list[_Item] = []
        start, size = 0, _FIRST
        while start < len(items):
            began = time.perf_counter()
            some = items[start : start + size]
            run += [(key, sign * item) for item, key in zip(some, keys_of(some), strict=True) if key is not None]
            start += len(some)
            if len(run) >= _RUN or start == len(items):
                run.sort(reverse=self._descending)
                self._runs.append(run)
                run = []
            spent = max(time.perf_counter() - began, 1e-6)
            size = max(1, min(_MOST, int(size * min(4.0, _SLICE_S / spent))))
            yield start / len(items)

    def merged(self) -> Iterator[_Item]:
        """Keys and items in their order."""
        runs, self._runs = self._runs, []
        items = iter(runs[0]) if len(runs) == 1 else merge(*runs, reverse=self._descending)
        if not self._descending:
            return items
        return ((key, -item) for key, item in items)


def ordered(values: NDArray[Any], present: NDArray[np.bool_], *, descending: bool) -> Places:
    """The places of values in their order, those that are absent last, equal ones as they come.

    Args:
        values: (n,) numbers.
        present: (n,) bool.
        descending: the largest first.
    """
    held = np.flatnonzero(present).astype(np.uint32)
    some = values if len(held) == len(values) else values[held]
    turned = some[::-1] if descending else some
    found = turned.argsort(kind="stable")
    if descending:  # sorted from the end and turned round: what is equal stays as it came
        found = (len(some) - 1 - found)[::-1]
    return np.concatenate((held[found], np.flatnonzero(~present).astype(np.uint32)))


__all__ = ["Key", "SortBy", "Sorting", "ordered", "same_order", "sort_key"]
