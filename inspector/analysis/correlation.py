"""Which message answers, fulfils, rejects or withdraws which (protocols.md 3 and 5).

A correlation id means the latest earlier message with that id that fits; where there is none yet, the first
later one, so that captures merged out of order mend themselves.
"""

from __future__ import annotations

import enum

import numpy as np

from inspector.analysis.changes import ChangedRows, Rows
from inspector.capture.capture import Capture
from inspector.capture.columns import GrowingColumns
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_HASH, NO_ROW, hash_text
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME

_NEEDS_TARGET = ("tools/call", "prompts/get", "resources/read", "completion/complete")
_SCANNED = 64  # how many open requests with one JSON-RPC id are looked through


class ToolRule(enum.IntEnum):
    """How a response's method and target were found; protocols.md 3 numbers them so."""

    NONE = 0
    KIND = 1
    PAYLOAD = 2
    CORRELATION = 3
    RPC_ID = 4
    UNKNOWN = 5


class ProposalState(enum.IntEnum):
    """What became of a proposal. Ordered: a later state hides an earlier one, whatever the order of arrival."""

    NONE = 0
    OPEN = 1
    REJECTED = 2
    WITHDRAWN = 3
    FULFILLED = 4
    ANSWERED = 5


class CorrelationPass:
    """Links between messages.

    Attributes:
        columns: per message
            `cause` int32: what it names by correlation (or by JSON-RPC id); NO_ROW.
            `answer` int32: for a request, its first response; for a proposal, its first fulfilment; NO_ROW.
            `method`, `target` uint32: string ids, resolved for responses.
            `call` uint32: place in `calls` of its `kind[:method[:target]]`.
            `rule` uint8: ToolRule.
            `proposal_state` uint8: ProposalState.
        calls: each distinct `kind[:method[:target]]`, what `kind like` matches; entry 0 is no call.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.columns = GrowingColumns(
            {"cause": np.int32, "answer": np.int32, "method": np.uint32, "target": np.uint32,
             "call": np.uint32, "rule": np.uint8, "proposal_state": np.uint8}
        )  # fmt: skip
        self.calls: list[str] = [""]
        self._call_ids: dict[tuple[int, int, int], int] = {}
        self._further: dict[int, list[int]] = {}  # effects of messages that were named second or later
        self._waiting: dict[int, list[int]] = {}
        self._open_calls: dict[tuple[int, int], list[int]] = {}
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Messages whose links, tool or state changed."""
        return self._changed.take()

    def feed(self, start: int, stop: int) -> None:
        """Link messages `start` to `stop`, and earlier ones that waited for them."""
        source = self._capture.columns
        self.columns.extend(stop - start, {"cause": NO_ROW, "answer": NO_ROW, "rule": 0, "proposal_state": 0})
        for name in ("method", "target"):
            self.columns[name][start:] = source[name][start:stop]
        kind = source["kind"][start:stop]
        own = zip(kind.tolist(), *(self.columns[n][start:].tolist() for n in ("method", "target")), strict=True)
        self.columns["call"][start:] = np.fromiter(map(self._call_id, own), np.uint32, stop - start)
        code = {name: self._capture.strings.find(name) or -1 for name in _ACTORS}
        self.columns["proposal_state"][start:][kind == code[kinds.PROPOSAL]] = ProposalState.OPEN
        flags = source["flags"][start:stop]
        hashes = source["correlation_hash"][start:stop]
        before = np.arange(start, stop, dtype=np.int64)
        named = np.full(stop - start, NO_ROW, np.int64)
        correlated = np.flatnonzero(flags & Flag.CORRELATED)
        if len(correlated):
            named[correlated] = self._capture.ids.latest(hashes[correlated], before[correlated])
        by_id = np.isin(kind, [code[kinds.REQUEST], code[kinds.RESPONSE]]) & (source["rpc_hash"][start:stop] != NO_HASH)
        by_id |= kind == code[kinds.RESPONSE]
        awaited = np.zeros(stop - start, bool)
        matters = (flags & Flag.CORRELATED).astype(bool) | by_id
        if self._waiting or len(correlated):
            named_here = [hashes[correlated]]
            named_here.extend(
                np.array(self._correlation_hashes(start + place, int(flags[place])), np.uint64)
                for place in np.flatnonzero(flags & Flag.MANY_CORRELATIONS).tolist()
            )
            awaited = self._awaited(source["id_hash"][start:stop], np.concatenate(named_here))
        for place in np.flatnonzero(matters | awaited).tolist():
            self._link(start + place, int(named[place]))

    def _awaited(self, ids: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Messages of the batch whose id an earlier message of this or a former batch may wait for."""
        wanted = np.fromiter(self._waiting, np.uint64, len(self._waiting))
        return np.isin(ids, np.concatenate((wanted, new))) & (ids != NO_HASH)

    def _link(self, row: int, named: int) -> None:
        capture = self._capture
        identifier = int(capture.columns["id_hash"][row])
        if identifier in self._waiting:
            self._settle_waiting(row, identifier)
        kind = capture.string("kind", row) or ""
        flags = int(capture.columns["flags"][row])
        if flags & Flag.CORRELATED:
            cause = self._named(row, kind, named, flags)
            if cause == NO_ROW:
                for value in self._correlation_hashes(row, flags):
                    self._waiting.setdefault(value, []).append(row)
            else:
                self._set_cause(row, cause, kind)
            if flags & Flag.MANY_CORRELATIONS:
                for further in self.causes(row):
                    if further != cause:
                        self._further.setdefault(further, []).append(row)
        elif kind == kinds.RESPONSE:
            cause = self._asked_by_id(row)
            if cause != NO_ROW:
                self._set_cause(row, cause, kind)
        if kind == kinds.REQUEST and capture.columns["rpc_hash"][row]:
            key = (int(capture.columns["rpc_hash"][row]), int(capture.columns["sender"][row]))
            self._open_calls.setdefault(key, []).append(row)
        if kind == kinds.RESPONSE:
            self._name_call(row)

    # Finding the cause

    def _correlation_hashes(self, row: int, flags: int) -> list[int]:
        if flags & Flag.MANY_CORRELATIONS:
            return [hash_text(i) for i in self._capture.correlation_ids(row)]
        return [int(self._capture.columns["correlation_hash"][row])]

    def _named(self, row: int, kind: str, named: int, flags: int) -> int:
        """The earlier message the row names: for each id, the latest of the kinds it may name."""
        wanted = _WANTED.get(kind)
        fits = named != NO_ROW and (wanted is None or self._capture.string("kind", named) == wanted[0])
        if fits and not flags & Flag.MANY_CORRELATIONS:
            return named
        for value in self._correlation_hashes(row, flags):
            earlier = [r for r in self._capture.ids.rows(value) if r < row]
            for name in wanted or ():
                fitting = [r for r in earlier if self._capture.string("kind", r) == name]
                if fitting:
                    return fitting[-1]
            if earlier and (wanted is None or kind not in _STRICT):
                return earlier[-1]
        return NO_ROW

    def _settle_waiting(self, row: int, identifier: int) -> None:
        """A message that earlier ones named has arrived after them."""
        kind = self._capture.string("kind", row)
        left: list[int] = []
        for waiter in self._waiting.pop(identifier):
            if self.columns["cause"][waiter] != NO_ROW or waiter == row:
                continue
            own = self._capture.string("kind", waiter) or ""
            if own in _STRICT and kind not in _WANTED[own]:
                left.append(waiter)
                continue
            self._set_cause(waiter, row, own)
            if own == kinds.RESPONSE:
                self._name_call(waiter)
        if left:
            self._waiting[identifier] = left

    def _asked_by_id(self, row: int) -> int:
        """Rule 4: the latest unanswered request with this JSON-RPC id, between the same two, the other way."""
        columns = self._capture.columns
        rpc = int(columns["rpc_hash"][row])
        if not rpc:
            return NO_ROW
        sender, receivers = int(columns["sender"][row]), self._capture.to(row)
        known = (self._capture.strings.find(r) for r in receivers)
        askers = [r for r in known if r is not None] or ([] if sender else [0])
        best = NO_ROW
        for asker in askers:
            for request in reversed(self._open_calls.get((rpc, asker), ())[-_SCANNED:]):
                if self.columns["answer"][request] == NO_ROW and self._addressed(request, row, sender):
                    best = max(best, request)
                    break
        return best

    def _addressed(self, request: int, response: int, responder: int) -> bool:
        columns = self._capture.columns
        if responder:
            return self._capture.strings[responder] in self._capture.to(request)
        return columns["source"][request] == columns["source"][response] and not self._capture.to(request)

    # Noting it

    def _set_cause(self, row: int, cause: int, kind: str) -> None:
        self.columns["cause"][row] = cause
        self._changed.update((row, cause))
        cause_kind = self._capture.string("kind", cause)
        answers = self.columns["answer"]
        if kind == kinds.RESPONSE and cause_kind == kinds.REQUEST:
            if answers[cause] == NO_ROW:
                answers[cause] = row
            self._forget_open(cause)
        if cause_kind == kinds.PROPOSAL and kind == kinds.REQUEST and answers[cause] == NO_ROW:
            answers[cause] = row
        self._advance_proposal(row, cause, kind, cause_kind)

    def _forget_open(self, request: int) -> None:
        columns = self._capture.columns
        key = (int(columns["rpc_hash"][request]), int(columns["sender"][request]))
        waiting = self._open_calls.get(key)
        if waiting is not None and request in waiting:
            waiting.remove(request)
            if not waiting:
                del self._open_calls[key]

    def _advance_proposal(self, row: int, cause: int, kind: str, cause_kind: str | None) -> None:
        if kind == kinds.RESPONSE and cause_kind == kinds.REQUEST:
            proposal = int(self.columns["cause"][cause])
            if proposal != NO_ROW and self._capture.string("kind", proposal) == kinds.PROPOSAL:
                self._raise_state(proposal, ProposalState.ANSWERED)
        elif cause_kind == kinds.PROPOSAL:
            sender = self._capture.columns["sender"]
            if kind == kinds.REQUEST:
                answered = self.columns["answer"][row] != NO_ROW  # its response may have come before it
                self._raise_state(cause, ProposalState.ANSWERED if answered else ProposalState.FULFILLED)
            elif kind == kinds.REJECT:
                self._raise_state(cause, ProposalState.REJECTED)
            elif kind == kinds.WITHDRAW and sender[row] == sender[cause]:
                self._raise_state(cause, ProposalState.WITHDRAWN)

    def _raise_state(self, proposal: int, state: ProposalState) -> None:
        states = self.columns["proposal_state"]
        if states[proposal] < state:
            states[proposal] = state
            self._changed.add(proposal)

    def _name_call(self, row: int) -> None:
        """Give a response the method and target of what it answers, and note the rule that found them."""
        columns, strings = self.columns, self._capture.strings
        own, target = int(columns["method"][row]), int(columns["target"][row])
        if target or (own and strings[own] not in _NEEDS_TARGET):
            in_kind = ":" in (self._capture.string("kind_raw", row) or "")
            if not columns["rule"][row]:
                columns["rule"][row] = ToolRule.KIND if in_kind else ToolRule.PAYLOAD
            return
        cause = int(columns["cause"][row])
        if cause == NO_ROW:
            columns["rule"][row] = ToolRule.UNKNOWN
            return
        correlated = int(self._capture.columns["flags"][row]) & Flag.CORRELATED
        columns["rule"][row] = ToolRule.CORRELATION if correlated else ToolRule.RPC_ID
        if not columns["method"][cause] and columns["cause"][cause] != NO_ROW:
            cause = int(columns["cause"][cause])
        columns["method"][row] = columns["method"][cause]
        columns["target"][row] = columns["target"][cause]
        named = (int(self._capture.columns["kind"][row]), int(columns["method"][row]), int(columns["target"][row]))
        columns["call"][row] = self._call_id(named)

    def _call_id(self, named: tuple[int, int, int]) -> int:
        found = self._call_ids.get(named)
        if found is None:
            found = self._call_ids[named] = len(self.calls)
            strings = self._capture.strings
            self.calls.append(":".join(strings[code] for place, code in enumerate(named) if code or not place))
        return found

    # Asking

    def effects(self, row: int) -> list[int]:
        """Messages that name this one, ascending. O(messages), as no list is kept."""
        found = set(np.flatnonzero(self.columns["cause"] == row).tolist())
        return sorted(found.union(self._further.get(row, ())))

    def causes(self, row: int) -> list[int]:
        """Messages this one names, ascending."""
        found = {int(self.columns["cause"][row])} - {NO_ROW}
        if self._capture.flags(row) & Flag.MANY_CORRELATIONS:
            for value in self._capture.correlation_ids(row):
                found.update([r for r in self._capture.find_id(value) if r < row][-1:])
        return sorted(found)

    def latency_ns(self, row: int) -> int | None:
        """Nanoseconds from a request to this response; None for anything else or where a time is missing."""
        cause = int(self.columns["cause"][row])
        if cause == NO_ROW or self._capture.string("kind", row) != kinds.RESPONSE:
            return None
        times = self._capture.columns["time_ns"]
        if times[row] == NO_TIME or times[cause] == NO_TIME or self._capture.string("kind", cause) != kinds.REQUEST:
            return None
        return int(times[row] - times[cause])


_ACTORS = (kinds.REQUEST, kinds.RESPONSE, kinds.PROPOSAL)

# What a kind may name, best first. Kinds that are not listed may name anything.
_WANTED: dict[str, tuple[str, ...]] = {
    kinds.RESPONSE: (kinds.REQUEST, kinds.PROPOSAL),
    kinds.REQUEST: (kinds.PROPOSAL,),
    kinds.REJECT: (kinds.PROPOSAL,),
    kinds.WITHDRAW: (kinds.PROPOSAL,),
}
# Of these, the ones that wait for a fitting kind; the others take whatever bears the id.
_STRICT = frozenset({kinds.RESPONSE})
