"""What somebody sent and, by what was announced of it, may not send (docs/protocols.md 12).

A prediction, for captures in which the gateway's own verdicts are not told: beside a log with verdicts it is silent.
Revocations do not count, as nothing confirms them, nor does an empty set, as every participant may at least answer.
What the gateway refused is a finding of another check: of it the verdict is known.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.capabilities import Change
from inspector.analysis.changes import Rows
from inspector.analysis.findings.batch import Batch, Marks
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.waiting import GivenUp
from inspector.capture.flags import Flag
from inspector.protocol import kinds
from inspector.protocol.capabilities import covers_by_kind, first_covering, looks_deep
from inspector.protocol.secrets.masking import masked_words
from inspector.protocol.text import compact

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


class _Asked(NamedTuple):
    """A message that is judged."""

    row: int
    unsure: bool
    """A grant is open that may be its sender's (`UnplacedGrants`)."""
    call: _Call


_ROW = itemgetter(0)


class _Sender:
    """What was announced of a sender, and granted since, as far as its messages were looked at.

    Attributes:
        changes: how many changes of what it may do are taken in.
        held: the capabilities, each once; empty for unknown ones.
        deep: more than kind, method and name decides.
        judged: of each call, how often it was judged since the latest change.
        told: calls that were found wanting.
    """

    __slots__ = ("_known", "changes", "deep", "found", "held", "judged")

    def __init__(self) -> None:
        self.changes = 0
        self.held: list[Any] = []
        self._known: set[str] = set()
        self.deep = False
        self.judged: dict[_Call, int] = {}
        self.found: set[_Call] = set()

    def take(self, change: Change) -> None:
        """Take in the next change."""
        self.changes += 1
        self.judged.clear()
        if change.what == "announced":
            self.held, self.deep = [], False
            self._known.clear()
        elif change.what != "granted" or not self.held:
            return
        for one in change.capabilities:
            written = compact(one)
            if written not in self._known:
                self._known.add(written)
                self.held.append(one)
                self.deep = self.deep or looks_deep(one)


class Announced:
    """Judges each call of each sender once, and again when its capabilities change."""

    def __init__(self) -> None:
        self._kinds = Marks()  # of each kind: 2 for those that are judged
        self._senders: dict[tuple[int, int], _Sender] = {}  # by space and sender
        self._judged = 0  # calls
        self._of_finding: dict[int, tuple[_Sender, _Call]] = {}  # by the message of the finding
        self._wanting: dict[int, str] = {}  # messages of the batch that nothing covers, and what they call
        self._unplaced = UnplacedGrants()
        self._silent = False

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch."""
        self._unplaced.follow(batch)
        if batch.decisions is not None and not self._silent:
            self._silent = True
            batch.findings.withdraw(BEYOND, np.array(sorted(self._of_finding), np.int64))
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
        asked = self._asked(batch, rows[order])
        found, first = np.unique(pairs[order], return_index=True)
        for pair, start, stop in zip(found.tolist(), first.tolist(), [*first[1:].tolist(), len(rows)], strict=True):
            space, sender = pair >> 32, pair & 0xFFFFFFFF
            if sender:
                self._of_sender(batch, space, sender, asked[start:stop])
        wanting, self._wanting = self._wanting, {}
        batch.findings.add(BEYOND, [*wanting], details=[*wanting.values()])

    def _asked(self, batch: Batch, rows: Rows) -> list[_Asked]:
        """What some messages call: in a crowd each of a batch may be another sender's, so arrays are asked once."""
        spaces, unplaced = batch.of("space", rows), np.zeros(len(rows), np.bool_)
        for space in np.unique(spaces).tolist():
            own = np.flatnonzero(spaces == space)
            unplaced[own] = self._unplaced.lie_open(space, rows[own])
        called = (batch.of("kind_raw", rows), *(batch.links[name][rows] for name in ("method", "target")))
        calls = zip(*(of.tolist() for of in called), strict=True)
        return [*map(_Asked, rows.tolist(), unplaced.tolist(), calls)]

    def _withdraw_refused(self, batch: Batch) -> None:
        """The gateway's error comes after the message that it refuses."""
        if not self._of_finding:
            return
        changed = batch.changed[_are_refused(batch, batch.changed)]
        for row in changed[batch.findings.has(BEYOND, changed)].tolist():
            batch.findings.withdraw(BEYOND, np.array([row]))
            sender, call = self._of_finding.pop(row)
            sender.found.discard(call)
            sender.judged.pop(call, None)  # another one like it may get through

    def _of_sender(self, batch: Batch, space: int, sender: int, asked: list[_Asked]) -> None:
        changes = batch.passes.capabilities.changes.get((space, batch.capture.strings[sender]), ())
        if not changes or len(changes) > _MOST_CHANGES:
            return
        known = self._senders.setdefault((space, sender), _Sender())
        place = 0
        while place < len(asked):
            while known.changes < len(changes) and changes[known.changes].row < asked[place].row:
                known.take(changes[known.changes])
            last = known.changes == len(changes)
            stop = len(asked) if last else bisect_right(asked, changes[known.changes].row, place, key=_ROW)
            if known.held:
                self._judge(batch, known, asked[place:stop])
            place = stop

    def _judge(self, batch: Batch, sender: _Sender, asked: list[_Asked]) -> None:
        most = _MOST_JUDGED if sender.deep else 1
        for row, unsure, call in asked:
            times = sender.judged.get(call, 0)
            if times >= most or call in sender.found or self._judged > _MOST_KNOWN:
                continue
            if call not in sender.judged:
                self._judged += 1
            if unsure or batch.capture.true_sender(row) is not None:
                sender.judged[call] = times  # nothing can be said of this one
                continue
            sender.judged[call] = times + 1
            if _is_covered(batch, sender.held, row) is False:
                sender.found.add(call)
                self._of_finding[row] = sender, call
                words = " ".join(batch.capture.strings[code] for code in call if code)
                self._wanting[row] = masked_words(words, _LONGEST)


def _are_refused(batch: Batch, rows: Rows) -> np.ndarray:
    return np.asarray(batch.links["given_up"][rows] == GivenUp.REFUSED.value)


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
    return first_covering(held, batch.passes.capabilities.asked_by(held, row, kind))[0]
