"""Finds messages present both in a session's file and in a recording of its model's wire (docs/protocols.md 19).

RULE: a call is identified by its id and tool, its result by its call. In a session and on a wire, or on two wires, they
are one message: later occurrences are copies of the first. A gap of more than ten minutes makes it another call.

RULE: a text occurs once in each representation, in a session and on a wire. The same text in the other representation
is a copy of the nearest unmatched occurrence in time. A model request's repeated history is always a copy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.times import NO_TIME
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex

APART_NS = 600_000_000_000
"""Nanoseconds; a larger gap makes a repeated id another call."""
_MOST_OPEN, _MOST_ALIKE = 4096, 64
"""Limit of unmatched texts (at least half are kept), and of occurrences of one text."""
_MOST_CALLS = 8
"""Limit of distinct calls with one id: the first and the latest."""
_OF_RESULTS = 0x9E3779B97F4A7C15
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class Telling:
    """New messages of transcripts and wires.

    Attributes:
        rows: (n,) ascending, after all earlier ones.
        told: (n,) hashes of the call's id, or of the result's call; NO_HASH.
        are_results: (n,) True if they answer a call.
        words: (n,) hashes of their text; NO_HASH for messages without a copy elsewhere, or matched by id only.
        are_new: (n,) True if the model produces it here, False for repeated history.
    """

    rows: NDArray[np.int64]
    told: NDArray[np.uint64]
    are_results: NDArray[np.bool_]
    words: NDArray[np.uint64]
    are_new: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Times, sources, formats and tools of messages."""

    times: NDArray[np.int64]
    sources: NDArray[Any]
    protocols: NDArray[Any]
    tools: NDArray[Any]
    wires: Collection[int]
    names: Sequence[str]

    def is_on_wire(self, row: int) -> bool:
        """Returns True if the message is from a wire recording."""
        return int(self.protocols[row]) in self.wires

    def tell_one_call(self, row: int, before: int, *, new: bool) -> bool:
        """Returns True if two messages with one call's id are the same; `new` as in `Telling`, of the later one."""
        wire = self.is_on_wire(row)
        if not wire and not self.is_on_wire(before):
            return False  # copies among sessions need more evidence than equal ids
        history = wire and not new
        if self.sources[row] == self.sources[before]:
            return history
        return history or _are_near(int(self.times[row]), int(self.times[before]))

    def are_of_one_tool(self, row: int, before: int) -> bool:
        """Returns True if two calls name the same tool, with or without its server, or one names none."""
        one, other = int(self.tools[row]), int(self.tools[before])
        return one == other or not one or not other or _short(self.names[one]) == _short(self.names[other])


