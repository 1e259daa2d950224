"""Finds messages that a session's file and a recording of its model's wire both tell of (docs/protocols.md 19).

RULE: a call of a tool is known by its id, its result by that of the call. Told by a session and on a wire, or on two
wires, it is one: later tellings are copies of the first. A call that a model makes anew is another one where more than
ten minutes lie between.

RULE: words are told once in each way, by a session and on a wire. The same words told in the other way are a copy of
the telling nearest in time that has none yet. What a request to a model sends again is a copy in any case.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.times import NO_TIME
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, earlier

APART_NS = 600_000_000_000
"""Further apart, a call with the id of an earlier one is another call."""
_MOST_OPEN, _MOST_ALIKE = 4096, 64
"""Words that wait for their other telling, half of these at least; and of the same words."""


@dataclass(frozen=True, slots=True)
class Telling:
    """New messages of transcripts and wires.

    Attributes:
        rows: (n,) ascending, behind all before.
        told: (n,) hashes of the id of the call, or of that of the result's; NO_HASH.
        words: (n,) hashes of what they say; NO_HASH for what is told nowhere else, or known by an id alone.
        are_new: (n,) bool, that a model says it here, and not its history.
    """

    rows: NDArray[np.int64]
    told: NDArray[np.uint64]
    words: NDArray[np.uint64]
    are_new: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Where and when messages were told."""

    times: NDArray[np.int64]
    sources: NDArray[Any]
    protocols: NDArray[Any]
    wires: Collection[int]

    def is_on_wire(self, row: int) -> bool:
        """Whether a recording of a wire tells of a message."""
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


class ToldElsewhere:
    """Keeps calls, results and words that were told so far."""

    def __init__(self) -> None:
        self._calls = HashIndex()
        self._open: dict[int, list[tuple[int, bool, int]]] = {}  # by words: row, on a wire, time
        self._both: dict[int, int] = {}  # by words told in both ways, who told them first

    def copies(
        self, telling: Telling, columns: Mapping[str, NDArray[Any]], wires: Collection[int]
    ) -> NDArray[np.int64]:
        """(n,) the earlier message that each is a copy of; NO_ROW. Each message once, in order.

        Args:
            telling: the new messages.
            columns: of all messages so far, these included: `time_ns`, `source`, `protocol`.
            wires: values of `protocol` that recordings of wires have.
        """
        seen = _Seen(columns["time_ns"], columns["source"], columns["protocol"], wires)
        found = np.full(len(telling.rows), NO_ROW, np.int64)
        calls = np.flatnonzero(telling.told != NO_HASH)
        if len(calls):
            rows, told = telling.rows[calls], telling.told[calls]
            first = earlier(self._calls, told, rows)
            for place in np.flatnonzero(first != NO_ROW).tolist():
                row, before = int(rows[place]), int(first[place])
                new = bool(telling.are_new[calls[place]])
                if not seen.tell_one_call(row, before, new=new):
                    first[place] = NO_ROW
            found[calls] = first
            originals = first == NO_ROW
            self._calls.add(told[originals], rows[originals].astype(np.uint32))
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

    def _note_both(self, words: int, row: int) -> None:
        if len(self._both) >= _MOST_OPEN:
            for oldest in [*islice(self._both, _MOST_OPEN // 2)]:
                del self._both[oldest]
        self._both[words] = row

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
        if len(self._open) >= _MOST_OPEN:
            for oldest in [*islice(self._open, _MOST_OPEN // 2)]:
                del self._open[oldest]
        if waiting:
            self._open[words] = waiting
        return found


def _are_near(one: int, other: int) -> bool:
    return NO_TIME in (one, other) or abs(one - other) <= APART_NS
