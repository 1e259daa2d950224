"""Counts, per condition of a filter, the messages that only this condition hides.

A message has one bit per condition, set if the condition fails, so switching a condition needs no evaluation. New
messages extend the count. All work happens in `step`, a few milliseconds each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Changes
from inspector.filters.batch_size import MAX_CHANGED
from inspector.filters.cache import TermCache
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.evaluate import Selection
from inspector.filters.field import Depends
from inspector.filters.visible import Scope, VisibleRows

# Twelve conditions, the text of the bar and the scope; `uint16` is the next type.
_BITS = 16
_CHUNK = 1 << 17
"""Messages evaluated or counted between two checks of the clock."""
_BATCH = 1_000

_EMPTY_FILTER = compile_filter("")


@dataclass(slots=True)
class _Bit:
    """State of one filter or of the scope."""

    place: int
    filter: DisplayFilter
    scope: Scope | None = None
    done: int = 0
    """Number of messages evaluated."""
    answers: TermCache = field(default_factory=TermCache)

    @property
    def value(self) -> np.uint16:
        return np.uint16(1 << self.place)

    @property
    def moves(self) -> bool:
        """Returns True if a move in the tree may change the result."""
        return self.scope is not None or Depends.TREE in self.filter.depends


class ConditionTally:
    """Counts the messages that conditions hide.

    Args:
        rows: evaluates a filter and a scope; its own filter does not matter here.

    Attributes:
        hidden: per condition, the number of messages that only it hides; for a condition switched off, the number it
            would hide. None before the first count.
    """

    def __init__(self, rows: VisibleRows) -> None:
        self._rows = rows
        self._bits: dict[object, _Bit] = {}
        self._failed: NDArray[np.uint16] = np.zeros(0, np.uint16)
        self._asked: list[tuple[_Bit, bool]] = []
        self._own: _Bit | None = None
        self._in_force = np.uint16(0)
        self._counted = 0
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._changed: list[NDArray[np.int64]] = []
        self._waiting = 0
        self.hidden: list[int | None] = []

    def set_conditions(
        self, conditions: Sequence[tuple[DisplayFilter, bool]], own: DisplayFilter, scope: Scope | None
    ) -> None:
        """Sets the conditions to count; keeps results of filters that remain.

        Args:
            conditions: filters, each with True if in force; at most 14.
            own: another filter in force, not counted.
            scope: subtree of contexts to count.
        """
        wanted: dict[object, tuple[DisplayFilter, Scope | None]] = {
            filter_.text: (filter_, None) for filter_, _ in conditions
        }
        wanted.setdefault(own.text, (own, None))
        if scope is not None:
            wanted[scope] = (_EMPTY_FILTER, scope)
        bits = {key: bit for key, bit in self._bits.items() if key in wanted and bit.filter is wanted[key][0]}
        free = [place for place in range(_BITS) if place not in {bit.place for bit in bits.values()}]
        for key, (filter_, part) in wanted.items():
            if key not in bits:
                # A free bit may hold values of an earlier condition; `_evaluate` overwrites them.
                bits[key] = _Bit(free.pop(0), filter_, part)
        before = {key: count for (key, _), count in zip(self._keys(), self.hidden, strict=False)}
        asked = [(bits[filter_.text], on) for filter_, on in conditions]
        self._bits, self._asked, self._own = bits, asked, bits[own.text]
        always = [bit for key, bit in bits.items() if key in (own.text, scope)]
        self._in_force = np.bitwise_or.reduce(
            [np.uint16(0), *(b.value for b in always), *(b.value for b, on in asked if on)]
        )
        self.hidden = [before.get(filter_.text) for filter_, _ in conditions]
        self._count_again()

    def _keys(self) -> list[tuple[object, bool]]:
        return [(bit.filter.text, on) for bit, on in self._asked]

    def _count_again(self) -> None:
        self._counted = 0
        self._counts = np.zeros(len(self._asked), np.int64)

    # Events

    def on_changes(self, changes: Changes) -> None:
        """Queues changes at no cost until the next step."""
        if not self._asked:
            return
        if changes.tree_moved:
            self._restart_bits([bit for bit in self._bits.values() if bit.moves])
        if changes.stop > changes.start:  # in a log, the last record sets the clock
            self.on_clock()
        if len(changes.changed):
            self._changed.append(changes.changed)
            self._waiting += len(changes.changed)
            # Above this number, one pass over the columns is faster than single corrections.
            if self._waiting > MAX_CHANGED:
                self._changed, self._waiting = [], 0
                self._restart_bits([bit for bit in self._bits.values() if Depends.PASS in bit.filter.depends])

    def on_clock(self) -> None:
        """Invalidates results that depend on the clock."""
        self._restart_bits([bit for bit in self._bits.values() if Depends.CLOCK in bit.filter.depends])

    def _restart_bits(self, bits: list[_Bit]) -> None:
        for bit in bits:
            bit.done, bit.answers = 0, TermCache()
        if bits:
            self._count_again()

    # Counting

    def step(self) -> bool:
        """Counts some messages. Returns True if all are counted."""
        total = len(self._rows.analysis)
        self._grow(total)
        if self._changed:
            self._evaluate_changed()
            return False
        bit = next((bit for bit in self._bits.values() if bit.done < total), None)
        if bit is not None:
            self._evaluate(bit, total)
            return False
        if self._counted < total:
            stop = min(total, self._counted + _CHUNK)
            self._counts += self._hidden_counts(self._failed[self._counted : stop])
            self._counted = stop
        if self._counted < total:
            return False
        self.hidden = [int(count) for count in self._counts]
        return True

    def _grow(self, total: int) -> None:
        if total > len(self._failed):
            # Grows by half, so that a live capture copies each entry only a few times.
            grown = np.zeros(max(total, len(self._failed) * 3 // 2, 1024), np.uint16)
            grown[: len(self._failed)] = self._failed
            self._failed = grown

    def _evaluate(self, bit: _Bit, total: int) -> None:
        """Sets the bits of the next messages."""
        start = bit.done
        stop = self._rows.evaluate_block(bit.filter, bit.scope, start, min(total, start + _CHUNK), bit.answers)
        found = self._rows.matches_in(bit.filter, bit.scope, start, stop, bit.answers)
        self._failed[start:stop] |= bit.value
        self._failed[found] &= ~bit.value
        bit.done = stop

    def _evaluate_changed(self) -> None:
        """Evaluates a batch of changed messages again."""
        rows = np.unique(np.concatenate(self._changed))
        for bit in self._bits.values():
            bit.answers.invalidate(rows)
        self._update_changed(rows[:_BATCH])
        rows = rows[_BATCH:]
        self._changed, self._waiting = [rows] if len(rows) else [], len(rows)

    def _update_changed(self, rows: NDArray[np.int64]) -> None:
        counted = rows[rows < self._counted]
        if len(counted):
            # Takes the rows out of the counts with their old bits, and adds them again with the new ones.
            self._counts -= self._hidden_counts(self._failed[counted])
        for bit in self._bits.values():
            known = rows[rows < bit.done]
            if len(known) and Depends.PASS in bit.filter.depends:
                holds = bit.filter.cached_mask(self._rows.analysis, Selection.for_rows(known), bit.answers)
                self._failed[known] = np.where(holds, self._failed[known] & ~bit.value, self._failed[known] | bit.value)
        if len(counted):
            self._counts += self._hidden_counts(self._failed[counted])

    def _hidden_counts(self, failed: NDArray[np.uint16]) -> NDArray[np.int64]:
        """Returns the number of hidden messages per condition."""
        against = failed & self._in_force
        shown = against == 0
        return np.array(
            [
                0  # the bar's own text would hide the same messages
                if bit is self._own
                else np.count_nonzero(against == bit.value)
                if on
                else np.count_nonzero(shown & ((failed & bit.value) != 0))
                for bit, on in self._asked
            ],
            np.int64,
        )
