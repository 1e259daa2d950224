"""Ends waits when the process that asked, or the one that was asked, is gone (docs/protocols.md 10).

RULE: a participant that leaves, or joins again under the same id, is another process from then on. The new process
knows no request or proposal of the former one, nor requests made to it. A late answer still counts. The same holds for
MCP lines after their connection was reopened, since the server was started again.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of, sorted_unique
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.calls.open_waits import GivenUp
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.analysis.passes.participants.participant_pass import ParticipantPass
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture


class DeparturePass:
    """Gives up requests and proposals of participants that left, and requests made to them alone."""

    def __init__(self, capture: Capture, correlation: CorrelationPass, participants: ParticipantPass) -> None:
        self._capture = capture
        self._links = correlation.columns
        self._participants = participants
        # By space and name, the open requests and proposals that end with a participant, since it last left.
        self._ending_with: dict[int, array[int]] = {}
        # indexed only after a departure, so that open requests cost no time per batch
        self._unindexed = array("i")
        self._told = 0
        self._piped_requests: list[Rows] = []  # requests without an envelope
        self._processed_connections = 0
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Returns the messages that were given up, and clears them."""
        return self._changed.take_rows()

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`. O(stop - start + requests by and to participants that left)."""
        kind, find = self._capture.columns["kind"][start:stop], self._capture.strings.find
        asked = are_any_of(kind, [find(name) or -1 for name in (kinds.REQUEST, kinds.PROPOSAL)])
        new = np.flatnonzero(asked) + start
        if len(new):
            self._unindexed.frombytes(new.astype(np.int32).tobytes())
            piped = new[self._capture.columns["flags"][new] & Flag.RPC.value != 0]
            if len(piped):
                self._piped_requests.append(piped)
        self._end_connections()
        left = self._participants.ended_since(self._told)
        self._told += len(left[0])
        if not len(left[0]):
            return
        # Index the rows collected since the last departure, then give up the ones that end with these participants.
        self._index_rows(self._still_open(np.array(self._unindexed, np.int64), start))
        del self._unindexed[:]
        gone = {*left[1].tolist()}
        rows = [np.array(self._ending_with.pop(person, ()), np.int64) for person in gone]
        self._index_rows(self._give_up(self._still_open(sorted_unique(*rows), start), left), only=gone)

    def _end_connections(self) -> None:
        """Gives up requests over connections that another one replaced."""
        every = self._capture.ended_connections
        ended, self._processed_connections = every[self._processed_connections :], len(every)
        if not ended or not self._piped_requests:
            return
        rows = np.concatenate(self._piped_requests)
        rows = rows[self._links["answer"][rows] == NO_ROW]
        gone = np.isin(connection_keys(self._capture, rows), [source << 32 | number for source, number in ended])
        self._links.replace("given_up", rows[gone], GivenUp.ASKED_LEFT.value)
        self._changed.add_array(rows[gone])
        self._piped_requests = [rows[~gone]]

    def _still_open(self, rows: Rows, start: int) -> Rows:
        """Returns the messages that had no answer before this batch and are not given up."""
        answer = self._links["answer"][rows]
        return rows[((answer == NO_ROW) | (answer >= start)) & (self._links["given_up"][rows] == 0)]

    def _index_rows(self, rows: Rows, only: set[int] | None = None) -> None:
        """Indexes messages by the participants that end them: the sender, and the recipient if there is only one."""
        spaces = self._capture.columns["space"][rows].astype(np.int64) << 32
        for people in (self._capture.columns["sender"][rows].astype(np.int64), self._sole_recipients(rows)):
            for person, row in zip((spaces | people)[people != 0].tolist(), rows[people != 0].tolist(), strict=True):
                if only is not None and person not in only:
                    continue
                if person not in self._ending_with:
                    self._ending_with[person] = array("i")
                self._ending_with[person].append(row)

    def _give_up(self, rows: Rows, left: tuple[Rows, NDArray[np.int64]]) -> Rows:
        """Gives up the messages that end with the participants that left; returns the rest."""
        links = self._links
        by_sender = self._first_departures(rows, self._capture.columns["sender"][rows], left)
        by_asked = self._first_departures(rows, self._sole_recipients(rows), left)
        first = np.minimum(by_sender, by_asked)
        answer = links["answer"][rows].astype(np.int64)
        # A message answered before the departure is no open wait.
        gone = (first != _NO_DEPARTURE) & ((answer == NO_ROW) | (answer > first))
        for given_up, why in (
            (rows[gone & (by_sender <= by_asked)], GivenUp.ASKER_LEFT),
            (rows[gone & (by_sender > by_asked)], GivenUp.ASKED_LEFT),
        ):
            links.replace("given_up", given_up, why.value)
            self._changed.add_array(given_up)
        return rows[~gone]

    def _sole_recipients(self, rows: Rows) -> NDArray[np.int64]:
        """Returns (n,) the string id of each request's only recipient; 0 for several, for all and for proposals."""
        columns = self._capture.columns
        asked = columns["kind"][rows] == (self._capture.strings.find(kinds.REQUEST) or -1)
        return np.where(asked, self._capture.to_sets.single_names(columns["to_set"][rows]), 0)

    def _first_departures(self, rows: Rows, people: NDArray[np.integer], left: tuple[Rows, NDArray[np.int64]]) -> Rows:
        """Returns (n,) the first departure of each participant after a message, or _NEVER."""
        at, keys = left
        order = np.lexsort((at, keys))
        keys, at = keys[order], at[order]
        known, first_of = np.unique(keys, return_index=True)
        wanted = self._capture.columns["space"][rows].astype(np.int64) << 32 | people.astype(np.int64)
        place = np.searchsorted(known, wanted)
        found = (place < len(known)) & (people != 0)
        found[found] = known[place[found]] == wanted[found]
        first = np.full(len(rows), _NO_DEPARTURE, np.int64)
        # Packs participant and row into one number, so that one search finds both.
        ranked = np.repeat(np.arange(len(known)), np.diff(np.append(first_of, len(keys)))) << 32 | at
        after = np.searchsorted(ranked, place[found] << 32 | rows[found], "right")
        within = (after < len(ranked)) & (keys[np.minimum(after, len(keys) - 1)] == wanted[found])
        first[np.flatnonzero(found)[within]] = at[after[within]]
        return first


_NO_DEPARTURE = 2**62
