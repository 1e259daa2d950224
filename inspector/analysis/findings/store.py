"""Stores findings as columns: rows per check, and the set of codes per message.

A message without findings costs no memory while there are no findings at all, then one or two bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.findings.check import Check
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.protocol.secrets.masking import masked_value_text
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.hashes import NO_ROW, HashIndex
from inspector.store.columns.intern_table import InternTable

MAX_DETAIL_CHARS = 160
"""Kept length of a detail, in characters."""
MAX_SENTENCES_CHARS = 2_000
"""Kept length of a detail that is the whole text, possibly several sentences; in characters."""
_COMPACT_FROM = 1024
_ENTRY = {"row": np.uint32, "other": np.int32, "detail": np.uint32, "gone": np.uint8}


class StoredFinding(NamedTuple):
    """One stored finding."""

    check: Check
    row: int
    """Message number."""
    other: int
    """Number of a related message, or NO_ROW."""
    detail: str
    """Value of `{detail}` in the sentence; "" if unused."""


class Findings:
    """All current findings; withdrawn ones are removed.

    Attributes:
        declared: every check of this document, topic by topic.
        columns: per message `set`, unsigned: index into `sets`.
        sets: codes of a message's findings, most severe first; entry 0 is the empty set.
        severities: (len(sets),) uint8, the highest severity of each set; 0 for the empty set.
    """

    def __init__(self, checks: Sequence[Check], derived: Callable[[Rows], NDArray[np.bool_]] | None = None) -> None:
        """Creates an empty store.

        Args:
            checks: every check.
            derived: returns a bool array, True for messages derived from transcripts. Most checks skip them.
        """
        self._derived = derived
        self.declared = tuple(checks)
        self._number = {check: place for place, check in enumerate(self.declared)}
        self._order = sorted(range(len(self.declared)), key=lambda n: (-self.declared[n].severity, n))
        self.columns = GrowingColumns({"set": np.uint32})
        self.sets: list[tuple[str, ...]] = [()]
        self.severities: NDArray[np.uint8] = np.zeros(1, np.uint8)
        self._masks = [0]  # by set: one bit per check
        self._checks_by_set: NDArray[np.bool_] = np.zeros((1, len(self.declared)), np.bool_)
        self._set_of: dict[int, int] = {0: 0}
        self._details: InternTable[str] = InternTable("")
        self._tables: defaultdict[int, GrowingColumns] = defaultdict(lambda: GrowingColumns(_ENTRY))  # by check
        self._counts = [0] * len(self.declared)
        self._places: dict[int, HashIndex] = {}  # by check, on first use: row + 1 -> position in its columns
        self.changed = ChangedRows()

    def extend(self, count: int) -> None:
        """Adds new messages without findings."""
        self.columns.append({"set": 0}, count)

    # Changes

    def add(
        self, check: Check, rows: Rows | Sequence[int], *, others: Any = NO_ROW, details: str | Sequence[str] = ""
    ) -> None:
        """Adds a finding to each of some messages; they must not have it yet.

        Args:
            check: the check to report.
            rows: messages, each once.
            others: related message for each row or for all; NO_ROW for no message.
            details: `{detail}` for each row or for all.
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
            longest = MAX_SENTENCES_CHARS if check.sentence == "{detail}" else MAX_DETAIL_CHARS
            detail = np.array([self._detail(text, longest) for text in details], np.uint32)
        self._tables[number].append({"row": rows, "other": others, "detail": detail, "gone": 0}, len(rows))
        self._counts[number] += len(rows)
        self._put(rows, number, present=True)

    def _detail(self, text: str, longest: int = MAX_DETAIL_CHARS) -> int:
        return self._details.intern(masked_value_text(text, longest)) if text else 0

    def replace_findings(
        self, check: Check, rows: Rows, wrong: NDArray[np.bool_], *,
        others: Rows | None = None, details: str | Sequence[str] = "",
    ) -> None:  # fmt: skip
        """Replaces a check's findings about some messages.

        Args:
            check: the check to report.
            rows: messages, each once.
            wrong: (len(rows),) bool, True for messages that get the finding.
            others: (len(rows),) related messages.
            details: `{detail}` for each True row, or for all.
        """
        if self._counts[self._number[check]]:  # existing findings may get another text
            self.withdraw(check, rows[self.has(check, rows)])
        places = np.flatnonzero(wrong)
        if len(places):
            self.add(check, rows[places], others=NO_ROW if others is None else others[places], details=details)

    def has(self, check: Check, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for messages with a finding of this check."""
        return self._checks_by_set[self.columns["set"][rows], self._number[check]]

    def withdraw(self, check: Check, rows: Rows) -> None:
        """Removes a check's findings from some messages. Each must have one."""
        if self._derived is not None and not check.on_transcripts and len(rows):
            rows = rows[self.has(check, rows)]
        if not len(rows):
            return
        number = self._number[check]
        table = self._tables[number]
        table.replace("gone", self._places_of(number, rows), 1)
        self._counts[number] -= len(rows)
        self._put(rows, number, present=False)
        # Withdrawn entries stay until they are the majority, so compaction is amortized.
        if len(table) > _COMPACT_FROM and len(table) > 2 * self._counts[number]:
            self._tables[number] = self._compacted(table)
            self._places.pop(number, None)

    def _places_of(self, number: int, rows: Rows) -> NDArray[np.int64]:
        """Returns the positions of a check's findings about some messages; each must have one. O(rows)."""
        table = self._tables[number]
        index = self._places.setdefault(number, HashIndex())
        known, stop = len(index), len(table)
        if known < stop:
            index.add(table["row"][known:].astype(np.uint64) + np.uint64(1), np.arange(known, stop, dtype=np.uint32))
        # A finding that was withdrawn and added again has a later position.
        return index.latest_rows(rows.astype(np.uint64) + np.uint64(1), np.full(len(rows), stop, np.int64))

    def _compacted(self, table: GrowingColumns) -> GrowingColumns:
        alive = table["gone"] == 0
        compact = GrowingColumns(_ENTRY)
        compact.append({name: table[name][alive] for name in _ENTRY}, int(np.count_nonzero(alive)))
        return compact

    def _put(self, rows: Rows, number: int, *, present: bool) -> None:
        """Adds a check to the sets of some messages, or removes it."""
        sets = self.columns["set"][rows]
        bit = 1 << number
        # Messages share few distinct sets, so a loop over sets is cheap.
        for before in sorted_unique(sets).tolist():
            mask = self._masks[before]
            after = self._set_index(mask | bit if present else mask & ~bit)
            self.columns.replace("set", rows[sets == before], after)
        self.changed.add_array(rows)

    def _set_index(self, mask: int) -> int:
        found = self._set_of.get(mask)
        if found is None:
            held = [self.declared[n] for n in self._order if mask >> n & 1]
            found = self._set_of[mask] = len(self.sets)
            self.sets.append(tuple(dict.fromkeys(check.code for check in held)))
            self.severities = np.append(self.severities, np.uint8(held[0].severity))
            self._masks.append(mask)
            bits = np.array([bool(mask >> n & 1) for n in range(len(self.declared))], np.bool_)
            # One row per set: `has` then answers for many messages with a single lookup.
            self._checks_by_set = np.vstack((self._checks_by_set, bits))
        return found

    # Queries

    def __len__(self) -> int:
        return sum(self._counts)

    def count_of(self, check: Check) -> int:
        """Returns the number of findings of a check."""
        return self._counts[self._number[check]]

    def rows_of(self, check: Check) -> Rows:
        """Returns the messages with findings of a check, in no particular order."""
        table = self._tables[self._number[check]]
        return table["row"][table["gone"] == 0].astype(np.int64)

    def arrays_of(self, check: Check) -> tuple[Rows, Rows, Rows]:
        """Returns a check's findings: (n,) messages ascending, related messages or NO_ROW, positions for `found_at`."""
        table = self._tables[self._number[check]]
        alive = np.flatnonzero(table["gone"] == 0)
        places = alive[np.argsort(table["row"][alive], kind="stable")]
        return table["row"][places].astype(np.int64), table["other"][places].astype(np.int64), places

    def found_at(self, check: Check, place: int) -> StoredFinding:
        """Returns one finding of a check, by position."""
        return self._stored_finding(self._number[check], place)

    def checks(self) -> list[Check]:
        """Returns the checks that have findings, most severe first."""
        return [self.declared[n] for n in self._order if self._counts[n]]

    def counts(self) -> dict[str, int]:
        """Returns the number of findings by code, most severe first, without codes that have zero."""
        counts: dict[str, int] = {}
        for check in self.checks():
            counts[check.code] = counts.get(check.code, 0) + self.count_of(check)
        return counts

    def checks_in(self, place: int) -> list[Check]:
        """Returns the checks in one entry of `sets`."""
        return [check for number, check in enumerate(self.declared) if self._masks[place] >> number & 1]

    def findings_about(self, row: int) -> list[StoredFinding]:
        """Returns the findings about a message, most severe first."""
        # Bit masks, as a check of one code may be declared with several severities.
        mask = self._masks[int(self.columns["set"][row])]
        return [found for n in self._order if mask >> n & 1 for found in self._entries(n, row)]

    def _entries(self, number: int, row: int) -> Iterator[StoredFinding]:
        yield self._stored_finding(number, int(self._places_of(number, np.array([row], np.int64))[0]))

    def _stored_finding(self, number: int, place: int) -> StoredFinding:
        table = self._tables[number]
        detail = int(table["detail"][place])
        text = self._details[detail] if detail else ""
        return StoredFinding(self.declared[number], int(table["row"][place]), int(table["other"][place]), text)

    def each(self, check: Check) -> Iterator[StoredFinding]:
        """Yields the findings of a check, by message."""
        number = self._number[check]
        table = self._tables[number]
        alive = np.flatnonzero(table["gone"] == 0)
        for place in alive[np.argsort(table["row"][alive], kind="stable")].tolist():
            yield self._stored_finding(number, place)

    def all(self) -> Iterator[StoredFinding]:
        """Yields every finding: the most severe codes first, by message within a code."""
        for number in self._order:
            yield from self.each(self.declared[number])
