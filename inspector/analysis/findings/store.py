"""Findings as columns: per check the rows it is about, per message the set of its findings.

A message without findings costs nothing while there are none at all, then a byte or two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import ascending
from inspector.analysis.findings.check import Check
from inspector.analysis.passes.changes import ChangedRows, Rows
from inspector.protocol.secrets.masking import masked_words
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.hashes import NO_ROW, HashIndex
from inspector.store.columns.intern_table import InternTable

LONGEST_DETAIL = 160
"""Characters of a detail that are kept."""
LONGEST_SENTENCES = 2_000
"""Of a detail that is all there is to say, and may be several sentences."""
_COMPACT_FROM = 1024
_ENTRY = {"row": np.uint32, "other": np.int32, "detail": np.uint32, "gone": np.uint8}


class Found(NamedTuple):
    """One finding, as it is kept."""

    check: Check
    row: int
    """The message it is about."""
    other: int
    """Another message it refers to; NO_ROW."""
    detail: str
    """A word or two that its sentence needs; "" where it needs none."""


class Findings:
    """What the checks have found and not taken back.

    Attributes:
        columns: per message `set`, unsigned: place in `sets`.
        sets: the codes of the findings a message has, most severe first; entry 0 is none.
        severities: (len(sets),) uint8, the highest severity of each set; 0 for none.
    """

    def __init__(self, checks: Sequence[Check], derived: Callable[[Rows], NDArray[np.bool_]] | None = None) -> None:
        """Make room for findings.

        Args:
            checks: every check.
            derived: which of some messages a transcript means: most checks have nothing to say about them.
        """
        self._derived = derived
        self._checks = tuple(checks)
        self._number = {check: place for place, check in enumerate(self._checks)}
        self._order = sorted(range(len(self._checks)), key=lambda n: (-self._checks[n].severity, n))
        self.columns = GrowingColumns({"set": np.uint32})
        self.sets: list[tuple[str, ...]] = [()]
        self.severities: NDArray[np.uint8] = np.zeros(1, np.uint8)
        self._masks = [0]  # of each set, a bit for each check
        self._held: NDArray[np.bool_] = np.zeros((1, len(self._checks)), np.bool_)
        self._set_of: dict[int, int] = {0: 0}
        self._details: InternTable[str] = InternTable("")
        self._tables: defaultdict[int, GrowingColumns] = defaultdict(lambda: GrowingColumns(_ENTRY))  # of a check
        self._counts = [0] * len(self._checks)
        self._places: dict[int, HashIndex] = {}  # of checks that were asked for, by row + 1 the places in their columns
        self.changed = ChangedRows()

    def extend(self, count: int) -> None:
        """Make room for so many new messages, which have no findings yet."""
        self.columns.append({"set": 0}, count)

    # Finding

    def add(
        self, check: Check, rows: Rows | Sequence[int], *, others: Any = NO_ROW, details: str | Sequence[str] = ""
    ) -> None:
        """Note a finding about each of some messages, which do not have it yet.

        Args:
            check: what was found.
            rows: messages, each once.
            others: for each, or for all, another message; NO_ROW.
            details: for each, or for all, words for the sentence.
        """
        rows = np.asarray(rows, np.int64)
        if len(rows) and self._derived is not None and not check.on_transcripts:
            meant = ~self._derived(rows)
            if not meant.all():
                rows = rows[meant]
                others = others if np.ndim(others) == 0 else np.asarray(others)[meant]
                if not isinstance(details, str):
                    details = [text for text, is_meant in zip(details, meant.tolist(), strict=True) if is_meant]
        if not len(rows):
            return
        number = self._number[check]
        if isinstance(details, str):
            detail: Any = self._detail(details)
        else:
            longest = LONGEST_SENTENCES if check.sentence == "{detail}" else LONGEST_DETAIL
            detail = np.array([self._detail(text, longest) for text in details], np.uint32)
        self._tables[number].append({"row": rows, "other": others, "detail": detail, "gone": 0}, len(rows))
        self._counts[number] += len(rows)
        self._put(rows, number, present=True)

    def _detail(self, text: str, longest: int = LONGEST_DETAIL) -> int:
        return self._details.intern(masked_words(text, longest)) if text else 0

    def settle(
        self, check: Check, rows: Rows, wrong: NDArray[np.bool_], *,
        others: Rows | None = None, details: str | Sequence[str] = "",
    ) -> None:  # fmt: skip
        """Let a check's findings about some messages be exactly those where it holds.

        Args:
            check: what is looked for.
            rows: messages, each once.
            wrong: (len(rows),) whether it holds.
            others: (len(rows),) other messages.
            details: for each of those where it holds, or for all, words for the sentence.
        """
        if self._counts[self._number[check]]:  # what still holds may be said in other words now
            self.withdraw(check, rows[self.has(check, rows)])
        places = np.flatnonzero(wrong)
        if len(places):
            self.add(check, rows[places], others=NO_ROW if others is None else others[places], details=details)

    def has(self, check: Check, rows: Rows) -> NDArray[np.bool_]:
        """Which of some messages have this finding."""
        return self._held[self.columns["set"][rows], self._number[check]]

    def withdraw(self, check: Check, rows: Rows) -> None:
        """Take back the findings of a check about some messages, all of which have it."""
        if self._derived is not None and not check.on_transcripts and len(rows):
            rows = rows[self.has(check, rows)]
        if not len(rows):
            return
        number = self._number[check]
        table = self._tables[number]
        table.put("gone", self._places_of(number, rows), 1)
        self._counts[number] -= len(rows)
        self._put(rows, number, present=False)
        if len(table) > _COMPACT_FROM and len(table) > 2 * self._counts[number]:
            self._tables[number] = self._compacted(table)
            self._places.pop(number, None)

    def _places_of(self, number: int, rows: Rows) -> NDArray[np.int64]:
        """Where the findings of a check about some messages stand, all of which have it. O(rows)."""
        table = self._tables[number]
        index = self._places.setdefault(number, HashIndex())
        known, stop = len(index), len(table)
        if known < stop:
            index.add(table["row"][known:].astype(np.uint64) + np.uint64(1), np.arange(known, stop, dtype=np.uint32))
        # What was taken back and found again stands further behind.
        return index.latest(rows.astype(np.uint64) + np.uint64(1), np.full(len(rows), stop, np.int64))

    def _compacted(self, table: GrowingColumns) -> GrowingColumns:
        alive = table["gone"] == 0
        compact = GrowingColumns(_ENTRY)
        compact.append({name: table[name][alive] for name in _ENTRY}, int(np.count_nonzero(alive)))
        return compact

    def _put(self, rows: Rows, number: int, *, present: bool) -> None:
        """Add a check to, or take it from, the sets of some messages."""
        sets = self.columns["set"][rows]
        bit = 1 << number
        for before in ascending(sets).tolist():
            mask = self._masks[before]
            after = self._set(mask | bit if present else mask & ~bit)
            self.columns.put("set", rows[sets == before], after)
        self.changed.update_all(rows)

    def _set(self, mask: int) -> int:
        found = self._set_of.get(mask)
        if found is None:
            held = [self._checks[n] for n in self._order if mask >> n & 1]
            found = self._set_of[mask] = len(self.sets)
            self.sets.append(tuple(dict.fromkeys(check.code for check in held)))
            self.severities = np.append(self.severities, np.uint8(held[0].severity))
            self._masks.append(mask)
            bits = np.array([bool(mask >> n & 1) for n in range(len(self._checks))], np.bool_)
            self._held = np.vstack((self._held, bits))
        return found

    # Asking

    def __len__(self) -> int:
        return sum(self._counts)

    def counts_of(self, check: Check) -> int:
        """How many findings a check has."""
        return self._counts[self._number[check]]

    def rows_of(self, check: Check) -> Rows:
        """The messages a check's findings are about, in no particular order."""
        table = self._tables[self._number[check]]
        return table["row"][table["gone"] == 0].astype(np.int64)

    def arrays_of(self, check: Check) -> tuple[Rows, Rows, Rows]:
        """The findings of a check, by message: (n,) messages, other messages or NO_ROW, and places for `found_at`."""
        table = self._tables[self._number[check]]
        alive = np.flatnonzero(table["gone"] == 0)
        places = alive[np.argsort(table["row"][alive], kind="stable")]
        return table["row"][places].astype(np.int64), table["other"][places].astype(np.int64), places

    def found_at(self, check: Check, place: int) -> Found:
        """One of a check's findings."""
        return self._found(self._number[check], place)

    def checks(self) -> list[Check]:
        """The checks that have findings, most severe first."""
        return [self._checks[n] for n in self._order if self._counts[n]]

    def counts(self) -> dict[str, int]:
        """How many findings each code has, most severe first; codes without any are left out."""
        counts: dict[str, int] = {}
        for check in self.checks():
            counts[check.code] = counts.get(check.code, 0) + self.counts_of(check)
        return counts

    def checks_in(self, place: int) -> list[Check]:
        """The checks whose findings one of `sets` holds."""
        return [check for number, check in enumerate(self._checks) if self._masks[place] >> number & 1]

    def of(self, row: int) -> list[Found]:
        """The findings about a message, most severe first."""
        mask = self._masks[int(self.columns["set"][row])]
        return [found for n in self._order if mask >> n & 1 for found in self._entries(n, row)]

    def _entries(self, number: int, row: int) -> Iterator[Found]:
        yield self._found(number, int(self._places_of(number, np.array([row], np.int64))[0]))

    def _found(self, number: int, place: int) -> Found:
        table = self._tables[number]
        detail = int(table["detail"][place])
        text = self._details[detail] if detail else ""
        return Found(self._checks[number], int(table["row"][place]), int(table["other"][place]), text)

    def each(self, check: Check) -> Iterator[Found]:
        """The findings of a check, by message."""
        number = self._number[check]
        table = self._tables[number]
        alive = np.flatnonzero(table["gone"] == 0)
        for place in alive[np.argsort(table["row"][alive], kind="stable")].tolist():
            yield self._found(number, place)

    def all(self) -> Iterator[Found]:
        """Every finding: the most severe codes first, by message within a code."""
        for number in self._order:
            yield from self.each(self._checks[number])
