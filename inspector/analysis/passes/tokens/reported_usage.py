"""Tokens that calls of models report, once for each call (docs/transcripts.md).

Of a call that several records report, with numbers that grow, the record with the most output counts, the last on a
tie; what it reports stands at its message alone. All formats report in one arithmetic: `input` is what was neither
read from a cache nor written to one, `output` holds the reasoning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import ascending
from inspector.analysis.passes.changes import NO_ROWS, ChangedRows, Rows
from inspector.protocol.derived_messages import ApiCall
from inspector.store.columns.columns import GrowingColumns, places_among
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text
from inspector.store.messages.capture import Capture
from inspector.store.messages.session_wire_copies import APART_NS

USAGE = ("input", "output", "cache_read", "cache_write")
WRITTEN_1H = "cache_write_1h"
"""Of `cache_write` what is to last an hour."""
NOT_REPORTED = -1
STRETCH = 1 << 12
"""Calls that are added up together by whoever keeps sums: of all others the sums stay."""
_MOST_ALIKE = 64
"""Reports of equal numbers that wait for their other telling, the latest."""


class Usage(NamedTuple):
    """Tokens that some calls reported."""

    input: int
    output: int
    cache_read: int
    cache_write: int

    @property
    def cached(self) -> int:
        """Read from a cache, or written to one."""
        return self.cache_read + self.cache_write


class ReportedUsage:
    """The calls of models, and what each cost as reported.

    Attributes:
        columns: of each message that came from a call: `message` uint32 ascending, `call` (hash), `model` (string id),
            `reported` (0 or 1), the numbers of USAGE and WRITTEN_1H, `stop` (string id of why the model stopped),
            `incomplete` (1 where its output tokens are those of the answer's first moment),
            `first_token` (ns from the request to the first piece of a streamed answer, NOT_REPORTED), and `counts`: 1
            where the call is reported here.
        report_count: messages that report a call.
        incomplete_count: of these, whose output tokens are incomplete.
        edits: of each STRETCH of the columns how often it gained a report or lost one.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        numbers = dict.fromkeys((*USAGE, WRITTEN_1H), np.uint64)
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
        self._sums = np.zeros(len(USAGE), np.int64)
        self._by_model: Counter[int] = Counter()  # calls, by string id
        self.report_count = self.incomplete_count = 0
        self._told: dict[tuple[int, ...], dict[int, tuple[bool, int]]] = {}  # by numbers, reports told in one way
        self._matched: dict[int, int] = {}  # by hash of a call, that by which its other telling is known
        self.edits: list[int] = []

    def feed(self, start: int, stop: int) -> None:
        """Take in messages `start` to `stop`. O(calls in them)."""
        del start, stop
        found = self._capture.extracted.take_api_calls()
        if not found:
            return
        strings = self._capture.strings
        first = len(self.columns)
        rows = sorted(found)
        calls = [found[row] for row in rows]
        hashes = np.array([_named_by(row, call) for row, call in zip(rows, calls, strict=True)], np.uint64)
        copies = self._capture.repeats(np.array(rows, np.int64))[1]
        copies &= ~np.array([call.is_named or call.identifier is None for call in calls])
        if copies.any():  # the first telling counts, unless a message is told again with more of the same call
            told = np.isin(hashes, hashes[~copies])
            told |= self._calls.latest(hashes, np.full(len(hashes), np.iinfo(np.int64).max)) != NO_ROW
            hashes[copies & ~told] = NO_HASH
        if len(self._capture.sources) > 1:
            self._match_other_tellings(np.array(rows, np.int64), hashes, calls)
        values: dict[str, Any] = {
            "message": np.array(rows, np.uint32), "call": hashes,
            "model": np.array([strings.intern(c.model) if c.model else 0 for c in calls], np.uint32),
            "reported": np.array([c.reported for c in calls], np.uint8), "counts": np.zeros(len(rows), np.uint8),
            "incomplete": np.array([c.incomplete for c in calls], np.uint8),
            "stop": np.array([strings.intern(c.stop) if c.stop else 0 for c in calls], np.uint32),
            "first_token": np.array([c.first_token_ns for c in calls], np.int64),
        }  # fmt: skip
        values |= {name: np.array([getattr(c, name) for c in calls], np.uint64) for name in (*USAGE, WRITTEN_1H)}
        self.columns.append(values, len(rows))
        self._choose(first, hashes, copies)
        self._take_back([hash_text(call.attempts) for call in calls if call.attempts is not None])

    def _match_other_tellings(self, rows: Rows, hashes: NDArray[np.uint64], calls: Sequence[ApiCall]) -> None:
        """Give reports of a call in a session and on its wire one hash, where they name it otherwise.

        Equal numbers, told in both ways within ten minutes, are one call: each report has one other at most.
        """
        wires, times = self._capture.are_on_wire(rows).tolist(), self._capture.columns["time_ns"][rows].tolist()
        for place, call in enumerate(calls):
            key = call.input, call.cache_read, call.cache_write, call.output
            own = int(hashes[place])
            if own in self._matched:
                hashes[place] = self._matched[own]
            if not call.reported or own == NO_HASH or not any(key) or own in self._matched:
                continue
            wire, time_ns = bool(wires[place]), times[place]
            waiting = self._told.setdefault(key, {})
            named = waiting.get(own)
            if named is not None and named[0] != wire:  # both name it so
                del waiting[own]
                self._matched[own] = own
                continue
            others = [
                (abs(then - time_ns), other)
                for other, (on_wire, then) in waiting.items()
                if on_wire != wire and abs(then - time_ns) <= APART_NS
            ]
            if others:
                other = min(others)[1]
                del waiting[other]
                hashes[place] = self._matched[own] = other
            else:
                waiting[own] = wire, time_ns
                if len(waiting) > _MOST_ALIKE:
                    del waiting[next(iter(waiting))]

    def _take_back(self, attempts: list[int]) -> None:
        """Attempts that came to nothing count no more, as one of the same call has come to something."""
        if not attempts:
            return
        ends = np.full(len(attempts), np.iinfo(np.int64).max)
        places = self._calls.latest(np.array(attempts, np.uint64), ends)
        places = ascending(places[places != NO_ROW])
        places = places[(self.columns["counts"][places] != 0) & (self.columns["reported"][places] == 0)]
        if len(places):
            self._let_count(places, 0)
            self._changed.update_all(self.columns["message"][places].astype(np.int64))

    def _let_count(self, places: NDArray[np.int64], counts: int) -> None:
        """Let what stands at some places count (1) or not (0), which it did not before, or did."""
        self.columns.put("counts", places, counts)
        by = 1 if counts else -1
        models, calls = np.unique(self.columns["model"][places], return_counts=True)
        for model, number in zip(models.tolist(), calls.tolist(), strict=True):
            self._by_model[model] += by * number
        places = places[self.columns["reported"][places] != 0]
        self.report_count += by * len(places)
        self.incomplete_count += by * int(np.count_nonzero(self.columns["incomplete"][places]))
        self._sums += by * np.array([self.columns[name][places].sum(dtype=np.int64) for name in USAGE])
        self.edits += [0] * (-(-len(self.columns) // STRETCH) - len(self.edits))
        for stretch in ascending(places // STRETCH).tolist():
            self.edits[stretch] += 1

    def _choose(self, first: int, hashes: NDArray[np.uint64], copies: NDArray[np.bool_]) -> None:
        """Of each call that is new, or reported again, let the best report count; of equal ones no copy."""
        columns = self.columns
        before = self._calls.latest(hashes, np.full(len(hashes), np.iinfo(np.int64).max))
        places = np.arange(first, len(columns))
        named = hashes != NO_HASH
        known = named & (before != NO_ROW)
        contenders = ascending(np.concatenate((places[named], before[known])))
        if not len(contenders):
            return
        weight = np.where(columns["reported"][contenders] != 0, columns["output"][contenders].astype(np.int64) + 1, 0)
        call = columns["call"][contenders]
        original = np.ones(len(contenders), np.bool_)
        is_new = contenders >= first
        original[is_new] = ~copies[contenders[is_new] - first]
        original &= ~self._capture.are_on_wire(columns["message"][contenders].astype(np.int64))
        order = np.lexsort((contenders, original, weight, call))
        last = np.ones(len(order), np.bool_)
        last[:-1] = call[order][1:] != call[order][:-1]
        best = np.sort(contenders[order[last]])
        counted = columns["counts"][contenders] != 0
        displaced = np.setdiff1d(contenders[counted], best)
        if len(displaced):
            self._let_count(displaced, 0)
        self._let_count(best[columns["counts"][best] == 0], 1)
        self._changed.update_all(columns["message"][displaced].astype(np.int64))
        # The index leads to the report that counts, or did last: only where that is a new one it is added.
        new = best[best >= first]
        self._calls.add(columns["call"][new], new.astype(np.uint32))

    def take_changes(self) -> Rows:
        """Messages that report a call no longer, as a later one does."""
        return self._changed.take()

    # Asking

    def _places(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where some messages stand in the columns, and whether they do."""
        return places_among(rows, self.columns["message"])

    def at(self, name: str, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """(n,) a number of USAGE, or WRITTEN_1H, that each of some messages reports; NOT_REPORTED without one."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.full(len(rows), NOT_REPORTED, np.int64)
        known = known & (self.columns["counts"][places] != 0) & (self.columns["reported"][places] != 0)
        return np.where(known, self.columns[name][places].astype(np.int64), NOT_REPORTED)

    def words(self, name: str, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint32]:
        """(n,) string ids of `model` or `stop` of the calls that some messages came from; 0."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.zeros(len(rows), np.uint32)
        return np.where(known, self.columns[name][places], 0).astype(np.uint32)

    def are_counted(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Returns (n,) True for messages that report a call of a model, and with which it counts."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.zeros(len(rows), np.bool_)
        return known & (self.columns["counts"][places] != 0)

    def first_tokens(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """(n,) nanoseconds from a request to the first piece of each of some answers; NOT_REPORTED."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.full(len(rows), NOT_REPORTED, np.int64)
        return np.where(known, self.columns["first_token"][places], NOT_REPORTED)

    def calls_at(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """(n,) hashes of the calls of models that some messages came from; NO_HASH."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.zeros(len(rows), np.uint64)
        return np.where(known, self.columns["call"][places], np.uint64(NO_HASH))

    def reports(self, stretch: int | None = None) -> Rows:
        """The messages that report a call, ascending; all, or those of a STRETCH of the columns, by its number."""
        if not len(self.columns):
            return NO_ROWS
        some = slice(None) if stretch is None else slice(stretch * STRETCH, (stretch + 1) * STRETCH)
        return self.columns["message"][some][self._reporting(some)].astype(np.int64)

    def reported(self) -> tuple[Rows, NDArray[np.int64]]:
        """The messages that report a call, ascending, and (n, 4) the numbers of USAGE."""
        reporting = self._reporting(slice(None))
        rows, *numbers = (self.columns[name][reporting].astype(np.int64) for name in ("message", *USAGE))
        return rows, np.stack(numbers, axis=1)

    def _reporting(self, some: slice) -> NDArray[np.bool_]:
        return (self.columns["counts"][some] != 0) & (self.columns["reported"][some] != 0)

    def total(self) -> Usage | None:
        """What all calls reported; None where none did. O(1)."""
        return Usage(*self._sums.tolist()) if self.report_count else None

    def calls_by_model(self) -> dict[str, int]:
        """How many calls were made of each model that is named, the most frequent first. O(models)."""
        found = sorted((-number, model) for model, number in self._by_model.items() if model and number)
        return {self._capture.strings[model]: -number for number, model in found}


def _named_by(row: int, call: ApiCall) -> int:
    """The hash that reports of a call share; NO_HASH for what is none."""
    if call.identifier is None:
        return hash_text(f"message {row}")
    return hash_text(call.identifier) if call.identifier else NO_HASH
