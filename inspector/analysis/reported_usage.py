"""Tokens that calls of models report, once for each call (docs/transcripts.md).

Of a call that several records report, with numbers that grow, the record with the most output counts, the last on a
tie; what it reports stands at its message alone. All formats report in one arithmetic: `input` is what was neither
read from a cache nor written to one, `output` holds the reasoning.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.changes import NO_ROWS, ChangedRows, Rows
from inspector.capture.capture import Capture
from inspector.capture.columns import GrowingColumns
from inspector.capture.hashes import NO_HASH, NO_ROW, HashIndex, hash_text
from inspector.protocol.meaning import ApiCall

USAGE = ("input", "output", "cache_read", "cache_write")
WRITTEN_1H = "cache_write_1h"
"""Of `cache_write` what is to last an hour."""
NOT_REPORTED = -1


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
            `first_token` (ns from the request to the first piece of a streamed answer, NOT_REPORTED), and `counts`: 1
            where the call is reported here.
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
                "stop": np.uint32,
                "first_token": np.int64,
            }
            | numbers
        )
        self._calls = HashIndex()
        self._changed = ChangedRows()

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
        values: dict[str, Any] = {
            "message": np.array(rows, np.uint32), "call": hashes,
            "model": np.array([strings.intern(c.model) if c.model else 0 for c in calls], np.uint32),
            "reported": np.array([c.reported for c in calls], np.uint8), "counts": np.zeros(len(rows), np.uint8),
            "stop": np.array([strings.intern(c.stop) if c.stop else 0 for c in calls], np.uint32),
            "first_token": np.array([c.first_token_ns for c in calls], np.int64),
        }  # fmt: skip
        values |= {name: np.array([getattr(c, name) for c in calls], np.uint64) for name in (*USAGE, WRITTEN_1H)}
        self.columns.append(values, len(rows))
        self._choose(first, hashes, copies)
        self._take_back([hash_text(call.attempts) for call in calls if call.attempts is not None])

    def _take_back(self, attempts: list[int]) -> None:
        """Attempts that came to nothing count no more, as one of the same call has come to something."""
        if not attempts:
            return
        ends = np.full(len(attempts), np.iinfo(np.int64).max)
        places = self._calls.latest(np.array(attempts, np.uint64), ends)
        places = np.unique(places[places != NO_ROW])
        places = places[(self.columns["counts"][places] != 0) & (self.columns["reported"][places] == 0)]
        if len(places):
            self.columns.put("counts", places, 0)
            self._changed.update_all(self.columns["message"][places].astype(np.int64))

    def _choose(self, first: int, hashes: NDArray[np.uint64], copies: NDArray[np.bool_]) -> None:
        """Of each call that is new, or reported again, let the best report count; of equal ones no copy."""
        columns = self.columns
        before = self._calls.latest(hashes, np.full(len(hashes), np.iinfo(np.int64).max))
        places = np.arange(first, len(columns))
        named = hashes != NO_HASH
        known = named & (before != NO_ROW)
        contenders = np.unique(np.concatenate((places[named], before[known])))
        if not len(contenders):
            return
        weight = np.where(columns["reported"][contenders] != 0, columns["output"][contenders].astype(np.int64) + 1, 0)
        call = columns["call"][contenders]
        original = np.ones(len(contenders), np.bool_)
        is_new = contenders >= first
        original[is_new] = ~copies[contenders[is_new] - first]
        order = np.lexsort((contenders, original, weight, call))
        last = np.ones(len(order), np.bool_)
        last[:-1] = call[order][1:] != call[order][:-1]
        best = np.sort(contenders[order[last]])
        counted = columns["counts"][contenders] != 0
        displaced = np.setdiff1d(contenders[counted], best)
        if len(displaced):
            columns.put("counts", displaced, 0)
        columns.put("counts", best, 1)
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
        messages = self.columns["message"]
        if not len(messages):
            return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_)
        places = np.minimum(np.searchsorted(messages, rows), len(messages) - 1)
        return places, messages[places] == rows

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

    def first_tokens(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """(n,) nanoseconds from a request to the first piece of each of some answers; NOT_REPORTED."""
        places, known = self._places(rows)
        if not len(self.columns):
            return np.full(len(rows), NOT_REPORTED, np.int64)
        return np.where(known, self.columns["first_token"][places], NOT_REPORTED)

    def reports(self) -> Rows:
        """The messages that report a call, ascending."""
        counted = (self.columns["counts"] != 0) & (self.columns["reported"] != 0)
        return self.columns["message"][counted].astype(np.int64) if len(self.columns) else NO_ROWS

    def total(self) -> Usage | None:
        """What all calls reported; None where none did."""
        counted = (self.columns["counts"] != 0) & (self.columns["reported"] != 0)
        if not counted.any():
            return None
        return Usage(*(int(self.columns[name][counted].sum(dtype=np.int64)) for name in USAGE))

    def calls_by_model(self) -> dict[str, int]:
        """How many calls were made of each model that is named, the most frequent first."""
        models = self.columns["model"][self.columns["counts"] != 0]
        codes, counts = np.unique(models[models != 0], return_counts=True)
        strings = self._capture.strings
        return dict(
            Counter({strings[c]: n for c, n in zip(codes.tolist(), counts.tolist(), strict=True)}).most_common()
        )


def _named_by(row: int, call: ApiCall) -> int:
    """The hash that reports of a call share; NO_HASH for what is none."""
    if call.identifier is None:
        return hash_text(f"message {row}")
    return hash_text(call.identifier) if call.identifier else NO_HASH
