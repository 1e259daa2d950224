"""Links messages by correlation: answers, fulfilments, rejections and withdrawals (docs/protocols.md 3 and 5).

A correlation id names the latest earlier message with that id that fits. If there is none yet, it names the first later
one, so that a capture merged out of order is linked too. Only the first 256 ids of a message are looked up: no known
conversation names more, and each lookup has a cost.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_among, are_any_of, unique_with_places
from inspector.analysis.passes.calls.call_rounds import CallRounds
from inspector.analysis.passes.calls.draft_names import DraftNames
from inspector.analysis.passes.calls.initialize_fallback import Fallbacks
from inspector.analysis.passes.calls.open_requests import OpenCalls
from inspector.analysis.passes.calls.open_waits import EndedWaits
from inspector.analysis.passes.calls.proposal_states import ProposalStates
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.formats import registry
from inspector.formats.table import AGENT_TOOLS, HISTORY_REPEATING
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex
from inspector.store.messages.capture import Capture

_NEEDS_TARGET = ("tools/call", "prompts/get", "resources/read", "completion/complete")
_CORRELATED, _MANY_CORRELATIONS = Flag.CORRELATED.value, Flag.MANY_CORRELATIONS.value
_PART_BITS = 21  # bits of a method and of a target; together with a kind they fit into 63 bits


def _hashes_per_session(capture: Capture, name: str, rows: Rows) -> NDArray[np.uint64]:
    """Returns (n,) hashes that differ between sources and spaces, so that one id in two of them does not match."""
    columns = capture.columns
    sources, spaces = (columns[key][rows].astype(np.uint64) + np.uint64(1) for key in ("source", "space"))
    # Their spaces are conversations that are recognized by equal beginnings, so a call may be in another one.
    guessed = are_any_of(columns["protocol"][rows], [capture.strings.find(label) or -1 for label in HISTORY_REPEATING])
    spaces[guessed] = 0
    return columns[name][rows] ^ (sources * _SOURCE_HASH_FACTOR) ^ (spaces * _SPACE_HASH_FACTOR)


_SOURCE_HASH_FACTOR, _SPACE_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class ToolRule(enum.IntEnum):
    """The rule that found a response's method and target; numbered as in docs/protocols.md 3."""

    NONE = 0
    KIND = 1
    PAYLOAD = 2
    CORRELATION = 3
    RPC_ID = 4
    UNKNOWN = 5


RULE_NAMES = ("", "kind", "payload", "correlation", "rpc id", "unknown")
"""Names in filters and exports by `ToolRule`."""


