"""Determines open waits, and ends those that are cancelled, refused, abandoned or answered in a copy.

This is the only place that decides it. A notification needs no answer: by its method, or as JSON-RPC without an id
(v0.0's `mcp` messages too; docs/protocols.md 3). A wait ends when a gateway refuses the message, or when its sender
cancels it. It also ends when the process of either side is gone (`departed_waits`), or when its agent was stopped. A
trace without any span of a tool does not record results of tools, so it has no waits. Neither have answers of a model
that were saved without requests, nor events of a conversation without a result.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of, sorted_unique
from inspector.analysis.passes.calls.open_requests import OpenCalls
from inspector.analysis.passes.calls.proposal_states import ProposalState
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.formats.table import LACKING_RESULTS, LONE_ANSWERS, STOP_KINDS, TRACE_NAMES
from inspector.protocol import calls, kinds, mcp_messages
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, hash_rpc_id
from inspector.store.messages.capture import Capture

_Bools = NDArray[np.bool_]

_CANCELLED_METHOD = "notifications/cancelled"
_ERROR_KIND = "system/error"
_MAX_EXCHANGES = 10_000
_EXCHANGE_END_KINDS = ("http/end", "http/error")
_FIRST_ERROR_STATUS = 400
_STOP_KINDS = ("reasoning/cancel", *STOP_KINDS)
"""Kinds of messages that stop an agent, in a transcript or in a session that goes on."""
# A file without stops would otherwise be searched from its beginning at the first one.
_MAX_ROWS_BEFORE_STOP = 4_096
"""Limit of messages searched before a stop, for requests of the stopped agent."""
_BARE_KIND = "mcp"  # of v0.0, with JSON-RPC as its payload


class GivenUp(enum.IntEnum):
    """Reason why a request needs no answer, or a proposal no decision."""

    NO = 0
    ASKER_LEFT = 1
    """Its sender left, or was started again."""
    ASKED_LEFT = 2
    """Its only recipient left, or was started again."""
    CANCELLED = 3
    """Its sender sent notifications/cancelled, hung up, or was stopped, as agents of transcripts are."""
    REFUSED = 4
    """A gateway reported that it blocked the message, or an HTTP status that the server rejected it."""


class EndedWaits:
    """Maintains the column `given_up` of the correlation pass.

    Args:
        links: the columns of that pass.
        changed: collects the messages that are given up.
        trust: tells errors of a gateway from impersonations.
    """

    def __init__(
        self, capture: Capture, links: GrowingColumns, open_calls: OpenCalls, changed: ChangedRows, trust: TrustPass
    ) -> None:
        self._capture = capture
        self._trust = trust
        self._links = links
        self._open_calls = open_calls
        self._changed = changed
        self._exchanges: dict[tuple[int, int], int] = {}  # by source and HTTP exchange, the last call in it
        self._last_stops: dict[tuple[int, int], int] = {}  # by source and context, the last stop of its agent
        self._untraced_requests: dict[int, list[int]] = {}  # by space without results, its requests

    def end_exchanges(self, start: int, stop: int) -> None:
        """Gives up requests in an HTTP exchange that ended with an error, or by the client hanging up.

        In MCP 2026-07-28 and in an API of a model hanging up cancels a call. In earlier versions of MCP the answer may
        come in another exchange.
        """
        carried = self._capture.extracted.exchange_rows
        low, high = np.searchsorted(carried, [start, stop])
        if low == high:
            return
        rows = carried[low:high].astype(np.int64)
        columns, find = self._capture.columns, self._capture.strings.find
        asks = (columns["kind"][rows] == (find(kinds.REQUEST) or -1)) & (
            columns["sender"][rows] == (find("client") or -1)
        )
        ends = are_any_of(columns["kind"][rows], [find(name) or -1 for name in _EXCHANGE_END_KINDS])
        places = np.flatnonzero(asks | ends)
        names = ("number", "hung_up", "status")
        numbers, left, status = (self._capture.extracted.exchanges(name, rows[places]).tolist() for name in names)
        for place, number, hung_up, told in zip(places.tolist(), numbers, left, status, strict=True):
            row = int(rows[place])
            key = int(columns["source"][row]), number
            if asks[place]:
                self._exchanges[key] = row
                # Bounds memory for exchanges that never end in the log.
                if len(self._exchanges) > _MAX_EXCHANGES:
                    del self._exchanges[next(iter(self._exchanges))]
            elif (asked := self._exchanges.pop(key, NO_ROW)) != NO_ROW and self._links["answer"][asked] == NO_ROW:
                if hung_up and self._ends_with_exchange(asked):
                    self._give_up(np.array([asked], np.int64), GivenUp.CANCELLED)
                elif told >= _FIRST_ERROR_STATUS:
                    self._give_up(np.array([asked], np.int64), GivenUp.REFUSED)

    def _ends_with_exchange(self, row: int) -> bool:
        """Returns True unless the answer may come in another exchange, as in earlier versions of MCP."""
        return not self._capture.flags_of(row) & Flag.RPC or (
            self._capture.strings[int(self._capture.extracted.mcp_values("version", np.array([row]))[0])]
            >= mcp_messages.FIRST_MODERN
        )

    def end_turns(self, start: int, stop: int) -> None:
        """Gives up the unanswered requests of transcript agents when the agents are stopped.

        O(stop - start), plus the messages between two stops, at most `_MAX_ROWS_BEFORE_STOP` each.
        """
        columns, find = self._capture.columns, self._capture.strings.find
        codes, request = [code for name in _STOP_KINDS if (code := find(name))], find(kinds.REQUEST) or -1
        if not codes:
            return
        stops = are_any_of(columns["kind"][start:stop], codes)
        stops &= columns["flags"][start:stop] & Flag.DERIVED.value != 0
        for row in (np.flatnonzero(stops) + start).tolist():
            key = int(columns["source"][row]), int(columns["context"][row])
            # Searching only back to the last stop keeps the total cost linear.
            since = max(self._last_stops.get(key, NO_ROW) + 1, row - _MAX_ROWS_BEFORE_STOP)
            self._last_stops[key] = row
            asked = columns["kind"][since:row] == request
            for name, value in zip(("source", "context"), key, strict=True):
                asked &= columns[name][since:row] == value
            rows = np.flatnonzero(asked) + since
            self._give_up(rows[self._links["answer"][rows] == NO_ROW], GivenUp.CANCELLED)

    def note_results(self, start: int, stop: int) -> None:
        """Reports requests of a space as changed once it records results of tools: they wait from then on."""
        columns, traces = self._capture.columns, _one_sided_codes(self._capture)
        if not traces:
            return
        asked = columns["kind"][start:stop] == (self._capture.strings.find(kinds.REQUEST) or -1)
        rows = np.flatnonzero(asked & are_any_of(columns["protocol"][start:stop], traces)) + start
        rows = rows[are_untraced(self._capture, rows)]
        for row, trace in zip(rows.tolist(), columns["space"][rows].tolist(), strict=True):
            # Only a later message may show that the space records results.
            self._untraced_requests.setdefault(trace, []).append(row)
        known = self._capture.transcripts.result_spaces
        for space in sorted_unique(columns["space"][start:stop]).tolist() if self._untraced_requests else ():
            if self._capture.strings[space] in known:
                self._changed.update(self._untraced_requests.pop(space, ()))

    def note_errors(self, rows: Rows, causes: Rows) -> None:
        """Refuses the causes of gateway errors among newly linked messages."""
        code = self._capture.strings.find(_ERROR_KIND)
        if code:
            errors = np.flatnonzero(self._capture.columns["kind"][rows] == code).tolist()
            errors = [place for place in errors if self._trust.is_gateway_or_unsigned(int(rows[place]))]
            self._give_up(causes[errors], GivenUp.REFUSED)

    def cancelling(self, start: int, stop: int) -> Rows:
        """Returns the messages from `start` to `stop` that cancel a request."""
        method = self._capture.strings.find(_CANCELLED_METHOD)
        if not method:
            return np.empty(0, np.int64)
        return np.flatnonzero(self._capture.columns["method"][start:stop] == method) + start

    def cancel(self, row: int, named: int) -> None:
        """Gives up the request that a message cancels.

        Args:
            row: the cancelling message; rows of successive calls ascend.
            named: the message it names by correlation, or NO_ROW.
        """
        asked = self._cancelled_request(row)
        if asked == NO_ROW and named != NO_ROW and self._is_own_request(named, row):
            asked = named
        if asked != NO_ROW:
            self._give_up(np.array([asked], np.int64), GivenUp.CANCELLED)

    def _cancelled_request(self, row: int) -> int:
        """Returns the sender's open request that `requestId` names, by JSON-RPC id or envelope id, or NO_ROW."""
        params: Any = (
            None
            if self._capture.records.is_big(row)
            else self._capture.records.decoded_record(row).payload.get("params")
        )
        identifier = params.get("requestId") if isinstance(params, Mapping) else None
        called = calls.rpc_id(identifier)
        if called is None:
            return NO_ROW
        asked = self._open_calls.request_with_id(hash_rpc_id(called), row)
        # In an envelope, `requestId` may be the id of the envelope that asked.
        if asked != NO_ROW or not isinstance(identifier, str):
            return asked
        hash_ = self._capture.ids.hash_in_space(int(self._capture.columns["space"][row]), identifier)
        latest = int(self._capture.ids.latest_rows(np.array([hash_], np.uint64), np.array([row], np.int64))[0])
        return latest if latest != NO_ROW and self._is_own_request(latest, row) else NO_ROW

    def _is_own_request(self, asked: int, row: int) -> bool:
        sender = self._capture.columns["sender"]
        is_own = sender[asked] == sender[row] and self._capture.logged_sender(row) is None
        return self._capture.string("kind", asked) == kinds.REQUEST and is_own

    def _give_up(self, rows: Rows, why: GivenUp) -> None:
        # A stronger reason replaces a weaker one, in any order of arrival.
        rows = rows[self._links["given_up"][rows] < why]
        if len(rows):
            self._links.replace("given_up", rows, why.value)
            self._changed.add_array(rows)


