"""Checks ids and senders: impersonation, reused or missing ids; our id joined twice (docs/protocols.md 2, 16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW

# A set of seen hashes without false negatives and with few false positives.

_INITIAL_SLOTS = 1 << 16
_SLOTS_EACH = 2
_SHARED_SLOT = 255
"""Value of a slot with several marks; any hash in this slot may have been seen."""


class SeenHashes:
    """Set of seen hashes as one-byte marks, 2 to 4 bytes a message. A test costs a tenth of an index lookup.

    About 5 of 100 new hashes are false positives; callers confirm them in the index.
    """

    def __init__(self) -> None:
        self._table = np.zeros(_INITIAL_SLOTS, np.uint8)
        self._count = 0

    def add(self, hashes: NDArray[np.uint64], every: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Adds hashes and returns the positions of possible repeats, including repeats among them.

        Args:
            hashes: new hashes; NO_HASH is ignored.
            every: all hashes so far, these included; used to fill a larger table.
        """
        if not len(hashes):
            return np.empty(0, np.int64)
        maybe = _are_duplicates(hashes) | self._mark(hashes)
        self._count += len(hashes)
        if self._count * _SLOTS_EACH > len(self._table):
            self._table = np.zeros(1 << (self._count * _SLOTS_EACH).bit_length(), np.uint8)
            for start in range(0, len(every), 1 << 16):
                self._mark(every[start : start + (1 << 16)])
        return np.flatnonzero(maybe & (hashes != NO_HASH))

    def _mark(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Sets the marks of some hashes; (n,) bool: True if the mark may have been set before."""
        slots = (hashes & np.uint64(len(self._table) - 1)).astype(np.int64)
        marks = ((hashes >> np.uint64(56)) % np.uint64(_SHARED_SLOT - 1) + np.uint64(1)).astype(np.uint8)
        standing = self._table[slots]
        maybe = (standing == marks) | (standing == _SHARED_SLOT)
        marks[(standing != 0) & (standing != marks)] = _SHARED_SLOT
        self._table[slots] = marks
        lost = self._table[slots] != marks  # two of these share a slot
        self._table[slots[lost]] = _SHARED_SLOT
        return maybe


def _are_duplicates(hashes: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) bool: True for values that occur more than once."""
    ordered = np.sort(hashes)
    twice = ordered[1:][(ordered[1:] == ordered[:-1]) & (ordered[1:] != NO_HASH)]
    return np.isin(hashes, twice) if len(twice) else np.zeros(len(hashes), np.bool_)


DIFFERS = Check(
    "sender-differs", ERROR, "Sender differs from the gateway's log",
    "The envelope names {who} as sender; by the gateway's log, {detail} sent it.",
    "A participant uses another one's name. Released gateways let a message override from.",
    "Find out why {detail} sends as {who}; do not trust the name in the envelope.",
    "MEW v0.4: the gateway verifies from; release v0.11.0 does not",
    example="coder",
)  # fmt: skip
REUSED = Check(
    "id-reused", WARNING, "Id reused for another message",
    "{who} reuses the id of {other} for another message.",
    "Answers and correlations may be assigned to the other message.",
    "Use each id once. Add a random prefix to counters that restart with the process.",
    "MEW v0.0 to v0.4, envelope: id is unique",
)  # fmt: skip
MISSING = Check(
    "id-missing", NOTE, "Message without an id",
    "{who} sends messages without an id, for example {kind}.",
    "No message can answer them or name them as a cause.",
    "Give each envelope an id; the gateway creates one if it is missing.",
    "MEW v0.4, envelope: id is required",
)  # fmt: skip
JOINED_TWICE = Check(
    "joined-twice", ERROR, "Our participant id joined twice",
    "Another participant has joined as {detail}, the id of this program.",
    "The gateway now delivers to only one of the two, so messages are missing from here on.",
    "Reconnect with another participant id, or leave it empty for a random one.",
    "MEW release v0.11.0, gateway: a second socket takes over delivery",
    example="inspector-7f3a",
)  # fmt: skip
CHECKS = (DIFFERS, JOINED_TWICE, REUSED, MISSING)

_SEEN = 1


class SenderChecks:
    """Checks senders and ids."""

    def __init__(self) -> None:
        self._differing = 0  # log lines with another sender
        self._ids = SeenHashes()
        self._without_id = StringNumbers()
        self._ours: dict[tuple[int, str], int] = {}

    def feed(self, batch: Batch) -> None:
        self._check_impostors(batch)
        self._check_reused_ids(batch)
        self._check_missing_ids(batch)
        self._check_joins(batch)

    def _check_impostors(self, batch: Batch) -> None:
        known = batch.capture.impersonations
        start, self._differing = self._differing, len(known)
        rows = known["message"][start:].astype(np.int64)
        names = [batch.capture.strings[code] for code in known["participant"][start:].tolist()]
        batch.findings.add(DIFFERS, rows, details=names)

    def _check_reused_ids(self, batch: Batch) -> None:
        hashes = batch.new("id_hash")
        places = self._ids.add(hashes, batch.capture.columns["id_hash"])
        if not len(places):
            return
        rows = batch.sent_rows(places + batch.start)
        before = batch.capture.ids.latest_rows(batch.column_values("id_hash", rows), rows)
        rows, before = rows[before != NO_ROW], before[before != NO_ROW]
        # Logs of several recipients repeat a message; equal columns show a copy instead of a reused id.
        copies = np.ones(len(rows), np.bool_)
        for name in ("sender", "kind", "ts_ns", "size"):
            copies &= batch.column_values(name, rows) == batch.column_values(name, before)
        # The gateway echoes messages of this program and adds fields to them.
        echoes = batch.column_values("flags", before) & Flag.SENT.value != 0
        copies |= echoes & (batch.column_values("kind", rows) == batch.column_values("kind", before))
        wrong = ~copies & ~self._are_from_gateway(batch, rows)
        batch.findings.add(REUSED, rows[wrong], others=before[wrong])

    def _are_from_gateway(self, batch: Batch, rows: Rows) -> Array:
        """(n,) bool: True for messages of gateways. Released gateways make ids from the time, and these collide."""
        codes = [code for code in map(batch.code, sorted(GATEWAY_IDS)) if code >= 0]
        return are_any_of(batch.column_values("sender", rows), codes)

    def _check_missing_ids(self, batch: Batch) -> None:
        rows = batch.sent_rows(batch.flagged_rows(Flag.NO_ID.value))
        if not len(rows):
            return
        strings = batch.capture.strings
        senders, kinds = batch.column_values("sender", rows), batch.column_values("kind", rows)
        for sender, _ in self._without_id.unnumbered_ids(senders):
            if sender == 0 or strings[sender] in GATEWAY_IDS:
                self._without_id.set_number(sender, _SEEN)  # errors about malformed input have neither id nor sender
                continue
            own = np.flatnonzero(senders == sender).tolist()
            place = next((n for n in own if not strings[int(kinds[n])].startswith("system/")), None)
            if place is not None:
                self._without_id.set_number(sender, _SEEN)
                batch.findings.add(MISSING, [int(rows[place])])

    def _check_joins(self, batch: Batch) -> None:
        joins = batch.rows("system/join")
        ours = joins[batch.column_values("flags", joins) & Flag.SENT.value != 0] if len(joins) else joins
        if not (self._ours or len(ours)):
            return
        believed = [*filter(batch.passes.trust.is_gateway, batch.rows("system/presence").tolist())]
        presence = np.array(believed, np.int64)
        own = set(ours.tolist())
        for row in np.sort(np.concatenate((ours, presence))).tolist():
            space = int(batch.capture.columns["space"][row])
            if row in own:
                self._ours[space, batch.string("sender", row)] = 0
                continue
            payload = batch.capture.records.decoded_record(row).payload
            who = payload.get("participant")
            name = who.get("id") if isinstance(who, Mapping) else None
            if payload.get("event") != "join" or not isinstance(name, str) or (space, name) not in self._ours:
                continue
            self._ours[space, name] += 1
            # Gateways of v0.0 and v0.1 announce the joiner to itself as well.
            if self._ours[space, name] > 1 or batch.string("protocol", row).startswith("mew/"):
                batch.findings.add(JOINED_TWICE, [row], details=name)