class CorrelationPass:
    """Links messages to the messages that they name by correlation id or JSON-RPC id.

    Attributes:
        columns: per message
            `cause` int32: the message it names by correlation (or by JSON-RPC id); NO_ROW.
            `answer` int32: for a request, its first response; for a proposal, its first fulfilment; NO_ROW.
            `method`, `target` unsigned: string ids, resolved for responses.
            `call` unsigned: index in `calls` of its `kind[:method[:target]]`.
            `rule` uint8: ToolRule.
            `proposal_state` uint8: ProposalState.
            `given_up` uint8: GivenUp.
        calls: each distinct `kind[:method[:target]]`, the text that `kind like` matches; entry 0 is no call.
        rounds: calls that take several requests.
    """

    def __init__(self, capture: Capture, trust: TrustPass) -> None:
        self._capture = capture
        self.columns = GrowingColumns(
            {"cause": np.int32, "answer": np.int32, "method": np.uint32, "target": np.uint32,
             "call": np.uint32, "rule": np.uint8, "proposal_state": np.uint8, "given_up": np.uint8}
        )  # fmt: skip
        self.calls: list[str] = [""]
        self._call_parts: list[tuple[int, int, int]] = [(0, 0, 0)]
        self._call_ids: dict[tuple[int, int, int], int] = {}
        self._further_effects: dict[int, list[int]] = {}  # effects of messages that were named second or later
        # by hash of an unseen id, the messages that name it and take any bearer
        self._waiting: dict[int, list[int]] = {}
        # the same for responses, which take requests and proposals only
        self._unresolved_responses: dict[int, list[int]] = {}
        # Separate indexes for the ids of requests and proposals: another kind with the same id must not hide them.
        self._id_indexes: dict[str, HashIndex] = {kinds.REQUEST: HashIndex(), kinds.PROPOSAL: HashIndex()}
        self._session_calls = HashIndex()  # requests of transcripts by their ids, per source and space
        self._session_calls_stop = 0
        self._reused = HashIndex()  # requests by id and JSON-RPC id, filled once an answer has another than its request
        self._reused_stop = 0
        self._unnamed_responses: dict[
            int, list[int]
        ] = {}  # responses by request, where a later proposal may still name the call
        self._open_calls = OpenCalls(self._capture, self.columns)
        self._drafts = DraftNames(self._capture)
        self._further_names: list[tuple[int, int]] = []  # further names of messages in this batch: (row, hash)
        self._changed = ChangedRows()
        self._proposals = ProposalStates(self._capture, self.columns, self._changed)
        self._outcomes = EndedWaits(self._capture, self.columns, self._open_calls, self._changed, trust)
        self._fallbacks = Fallbacks(self._capture, self.columns, self._changed)
        self.rounds = CallRounds(self._capture, self.columns, self._changed)

    def rejected_by(self, proposal: int) -> int | None:
        """Returns the first message that rejected a proposal. O(1)."""
        return self._proposals.rejections.get(proposal)

    def take_changes(self) -> Rows:
        """Returns the messages with changed links, tool or state, and clears them."""
        return self._changed.take_rows()

    def feed(self, start: int, stop: int) -> None:
        """Links messages `start` to `stop`, and earlier messages that waited for their ids."""
        self._append_batch(start, stop)
        source = self._capture.columns
        named = np.full(stop - start, NO_ROW, np.int64)
        correlated = np.flatnonzero(source["flags"][start:stop] & _CORRELATED)
        rows = correlated + start
        named[correlated] = self._capture.ids.latest_rows(source["correlation_hash"][rows], rows)
        elsewhere = self._link_within_sessions(start, rows, named)
        self._prefer_equal_rpc_ids(start, rows, named)
        linked = self._link_plain(start, stop, named)
        response = self._kind_code(kinds.RESPONSE)
        left = np.zeros(stop - start, bool)
        # Responses without a correlation id are linked by their JSON-RPC id later.
        left[correlated] = True
        left |= source["kind"][start:stop] == response
        left &= ~linked
        self._prefer_wanted_kinds(start, correlated[left[correlated] & ~elsewhere[correlated]], named)
        ids = source["id_hash"][start:stop]
        cancels = self._outcomes.cancelling(start, stop)
        cancelling = set(cancels.tolist())
        for place in self._places_to_visit(left, ids, cancels - start):
            self._resolve_waiters(start + place, int(ids[place]))
            if left[place]:
                self._link_row(start + place, int(named[place]))
            if start + place in cancelling:
                self._outcomes.cancel(start + place, int(self.columns["cause"][start + place]))
        for row, identifier in self._further_names:
            self._resolve_waiters(row, identifier)
        self._outcomes.end_exchanges(start, stop)
        self._outcomes.end_turns(start, stop)
        self._outcomes.note_results(start, stop)
        self._fallbacks.feed(start, stop)
        self.rounds.feed(start, stop)

    def _link_within_sessions(self, start: int, rows: Rows, named: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Links results of transcripts to the call in their own file and space if another one has a call of that id.

        Args:
            start: the first message of the batch.
            rows: the messages of the batch that name another message.
            named: (batch,) the latest message that each names; changed in place.

        Returns:
            (batch,) flags of the messages that were linked so.
        """
        source, found = self._capture.columns, np.zeros(len(named), np.bool_)
        spaces = source["space"]
        # Within a single session the general index finds the call already.
        if not (self._session_calls_stop or len(self._capture.sources) > 1 or (spaces[start:] != spaces[:1]).any()):
            return found
        self._index_session_calls(start + len(named))
        derived = source["flags"][rows] & Flag.DERIVED.value != 0
        answers = rows[derived & (source["kind"][rows] == self._kind_code(kinds.RESPONSE))]
        answers = answers[source["flags"][answers] & _MANY_CORRELATIONS == 0]
        hashes = _hashes_per_session(self._capture, "correlation_hash", answers)
        calls = self._session_calls.latest_rows(hashes, answers)
        known = calls != NO_ROW
        named[answers[known] - start], found[answers[known] - start] = calls[known], True
        return found

    def _prefer_equal_rpc_ids(self, start: int, rows: Rows, named: NDArray[np.int64]) -> None:
        """Replaces requests in `named` by an earlier one with the same id if only that has the answer's JSON-RPC id.

        Arguments are those of `_link_within_sessions`.
        """
        source = self._capture.columns
        kind, rpc, flags = source["kind"], source["rpc_hash"], source["flags"]
        passed = flags[rows] & (Flag.DERIVED.value | _MANY_CORRELATIONS) != 0
        rows = rows[~passed & (kind[rows] == self._kind_code(kinds.RESPONSE)) & (rpc[rows] != NO_HASH)]
        found = named[rows - start]
        rows = rows[(found != NO_ROW) & (kind[found] == self._kind_code(kinds.REQUEST)) & (rpc[found] != rpc[rows])]
        if not len(rows):
            return
        self._index_reused(start + len(named))
        equal = self._reused.latest_rows(source["correlation_hash"][rows] ^ (rpc[rows] * _SOURCE_HASH_FACTOR), rows)
        named[rows[equal != NO_ROW] - start] = equal[equal != NO_ROW]

    def _index_reused(self, stop: int) -> None:
        source, start, self._reused_stop = self._capture.columns, self._reused_stop, stop
        wanted = source["kind"][start:stop] == self._kind_code(kinds.REQUEST)
        wanted &= (source["id_hash"][start:stop] != NO_HASH) & (source["rpc_hash"][start:stop] != NO_HASH)
        rows = np.flatnonzero(wanted) + start
        rows = rows[~self._capture.are_resent(rows)]
        hashes = source["id_hash"][rows] ^ (source["rpc_hash"][rows] * _SOURCE_HASH_FACTOR)
        self._reused.add(hashes, rows.astype(np.uint32))

    def _index_session_calls(self, stop: int) -> None:
        source, start, self._session_calls_stop = self._capture.columns, self._session_calls_stop, stop
        wanted = source["kind"][start:stop] == self._kind_code(kinds.REQUEST)
        wanted &= (source["flags"][start:stop] & Flag.DERIVED.value != 0) & (source["id_hash"][start:stop] != NO_HASH)
        rows = np.flatnonzero(wanted) + start
        rows = rows[~self._capture.are_resent(rows)]
        self._session_calls.add(_hashes_per_session(self._capture, "id_hash", rows), rows.astype(np.uint32))

    def _kind_code(self, kind: str) -> int:
        """Returns the string id of a kind, or -1 if no message has it."""
        return self._capture.strings.find(kind) or -1

    def _append_batch(self, start: int, stop: int) -> None:
        """Appends the batch to the columns with the values that its messages state themselves."""
        source = self._capture.columns
        kind, method, target = (source[name][start:stop] for name in ("kind", "method", "target"))
        said = {"method": method, "target": target, "call": self._calls_of(kind, method, target)}
        unknown = {"cause": NO_ROW, "answer": NO_ROW, "rule": 0, "proposal_state": 0, "given_up": 0}
        self.columns.append({**said, **unknown}, stop - start)
        self._proposals.extend(start, stop)
        self._further_names.clear()
        for kind, index in self._id_indexes.items():
            rows = np.flatnonzero(source["kind"][start:stop] == self._kind_code(kind)) + start
            # A repeated delivery must not replace the original as the latest message with its id.
            hashes = np.where(self._capture.are_resent(rows), NO_HASH, source["id_hash"][rows])
            also = self._drafts.names_of(kind, rows)
            if also:
                self._further_names += also
                rows = np.concatenate((rows, [row for row, _ in also]))
                hashes = np.concatenate((hashes, np.array([value for _, value in also], np.uint64)))
            index.add(hashes, rows.astype(np.uint32))

    def _places_to_visit(self, left: NDArray[np.bool_], ids: NDArray[np.uint64], also: Rows) -> list[int]:
        """Returns places of messages that are not linked yet, or that another message waits for.

        The waiting message may be in the same batch.

        Args:
            also: other places to visit, ascending.
        """
        visited = left.copy()
        visited[also] = True
        coming = self._named_hashes(np.flatnonzero(left) + len(self.columns) - len(ids))
        if self._waiting or self._unresolved_responses:
            listed = ids.tolist()
            awaited = (self._waiting.keys() & listed) | (self._unresolved_responses.keys() & listed)
            coming = np.concatenate((coming, np.fromiter(awaited, np.uint64, len(awaited))))
        return np.flatnonzero(visited | are_among(ids, coming)).tolist()

    def _named_hashes(self, rows: Rows) -> NDArray[np.uint64]:
        """Returns the hashes of the ids that some messages name, unordered."""
        source = self._capture.columns
        flags = source["flags"][rows]
        many = flags & _MANY_CORRELATIONS != 0
        first = source["correlation_hash"][rows[~many & (flags & _CORRELATED != 0)]]
        others = [value for row in rows[many].tolist() for value in self.hashes_named_by(row)]
        return np.concatenate((first, np.array(others, np.uint64)))

    # Linking: plain cases, as arrays

    def _link_plain(self, start: int, stop: int, named: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Links plain cases as arrays: a message that names one earlier message of a kind it may name.

        These are responses to requests with a full call, and kinds that may name any message.

        Returns:
            (batch,) flags of the linked messages.
        """
        source = self._capture.columns
        kind = source["kind"][start:stop]
        single = (named != NO_ROW) & (source["flags"][start:stop] & _MANY_CORRELATIONS == 0)
        choosy = are_any_of(kind, [self._kind_code(k) for k in _CAUSE_KINDS])
        free = np.flatnonzero(single & ~choosy)
        self.columns.replace("cause", start + free, named[free])
        self._changed.add_array(named[free])
        self._outcomes.note_errors(start + free, named[free])
        answers = np.flatnonzero(
            single & (kind == self._kind_code(kinds.RESPONSE)) & (source["method"][start:stop] == 0)
        )
        asked = named[answers]
        fits = (source["kind"][asked] == self._kind_code(kinds.REQUEST)) & (source["method"][asked] != 0)
        nameless = are_any_of(source["method"][asked], [self._kind_code(method) for method in _NEEDS_TARGET])
        fits &= (source["target"][asked] != 0) | ~nameless  # the request may fulfil a proposal that names the target
        self._link_answers(answers[fits] + start, asked[fits])
        plain = np.zeros(stop - start, bool)
        plain[free] = True
        plain[answers[fits]] = True
        return plain

    def _link_answers(self, responses: Rows, requests: Rows) -> None:
        """Links responses to the requests they name, and copies the calls to them.

        Args:
            responses: ascending.
            requests: the request of each.
        """
        columns = self.columns
        columns.replace("cause", responses, requests)
        came = np.flatnonzero(self._capture.columns["flags"][responses] & Flag.REFUSED.value == 0)
        once, first = np.unique(requests[came], return_index=True)
        known, new = columns["answer"][once], responses[came[first]]
        columns.replace("answer", once, np.where((known == NO_ROW) | (new < known), new, known))
        for name in ("method", "target"):
            columns.replace(name, responses, columns[name][requests])
        columns.replace("rule", responses, ToolRule.CORRELATION.value)
        asked, inverse = np.unique(columns["call"][requests], return_inverse=True)
        code = self._kind_code(kinds.RESPONSE)
        answered = [self._call_id((code, *self._call_parts[call][1:])) for call in asked.tolist()]
        columns.replace("call", responses, np.array(answered, np.uint32)[inverse])
        self._changed.add_array(once)
        fulfilling = np.flatnonzero(columns["cause"][requests] != NO_ROW)
        for row, request in zip(responses[fulfilling].tolist(), requests[fulfilling].tolist(), strict=True):
            self._proposals.note_link(row, request)

    # Linking: other cases, one by one

    def _link_row(self, row: int, named: int) -> None:
        kind = self._capture.string("kind", row) or ""
        flags = int(self._capture.columns["flags"][row])
        if flags & _CORRELATED:
            cause = self._first_cause(row, kind) if flags & _MANY_CORRELATIONS else named
            if cause != NO_ROW:
                self._set_cause(row, cause, kind)
            else:
                waiting = self._unresolved_responses if kind == kinds.RESPONSE else self._waiting
                for value in self.hashes_named_by(row):
                    waiting.setdefault(value, []).append(row)
            if flags & _MANY_CORRELATIONS:
                for further in self.causes(row):
                    if further != cause:
                        self._further_effects.setdefault(further, []).append(row)
                        self._outcomes.note_errors(np.array([row]), np.array([further]))
        elif kind == kinds.RESPONSE:
            cause = self._open_calls.asked_by(row)
            if cause != NO_ROW:
                self._set_cause(row, cause, kind)
        if kind == kinds.RESPONSE:
            self._name_call(row)

    def hashes_named_by(self, row: int) -> list[int]:
        """Returns hashes of the ids that a message names, without duplicates and in its order; at most 256."""
        return self._capture.named_hashes(row)

    def _prefer_wanted_kinds(self, start: int, places: NDArray[np.int64], named: NDArray[np.int64]) -> None:
        """Replaces entries of `named` by the latest message of a kind that each message may name."""
        kind = self._capture.columns["kind"][start:][places]
        before = places + start
        hashes = self._capture.columns["correlation_hash"][before]
        for name, wanted in _CAUSE_KINDS.items():
            here = np.flatnonzero(kind == self._kind_code(name))
            if len(here):
                latest = named[places[here]] if name != kinds.RESPONSE else np.full(len(here), NO_ROW)
                found = self._latest_of_kinds(wanted, hashes[here], before[here])
                named[places[here]] = np.where(found == NO_ROW, latest, found)

    def _latest_of_kinds(
        self, wanted: tuple[str, ...], hashes: NDArray[np.uint64], before: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Returns (n,) for each id the latest earlier message of the first kind in `wanted` that has one, or NO_ROW.

        Args:
            before: (n,) limits of the messages.
        """
        fitting = np.full(len(hashes), NO_ROW, np.int64)
        for name in wanted:
            found = self._id_indexes[name].latest_rows(hashes, before)
            fitting = np.where(fitting == NO_ROW, found, fitting)
        return fitting

    def _first_cause(self, row: int, kind: str) -> int:
        """Returns the cause of a message that names several ids: the first that fits, else the first that is known."""
        hashes = np.array(self.hashes_named_by(row), np.uint64)
        before = np.full(len(hashes), row, np.int64)
        fitting = self._latest_of_kinds(_CAUSE_KINDS.get(kind, ()), hashes, before)
        if kind != kinds.RESPONSE and not (fitting != NO_ROW).any():
            fitting = self._capture.ids.latest_rows(hashes, before)
        first = np.flatnonzero(fitting != NO_ROW)
        return int(fitting[first[0]]) if len(first) else NO_ROW

    def _resolve_waiters(self, row: int, identifier: int) -> None:
        """Links the earlier messages that waited for this message's id."""
        kind = self._capture.string("kind", row)
        waiters = self._waiting.pop(identifier, [])
        if kind in _CAUSE_KINDS[kinds.RESPONSE]:
            waiters += self._unresolved_responses.pop(identifier, [])
        for waiter in waiters:
            if self.columns["cause"][waiter] == NO_ROW and waiter != row:  # a message of `DraftNames` may name itself
                self._resolve_waiter(waiter, row)

    def _resolve_waiter(self, waiter: int, row: int) -> None:
        kind = self._capture.string("kind", waiter) or ""
        self._set_cause(waiter, row, kind)
        if kind == kinds.RESPONSE:
            self._name_call(waiter)

    # Linking: writing to the columns

    def _set_cause(self, row: int, cause: int, kind: str) -> None:
        self.columns.replace("cause", row, cause)
        self._changed.update((row, cause))
        cause_kind = self._capture.string("kind", cause)
        # Only these two pairs count as an answer; a message that the gateway refused is none.
        pair = (kind, cause_kind) in ((kinds.RESPONSE, kinds.REQUEST), (kinds.REQUEST, kinds.PROPOSAL))
        if pair and not self._capture.flags_of(row) & Flag.REFUSED:
            answer = int(self.columns["answer"][cause])
            self.columns.replace("answer", cause, row if answer == NO_ROW else min(answer, row))
        self._proposals.note_link(row, cause)
        for response in self._unnamed_responses.pop(row, ()):
            self._name_call(response)
        if kind == "system/error":
            self._outcomes.note_errors(np.array([row]), np.array([cause]))

    def _name_call(self, row: int) -> None:
        """Copies method and target to a response from the message it answers, and stores the rule that found them."""
        columns, strings = self.columns, self._capture.strings
        own, target = int(columns["method"][row]), int(columns["target"][row])
        if target or (own and strings[own] not in _NEEDS_TARGET):
            if not columns["rule"][row]:
                columns.replace("rule", row, self._own_rule(row).value)
            return
        cause = int(columns["cause"][row])
        if cause == NO_ROW:
            columns.replace("rule", row, ToolRule.UNKNOWN.value)
            return
        request, cause = cause, self._call_source(cause)
        asked = int(columns["method"][cause])
        named_all = asked and (columns["target"][cause] or strings[asked] not in _NEEDS_TARGET)
        if not named_all and columns["cause"][request] == NO_ROW and self._capture.flags_of(request) & _CORRELATED:
            self._unnamed_responses.setdefault(request, []).append(row)
        if own and asked != own:  # the response's own method takes precedence, even if it says less
            of_a_tool = strings[own] == "tools/call"
            columns.replace("rule", row, (ToolRule.UNKNOWN if of_a_tool else self._own_rule(row)).value)
            self._changed.add(row)
            return
        correlated = int(self._capture.columns["flags"][row]) & _CORRELATED
        rule = ToolRule.CORRELATION if correlated else ToolRule.RPC_ID
        columns.replace("rule", row, (rule if named_all else ToolRule.UNKNOWN).value)
        for name in ("method", "target"):
            columns.replace(name, row, int(columns[name][cause]))
        named = (int(self._capture.columns["kind"][row]), int(columns["method"][row]), int(columns["target"][row]))
        columns.replace("call", row, self._call_id(named))
        self._changed.add(row)

    def _own_rule(self, row: int) -> ToolRule:
        """Returns the rule for a response that names its call in full: its kind, its payload, or an export's record."""
        flags = int(self._capture.columns["flags"][row])
        # The rule of the recording program takes precedence: the export has resolved the call already.
        if flags & (Flag.CALL_FROM_CORRELATION | Flag.CALL_FROM_RPC_ID):
            return ToolRule.CORRELATION if flags & Flag.CALL_FROM_CORRELATION else ToolRule.RPC_ID
        kind = kinds.split_kind(self._capture.string("kind_raw", row) or "")
        in_kind = kind.target if self.columns["target"][row] else kind.method
        return ToolRule.KIND if in_kind else ToolRule.PAYLOAD

    def _call_source(self, asked: int) -> int:
        """Returns the message that names a request's call: the request, or the proposal it fulfils if it names none."""
        columns = self.columns
        method, above = int(columns["method"][asked]), int(columns["cause"][asked])
        if columns["target"][asked] or (method and self._capture.strings[method] not in _NEEDS_TARGET):
            return asked
        if above == NO_ROW or self._capture.string("kind", above) != kinds.PROPOSAL:
            return asked
        return above if int(columns["method"][above]) == method or not method else asked

    def _calls_of(self, *parts: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.uint32]:
        """Returns (n,) indexes in `calls` for arrays of kinds, methods and targets."""
        if any(len(part) and int(part.max()) >= 1 << _PART_BITS for part in parts):
            # a string id does not fit: millions of different strings
            rows = zip(*(part.tolist() for part in parts), strict=True)
            return np.fromiter(map(self._call_id, rows), np.uint32, len(parts[0]))
        kind, method, target = (part.astype(np.int64) for part in parts)
        packed = kind << 2 * _PART_BITS | method << _PART_BITS | target
        found, inverse = np.unique(packed, return_inverse=True)
        part = (1 << _PART_BITS) - 1
        named = ((key >> 2 * _PART_BITS, key >> _PART_BITS & part, key & part) for key in found.tolist())
        return np.fromiter(map(self._call_id, named), np.uint32, len(found))[inverse]

    def _call_id(self, named: tuple[int, int, int]) -> int:
        found = self._call_ids.get(named)
        if found is None:
            found = self._call_ids[named] = len(self.calls)
            self._call_parts.append(named)
            strings = self._capture.strings
            self.calls.append(":".join(strings[code] for place, code in enumerate(named) if code or not place))
        return found

    # Lookup

    def shown_calls(self, rows: slice | NDArray[np.integer[Any]]) -> NDArray[np.uint32]:
        """Returns (n,) indexes in `calls`, with the displayed kinds (`store.messages.rpc_classification`)."""
        called, shown = self.columns["call"][rows], self._capture.foreign_rpc.kind_codes(rows)
        # Multiplied instead of shifted, so that the pairs stay close together and `unique_with_places` needs no sort.
        width = len(self._capture.strings)
        pairs, _, places = unique_with_places(called.astype(np.int64) * width + shown)
        found = [
            self._call_id((kind, *self._call_parts[call][1:])) if call else 0
            for call, kind in (divmod(pair, width) for pair in pairs.tolist())
        ]
        return np.array(found, np.uint32)[places]

    def self_named_rows(self) -> Rows:
        """Returns the messages with a correlation id that is their own name (`DraftNames`), ascending."""
        return np.array(self._drafts.own, np.int64)

    def probable_request(self, row: int) -> tuple[int, bool] | None:
        """Returns the request that a response without a cause probably answers.

        The second value is true if both have the same id (`OpenCalls.probable_requests`).
        """
        return self._open_calls.probable_requests.get(row)

    def effects(self, row: int) -> list[int]:
        """Returns the messages that name this one, ascending. O(messages), since no index is stored."""
        # The column has the first cause only; further causes are in the dict.
        found = set(np.flatnonzero(self.columns["cause"] == row).tolist())
        return sorted(found.union(self._further_effects.get(row, ())))

    def causes(self, row: int) -> list[int]:
        """Returns the messages that this one names, ascending."""
        found = {int(self.columns["cause"][row])} - {NO_ROW}
        if self._capture.flags_of(row) & Flag.MANY_CORRELATIONS:
            hashes = np.array(self.hashes_named_by(row), np.uint64)
            latest = self._capture.ids.latest_rows(hashes, np.full(len(hashes), row, np.int64))
            found.update(latest[latest != NO_ROW].tolist())
        return sorted(found)

    def latency_ns(self, row: int) -> int | None:
        """Returns nanoseconds from a request to this response, or None for other messages and missing times.

        A call with several requests counts from its first request to its result. A tool that reports its own duration
        has that one. An answer or refusal by a person has None, and so has an answer before its request: the clock was
        set back. `latency.latency_ms` computes the same for many messages.
        """
        cause = self.rounds.begun.get(row, int(self.columns["cause"][row]))
        if cause == NO_ROW or self._capture.string("kind", row) != kinds.RESPONSE:
            return None
        times = self._capture.columns["time_ns"]
        if times[row] == NO_TIME or times[cause] == NO_TIME or self._capture.string("kind", cause) != kinds.REQUEST:
            return None
        # as Python integers: times in hostile input may differ by more than 64 bits
        apart = int(times[row]) - int(times[cause])
        flags = self._capture.flags_of(row)
        if not flags & Flag.DERIVED:
            return apart if apart >= 0 else None
        if (
            flags & Flag.DECLINED
            or self._capture.strings[int(self.columns["target"][cause])] in AGENT_TOOLS.person_tools
        ):
            return None
        took = int(self._capture.extracted.tool_durations_ns(np.array([row]))[0])
        if took >= 0:
            return took
        is_agent = self._capture.string("protocol", row) in registry.groups().agents
        return None if apart < 0 or (apart == 0 and is_agent) else apart


# Kinds that each kind may name, best first. Kinds without an entry may name any message.
_CAUSE_KINDS: dict[str, tuple[str, ...]] = {
    kinds.RESPONSE: (kinds.REQUEST, kinds.PROPOSAL),
    kinds.REQUEST: (kinds.PROPOSAL,),
    kinds.REJECT: (kinds.PROPOSAL,),
    kinds.WITHDRAW: (kinds.PROPOSAL,),
}