class ToldElsewhere:
    """Calls, results and texts that occurred so far."""

    def __init__(self) -> None:
        self._known = HashIndex()  # calls and results that are no copies
        self._calls: dict[int, list[int]] = {}  # calls by repeated id
        self._call_of: dict[tuple[int, int], int] = {}  # the call meant in a source, by source and repeated id
        self._results: dict[tuple[int, int], int] = {}  # results by repeated id and call
        self._open: dict[int, list[tuple[int, bool, int]]] = {}  # by text: row, on a wire, time
        self._both: dict[int, int] = {}  # first row by text that occurred in both representations

    def copies(
        self, telling: Telling, columns: Mapping[str, NDArray[Any]], wires: Collection[int], names: Sequence[str]
    ) -> NDArray[np.int64]:
        """Returns (n,) the earlier message that each copies, or NO_ROW. Call once per message, in order.

        Args:
            telling: the new messages.
            columns: of all messages so far, these included: `time_ns`, `source`, `protocol`, `target`.
            wires: values of `protocol` for wire recordings.
            names: strings of the values of `target`.
        """
        seen = _Seen(columns["time_ns"], columns["source"], columns["protocol"], columns["target"], wires, names)
        found = np.full(len(telling.rows), NO_ROW, np.int64)
        calls = np.flatnonzero(telling.told != NO_HASH)
        if len(calls):
            found[calls] = self._copies_by_id(telling, calls, seen)
        for place in np.flatnonzero(telling.words != NO_HASH).tolist():
            row = int(telling.rows[place])
            if found[place] != NO_ROW:
                self._note_both(int(telling.words[place]), int(found[place]))
                continue
            wire = seen.is_on_wire(row)
            any_time = wire and not telling.are_new[place]
            time_ns = int(seen.times[row])
            found[place] = self._other(int(telling.words[place]), row, time_ns, wire=wire, any_time=any_time)
        return found

    def _copies_by_id(self, telling: Telling, places: NDArray[np.int64], seen: _Seen) -> list[int]:
        """Returns the same for calls and results, one by one: a later one may copy an earlier one of these."""
        keys = np.where(
            telling.are_results[places], telling.told[places] ^ np.uint64(_OF_RESULTS), telling.told[places]
        )
        known = self._known.latest(keys, np.full(len(keys), np.iinfo(np.int64).max)).tolist()
        latest: dict[int, int] = {}
        found: list[int] = []
        for place, key, before in zip(places.tolist(), keys.tolist(), known, strict=True):
            row, new = int(telling.rows[place]), bool(telling.are_new[place])
            find = self._result_told if telling.are_results[place] else self._call_told
            of = find(row, key, max(before, latest.get(key, NO_ROW)), seen, new=new)
            if of == NO_ROW:
                latest[key] = row
            found.append(of)
        originals = np.array(found) == NO_ROW
        self._known.add(keys[originals], telling.rows[places][originals].astype(np.uint32))
        return found

    def _call_told(self, row: int, key: int, before: int, seen: _Seen, *, new: bool) -> int:
        """Returns the call repeated by this one; `before` is the latest with its id."""
        if before == NO_ROW:
            return NO_ROW
        known = self._calls.get(key, [before])
        alike = (one for one in reversed(known) if seen.are_of_one_tool(row, one))
        found = next((one for one in alike if seen.tell_one_call(row, one, new=new)), NO_ROW)
        if found == NO_ROW:
            _put(self._calls, key, [known[0], *known[1:][2 - _MOST_CALLS :], row])
        if key in self._calls:
            _put(self._call_of, (int(seen.sources[row]), key), row if found == NO_ROW else found)
        return found

    def _result_told(self, row: int, key: int, before: int, seen: _Seen, *, new: bool) -> int:
        """Returns the result repeated by this one; `before` is the latest with its id."""
        call = key ^ _OF_RESULTS
        made = self._call_of.get((int(seen.sources[row]), call), NO_ROW)
        is_other = made != NO_ROW and made not in self._calls.get(call, ())[:1]
        if is_other:
            before = self._results.get((call, made), NO_ROW)
        if before != NO_ROW and seen.tell_one_call(row, before, new=new):
            return before
        if is_other:
            _put(self._results, (call, made), row)
        return NO_ROW

    def _note_both(self, words: int, row: int) -> None:
        _put(self._both, words, row)

    def _other(self, words: int, row: int, time_ns: int, *, wire: bool, any_time: bool) -> int:
        """Matches a text with its occurrence in the other representation; NO_ROW leaves this one unmatched."""
        waiting = self._open.pop(words, [])
        others = [one for one in waiting if one[1] != wire and (any_time or _are_near(one[2], time_ns))]
        found = NO_ROW
        if others:
            nearest = min(others, key=lambda one: (abs(one[2] - time_ns), one[0]))
            waiting.remove(nearest)
            found = nearest[0]
            self._note_both(words, found)
        elif any_time and words in self._both:  # history sent again in another conversation
            found = self._both[words]
        else:
            waiting = [*waiting, (row, wire, time_ns)][-_MOST_ALIKE:]
        if waiting:
            _put(self._open, words, waiting)
        return found


def _put(held: dict[_K, _V], key: _K, value: _V) -> None:
    """Sets a value; evicts the older half above the limit."""
    if len(held) >= _MOST_OPEN:
        for oldest in [*islice(held, _MOST_OPEN // 2)]:
            del held[oldest]
    held[key] = value


def _short(tool: str) -> str:
    """Returns a tool's name without the server prefix that clients add."""
    return re.split(r"__|[./:]", tool)[-1].casefold()


def _are_near(one: int, other: int) -> bool:
    return NO_TIME in (one, other) or abs(one - other) <= APART_NS