def need_answer(capture: Capture, rows: Rows, methods: NDArray[Any]) -> _Bools:
    """Returns (n,) flags of requests that need an answer, unlike notifications. O(rows + distinct methods).

    Args:
        methods: (n,) their methods as the correlation pass has them.
    """
    strings, columns = capture.strings, capture.columns
    told = [code for code in sorted_unique(methods).tolist() if code and _needs_no_answer(strings[code])]
    bare = columns["kind_raw"][rows] == (strings.find(_BARE_KIND) or -1)
    bare |= columns["flags"][rows] & Flag.RPC.value != 0
    quiet = bare & (columns["rpc_hash"][rows] == NO_HASH)
    quiet |= are_untraced(capture, rows)
    return ~quiet & ~np.isin(methods, told) if told else ~quiet


def are_untraced(capture: Capture, rows: Rows) -> _Bools:
    """Returns (n,) flags of calls in spaces that record no results, reported by a model's messages only. O(rows)."""
    columns, traces = capture.columns, _one_sided_codes(capture)
    if not traces:
        return np.zeros(len(rows), np.bool_)
    traced = are_any_of(columns["protocol"][rows], traces)
    traced &= columns["flags"][rows] & np.uint32(Flag.DERIVED.value) != 0
    spaces, known = columns["space"][rows], capture.transcripts.result_spaces
    untold = [code for code in sorted_unique(spaces[traced]).tolist() if capture.strings[code] not in known]
    return traced & np.isin(spaces, untold)


