"""What the gateway's log and its errors tell: copies that differ, deliveries that are missing, denials."""

from __future__ import annotations

import numpy as np

from inspector.analysis.changes import Rows
from inspector.analysis.findings.batch import Batch, Marks
from inspector.analysis.findings.check import ERROR, WARNING, Check
from inspector.analysis.findings.copies import differing_keys
from inspector.capture.columns import GrowingColumns
from inspector.capture.flags import Flag
from inspector.protocol.participants import GATEWAY_IDS

ALTERED = Check(
    "context-altered", ERROR, "Context altered on the way",
    "A delivered copy has another context than the one {who} sent.",
    "Receivers file the message elsewhere, or do not see it.",
    "Look for a bridge or proxy between the gateway and the receiver.",
    "p4m: gateways pass context on unchanged",
)  # fmt: skip
COPIES = Check(
    "copies-differ", WARNING, "Delivered copies differ",
    "Copies of what {who} sent differ in {detail}.",
    "Participants act on different messages under one id.",
    "Look for a bridge or proxy between the gateway and the receiver.",
    "MEW v0.4: every participant gets the same envelope",
    example="payload",
)  # fmt: skip
UNDELIVERED = Check(
    "broadcast-not-delivered", WARNING, "Broadcast not delivered to everybody",
    "{detail} got the broadcasts before and after this one, and not this one.",
    "It decides without knowing what the others know.",
    "Look at its connection, and at the gateway's own log.",
    "MEW v0.4: every envelope goes to every participant",
    example="coder",
)  # fmt: skip
DENIED = Check(
    "capability-denied", WARNING, "Refused for lack of a capability",
    "{detail}",
    "What was to be done was not done.",
    "Grant the capability with capability/grant, or propose the call instead.",
    "MEW v0.4, capabilities and system/error",
    example="coder may not send mcp/request.",
)  # fmt: skip
FAILED = Check(
    "system-error", WARNING, "Error from the gateway",
    "The gateway reports {detail}.",
    "A message was not forwarded, and its sender may not know.",
    "Correct the message that the error names.",
    "MEW v0.4, system/error",
    example="validation_error: kind is missing",
)  # fmt: skip
CHECKS = (ALTERED, COPIES, UNDELIVERED, DENIED, FAILED)

_NO_BROADCAST = (
    Flag.UNREADABLE | Flag.GAP | Flag.FRAME | Flag.JOIN | Flag.RPC | Flag.LOG_ONLY | Flag.ERROR
).value  # fmt: skip
_MOST_COMPARED = 200
"""Messages of one sender and kind whose copies are compared."""


