"""What the terms of a filter remember: about strings as long as their table lives, about messages they decoded."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Interned, InternedSets
from inspector.filters.batch_size import Pace
from inspector.filters.field import Depends

Mask = NDArray[np.bool_]
Rows = NDArray[np.integer[Any]]

UNKNOWN = np.int8(-1)
"""Nobody asked yet; 1 holds, 0 does not."""
_FEW = 2_000
"""Strings a predicate is evaluated for without a look at the clock: a few milliseconds."""


class Answers:
    """What terms that decode records said about messages, so that each is asked once. A byte a message and term.

    Terms whose value goes by the tree or the clock are never remembered.

    Attributes:
        pace: how many messages are asked about at once.
    """

    def __init__(self) -> None:
        self.pace = Pace()
        self._by_term: dict[int, NDArray[np.int8]] = {}
        self._may_change: dict[int, Callable[[Rows], Rows] | None] = {}

    def of(
        self, number: int, length: int, depends: Depends, among: Callable[[Rows], Rows] | None = None
    ) -> NDArray[np.int8] | None:
        """What a term said.

        Args:
            number: of the term.
            length: messages there are.
            depends: what can change an answer.
            among: where that is a pass, and it is about some messages only: which of those given.

        Returns:
            (length,) int8 by message, to be read and written: 1 holds, 0 does not, -1 nobody asked. None: not kept.
        """
        if depends in (Depends.TREE, Depends.CLOCK):
            return None
        if depends is Depends.PASS:
            self._may_change[number] = among
        found = self._by_term.get(number)
        if found is None or len(found) < length:
            grown = np.full(max(length, 1024) if found is None else max(length, len(found) * 3 // 2), UNKNOWN)
            if found is not None:
                grown[: len(found)] = found
            found = self._by_term[number] = grown
        return found[:length]

    def forget(self, rows: Rows) -> None:
        """Values of these messages may have changed."""
        for number, among in self._may_change.items():
            answers = self._by_term[number]
            changed = rows if among is None else among(rows)
            answers[changed[changed < len(answers)]] = UNKNOWN


@dataclass(slots=True)
class TableMemory:
    """What a predicate says about the entries of one append-only table, by their numbers."""

    table: object = None
    generation: int = 0
    known: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, np.int8))
    """(capacity,) int8, per entry: 1 holds, 0 does not, -1 not evaluated yet."""

    def holds(self, column: Interned | InternedSets, ids: NDArray[Any], predicate: Callable[[int], bool]) -> Mask:
        """What is said of each id's entry; entry 0 (absent) never holds."""
        self._fit(column)
        if len(ids) > 1 and ids.strides[0] == 0:  # one value, broadcast: the column says the same of every message
            return np.full(len(ids), self.holds(column, ids[:1], predicate)[0])
        found = self.known.take(ids)
        if len(found) and found.min() < 0:
            self._look_at(self._missing(ids, found), predicate)
            found = self.known.take(ids)
        return found.view(np.bool_)

    def learn(
        self, column: Interned | InternedSets, ids: NDArray[Any], predicate: Callable[[int], bool], until: float
    ) -> bool:
        """Evaluate the predicate for the entries that occur until a time; whether few or none are left."""
        self._fit(column)
        if len(column.table) <= _FEW:
            return True
        found = self.known.take(ids)
        missing = self._missing(ids, found) if len(found) and found.min() < 0 else np.empty(0, np.int64)
        while len(missing) > _FEW:
            some, missing = missing[:_FEW], missing[_FEW:]
            self._look_at(some, predicate)
            if time.perf_counter() >= until:
                break
        return len(missing) <= _FEW

    def _missing(self, ids: NDArray[Any], found: NDArray[np.int8]) -> NDArray[np.int64]:
        """Entries that occur and were not evaluated."""
        wanted = np.zeros(len(self.known), np.bool_)
        wanted[ids[found < 0]] = True
        return np.flatnonzero(wanted)

    def _look_at(self, entries: NDArray[np.int64], predicate: Callable[[int], bool]) -> None:
        self.known[entries] = [predicate(entry) for entry in entries.tolist()]

    def _fit(self, column: Interned | InternedSets) -> None:
        if self.table is not column.table or self.generation != column.generation:
            self.table, self.generation = column.table, column.generation
            self.known = np.zeros(1, np.int8)
        if len(self.known) < len(column.table):
            grown = np.full(max(len(column.table), 2 * len(self.known)), UNKNOWN)
            grown[: len(self.known)] = self.known
            self.known = grown
