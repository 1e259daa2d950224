"""Finds broadcasts that a present participant did not get, from the deliveries in a gateway's log.

A participant with deliveries before and after a broadcast was present, so it missed a broadcast between the two. Not
judged: participants who joined or left in between, long absences, and the end of a log, where deliveries may be
pending. Messages that gateways act on are no broadcasts. Echoes of this program's messages prove nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

import numpy as np

from inspector.analysis.findings.batch import Batch, StringNumbers
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag

UNDELIVERED = Check(
    "broadcast-not-delivered", WARNING, "Broadcast not delivered to all participants",
    "{detail} got messages before and after this broadcast, but not this one.",
    "It lacks information that the other participants have.",
    "Check its connection and the gateway's log.",
    "MEW v0.4: every envelope goes to every participant",
    example="coder",
)  # fmt: skip
CHECKS = (UNDELIVERED,)

_NO_BROADCAST = (
    Flag.UNREADABLE | Flag.GAP | Flag.FRAME | Flag.JOIN | Flag.RPC | Flag.LOG_ONLY | Flag.ERROR
    | Flag.DERIVED
).value  # fmt: skip
_MAX_MISSED_RUN = 1_000
"""Broadcasts missed in a row, above which a participant counts as absent."""


class Deliveries:
    """Tracks deliveries per participant."""

    def __init__(self) -> None:
        self._counted = 0
        self._listed = 0
        self._broadcasts: dict[int, GrowingColumns] = {}
        self._delivered_range: dict[tuple[int, int], tuple[int, int]] = {}  # first and last message of each participant
        self._missed: dict[int, set[int]] = {}
        self._kinds = StringNumbers()  # by kind: 2 if it is not sent to everybody
        # by space: messages, and string ids of participants who joined or left
        self._presence_changes: dict[int, tuple[array[int], array[int]]] = {}

    def feed(self, batch: Batch) -> None:
        """Checks the new deliveries of a batch, also of earlier messages."""
        for row in filter(batch.passes.trust.is_gateway, batch.rows("system/presence").tolist()):
            who = batch.capture.records.decoded_record(row).payload.get("participant")
            name = who.get("id") if isinstance(who, dict) else None
            if isinstance(name, str):
                space = int(batch.capture.columns["space"][row])
                rows, people = self._presence_changes.setdefault(space, (array("I"), array("I")))
                rows.append(row)
                people.append(batch.capture.strings.intern(name))
        if not len(batch.capture.deliveries):
            return
        self._list_broadcasts(batch)
        self._withdraw_rejected(batch)
        deliveries = batch.capture.deliveries
        rows = deliveries["message"][self._counted :].astype(np.int64)
        people = deliveries["participant"][self._counted :].astype(np.int64)
        self._counted += len(rows)
        # An echo of this program's message is no delivery to another participant.
        logged = batch.column_values("flags", rows) & Flag.SENT.value == 0
        rows, people = rows[logged], people[logged]
        if not len(rows):
            return
        spaces = batch.column_values("space", rows).astype(np.int64)
        # Sorted by space and participant, so that each participant is one slice.
        order = np.lexsort((rows, people, spaces))
        rows, people, spaces = rows[order], people[order], spaces[order]
        first = np.flatnonzero(np.r_[True, (people[1:] != people[:-1]) | (spaces[1:] != spaces[:-1])])
        for start, stop in zip(first.tolist(), [*first[1:].tolist(), len(rows)], strict=True):
            self._check_participant(batch, int(spaces[start]), int(people[start]), rows[start:stop])

    def _list_broadcasts(self, batch: Batch) -> None:
        """Lists the new broadcasts of each space; starts at the first message once there are deliveries."""
        new = np.arange(self._listed, batch.stop)
        self._listed = batch.stop
        new = new[self._are_broadcasts(batch, new)]
        spaces = batch.column_values("space", new)
        for space in np.unique(spaces).tolist():
            own = new[spaces == space]
            self._broadcasts.setdefault(space, GrowingColumns({"row": np.uint32})).append({"row": own}, len(own))

    def _are_broadcasts(self, batch: Batch, rows: Rows) -> np.ndarray:
        codes = batch.column_values("kind", rows)
        for code, _ in self._kinds.unnumbered_ids(codes):
            kind = batch.capture.strings[code]
            self._kinds.set_number(code, 2 if kind.startswith("system/") or kind in kinds.CONSUMED_BY_GATEWAY else 1)
        return (
            (batch.column_values("to_set", rows) == 0) & (batch.column_values("flags", rows) & _NO_BROADCAST == 0)
            & (self._kinds.numbers_of(codes) != 2)
        )  # fmt: skip

    def _check_participant(self, batch: Batch, space: int, person: int, rows: Rows) -> None:
        """Checks one participant's messages, ascending: a broadcast between two of them was missed."""
        for row in rows.tolist() if self._missed else ():
            if person in self._missed.get(row, ()):  # a late delivery
                self._missed[row].discard(person)
                self._update_finding(batch, row)
        first, last = self._delivered_range.get((space, person), (int(rows[0]), int(rows[0])))
        self._delivered_range[space, person] = min(first, int(rows[0])), max(last, int(rows[-1]))
        known = self._broadcasts.get(space)
        if known is not None:  # broadcasts between the first and the last are already judged
            self._find_missed_between(batch, space, person, known["row"], np.append(rows[rows < first], first))
            self._find_missed_between(batch, space, person, known["row"], np.append(last, rows[rows > last]))

    def _find_missed_between(self, batch: Batch, space: int, person: int, sent: Rows, got: Rows) -> None:
        low = np.searchsorted(sent, got[:-1].astype(sent.dtype), "right")
        high = np.searchsorted(sent, got[1:].astype(sent.dtype), "left")
        for place in np.flatnonzero(high > low).tolist():
            missed = sent[int(low[place]) : int(high[place])].tolist()
            if len(missed) <= _MAX_MISSED_RUN and not self._joined_or_left(
                space, person, int(got[place]), int(got[place + 1])
            ):
                self._note(batch, person, missed)

    def _joined_or_left(self, space: int, person: int, start: int, stop: int) -> bool:
        """Returns True if the participant joined or left between two messages."""
        rows, people = self._presence_changes.get(space, (array("I"), array("I")))
        return person in people[bisect_right(rows, start) : bisect_right(rows, stop)]

    def _note(self, batch: Batch, person: int, missed: list[int]) -> None:
        senders, flags = batch.capture.columns["sender"], batch.capture.columns["flags"]
        for row in missed:
            # Gateways of v0.3 leave out the sender; a rejected message is delivered to no participant.
            if int(senders[row]) != person and not int(flags[row]) & Flag.REJECTED.value:
                self._missed.setdefault(row, set()).add(person)
                self._update_finding(batch, row)

    def _withdraw_rejected(self, batch: Batch) -> None:
        flags = batch.column_values("flags", batch.changed)
        for row in batch.changed[flags & Flag.REJECTED.value != 0].tolist():
            if self._missed.pop(row, None):
                self._update_finding(batch, row)

    def _update_finding(self, batch: Batch, row: int) -> None:
        names = sorted(batch.capture.strings[person] for person in self._missed.get(row, ()))
        details = [", ".join(names)] if names else []
        batch.findings.replace_findings(
            UNDELIVERED, np.array([row], np.int64), np.array([bool(names)]), details=details
        )
