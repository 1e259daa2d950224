"""Caches filter results per interned string and per decoded message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Interned, InternedSets
from inspector.base.slices import SlicedWork
from inspector.filters.batch_size import Pace
from inspector.filters.field import Depends

Mask = NDArray[np.bool_]
Rows = NDArray[np.integer[Any]]

UNKNOWN = np.int8(-1)
"""Cache entry without a result; 1 is a match, 0 is no match."""
_SMALL_TABLE = 2_000
"""Strings evaluated in one step: a few milliseconds."""


class TermCache:
    """Caches results of terms that decode records, one byte per message and term.

    Results that depend on the context tree or the clock are not cached.

    Attributes:
        pace: number of messages decoded at once.
    """

    def __init__(self) -> None:
        self.pace = Pace()
        self._by_term: dict[int, NDArray[np.int8]] = {}
        self._may_change: dict[int, Callable[[Rows], Rows] | None] = {}

    def for_term(
        self, number: int, length: int, depends: Depends, among: Callable[[Rows], Rows] | None = None
    ) -> NDArray[np.int8] | None:
        """Returns the cached results of a term.

        Args:
            number: number of the term.
            length: number of messages.
            depends: the event that can change a result.
            among: for `Depends.PASS`, returns the subset of given messages that the event affects.

        Returns:
            (length,) int8 by message, writable: 1 match, 0 no match, -1 unknown. None if results are not cached.
        """
        if depends in (Depends.TREE, Depends.CLOCK):
            return None
        if depends is Depends.PASS:
            self._may_change[number] = among
        found = self._by_term.get(number)
        if found is None or len(found) < length:
            # Grows by half, so that a live capture copies each entry only a few times.
            grown = np.full(max(length, 1024) if found is None else max(length, len(found) * 3 // 2), UNKNOWN)
            if found is not None:
                grown[: len(found)] = found
            found = self._by_term[number] = grown
        return found[:length]

    def invalidate(self, rows: Rows) -> None:
        """Invalidates the results of these messages."""
        for number, among in self._may_change.items():
            answers = self._by_term[number]
            changed = rows if among is None else among(rows)
            # Later messages have no result yet: the cache grows only when a term asks for them.
            answers[changed[changed < len(answers)]] = UNKNOWN


@dataclass(slots=True)
class PredicateCache:
    """Caches the results of a predicate by entry of one append-only table."""

    table: object = None
    generation: int = 0
    known: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, np.int8))
    """(capacity,) int8, per entry: 1 holds, 0 does not, -1 not evaluated yet."""

    def match_entries(
        self, column: Interned | InternedSets, ids: NDArray[Any], predicate: Callable[[int], bool]
    ) -> Mask:
        """Returns the result for each id's entry. Entry 0 (absent) never matches."""
        self._fit_table(column)
        if len(ids) > 1 and ids.strides[0] == 0:  # one value, broadcast: all messages have the same result
            return np.full(len(ids), self.match_entries(column, ids[:1], predicate)[0])
        found = self.known.take(ids)
        if len(found) and found.min() < 0:
            self._evaluate(self._missing_entries(ids, found), predicate)
            found = self.known.take(ids)
        return found.view(np.bool_)

    def evaluate_entries(
        self, column: Interned | InternedSets, ids: NDArray[Any], predicate: Callable[[int], bool]
    ) -> SlicedWork[None]:
        """Evaluates the predicate for entries in use, unless they are few."""
        self._fit_table(column)
        if len(column.table) <= _SMALL_TABLE:
            return
        found = self.known.take(ids)
        missing = self._missing_entries(ids, found) if len(found) and found.min() < 0 else np.empty(0, np.int64)
        for start in range(0, len(missing) - _SMALL_TABLE, _SMALL_TABLE):
            self._evaluate(missing[start : start + _SMALL_TABLE], predicate)
            yield

    def _missing_entries(self, ids: NDArray[Any], found: NDArray[np.int8]) -> NDArray[np.int64]:
        """Returns entries that occur and have no result yet."""
        # Marks in an array instead of a sort: ids repeat for each message of a sender or context.
        wanted = np.zeros(len(self.known), np.bool_)
        wanted[ids[found < 0]] = True
        return np.flatnonzero(wanted)

    def _evaluate(self, entries: NDArray[np.int64], predicate: Callable[[int], bool]) -> None:
        self.known[entries] = [predicate(entry) for entry in entries.tolist()]

    def _fit_table(self, column: Interned | InternedSets) -> None:
        if self.table is not column.table or self.generation != column.generation:
            self.table, self.generation = column.table, column.generation
            # Another generation gives the same number another string, as after a move in the tree.
            self.known = np.zeros(1, np.int8)
        if len(self.known) < len(column.table):
            grown = np.full(max(len(column.table), 2 * len(self.known)), UNKNOWN)
            grown[: len(self.known)] = self.known
            self.known = grown
