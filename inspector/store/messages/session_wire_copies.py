"""Finds messages that a session's file and a recording of its model's wire both tell of (docs/protocols.md 19).

RULE: a call of a tool is known by its id and tool, its result by its call. Told by a session and on a wire, or on two
wires, it is one: later tellings are copies of the first. A call that a model makes anew is another one where more than
ten minutes lie between.

RULE: words are told once in each way, by a session and on a wire. The same words told in the other way are a copy of
the telling nearest in time that has none yet. What a request to a model sends again is a copy in any case.
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
"""Further apart, a call with the id of an earlier one is another call."""
_MOST_OPEN, _MOST_ALIKE = 4096, 64
"""Words that wait for their other telling, half of these at least; and of the same words."""
_MOST_CALLS = 8
"""Calls with one id that are told apart: the first and the latest."""
_OF_RESULTS = 0x9E3779B97F4A7C15
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class Telling:
    """New messages of transcripts and wires.

    Attributes:
        rows: (n,) ascending, behind all before.
        told: (n,) hashes of the id of the call, or of that of the result's; NO_HASH.
        are_results: (n,) bool, that they answer a call.
        words: (n,) hashes of what they say; NO_HASH for what is told nowhere else, or known by an id alone.
        are_new: (n,) bool, that a model says it here, and not its history.
    """

    rows: NDArray[np.int64]
    told: NDArray[np.uint64]
    are_results: NDArray[np.bool_]
    words: NDArray[np.uint64]
    are_new: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Where and when messages were told."""

    times: NDArray[np.int64]
    sources: NDArray[Any]
    protocols: NDArray[Any]
    tools: NDArray[Any]
    wires: Collection[int]
    names: Sequence[str]

    def is_on_wire(self, row: int) -> bool:
        """Tells whether a recording of a wire tells of a message."""
        return int(self.protocols[row]) in self.wires

    def tell_one_call(self, row: int, before: int, *, new: bool) -> bool:
        """Whether two messages with the id of one call tell of the same; `new` as in `Telling`, of the later one."""
        wire = self.is_on_wire(row)
        if not wire and not self.is_on_wire(before):
            return False  # copies among sessions are known by more than their ids
        history = wire and not new
        if self.sources[row] == self.sources[before]:
            return history
        return history or _are_near(int(self.times[row]), int(self.times[before]))

    def are_of_one_tool(self, row: int, before: int) -> bool:
        """Tells whether two calls name the same tool, be it with its server in one of them; or one names none."""
        one, other = int(self.tools[row]), int(self.tools[before])
        return one == other or not one or not other or _short(self.names[one]) == _short(self.names[other])


class ToldElsewhere:
    """Keeps calls, results and words that were told so far."""

    def __init__(self) -> None:
        self._known = HashIndex()  # calls and results that are no copies
        self._calls: dict[int, list[int]] = {}  # by id that several calls have, these
        self._call_of: dict[tuple[int, int], int] = {}  # by source and such an id, the call that it means there
        self._results: dict[tuple[int, int], int] = {}  # by such an id and call
        self._open: dict[int, list[tuple[int, bool, int]]] = {}  # by words: row, on a wire, time
        self._both: dict[int, int] = {}  # by words told in both ways, who told them first

    def copies(
        self, telling: Telling, columns: Mapping[str, NDArray[Any]], wires: Collection[int], names: Sequence[str]
    ) -> NDArray[np.int64]:
        """(n,) the earlier message that each is a copy of; NO_ROW. Each message once, in order.

        Args:
            telling: the new messages.
            columns: of all messages so far, these included: `time_ns`, `source`, `protocol`, `target`.
            wires: values of `protocol` that recordings of wires have.
            names: what values of `target` stand for.
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
        """The same for calls and results, one by one: a later one may be a copy of an earlier one of these."""
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
        """The call that one tells again; `before` is the latest with its id."""
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
        """The result that one tells again; `before` is the latest with its id."""
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
        """The telling of words in the other way, which is then told in both; NO_ROW, and this one waits."""
        waiting = self._open.pop(words, [])
        others = [one for one in waiting if one[1] != wire and (any_time or _are_near(one[2], time_ns))]
        found = NO_ROW
        if others:
            nearest = min(others, key=lambda one: (abs(one[2] - time_ns), one[0]))
            waiting.remove(nearest)
            found = nearest[0]
            self._note_both(words, found)
        elif any_time and words in self._both:  # a history that is sent again, in another conversation
            found = self._both[words]
        else:
            waiting = [*waiting, (row, wire, time_ns)][-_MOST_ALIKE:]
        if waiting:
            _put(self._open, words, waiting)
        return found


def _put(held: dict[_K, _V], key: _K, value: _V) -> None:
    """Puts a value, and drops the older half where there are too many."""
    if len(held) >= _MOST_OPEN:
        for oldest in [*islice(held, _MOST_OPEN // 2)]:
            del held[oldest]
    held[key] = value


def _short(tool: str) -> str:
    """The name of a tool without that of its server, which clients put before it."""
    return re.split(r"__|[./:]", tool)[-1].casefold()


def _are_near(one: int, other: int) -> bool:
    return NO_TIME in (one, other) or abs(one - other) <= APART_NS
