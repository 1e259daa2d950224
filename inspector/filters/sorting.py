"""Sorts messages by a field: array columns at once, decoded values in steps.

Numbers come first by size, then no before yes, then texts ignoring case. Absent values come last in both directions;
equal values keep the order of arrival. `sort_key` defines this order, and tests compare it with `sorted`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, Numbers
from inspector.analysis.findings import Severity
from inspector.base.slices import SlicedWork
from inspector.filters.batch_size import Pace
from inspector.filters.field import Field, FieldType
from inspector.filters.order import Permutation
from inspector.filters.record_prefilter import read_together
from inspector.filters.table_rows import SortOrder

# Keys of all messages are in memory at once, and texts may be megabytes.
MAX_TEXT = 100
"""Characters of a text that count for its order."""
_RUN = 1 << 12
"""Keys sorted at once. Runs are merged afterwards, so that no step takes long."""
_MERGE_BATCH = 1 << 11
"""Keys merged in one step."""
_MAX_INTERNED = 1 << 17
"""Limit of distinct values that are deduplicated on arrival; more are deduplicated by the sort."""
_DECODING = 0.9
"""Share of decoding in the whole work."""

Key: TypeAlias = "tuple[int, Any]"
_Item: TypeAlias = "tuple[Key, int]"


@dataclass(frozen=True, slots=True)
class SortBy:
    """Sort field and direction of a table."""

    field: Field
    descending: bool = False
    """Largest first; absent values still come last."""

    @property
    def order(self) -> SortOrder:
        """The order as plain data."""
        return SortOrder(self.field.name, self.field.label, self.descending)


def sort_key(field: Field, value: object) -> Key | None:
    """Returns the sort key of a value; None for an absent value. All keys are comparable."""
    if field.type is FieldType.SEVERITY:
        return None if value is None else (0, _SEVERITY[str(value)])
    # Before numbers: `bool` is a subclass of `int`.
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, int | float):
        # NaN compares with no value, so it counts as absent.
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
    """Sorts messages by a field in steps, so that it can be cancelled.

    Attributes:
        by: field and direction.
        messages: (n,) uint32, ascending; the messages to sort.
        fraction: progress, 0 to 1.
    """

    def __init__(self, analysis: Analysis, by: SortBy, messages: NDArray[np.uint32]) -> None:
        self.by = by
        self.messages = messages
        self._capture = analysis.capture
        self._column: Column = by.field.column(analysis)
        self.fraction = 0.0

    def find_order(self) -> SlicedWork[Permutation]:
        """Returns (n,) uint32, indices into `messages` in sorted order."""
        column, rows = self._column, self.messages.astype(np.int64)
        if isinstance(column, Numbers):
            # Array columns need no decoding, so one step suffices.
            values = column.values[rows]
            return stable_order(values, column.holding(values), descending=self.by.descending)
        if isinstance(column, Flags):
            held = (column.bits[rows] & column.bits.dtype.type(column.mask)) != 0
            return stable_order(np.zeros(len(rows), np.uint8), held, descending=self.by.descending)
        if isinstance(column, Interned | InternedSets):
            return (yield from self._by_entries(column, column.ids[rows]))
        assert isinstance(column, Decoded)  # all other column types are handled above
        return (yield from self._by_values(column, rows))

    def _by_entries(self, column: Interned | InternedSets, ids: NDArray[Any]) -> SlicedWork[Permutation]:
        """Sorts the distinct entries; each message takes the rank of its entry."""
        occurs = np.zeros(len(column.table), np.bool_)
        # Only entries in use are compared: a table grows over the whole capture.
        occurs[ids] = True
        occurs[0] = False
        field, table = self.by.field, column.table
        keys = np.flatnonzero(occurs).tolist()
        return (yield from self._by_keys(ids, keys, lambda entry: sort_key(field, table[entry])))

    def _by_values(self, column: Decoded, rows: NDArray[np.int64]) -> SlicedWork[Permutation]:
        """Decodes every value and interns its sort key, so values sort like entries of a table."""
        # Records without the value stay absent, without decoding.
        asked = np.arange(len(rows)) if column.may_have is None else np.flatnonzero(column.may_have(rows, None))
        ids, entries = np.zeros(len(rows), np.uint32), _Entries(self.by.field)
        pace, at = Pace(), 0
        ends = self._capture.columns["length"][rows[asked]].cumsum(dtype=np.int64)
        while at < len(asked):
            began = time.thread_time()
            places = asked[at : pace.slice_end(at, ends)]
            at += len(places)
            with read_together(self._capture, rows[places]):
                first = at - len(places)
                for run in column.value_runs(rows[places]):
                    ids[asked[first + run.places]] = entries.ids_of(run.values)
                    first += run.message_count
            pace.note_duration(time.thread_time() - began)
            self.fraction = _DECODING * at / len(asked)
            yield
        return (yield from self._by_keys(ids, range(1, len(entries.keys)), entries.keys.__getitem__))

    def _by_keys(
        self, ids: NDArray[Any], entries: Sequence[int], key_of: Callable[[int], Key | None]
    ) -> SlicedWork[Permutation]:
        """Sorts the keys of entries in runs, merges them, and ranks messages by entry (0 is absent)."""
        runs: list[list[_Item]] = []
        decoded = self.fraction
        for start in range(0, len(entries), _RUN):
            keys = [(key_of(entry), entry) for entry in entries[start : start + _RUN]]
            runs.append(sorted((key, entry) for key, entry in keys if key is not None))
            self.fraction = decoded + (1 - decoded) * start / len(entries) / 2
            yield
        # numpy sorts 16-bit integers by radix, in linear time.
        ranks = np.zeros(1 + max(entries, default=0), np.uint16 if len(entries) < 1 << 16 else np.uint32)
        rank, last = 0, None
        for count, (key, entry) in enumerate(merge(*runs), 1):
            # Equal keys share a rank, so equal values keep the order of arrival.
            rank += key != last
            last = key
            ranks[entry] = rank
            if not count % _MERGE_BATCH:
                self.fraction = decoded + (1 - decoded) * (1 + count / len(entries)) / 2
                yield
        found = ranks[ids]  # 16 bits sort by radix
        return stable_order(found, found != 0, descending=self.by.descending)


class _Entries:
    """Interns values by sort key, up to a limit.

    Attributes:
        keys: by number; 0 stands for absent.
    """

    def __init__(self, field: Field) -> None:
        self._field = field
        self._texts = _TextEntries(self._new_text)  # most values are text or absent: known ones need no call
        self._others: dict[Key | None, int] = {None: 0}
        self.keys: list[Key | None] = [None]

    def ids_of(self, values: Iterable[object]) -> list[int]:
        texts, other = self._texts, self._other_id
        return [texts[value] if value is None or value.__class__ is str else other(value) for value in values]

    def _new_text(self, text: str) -> int:
        return self._add(sort_key(self._field, text))

    def _other_id(self, value: object) -> int:
        key = sort_key(self._field, value)
        found = self._others.get(key)
        if found is None:
            # Above the limit, equal values get several entries; the sort joins them again.
            found = self._add(key)
            if found < _MAX_INTERNED:
                self._others[key] = found
        return found

    def _add(self, key: Key | None) -> int:
        self.keys.append(key)
        return len(self.keys) - 1


class _TextEntries(dict[Any, int]):
    """Numbers of texts, truncated to MAX_TEXT; None is 0."""

    def __init__(self, new: Callable[[str], int]) -> None:
        super().__init__({None: 0})
        self._new = new

    def __missing__(self, text: str) -> int:
        if len(text) > MAX_TEXT:
            return self[text[:MAX_TEXT]]
        found = self._new(text)
        if found < _MAX_INTERNED:
            self[text] = found
        return found


def stable_order(values: NDArray[Any], present: NDArray[np.bool_], *, descending: bool) -> Permutation:
    """Returns a stable order of values with absent ones last.

    Args:
        values: (n,) numbers.
        present: (n,) bool.
        descending: the largest first.
    """
    held = np.flatnonzero(present).astype(np.uint32)
    some = values if len(held) == len(values) else values[held]
    turned = some[::-1] if descending else some
    found = turned.argsort(kind="stable")
    if descending:  # sort the reversed array and reverse the result, so equal values keep their order
        found = (len(some) - 1 - found)[::-1]
    return np.concatenate((held[found], np.flatnonzero(~present).astype(np.uint32)))


__all__ = ["Key", "SortBy", "Sorting", "sort_key", "stable_order"]