class GatewayLog:
    """Looks at errors, and at the copies of messages in a gateway's log."""

    def __init__(self) -> None:
        self._compared: dict[tuple[int, int], set[int]] = {}
        self._counts = GrowingColumns({"copies": np.uint16})
        self._counted = 0
        self._listed = 0
        self._broadcasts: dict[int, GrowingColumns] = {}
        self._system = Marks()
        self._presence: list[int] = []

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch, and at earlier ones that gained a copy."""
        self._errors(batch)
        self._presence += batch.rows("system/presence").tolist()
        self._counts.append({"copies": 0}, batch.stop - batch.start)
        if len(batch.capture.deliveries):
            self._copies(batch)
            self._deliveries(batch)

    # Errors

    def _errors(self, batch: Batch) -> None:
        denied: dict[int, str] = {}
        failed: dict[int, str] = {}
        for row in batch.rows("system/error").tolist():
            sender = batch.string("sender", row)
            if sender and sender not in GATEWAY_IDS:
                continue
            payload = batch.capture.told(row).payload
            error, message = str(payload.get("error") or "an error")[:60], payload.get("message")
            if error in ("capability_violation", "capability_denied", "forbidden"):
                to = ", ".join(batch.capture.to(row)) or "A participant"
                denied[row] = f"{to} may not send {payload.get('attempted_kind') or 'it'}."
            else:
                failed[row] = f"{error}: {message[:90]}" if isinstance(message, str) and message else error
        for check, rows in ((DENIED, denied), (FAILED, failed)):
            batch.findings.add(check, list(rows), details=list(rows.values()))
        for row in batch.flagged(Flag.LOG_ONLY.value).tolist():
            if b'"denied"' in batch.capture.record_bytes(row):
                self._verdict(batch, row)
        flags = batch.capture.columns["flags"]
        rejected = [*batch.changed[flags[batch.changed] & Flag.REJECTED.value != 0].tolist()]
        rejected += batch.flagged(Flag.REJECTED.value).tolist()
        rows = np.array(rejected, np.int64)
        rows = rows[~batch.findings.has(DENIED, rows)]
        names = [f"{batch.string('sender', row) or 'A participant'} may not send this." for row in rows.tolist()]
        batch.findings.add(DENIED, rows, details=names)

    def _verdict(self, batch: Batch, row: int) -> None:
        payload = batch.capture.payload(row)
        if payload.get("result") == "denied":
            who, kind = payload.get("participant") or "A participant", payload.get("required_capability") or "it"
            batch.findings.add(DENIED, [row], details=f"{who} may not send {kind}.")

    # Copies

    def _copies(self, batch: Batch) -> None:
        flags = batch.capture.columns["flags"]
        changed = batch.changed[flags[batch.changed] & Flag.COPIES_DIFFER.value != 0]
        for row in [*changed.tolist(), *batch.flagged(Flag.COPIES_DIFFER.value).tolist()]:
            key = (int(batch.capture.columns["sender"][row]), int(batch.capture.columns["kind"][row]))
            known = self._compared.setdefault(key, set())
            if row not in known:
                if len(known) >= _MOST_COMPARED:
                    continue
                known.add(row)
            keys = differing_keys(batch.capture, row)
            one = np.array([row], np.int64)
            batch.findings.settle(ALTERED, one, np.array(["context" in keys]))
            others = ", ".join(key for key in keys if key != "context")
            batch.findings.settle(COPIES, one, np.array([bool(others)]), details=[others] if others else [])

    # Deliveries

    def _deliveries(self, batch: Batch) -> None:
        messages = batch.capture.deliveries["message"][self._counted :]
        self._counted += len(messages)
        if len(messages):
            low = int(messages.min())
            added = np.bincount(messages - low)
            counts = self._counts["copies"][low : low + len(added)].astype(np.int64) + added
            self._counts.put("copies", slice(low, low + len(added)), np.minimum(counts, 65_535))
        new = np.arange(self._listed, batch.stop)  # from the first message on, once there are deliveries
        self._listed = batch.stop
        new = new[self._are_broadcasts(batch, new)]
        again = batch.changed[self._are_broadcasts(batch, batch.changed)] if len(batch.changed) else batch.changed
        spaces = batch.capture.columns["space"]
        for space in np.unique(np.concatenate((spaces[new], spaces[again]))).tolist():
            known = self._broadcasts.setdefault(space, GrowingColumns({"row": np.uint32}))
            own, first = new[spaces[new] == space], max(0, len(known) - 1)
            known.append({"row": own}, len(own))
            places = np.arange(first, len(known))
            touched = np.searchsorted(known["row"], again[spaces[again] == space])
            if len(touched):
                places = np.unique(np.concatenate((places, touched, touched - 1, touched + 1)))
            self._judge(batch, known["row"].astype(np.int64), places[(places > 0) & (places < len(known) - 1)])

    def _are_broadcasts(self, batch: Batch, rows: Rows) -> np.ndarray:
        kinds = batch.of("kind", rows)
        for kind, _ in self._system.unseen(kinds):
            self._system.put(kind, 2 if batch.capture.strings[kind].startswith("system/") else 1)
        return (
            (batch.of("to_set", rows) == 0) & (batch.of("flags", rows) & _NO_BROADCAST == 0)
            & (self._system.of(kinds) != 2)
        )  # fmt: skip

    def _judge(self, batch: Batch, rows: Rows, places: Rows) -> None:
        """Compare broadcasts with the one before and the one after each."""
        copies, flags = self._counts["copies"], batch.capture.columns["flags"]
        before, own, after = (rows[places + step] for step in (-1, 0, 1))
        candidates = (copies[own] < copies[before]) & (copies[own] < copies[after])
        candidates &= (flags[before] | flags[own] | flags[after]) & Flag.REJECTED.value == 0  # known of any only later
        missing = [
            self._missing(batch, *(int(rows[place + step]) for step in (-1, 0, 1))) if candidate else ""
            for place, candidate in zip(places.tolist(), candidates.tolist(), strict=True)
        ]
        wrong = np.array([bool(names) for names in missing], np.bool_)
        batch.findings.settle(UNDELIVERED, rows[places], wrong, details=[names for names in missing if names])

    def _missing(self, batch: Batch, before: int, row: int, after: int) -> str:
        """Who got the broadcasts around this one and not this one; "" when nobody, or somebody came or left."""
        capture = batch.capture
        names = set(capture.recipients(before)) & set(capture.recipients(after)) - set(capture.recipients(row))
        names.discard(batch.string("sender", row))  # gateways of v0.3 left the sender out
        low, high = np.searchsorted(self._presence, [before, after])
        for presence in self._presence[low:high]:
            who = capture.told(presence).payload.get("participant")
            names.discard(who.get("id", "") if isinstance(who, dict) else "")
        return ", ".join(sorted(names))