def _one_sided_codes(capture: Capture) -> list[int]:
    """Returns the string ids of formats that occur and may record calls without results."""
    return [code for name in (*TRACE_NAMES, *LONE_ANSWERS, *LACKING_RESULTS) if (code := capture.strings.find(name))]


def _needs_no_answer(method: str) -> bool:
    """Tells if a method gets no answer: notifications, and subscriptions that stay open."""
    return method.startswith("notifications/") or method == mcp_messages.LISTEN_METHOD


def are_refused(capture: Capture, links: GrowingColumns, rows: Rows) -> _Bools:
    """Returns (n,) flags of messages that a gateway refused. O(rows)."""
    rejected = capture.columns["flags"][rows] & Flag.REJECTED.value != 0
    return rejected | (links["given_up"][rows] == GivenUp.REFUSED.value)


def are_abandoned(capture: Capture, links: GrowingColumns, rows: Rows) -> _Bools:
    """Returns (n,) flags of messages that no participant waits for: refused, cancelled, or their sender is gone.

    O(rows).

    A sender that is still there does wait if only its recipient is gone, although in vain.
    """
    return are_given_up(capture, links, rows) & (links["given_up"][rows] != GivenUp.ASKED_LEFT.value)


def are_given_up(capture: Capture, links: GrowingColumns, rows: Rows) -> _Bools:
    """Returns (n,) flags of messages that were refused or cancelled, or that lost their sender or only recipient.

    O(rows).
    """
    return (links["given_up"][rows] != GivenUp.NO.value) | (capture.columns["flags"][rows] & Flag.REJECTED.value != 0)


