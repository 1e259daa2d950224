"""Messages put in the order of a field: by arrays at once, by values that must be decoded in slices.

The order is that of people: numbers by size, then no before yes, then texts without regard to letter case; what has no
value comes last whichever way is asked for, and what is equal stays in the order of arrival. `sort_key` is the whole of
it, and tests hold the order against `sorted`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, Numbers
from inspector.analysis.findings import Severity
from inspector.filters.batch_size import Pace
from inspector.filters.field import Field, FieldType
from inspector.filters.order import Places
from inspector.filters.record_prefilter import read_together

MAX_TEXT = 100
"""Characters of a text that count for its place."""
_RUN = 1 << 12
"""Keys that are sorted at once; such runs are merged afterwards, so that no single step takes long."""
_MERGED = 1 << 11
"""Keys merged between two looks at the clock."""
_MOST_KNOWN = 1 << 17
"""Different values that are told apart as they come; more are told apart when they are sorted."""
_DECODING = 0.9
"""Share of the work that decoding is."""

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
            assert isinstance(column, Decoded)  # there is no other kind
            yield from self._by_values(column, rows)

    def _by_entries(self, column: Interned | InternedSets, ids: NDArray[Any]) -> Iterator[Places | None]:
        """The distinct entries are sorted; a message stands where its entry does."""
        occurs = np.zeros(len(column.table), np.bool_)
        occurs[ids] = True
        occurs[0] = False
        field, table = self.by.field, column.table
        yield from self._by_keys(ids, np.flatnonzero(occurs).tolist(), lambda entry: sort_key(field, table[entry]))

    def _by_values(self, column: Decoded, rows: NDArray[np.int64]) -> Iterator[Places | None]:
        """Every value is asked for, and cut down to what decides its place: as if they were entries of a table."""
        asked = np.arange(len(rows)) if column.may_hold is None else np.flatnonzero(column.may_hold(rows, None))
        ids, entries = np.zeros(len(rows), np.uint32), _Entries(self.by.field)
        pace, at = Pace(), 0
        ends = self._capture.columns["length"][rows[asked]].cumsum(dtype=np.int64)
        while at < len(asked):
            began = time.thread_time()
            places = asked[at : pace.stop(at, ends)]
            at += len(places)
            with read_together(self._capture, rows[places]):
                first = at - len(places)
                for run in column.held(rows[places]):
                    ids[asked[first + run.places]] = entries.ids_of(run.values)
                    first += run.messages
            pace.took(time.thread_time() - began)
            self._done = _DECODING * at / len(asked)
            yield None
        yield from self._by_keys(ids, range(1, len(entries.keys)), entries.keys.__getitem__)

    def _by_keys(
        self, ids: NDArray[Any], entries: Sequence[int], key_of: Callable[[int], Key | None]
    ) -> Iterator[Places | None]:
        """Messages have entries, 0 for no value, and entries have keys: those are sorted in runs, which are merged."""
        runs: list[list[_Item]] = []
        decoded = self._done
        for start in range(0, len(entries), _RUN):
            keys = [(key_of(entry), entry) for entry in entries[start : start + _RUN]]
            runs.append(sorted((key, entry) for key, entry in keys if key is not None))
            self._done = decoded + (1 - decoded) * start / len(entries) / 2
            yield None
        ranks = np.zeros(1 + max(entries, default=0), np.uint16 if len(entries) < 1 << 16 else np.uint32)
        rank, last = 0, None
        for count, (key, entry) in enumerate(merge(*runs), 1):
            rank += key != last
            last = key
            ranks[entry] = rank
            if not count % _MERGED:
                self._done = decoded + (1 - decoded) * (1 + count / len(entries)) / 2
                yield None
        found = ranks[ids]  # sixteen bits sort by radix
        yield ordered(found, found != 0, descending=self.by.descending)


class _Entries:
    """What values stand for: a number and a key for each that differs, as far as is remembered.

    Attributes:
        keys: by number; 0 stands for no value.
    """

    def __init__(self, field: Field) -> None:
        self._field = field
        self._texts = _TextEntries(self._new)  # most values are texts, or none: no call for each that is known
        self._others: dict[Key | None, int] = {None: 0}
        self.keys: list[Key | None] = [None]

    def ids_of(self, values: Iterable[object]) -> list[int]:
        """The numbers of some values."""
        texts, other = self._texts, self._other
        return [texts[value] if value is None or value.__class__ is str else other(value) for value in values]

    def _new(self, text: str) -> int:
        return self._add(sort_key(self._field, text))

    def _other(self, value: object) -> int:
        key = sort_key(self._field, value)
        found = self._others.get(key)
        if found is None:
            found = self._add(key)
            if found < _MOST_KNOWN:
                self._others[key] = found
        return found

    def _add(self, key: Key | None) -> int:
        self.keys.append(key)
        return len(self.keys) - 1


class _TextEntries(dict[Any, int]):
    """The numbers of texts, by as much of them as counts, and of none."""

    def __init__(self, new: Callable[[str], int]) -> None:
        super().__init__({None: 0})
        self._new = new

    def __missing__(self, text: str) -> int:
        if len(text) > MAX_TEXT:
            return self[text[:MAX_TEXT]]
        found = self._new(text)
        if found < _MOST_KNOWN:
            self[text] = found
        return found


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
