"""Changes of what participants may do, as columns (docs/protocols.md 12)."""

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

_MOST_SETS = 10_000
"""Sets of capabilities that are kept once."""
_WHAT = ("announced", "granted", "revoked")
_HAS_GRANT = 4


@dataclass(frozen=True, slots=True)
class Change:
    """One change of what a participant may do.

    Attributes:
        row: the message that made it.
        what: announced, granted, revoked.
        capabilities: the whole set announced, or those granted or revoked, as written (text or objects).
        grant: id of the grant that was made or is taken back; None for neither.
    """

    row: int
    what: str
    capabilities: tuple[Any, ...]
    grant: str | None = None


class CapabilityChanges(Mapping[tuple[int, str], list[Change]]):
    """By space (string id) and name: what was announced, granted and revoked, in order.

    Args:
        strings: what the string ids stand for.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._strings = strings
        self._names = NamesBySpace(strings)
        self._counts = array("i")  # by number
        self._lists = RowLists()  # by number; its entries number what follows
        self._owners, self._what, self._sets = array("i"), array("b"), array("i")
        self._grants = TextColumn()
        self._known: list[tuple[Any, ...]] = []
        self._written: dict[bytes, int] = {}  # sets by how they are written

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._names)

    def __getitem__(self, whose: tuple[int, str]) -> list[Change]:
        code = self._strings.find(whose[1])
        found = self.since(whose[0], code) if code else []
        if not found:
            raise KeyError(whose)
        return found

    def count(self, space: int, name: int) -> int:
        """How many changes there were for a participant, by string ids."""
        number = self._names.find(space, name)
        return 0 if number == UNKNOWN else self._counts[number]

    def since(self, space: int, name: int, first: int = 0) -> list[Change]:
        """The changes for a participant, by string ids, from its `first` one on. O(those)."""
        number = self._names.find(space, name)
        if number == UNKNOWN:
            return []
        return [*map(self._change, self._lists.entries(number, self._counts[number] - first))]

    def all_since(self, entry: int) -> Iterator[tuple[int, str, Change, bool]]:
        """All changes from the one of this number on: space and name, the change, and whether it is the first there."""
        for one in range(entry, self.entries):
            yield *self._names.pair(self._owners[one]), self._change(one), self._lists.is_first(one)

    @property
    def entries(self) -> int:
        """How many changes there were."""
        return len(self._lists)

    def add(
        self, space: int, name: str, row: int, what: str, capabilities: list[Any], grant: str | None = None
    ) -> None:
        """Note a change; what is announced once more, and was not changed since, is none."""
        code = self._strings.intern(name)
        number, kind = self._names.find(space, code), _WHAT.index(what)
        held = self._set_of(capabilities)
        if number == UNKNOWN:
            number = self._names.add(space, code)
            self._counts.append(0)
        elif kind == 0:
            (last,) = self._lists.entries(number, 1)
            if self._what[last] == kind and self._known[self._sets[last]] == self._known[held]:
                return
        self._counts[number] += 1
        self._lists.add(number, row)
        self._owners.append(number)
        self._what.append(kind | (0 if grant is None else _HAS_GRANT))
        self._sets.append(held)
        self._grants.append(grant or "")

    def _change(self, entry: int) -> Change:
        what = self._what[entry]
        grant = self._grants[entry] if what & _HAS_GRANT else None
        return Change(self._lists.rows[entry], _WHAT[what & ~_HAS_GRANT], self._known[self._sets[entry]], grant)

    def _set_of(self, capabilities: list[Any]) -> int:
        """The number of a set, the same whenever it comes: a thousand participants may all hold the same."""
        try:
            written = msgspec.json.encode(capabilities)
        except (UnicodeEncodeError, RecursionError, ValueError):  # with half a character in it
            written = None
        found = None if written is None else self._written.get(written)
        if found is None:
            found = len(self._known)
            self._known.append(tuple(capabilities))
            if written is not None and found < _MOST_SETS:
                self._written[written] = found
        return found