def are_waiting(capture: Capture, links: GrowingColumns, rows: Rows) -> _Bools:
    """Returns (n,) flags of waits: unanswered requests that need an answer, and open proposals. O(rows).

    A message may have copies, such as in the logs of several recipients. It no longer waits once one copy was settled.
    """
    kind = capture.columns["kind"][rows]
    request, proposal = (capture.strings.find(name) or -1 for name in (kinds.REQUEST, kinds.PROPOSAL))
    waits = (kind == request) & (links["answer"][rows] == NO_ROW)
    asked = np.flatnonzero(waits)
    waits[asked] = need_answer(capture, rows[asked], links["method"][rows[asked]])
    waits |= (kind == proposal) & _is_open(links, rows)
    waits &= ~are_given_up(capture, links, rows)
    asked = np.flatnonzero(waits)
    waits[asked] = settled_copies(capture, links, rows[asked]) == NO_ROW
    return waits


def _is_open(links: GrowingColumns, rows: Rows) -> _Bools:
    return links["proposal_state"][rows] == ProposalState.OPEN.value


_MAX_COPIES = 8
"""Limit of messages with one id that are compared on either side, since one id may repeat in each turn."""


def settled_copies(capture: Capture, links: GrowingColumns, rows: Rows) -> Rows:
    """Returns (n,) an answered or decided copy of each message, before it or among the last, or NO_ROW. O(rows).

    A copy has the same id, sender and kind. In transcripts ids may repeat, as in each turn, and the spans of a model
    and of a tool may name different agents. There only copies that the transcript itself reports count.
    """
    columns = capture.columns
    found = np.full(len(rows), NO_ROW, np.int64)
    proposal = capture.strings.find(kinds.PROPOSAL) or -1
    # The copies before a message and the last ones of all: any of them may be the settled one.
    for before in (rows.astype(np.int64), np.full(len(rows), len(links), np.int64)):
        limits = before.copy()
        for _ in range(_MAX_COPIES):
            places = np.flatnonzero((found == NO_ROW) & (limits != NO_ROW) & (columns["id_hash"][rows] != NO_HASH))
            if not len(places):
                break
            copies = capture.ids.latest_rows(columns["id_hash"][rows[places]], limits[places]).astype(np.int64)
            limits[places] = copies
            asked = rows[places].astype(np.int64)
            other = (copies != NO_ROW) & (copies != asked)
            places, copies, asked = places[other], copies[other], asked[other]
            decided = (columns["kind"][copies] == proposal) & ~_is_open(links, copies)
            same = (columns["sender"][copies] == columns["sender"][asked]) & ~capture.are_derived(asked)
            if capture.has_copies:
                same |= _originals(capture, copies) == _originals(capture, asked)
            same &= columns["kind"][copies] == columns["kind"][asked]
            same &= columns["rpc_hash"][copies] == columns["rpc_hash"][asked]  # a reused id is no copy
            same &= decided | (links["answer"][copies] != NO_ROW)
            found[places[same]] = copies[same]
    return found


def _originals(capture: Capture, rows: Rows) -> Rows:
    """Returns (n,) the original of each message; the message itself if it is no copy."""
    of, is_copy = capture.repeated_messages(rows)
    return np.where(is_copy, of, rows)
