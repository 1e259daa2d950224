"""What somebody sent and, by what was announced of it, may not send (docs/protocols.md 12).

A prediction, for captures in which the gateway's own verdicts are not told: beside a log with verdicts it is silent.
Revocations do not count, as nothing confirms them, nor does an empty set, as every participant may at least answer.
What the gateway refused is a finding of another check: of it the verdict is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.changes import Rows
from inspector.analysis.findings.batch import Batch, Marks
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.waiting import GivenUp
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

_NOBODY: dict[str, int] = {}

_Call = tuple[int, int, int]
"""String ids of kind as sent, method and target."""


class Announced:
    """Judges each call of each sender once, and again when its capabilities change."""

    def __init__(self) -> None:
        self._kinds = Marks()  # of each kind: 2 for those that are judged
        self._judged: dict[tuple[int, int, int, _Call], int] = {}  # by space, sender and number of changes: how often
        self._told: dict[tuple[int, int, _Call], int] = {}
        self._unplaced = UnplacedGrants()
        self._silent = False

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch."""
        self._unplaced.follow(batch)
        if batch.decisions is not None and not self._silent:
            self._silent = True
            batch.findings.withdraw(BEYOND, np.array(sorted(self._told.values()), np.int64))
        if self._silent or not batch.passes.capabilities.changes:
            return
        self._withdraw_refused(batch)
        flags, codes = batch.new("flags"), batch.new("kind")
        for code, _ in self._kinds.unseen(codes):
            kind = batch.capture.strings[code]
            free = not kind or kind in _FREE or kind.startswith(("system/", "msp/"))
            self._kinds.put(code, 1 if free else 2)
        rows = np.flatnonzero((flags & _NOT_JUDGED == 0) & (self._kinds.of(codes) == 2)) + batch.start
        rows = rows[~_are_refused(batch, rows)]
        if not len(rows):
            return
        pairs = batch.of("space", rows).astype(np.int64) << 32 | batch.of("sender", rows)
        order = np.argsort(pairs, kind="stable")
        found, first = np.unique(pairs[order], return_index=True)
        for pair, own in zip(found.tolist(), np.split(rows[order], first[1:]), strict=True):
            space, sender = pair >> 32, pair & 0xFFFFFFFF
            if sender:
                self._of_sender(batch, space, sender, own)

    def _withdraw_refused(self, batch: Batch) -> None:
        """The gateway's error comes after the message that it refuses."""
        changed = batch.changed[_are_refused(batch, batch.changed)].tolist() if self._told else []
        refused = set(changed).intersection(self._told.values())
        for told in [key for key, row in self._told.items() if row in refused]:
            batch.findings.withdraw(BEYOND, np.array([self._told.pop(told)]))
            for key in [key for key in self._judged if (*key[:2], key[3]) == told]:
                del self._judged[key]  # another one like it may get through

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
        unplaced = self._unplaced.lie_open(whose[0], rows)
        columns = (unplaced, batch.of("kind_raw", rows), *(batch.links[name][rows] for name in ("method", "target")))
        for row, unsure, *call in zip(rows.tolist(), *(column.tolist() for column in columns), strict=True):
            key = (*whose, (call[0], call[1], call[2]))
            times = self._judged.get(key, 0)
            told = (*whose[:2], key[3])
            if times >= (_MOST_JUDGED if deep else 1) or told in self._told or len(self._judged) > _MOST_KNOWN:
                continue
            self._judged[key] = times + 1
            if unsure or batch.capture.true_sender(row) is not None:
                self._judged[key] = times  # nothing can be said of this one
            elif _is_covered(batch, held, row) is False:
                self._told[told] = row
                words = " ".join(batch.capture.strings[code] for code in call if code)
                batch.findings.add(BEYOND, [row], details=masked_words(words, _LONGEST))


def _are_refused(batch: Batch, rows: Rows) -> np.ndarray:
    return np.asarray(batch.links["given_up"][rows] == GivenUp.REFUSED.value)


def _held_after(batch: Batch, space: int, name: str, count: int) -> list[Any]:
    """The capabilities announced last among the first changes, and those granted since; empty for unknown ones."""
    held: list[Any] = []
    for change in batch.passes.capabilities.changes[space, name][:count]:
        if change.what == "announced":
            held = [*change.capabilities]
        elif change.what == "granted" and held:
            held += change.capabilities
    return held


class UnplacedGrants:
    """Between which messages a grant is for a name nobody goes by: released gateways know a client by two names.

    Followed change by change, whatever the number of those who hold something.
    """

    def __init__(self) -> None:
        self._open: dict[int, dict[str, int]] = {}  # by space and name: the grant, the earliest first
        self._spans: dict[int, list[tuple[int, int]]] = {}  # of the batch, by space: those that were closed
        self._arrays: dict[int, tuple[Rows, Rows]] = {}  # the same, with the earliest that is open
        self._stop = 0

    def follow(self, batch: Batch) -> None:
        """Take in what was announced and granted up to the end of a batch. O(changes in it)."""
        capabilities = batch.passes.capabilities
        self._spans, self._arrays, self._stop = {}, {}, batch.stop
        for (space, name), change in capabilities.take_new():
            unplaced = self._open.setdefault(space, {})
            if change.what == "granted" and capabilities.changes[space, name][0] is change:
                unplaced[name] = change.row
            elif change.what == "announced" and name in unplaced:
                self._spans.setdefault(space, []).append((unplaced.pop(name), change.row))

    def lie_open(self, space: int, rows: Rows) -> NDArray[np.bool_]:
        """(rows,) bool, whether there was such a grant when each of some messages of the batch came."""
        if space not in self._arrays:
            still = islice(self._open.get(space, _NOBODY).values(), 1)
            spans = sorted([*self._spans.get(space, ()), *((row, self._stop) for row in still)])
            firsts, lasts = np.array(spans, np.int64).reshape(-1, 2).T
            self._arrays[space] = firsts, np.maximum.accumulate(lasts)
        firsts, lasts = self._arrays[space]
        if not len(firsts):
            return np.zeros(len(rows), np.bool_)
        before = np.searchsorted(firsts, rows, "left") - 1
        return (before >= 0) & (lasts[before] > rows)


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
