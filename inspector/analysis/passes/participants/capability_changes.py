"""Stores changes of participants' capabilities as columns (docs/protocols.md 12)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from inspector.analysis.arrays.ids_by_space import UNKNOWN, NamesBySpace
from inspector.analysis.arrays.rows_by_key import RowLists
from inspector.analysis.arrays.text_column import TextColumn
from inspector.store.columns.intern_table import InternTable

# Each participant could announce a set of its own; beyond the limit equal sets are merely stored twice.
_MAX_SETS = 10_000
"""Limit of distinct capability sets that are stored once."""
_CHANGE_KINDS = ("announced", "granted", "revoked")
_HAS_GRANT = 4


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """A change of a participant's capabilities.

    Attributes:
        row: the message that made it.
        what: announced, granted, revoked.
        capabilities: the whole announced set, or the granted or revoked part, as written (text or objects).
        grant: id of the new or revoked grant; None for neither.
    """

    row: int
    what: str
    capabilities: tuple[Any, ...]
    grant: str | None = None


class CapabilityChanges(Mapping[tuple[int, str], list[CapabilityChange]]):
    """By space (string id) and name: the announced, granted and revoked sets, in order.

    Args:
        strings: the table of the string ids.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._strings = strings
        self._names = NamesBySpace(strings)
        self._counts = array("i")  # by participant number
        self._lists = RowLists()  # by participant number; its entries number the arrays below
        self._owners, self._what, self._sets = array("i"), array("b"), array("i")
        self._grants = TextColumn()
        self._distinct_sets: list[tuple[Any, ...]] = []
        self._set_numbers: dict[bytes, int] = {}  # index in `_distinct_sets` by encoded set

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._names)

    def __getitem__(self, whose: tuple[int, str]) -> list[CapabilityChange]:
        code = self._strings.find(whose[1])
        found = self.since(whose[0], code) if code else []
        if not found:
            raise KeyError(whose)
        return found

    def count(self, space: int, name: int) -> int:
        """Returns the number of changes for a participant, by string ids."""
        number = self._names.find(space, name)
        return 0 if number == UNKNOWN else self._counts[number]

    def since(self, space: int, name: int, first: int = 0) -> list[CapabilityChange]:
        """Returns the changes for a participant, by string ids, from its `first` one on. O(result)."""
        number = self._names.find(space, name)
        if number == UNKNOWN:
            return []
        return [*map(self._change, self._lists.entries(number, self._counts[number] - first))]

    def all_changes_since(self, entry: int) -> Iterator[tuple[int, str, CapabilityChange, bool]]:
        """Yields all changes from number `entry` on: space, name, the change, and true for its first one."""
        for one in range(entry, self.entries):
            yield *self._names.pair(self._owners[one]), self._change(one), self._lists.is_first(one)

    @property
    def entries(self) -> int:
        return len(self._lists)

    def add(
        self, space: int, name: str, row: int, what: str, capabilities: list[Any], grant: str | None = None
    ) -> None:
        """Appends a change; a repeated announcement of the same set is ignored."""
        code = self._strings.intern(name)
        number, kind = self._names.find(space, code), _CHANGE_KINDS.index(what)
        held = self._set_of(capabilities)
        if number == UNKNOWN:
            number = self._names.add(space, code)
            self._counts.append(0)
        elif kind == 0:
            (last,) = self._lists.entries(number, 1)
            # Compared by content: beyond `_MAX_SETS` equal sets have different numbers.
            if self._what[last] == kind and self._distinct_sets[self._sets[last]] == self._distinct_sets[held]:
                return
        self._counts[number] += 1
        self._lists.add(number, row)
        self._owners.append(number)
        self._what.append(kind | (0 if grant is None else _HAS_GRANT))
        self._sets.append(held)
        self._grants.append(grant or "")

    def _change(self, entry: int) -> CapabilityChange:
        what = self._what[entry]
        grant = self._grants[entry] if what & _HAS_GRANT else None
        return CapabilityChange(
            self._lists.rows[entry], _CHANGE_KINDS[what & ~_HAS_GRANT], self._distinct_sets[self._sets[entry]], grant
        )

    def _set_of(self, capabilities: list[Any]) -> int:
        """Returns the number of a set. Equal sets share one, since a thousand participants may have the same."""
        try:
            written = msgspec.json.encode(capabilities)
        except (UnicodeEncodeError, RecursionError, ValueError):  # a lone surrogate in it
            written = None
        found = None if written is None else self._set_numbers.get(written)
        if found is None:
            found = len(self._distinct_sets)
            self._distinct_sets.append(tuple(capabilities))
            if written is not None and found < _MAX_SETS:
                self._set_numbers[written] = found
        return found
