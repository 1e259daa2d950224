"""Waits end with the process that waits, and with the one that was asked (docs/protocols.md 10).

RULE: who leaves, or joins once more under the same id, is another process from then on: it knows nothing of what the
former one asked, proposed or was asked. An answer that comes all the same counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.changes import NO_ROWS, ChangedRows, Rows
from inspector.analysis.correlation import CorrelationPass
from inspector.analysis.participants import ParticipantPass
from inspector.analysis.waiting import GivenUp
from inspector.capture.capture import Capture
from inspector.capture.hashes import NO_ROW
from inspector.protocol import kinds


class DeparturePass:
    """Gives up the requests and proposals of those who are gone, and the requests made of them alone."""

    def __init__(self, capture: Capture, correlation: CorrelationPass, participants: ParticipantPass) -> None:
        self._capture = capture
        self._links = correlation.columns
        self._participants = participants
        self._open: Rows = NO_ROWS  # requests nobody has answered, and proposals, when somebody left last
        self._asked_since: list[Rows] = []  # joined when somebody leaves: a batch costs nothing for what is open
        self._told = 0
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Messages that are given up."""
        return self._changed.take()

    def feed(self, start: int, stop: int) -> None:
        """Take in messages `start` to `stop`. O(messages), and where somebody left O(open requests)."""
        kind, find = self._capture.columns["kind"][start:stop], self._capture.strings.find
        asked = np.isin(kind, [find(name) or -1 for name in (kinds.REQUEST, kinds.PROPOSAL)])
        new = np.flatnonzero(asked) + start
        if len(new):
            self._asked_since.append(new)
        ended = self._participants.ended
        left, self._told = ended[self._told :], len(ended)
        if not left:
            return
        self._open = np.concatenate((self._open, *self._asked_since))
        self._asked_since.clear()
        links = self._links
        answer = links["answer"][self._open]
        self._open = self._open[((answer == NO_ROW) | (answer >= start)) & (links["given_up"][self._open] == 0)]
        by_sender = self._first_after(self._open, self._capture.columns["sender"][self._open], left)
        by_asked = self._first_after(self._open, self._asked_alone(self._open), left)
        first = np.minimum(by_sender, by_asked)
        answer = links["answer"][self._open].astype(np.int64)
        gone = (first != _NEVER) & ((answer == NO_ROW) | (answer > first))
        for rows, why in (
            (self._open[gone & (by_sender <= by_asked)], GivenUp.ASKER_LEFT),
            (self._open[gone & (by_sender > by_asked)], GivenUp.ASKED_LEFT),
        ):
            links.put("given_up", rows, why.value)
            self._changed.update_all(rows)
        self._open = self._open[~gone]

    def _asked_alone(self, rows: Rows) -> NDArray[np.int64]:
        """The string id of the one each request was addressed to; 0 for several, for all, and of a proposal."""
        columns, strings = self._capture.columns, self._capture.strings
        sets, inverse = np.unique(columns["to_set"][rows], return_inverse=True)
        named = (self._capture.to_sets[code] for code in sets.tolist())
        single = np.array([strings.intern(to[0]) if len(to) == 1 else 0 for to in named], np.int64)
        request = columns["kind"][rows] == (strings.find(kinds.REQUEST) or -1)
        return np.where(request, single[inverse], 0) if len(rows) else np.empty(0, np.int64)

    def _first_after(self, rows: Rows, people: NDArray[np.integer], left: list[tuple[int, int, str]]) -> Rows:
        """The first departure of each of some people after a message; _NEVER."""
        codes = self._capture.strings.intern
        keys = np.array([space << 32 | codes(name) for _, space, name in left], np.int64)
        at = np.array([row for row, _, _ in left], np.int64)
        order = np.lexsort((at, keys))
        keys, at = keys[order], at[order]
        known, first_of = np.unique(keys, return_index=True)
        wanted = self._capture.columns["space"][rows].astype(np.int64) << 32 | people.astype(np.int64)
        place = np.searchsorted(known, wanted)
        found = (place < len(known)) & (people != 0)
        found[found] = known[place[found]] == wanted[found]
        first = np.full(len(rows), _NEVER, np.int64)
        # One number orders departures by who left and when.
        ranked = np.repeat(np.arange(len(known)), np.diff(np.append(first_of, len(keys)))) << 32 | at
        after = np.searchsorted(ranked, place[found] << 32 | rows[found], "right")
        within = (after < len(ranked)) & (keys[np.minimum(after, len(keys) - 1)] == wanted[found])
        first[np.flatnonzero(found)[within]] = at[after[within]]
        return first


_NEVER = 2**62
