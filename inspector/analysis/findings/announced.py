"""Finds messages that no announced capability of their sender covers (docs/protocols.md 12).

This is a prediction for captures without the gateway's verdicts; with verdicts it reports nothing. Revocations are
ignored, as they are never confirmed. So is an empty set, as every participant may at least answer. `capability-denied`
reports messages that the gateway refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings.batch import Batch, StringNumbers
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.passes.calls.open_waits import GivenUp
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.participants.capabilities import CapabilityChange
from inspector.protocol import kinds
from inspector.protocol.capabilities import covers_by_kind, depends_on_more, first_covering
from inspector.protocol.message_text import compact_json
from inspector.protocol.secrets.masking import masked_value_text
from inspector.store.columns.flags import Flag
from inspector.store.columns.intern_table import InternTable

BEYOND = Check(
    "beyond-capabilities", WARNING, "Sent without an announced capability",
    "{who} sent {detail}, but none of its announced or granted capabilities covers it.",
    "The gateway forwards a message that it should refuse, or it has not announced all capabilities.",
    "Check the participant's capabilities in the gateway, and open the gateway's log of decisions.",
    "MEW v0.4, capability patterns; judged by the specification, not by the gateway",
    example="mcp/request tools/call delete_file",
)  # fmt: skip
CHECKS = (BEYOND,)

_NOT_JUDGED = (
    Flag.UNREADABLE | Flag.GAP | Flag.FRAME | Flag.JOIN | Flag.RPC | Flag.LOG_ONLY | Flag.REJECTED | Flag.SENT
).value  # fmt: skip
_ALWAYS_ALLOWED_KINDS = (kinds.RESPONSE, "capability/grant-ack", kinds.CONTEXT_OPERATION)
"""Kinds allowed for every participant. `kinds_and_lines` checks system/*."""
_MAX_CHANGES = 1_000
_MAX_JUDGED = 5_000
"""Messages judged one by one per sender and call, if more than method and name matters."""
_MAX_VERDICTS = 100_000
_MAX_CALL_CHARS = 80

_NO_GRANTS: dict[str, int] = {}

_Call = tuple[int, int, int]
"""String ids of kind as sent, method and target."""

_LOW_32_BITS = 0xFFFFFFFF


class _CapabilitySet:
    """A set of capabilities, shared by all participants that hold exactly these.

    Attributes:
        held: as written, text or objects.
        written: the same as compact JSON.
        deep: True if more than kind, method and name matters.
        verdicts: by call number, True if covered, None if unknown; only if the call alone determines it.
    """

    __slots__ = ("deep", "held", "verdicts", "written")

    def __init__(self, held: tuple[Any, ...], written: tuple[str, ...]) -> None:
        self.held, self.written = held, written
        self.deep = any(map(depends_on_more, held))
        self.verdicts: dict[int, bool | None] = {}


class _CapabilitySets:
    """All sets of capabilities held so far, by number; 0 is the empty or unknown set."""

    def __init__(self) -> None:
        self._sets = [_CapabilitySet((), ())]
        self._numbers: dict[tuple[str, ...], int] = {(): 0}
        self._after: dict[tuple[int, int], tuple[tuple[Any, ...], int]] = {}  # by number, and id of a tuple

    def __getitem__(self, number: int) -> _CapabilitySet:
        return self._sets[number]

    def after(self, number: int, change: CapabilityChange) -> int:
        """Returns the number of the set after a change."""
        if change.what == "announced":
            number = 0
        elif change.what != "granted" or not number:
            return number
        # By identity, as capabilities may be objects, which cannot be hashed.
        key = number, id(change.capabilities)
        known = self._after.get(key)
        # The kept tuple keeps its id from being given to another one.
        if known is None:
            known = self._after[key] = change.capabilities, self._number_with_added(number, change.capabilities)
        return known[1]

    def _number_with_added(self, number: int, added: tuple[Any, ...]) -> int:
        before = self._sets[number]
        held = dict(zip(before.written, before.held, strict=True))
        for one in added:
            held.setdefault(compact_json(one), one)
        written = tuple(held)
        if written not in self._numbers:
            self._numbers[written] = len(self._sets)
            self._sets.append(_CapabilitySet(tuple(held.values()), written))
        return self._numbers[written]


class AnnouncedCapabilities:
    """Judges each message by its sender's capabilities at that time.

    Senders with the same set get the same verdicts, so verdicts are cached by set and call.
    """

    def __init__(self) -> None:
        self._kinds = StringNumbers()  # by kind: 2 if it is judged
        self._sets = _CapabilitySets()
        self._calls: InternTable[_Call] = InternTable((0, 0, 0))
        self._set_by_sender: dict[
            int, int
        ] = {}  # by space and sender: number of changes taken in << 32 | number of the set
        self._verdict_count = 0  # cached verdicts
        # by sender and call: change count at the time, and messages judged since
        self._judged_by_payload: dict[tuple[int, int], tuple[int, int]] = {}
        # for calls with a relevant payload
        self._uncovered: dict[int, str] = {}  # uncovered messages of the batch, and their calls
        self._unplaced_grants = UnplacedGrants()
        self._silent = False

    def feed(self, batch: Batch) -> None:
        self._unplaced_grants.follow(batch)
        if batch.decisions is not None and not self._silent:
            self._silent = True
            batch.findings.withdraw(BEYOND, np.sort(batch.findings.rows_of(BEYOND)))
        # With the gateway's own verdicts a prediction would only contradict them.
        if self._silent or not batch.passes.capabilities.changes:
            return
        self._withdraw_refused(batch)
        flags, codes = batch.new("flags"), batch.new("kind")
        for code, _ in self._kinds.unnumbered_ids(codes):
            kind = batch.capture.strings[code]
            free = not kind or kind in _ALWAYS_ALLOWED_KINDS or kind.startswith(("system/", "msp/"))
            self._kinds.set_number(code, 1 if free else 2)
        rows = np.flatnonzero((flags & _NOT_JUDGED == 0) & (self._kinds.numbers_of(codes) == 2)) + batch.start
        rows = rows[~_are_refused(batch, rows)]
        if not len(rows):
            return
        pairs = _sender_keys(batch, rows)
        order = np.argsort(pairs, kind="stable")
        pairs, rows = pairs[order], rows[order]
        asked = [
            *zip(
                rows.tolist(),
                self._have_unplaced_grants(batch, rows).tolist(),
                self._calls_of(batch, rows),
                strict=True,
            )
        ]
        starts = np.flatnonzero(np.diff(pairs, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
            sender = int(pairs[start])
            if sender & _LOW_32_BITS:
                self._judge_sender(batch, sender, asked[start:stop])
        wanting, self._uncovered = self._uncovered, {}
        batch.findings.add(BEYOND, [*wanting], details=[*wanting.values()])

    def _calls_of(self, batch: Batch, rows: Rows) -> list[int]:
        """Returns the call number of each message."""
        called = (batch.column_values("kind_raw", rows), *(batch.links[name][rows] for name in ("method", "target")))
        return self._calls.intern_all(zip(*(of.tolist() for of in called), strict=True), len(rows)).tolist()

    def _have_unplaced_grants(self, batch: Batch, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for messages at a time when an unplaced grant may be their sender's (`UnplacedGrants`)."""
        spaces, unplaced = batch.column_values("space", rows), np.zeros(len(rows), np.bool_)
        for space in np.unique(spaces).tolist():
            own = np.flatnonzero(spaces == space)
            unplaced[own] = self._unplaced_grants.are_open_at(space, rows[own])
        return unplaced

    def _withdraw_refused(self, batch: Batch) -> None:
        """Withdraws findings about refused messages; the gateway's error comes after them."""
        if not len(batch.findings.rows_of(BEYOND)):
            return
        changed = batch.changed[_are_refused(batch, batch.changed)]
        batch.findings.withdraw(BEYOND, changed[batch.findings.has(BEYOND, changed)])

    def _judge_sender(self, batch: Batch, sender: int, asked: list[tuple[int, bool, int]]) -> None:
        changes, whose = batch.passes.capabilities.changes, (sender >> 32, sender & _LOW_32_BITS)
        # Each change may make another set, of which all verdicts are made anew.
        if not 0 < changes.count(*whose) <= _MAX_CHANGES:
            return
        before = self._set_by_sender.get(sender, 0)
        taken, held = before >> 32, before & _LOW_32_BITS
        new = deque(changes.since(*whose, taken))
        for row, unsure, call in asked:
            while new and new[0].row < row:
                held = self._sets.after(held, new.popleft())
                taken += 1
            if held and self._is_uncovered(batch, held, (sender, call), taken, row, unsure=unsure):
                words = _call_words(*(batch.capture.strings[code] if code else "" for code in self._calls[call]))
                self._uncovered[row] = masked_value_text(words, _MAX_CALL_CHARS)
        self._set_by_sender[sender] = taken << 32 | held

    def _is_uncovered(
        self, batch: Batch, held: int, whose: tuple[int, int], taken: int, row: int, *, unsure: bool
    ) -> bool:
        """Returns True if no capability of a set covers a message."""
        known, call = self._sets[held], whose[1]
        if known.verdicts.get(call, False) is not False:
            return False
        if unsure or batch.capture.logged_sender(row) is not None:
            return False  # the sender is in doubt, so is its set
        # Calls hold names from the wire, so the cache needs a bound.
        if call not in known.verdicts and self._verdict_count <= _MAX_VERDICTS:
            kind = _kind_of(batch, row)
            verdict = covers_by_kind(known.held, kind)
            is_told = (
                not known.deep
                and not batch.capture.records.is_big(row)
                and batch.passes.capabilities.is_in_columns(row, kind)
            )
            if verdict is not None or is_told:
                self._verdict_count += 1
                known.verdicts[call] = _is_covered(batch, known.held, row) if verdict is None else verdict
            else:
                return self._is_payload_uncovered(batch, known, whose, taken, row)
        return known.verdicts.get(call) is False

    def _is_payload_uncovered(
        self, batch: Batch, known: _CapabilitySet, whose: tuple[int, int], taken: int, row: int
    ) -> bool:
        """Judges one message by its payload; another message of the same call may get another verdict."""
        since, times = self._judged_by_payload.get(whose, (taken, 0))
        times = times if since == taken else 0
        if times >= _MAX_JUDGED:
            return False
        self._verdict_count += not times
        self._judged_by_payload[whose] = taken, times + 1
        return _is_covered(batch, known.held, row) is False


def _call_words(kind: str, method: str, target: str) -> str:
    """Returns kind, method and target; older kinds contain both after colons, as `mcp/request:tools/call:read_file`."""
    named = kind.split(":")[1:]
    return " ".join([kind, *(word for word in (method, target) if word and word not in named)])


def _kind_of(batch: Batch, row: int) -> str:
    """Returns the kind to compare with capabilities: as written, or canonical for v0.0 and drafts without slashes."""
    kind = batch.string("kind_raw", row)
    return kind if "/" in kind else batch.string("kind", row)


def _sender_keys(batch: Batch, rows: Rows) -> NDArray[np.int64]:
    """(n,) space << 32 | sender of each message."""
    return batch.column_values("space", rows).astype(np.int64) << 32 | batch.column_values("sender", rows)


def _are_refused(batch: Batch, rows: Rows) -> np.ndarray:
    return np.asarray(batch.links["given_up"][rows] == GivenUp.REFUSED.value)


class UnplacedGrants:
    """Tracks grants to names that no participant has: released gateways know a client by two names.

    Updated change by change; the cost does not depend on the number of participants.
    """

    def __init__(self) -> None:
        self._open: dict[int, dict[str, int]] = {}  # by space and name: the grant, earliest first
        self._spans: dict[int, list[tuple[int, int]]] = {}  # by space: spans closed in this batch
        self._arrays: dict[int, tuple[Rows, Rows]] = {}  # the same as arrays, with the earliest open one
        self._stop = 0

    def follow(self, batch: Batch) -> None:
        """Takes in announcements and grants up to the end of a batch. O(changes in it)."""
        self._spans, self._arrays, self._stop = {}, {}, batch.stop
        for space, name, change, is_first in batch.passes.capabilities.take_new():
            unplaced = self._open.setdefault(space, {})
            if change.what == "granted" and is_first:
                unplaced[name] = change.row
            elif change.what == "announced" and name in unplaced:
                self._spans.setdefault(space, []).append((unplaced.pop(name), change.row))

    def are_open_at(self, space: int, rows: Rows) -> NDArray[np.bool_]:
        """(rows,) bool: True if such a grant was open when the message came."""
        if space not in self._arrays:
            still = islice(self._open.get(space, _NO_GRANTS).values(), 1)
            spans = sorted([*self._spans.get(space, ()), *((row, self._stop) for row in still)])
            firsts, lasts = np.array(spans, np.int64).reshape(-1, 2).T
            self._arrays[space] = firsts, np.maximum.accumulate(lasts)
        firsts, lasts = self._arrays[space]
        if not len(firsts):
            return np.zeros(len(rows), np.bool_)
        before = np.searchsorted(firsts, rows, "left") - 1
        return (before >= 0) & (lasts[before] > rows)


def _is_covered(batch: Batch, held: Sequence[Any], row: int) -> bool | None:
    """Returns True if a capability covers the message, given that none covers its whole kind; None if it is too big."""
    if batch.capture.records.is_big(row):
        return None
    kind = _kind_of(batch, row)
    return first_covering(held, batch.passes.capabilities.asked_by(held, row, kind))[0]
