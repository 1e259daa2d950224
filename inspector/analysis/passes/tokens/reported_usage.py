"""Collects the tokens that model calls report, once for each call (docs/transcripts.md).

Several records may report one call with growing numbers. The record with the most output counts, the last on a tie; its
report belongs to its own message only. All formats use the same arithmetic: `input` excludes tokens read from a cache
or written to one, and `output` includes the reasoning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.passes.changed_rows import NO_ROWS, ChangedRows, Rows
from inspector.protocol.derived_messages import ApiCall
from inspector.store.columns.columns import GrowingColumns, locate_rows
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text
from inspector.store.messages.capture import Capture
from inspector.store.messages.session_wire_copies import MAX_COPY_GAP_NS

USAGE_KINDS = ("input", "output", "cache_read", "cache_write")
CACHE_WRITE_1H = "cache_write_1h"
"""Part of `cache_write` that lasts an hour."""
NOT_REPORTED = -1
STRETCH_CALLS = 1 << 12
"""Columns entries per partial sum of callers, so that a change invalidates only one of them."""
_MAX_UNMATCHED = 64
"""Limit of unmatched reports with equal numbers; the oldest are dropped."""


class Usage(NamedTuple):
    """Tokens that some calls reported."""

    input: int
    output: int
    cache_read: int
    cache_write: int

    @property
    def cached(self) -> int:
        """Tokens read from a cache or written to one."""
        return self.cache_read + self.cache_write


class ReportedUsage:
    """Model calls with their reported tokens.

    Attributes:
        columns: per message from a call: `message` uint32 ascending, `call` (hash), `model` (string id),
            `reported` (0 or 1), the numbers of USAGE and CACHE_WRITE_1H, `stop` (string id of the stop reason),
            `incomplete` (1 if its output tokens are those of the answer's first moment),
            `first_token` (ns from the request to the first piece of a streamed answer, NOT_REPORTED), and `counts`: 1
            if the call is reported here.
        report_count: messages that report a call.
        incomplete_count: the ones of these with incomplete output tokens.
        edits: by STRETCH of the columns, the number of reports gained or lost.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        numbers = dict.fromkeys((*USAGE_KINDS, CACHE_WRITE_1H), np.uint64)
        self.columns = GrowingColumns(
            {
                "message": np.uint32,
                "call": np.uint64,
                "model": np.uint32,
                "reported": np.uint8,
                "counts": np.uint8,
                "incomplete": np.uint8,
                "stop": np.uint32,
                "first_token": np.int64,
            }
            | numbers
        )
        self._calls = HashIndex()
        self._changed = ChangedRows()
        self._sums = np.zeros(len(USAGE_KINDS), np.int64)
        self._by_model: Counter[int] = Counter()  # calls, by string id
        self.report_count = self.incomplete_count = 0
        # by numbers, unmatched reports: call hash -> (on wire, time)
        self._told: dict[tuple[int, ...], dict[int, tuple[bool, int]]] = {}
        self._matched_hashes: dict[int, int] = {}  # by hash of a call, the hash of its matching report
        self.edits: list[int] = []

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`. O(calls in them)."""
        del start, stop
        found = self._capture.extracted.take_api_calls()
        if not found:
            return
        strings = self._capture.strings
        first = len(self.columns)
        rows = sorted(found)
        calls = [found[row] for row in rows]
        hashes = np.array([_call_hash(row, call) for row, call in zip(rows, calls, strict=True)], np.uint64)
        copies = self._capture.repeated_messages(np.array(rows, np.int64))[1]
        copies &= ~np.array([call.is_named or call.identifier is None for call in calls])
        if copies.any():  # the original counts, unless a copied message adds a record of the same call
            told = np.isin(hashes, hashes[~copies])
            told |= self._calls.latest_rows(hashes, np.full(len(hashes), np.iinfo(np.int64).max)) != NO_ROW
            hashes[copies & ~told] = NO_HASH
        if len(self._capture.sources) > 1:
            self._match_wire_reports(np.array(rows, np.int64), hashes, calls)
        values: dict[str, Any] = {
            "message": np.array(rows, np.uint32), "call": hashes,
            "model": np.array([strings.intern(c.model) if c.model else 0 for c in calls], np.uint32),
            "reported": np.array([c.has_usage for c in calls], np.uint8), "counts": np.zeros(len(rows), np.uint8),
            "incomplete": np.array([c.is_incomplete for c in calls], np.uint8),
            "stop": np.array([strings.intern(c.stop) if c.stop else 0 for c in calls], np.uint32),
            "first_token": np.array([c.first_token_ns for c in calls], np.int64),
        }  # fmt: skip
        values |= {
            name: np.array([getattr(c, name) for c in calls], np.uint64) for name in (*USAGE_KINDS, CACHE_WRITE_1H)
        }
        self.columns.append(values, len(rows))
        self._select_best_reports(first, hashes, copies)
        self._uncount_attempts([hash_text(call.attempts) for call in calls if call.attempts is not None])

    def _match_wire_reports(self, rows: Rows, hashes: NDArray[np.uint64], calls: Sequence[ApiCall]) -> None:
        """Gives the reports of one call in a session and on its wire the same hash, if their names differ.

        Equal numbers in both within ten minutes are one call. Each report matches one other at most.
        """
        wires, times = self._capture.are_on_wire(rows).tolist(), self._capture.columns["time_ns"][rows].tolist()
        for place, call in enumerate(calls):
            key = call.input, call.cache_read, call.cache_write, call.output
            own = int(hashes[place])
            if own in self._matched_hashes:
                hashes[place] = self._matched_hashes[own]
            if not call.has_usage or own == NO_HASH or not any(key) or own in self._matched_hashes:
                continue
            wire, time_ns = bool(wires[place]), times[place]
            waiting = self._told.setdefault(key, {})
            named = waiting.get(own)
            if named is not None and named[0] != wire:  # both use the same name
                del waiting[own]
                self._matched_hashes[own] = own
                continue
            # The nearest report in time is the most likely match.
            others = [
                (abs(then - time_ns), other)
                for other, (on_wire, then) in waiting.items()
                if on_wire != wire and abs(then - time_ns) <= MAX_COPY_GAP_NS
            ]
            if others:
                other = min(others)[1]
                del waiting[other]
                hashes[place] = self._matched_hashes[own] = other
            else:
                waiting[own] = wire, time_ns
                if len(waiting) > _MAX_UNMATCHED:
                    del waiting[next(iter(waiting))]

    def _uncount_attempts(self, attempts: list[int]) -> None:
        """Uncounts attempts without a result, since another attempt of the same call has one."""
        if not attempts:
            return
        ends = np.full(len(attempts), np.iinfo(np.int64).max)
        places = self._calls.latest_rows(np.array(attempts, np.uint64), ends)
        places = sorted_unique(places[places != NO_ROW])
        places = places[(self.columns["counts"][places] != 0) & (self.columns["reported"][places] == 0)]
        if len(places):
            self._set_counting(places, 0)
            self._changed.add_array(self.columns["message"][places].astype(np.int64))

    def _set_counting(self, places: NDArray[np.int64], counts: int) -> None:
        """Changes the reports at some places to counting (1) or not counting (0)."""
        self.columns.replace("counts", places, counts)
        by = 1 if counts else -1
        models, calls = np.unique(self.columns["model"][places], return_counts=True)
        for model, number in zip(models.tolist(), calls.tolist(), strict=True):
            self._by_model[model] += by * number
        places = places[self.columns["reported"][places] != 0]
        self.report_count += by * len(places)
        self.incomplete_count += by * int(np.count_nonzero(self.columns["incomplete"][places]))
        self._sums += by * np.array([self.columns[name][places].sum(dtype=np.int64) for name in USAGE_KINDS])
        self.edits += [0] * (-(-len(self.columns) // STRETCH_CALLS) - len(self.edits))
        for stretch in sorted_unique(places // STRETCH_CALLS).tolist():
            self.edits[stretch] += 1

    def _select_best_reports(self, first: int, hashes: NDArray[np.uint64], copies: NDArray[np.bool_]) -> None:
        """Selects the best report of each new or repeated call; on a tie no copy."""
        columns = self.columns
        before = self._calls.latest_rows(hashes, np.full(len(hashes), np.iinfo(np.int64).max))
        places = np.arange(first, len(columns))
        named = hashes != NO_HASH
        known = named & (before != NO_ROW)
        contenders = sorted_unique(np.concatenate((places[named], before[known])))
        if not len(contenders):
            return
        weight = np.where(columns["reported"][contenders] != 0, columns["output"][contenders].astype(np.int64) + 1, 0)
        call = columns["call"][contenders]
        original = np.ones(len(contenders), np.bool_)
        is_new = contenders >= first
        original[is_new] = ~copies[contenders[is_new] - first]
        # On a tie the session's own record is preferred to the copy on the wire.
        original &= ~self._capture.are_on_wire(columns["message"][contenders].astype(np.int64))
        order = np.lexsort((contenders, original, weight, call))
        last = np.ones(len(order), np.bool_)
        last[:-1] = call[order][1:] != call[order][:-1]
        best = np.sort(contenders[order[last]])
        counted = columns["counts"][contenders] != 0
        displaced = np.setdiff1d(contenders[counted], best)
        if len(displaced):
            self._set_counting(displaced, 0)
        self._set_counting(best[columns["counts"][best] == 0], 1)
        self._changed.add_array(columns["message"][displaced].astype(np.int64))
        # The index maps to the present or last counting report, so only new ones are added.
        new = best[best >= first]
        self._calls.add(columns["call"][new], new.astype(np.uint32))

    def take_changes(self) -> Rows:
        """Returns the messages that no longer report a call, since a later one does, and clears them."""
        return self._changed.take_rows()

    # Lookup

    def _places(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Returns (n,) indexes of messages in the columns, and (n,) flags of messages that have one."""
        return locate_rows(rows, self.columns["message"])

    def numbers_at(self, name: str, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Returns (n,) a number of USAGE, or CACHE_WRITE_1H, of each message; NOT_REPORTED without a report."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.full(len(rows), NOT_REPORTED, np.int64)
        known = known & (self.columns["counts"][places] != 0) & (self.columns["reported"][places] != 0)
        return np.where(known, self.columns[name][places].astype(np.int64), NOT_REPORTED)

    def words(self, name: str, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint32]:
        """Returns (n,) string ids of `model` or `stop` of the messages' calls; 0 if none."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.zeros(len(rows), np.uint32)
        return np.where(known, self.columns[name][places], 0).astype(np.uint32)

    def are_counted(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Returns (n,) flags of messages that report a model call and count for it."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.zeros(len(rows), np.bool_)
        return known & (self.columns["counts"][places] != 0)

    def first_tokens(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Returns (n,) nanoseconds from the request to the first piece of each answer, or NOT_REPORTED."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.full(len(rows), NOT_REPORTED, np.int64)
        return np.where(known, self.columns["first_token"][places], NOT_REPORTED)

    def calls_at(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Returns (n,) hashes of the messages' model calls, or NO_HASH."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.zeros(len(rows), np.uint64)
        return np.where(known, self.columns["call"][places], np.uint64(NO_HASH))

    def reports(self, stretch: int | None = None) -> Rows:
        """Returns the messages that report a call, ascending.

        Args:
            stretch: the number of a STRETCH of the columns; None for all.
        """
        if not len(self.columns):
            return NO_ROWS
        some = slice(None) if stretch is None else slice(stretch * STRETCH_CALLS, (stretch + 1) * STRETCH_CALLS)
        return self.columns["message"][some][self._are_reporting(some)].astype(np.int64)

    def reported(self) -> tuple[Rows, NDArray[np.int64]]:
        """Returns the messages that report a call, ascending, and (n, 4) the numbers of USAGE."""
        reporting = self._are_reporting(slice(None))
        rows, *numbers = (self.columns[name][reporting].astype(np.int64) for name in ("message", *USAGE_KINDS))
        return rows, np.stack(numbers, axis=1)

    def _are_reporting(self, some: slice) -> NDArray[np.bool_]:
        return (self.columns["counts"][some] != 0) & (self.columns["reported"][some] != 0)

    def total(self) -> Usage | None:
        """Returns the sum of all reports; None without any. O(1)."""
        return Usage(*self._sums.tolist()) if self.report_count else None

    @property
    def call_count(self) -> int:
        """Number of calls, also without a model's name."""
        return sum(self._by_model.values())

    def calls_by_model(self) -> dict[str, int]:
        """Returns the number of calls by model name, most frequent first. O(models)."""
        found = sorted((-number, model) for model, number in self._by_model.items() if model and number)
        return {self._capture.strings[model]: -number for number, model in found}


def _call_hash(row: int, call: ApiCall) -> int:
    """Returns the hash that reports of a call share; NO_HASH if the record is no report."""
    if call.identifier is None:
        return hash_text(f"message {row}")
    return hash_text(call.identifier) if call.identifier else NO_HASH
