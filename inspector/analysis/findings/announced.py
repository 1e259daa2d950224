"""What somebody sent and, by what was announced of it, may not send (docs/protocols.md 12).

A prediction, for captures in which the gateway's own verdicts are not told: beside a log with verdicts it is silent.
Revocations do not count, as nothing confirms them, nor does an empty set, as every participant may at least answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.changes import Rows
from inspector.analysis.findings.batch import Batch, Marks
from inspector.analysis.findings.check import WARNING, Check
from inspector.capture.flags import Flag
from inspector.protocol import kinds
from inspector.protocol.capabilities import covers_by_kind, first_covering
from inspector.protocol.secrets.masking import masked_words

BEYOND = Check(
    "beyond-capabilities", WARNING, "Sent without a capability, by what was announced",
    "{who} sent {detail}; nothing that was announced of it, or granted to it, covers that.",
    "Either the gateway lets through what it should not, or it knows of capabilities that it never announced.",
    "Look at what the gateway holds for it, and at how it reads the patterns; open its log of decisions.",
    "MEW v0.4, capability patterns; judged as specified, not by the gateway",
    example="mcp/request tools/call delete_file",
)  # fmt: skip
CHECKS = (BEYOND,)

_NOT_JUDGED = (
    Flag.UNREADABLE | Flag.GAP | Flag.FRAME | Flag.JOIN | Flag.RPC | Flag.LOG_ONLY | Flag.REJECTED | Flag.SENT
).value  # fmt: skip
_FREE = (kinds.RESPONSE, "capability/grant-ack", kinds.CONTEXT_OPERATION)
"""What everybody may send, beside system/*, which has a check of its own."""
_MOST_CHANGES = 1_000
_MOST_JUDGED = 200
"""Messages of one sender and call that are judged one by one, where more than method and name decides."""
_MOST_KNOWN = 100_000
_LONGEST = 80

_Call = tuple[int, int, int]
"""String ids of kind as sent, method and target."""


class Announced:
    """Judges each call of each sender once, and again when its capabilities change."""

    def __init__(self) -> None:
        self._kinds = Marks()  # of each kind: 2 for those that are judged
        self._judged: dict[tuple[int, int, int, _Call], int] = {}  # by space, sender and number of changes: how often
        self._told: dict[tuple[int, int, _Call], int] = {}
        self._unplaced: dict[int, list[tuple[int, int]]] = {}  # of the batch's spaces: looked for once a batch
        self._silent = False

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch."""
        if batch.decisions is not None and not self._silent:
            self._silent = True
            batch.findings.withdraw(BEYOND, np.array(sorted(self._told.values()), np.int64))
        if self._silent or not batch.passes.capabilities.changes:
            return
        flags, codes = batch.new("flags"), batch.new("kind")
        for code, _ in self._kinds.unseen(codes):
            kind = batch.capture.strings[code]
            free = not kind or kind in _FREE or kind.startswith(("system/", "msp/"))
            self._kinds.put(code, 1 if free else 2)
        rows = np.flatnonzero((flags & _NOT_JUDGED == 0) & (self._kinds.of(codes) == 2)) + batch.start
        if not len(rows):
            return
        pairs = batch.of("space", rows).astype(np.int64) << 32 | batch.of("sender", rows)
        order = np.argsort(pairs, kind="stable")
        found, first = np.unique(pairs[order], return_index=True)
        self._unplaced = {space: _unplaced_grants(batch, space) for space in {pair >> 32 for pair in found.tolist()}}
        for pair, own in zip(found.tolist(), np.split(rows[order], first[1:]), strict=True):
            space, sender = pair >> 32, pair & 0xFFFFFFFF
            if sender:
                self._of_sender(batch, space, sender, own)

    def _of_sender(self, batch: Batch, space: int, sender: int, rows: Rows) -> None:
        name = batch.capture.strings[sender]
        changes = batch.passes.capabilities.changes.get((space, name), [])
        if not changes or len(changes) > _MOST_CHANGES:
            return
        held_since = np.searchsorted([change.row for change in changes], rows, "left")
        for count in np.unique(held_since).tolist():
            held = _held_after(batch, space, name, count)
            if held:
                self._judge(batch, (space, sender, count), held, rows[held_since == count])

    def _judge(self, batch: Batch, whose: tuple[int, int, int], held: list[Any], rows: Rows) -> None:
        deep = any(_looks_deep(one) for one in held)
        unplaced = self._unplaced[whose[0]]
        columns = (batch.of("kind_raw", rows), *(batch.links[name][rows] for name in ("method", "target")))
        for row, *call in zip(rows.tolist(), *(column.tolist() for column in columns), strict=True):
            key = (*whose, (call[0], call[1], call[2]))
            times = self._judged.get(key, 0)
            told = (*whose[:2], key[3])
            if times >= (_MOST_JUDGED if deep else 1) or told in self._told or len(self._judged) > _MOST_KNOWN:
                continue
            self._judged[key] = times + 1
            if any(first < row < last for first, last in unplaced) or batch.capture.true_sender(row) is not None:
                self._judged[key] = times  # nothing can be said of this one
            elif _is_covered(batch, held, row) is False:
                self._told[told] = row
                words = " ".join(batch.capture.strings[code] for code in call if code)
                batch.findings.add(BEYOND, [row], details=masked_words(words, _LONGEST))


def _held_after(batch: Batch, space: int, name: str, count: int) -> list[Any]:
    """The capabilities announced last among the first changes, and those granted since; empty for unknown ones."""
    held: list[Any] = []
    for change in batch.passes.capabilities.changes[space, name][:count]:
        if change.what == "announced":
            held = [*change.capabilities]
        elif change.what == "granted" and held:
            held += change.capabilities
    return held


def _unplaced_grants(batch: Batch, space: int) -> list[tuple[int, int]]:
    """Between which messages a grant is for a name nobody goes by: released gateways know a client by two names."""
    found: list[tuple[int, int]] = []
    for (where, _), changes in batch.passes.capabilities.changes.items():
        if where == space and changes[0].what == "granted":
            announced = next((change.row for change in changes if change.what == "announced"), batch.stop)
            found.append((changes[0].row, announced))
    return found


def _is_covered(batch: Batch, held: list[Any], row: int) -> bool | None:
    kind = batch.string("kind_raw", row)
    by_kind = covers_by_kind(held, kind)
    if by_kind is not None or batch.capture.is_big(row):
        return by_kind
    return first_covering(held, batch.passes.capabilities.asked(row, kind))[0]


def _looks_deep(capability: object) -> bool:
    """Whether more than kind, method and name decides."""
    if not isinstance(capability, Mapping):
        return False
    payload = capability.get("payload", {})
    if not {"to", "context"}.isdisjoint(capability) or not isinstance(payload, Mapping):
        return True
    if payload.keys() - {"method", "params"}:
        return True
    params = payload.get("params", {})
    return not isinstance(params, Mapping) or bool(params.keys() - {"name"})
