"""Matches a tool call in an agent's transcript with the request that its MCP server received.

The agent's program uses its own names and ids for tools, and MCP other ids. One call is therefore two requests in two
sources, each with an answer. Computed on demand for one message, and for all in `call_pairs`.

RULE (docs/protocols.md 5, Calls in two sources): certain if the MCP request names the agent's call, or if both name one
`traceparent`. Otherwise likely, with equal tool and arguments and overlapping times. Of several equal calls, the n-th
matches the n-th. Two servers are never matched, as both number their requests alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME, duration_in_words
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

MAX_DISTANCE = 100_000
"""Messages searched before and after a call."""
MAX_CALL_NS = 10 * 60 * 1_000_000_000
"""Nanoseconds in which a call without an answer may be made."""
TOLERANCE_NS = 2_000_000_000
"""Tolerance in nanoseconds, as two programs log a call at different moments."""
MAX_DISTANCE_NS = MAX_CALL_NS + TOLERANCE_NS
_MAX_CANDIDATES = 100
# The panel of a chain asks for the same neighbours again and again.
_MAX_CACHED = 20_000
"""Calls with cached arguments."""
_CALL = "tools/call"
MCP_LAYER = 2
_PREFIX = re.compile(r"mcp__.+__|mcp_.+_|.*\w(?:__|[-./:])", re.DOTALL)
"""Prefixes that clients put before a server's tool name: `mcp__files__`, `mcp_files_`, `files__`, `files-`, `files.`.
"""
_SERVER = re.compile(r"mcp__(.+?)__|mcp_(.+?)_|(.+?)(?:__|[-./:])", re.DOTALL)
_TOOL_USE = re.compile(r"(?:^|[/._-])(?:tool_?use_?id|tool_?call_?id)$", re.IGNORECASE)
"""Keys of `_meta` in which a client names its agent's call."""
_TRACE = "traceparent"
_UNUSABLE = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.REJECTED).value


class SameCall(NamedTuple):
    """A request that is also a call of another source.

    Attributes:
        outer: the call on the asker's side.
        inner: the request on the server's side.
        is_certain: True if an id proves it.
        why: evidence, as part of a sentence; contains names from the wire.
    """

    outer: int
    inner: int
    is_certain: bool
    why: str


def same_calls(analysis: Analysis, message: int) -> list[SameCall]:
    """Returns the matches of a request in other sources, outer or inner."""
    return SameCallFinder(analysis).matches_of(message) if len(analysis.capture.sources) > 1 else []


def certain_matches(analysis: Analysis, message: int, *, outward: bool) -> set[int]:
    """Returns certain matches of a request in other sources, either outer or inner ones."""
    found = [one for one in same_calls(analysis, message) if one.is_certain]
    if outward:
        return {one.outer for one in found if one.inner == message}
    return {one.inner for one in found if one.outer == message}


class SameCallFinder:
    """Searches matches near a call; caches decoded calls."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._capture = analysis.capture
        self._links = analysis.correlation.columns
        self._decoded_calls: dict[int, tuple[str | None, frozenset[str]]] = {}

    def matches_of(self, message: int) -> list[SameCall]:
        if not self._is_call(message):
            return []
        inward = self.inner_of(message)
        outer = [row for row in self._near_calls(message, outward=True) if self._may_match(row, message)]
        found = [one for row in outer if (one := self.inner_of(row)) is not None and one.inner == message]
        return found if inward is None else [*found, inward]

    def _may_match(self, outer: int, inner: int) -> bool:
        return self._arguments(outer) == self._arguments(inner) or bool(self._names(outer) & self._names(inner))

    def inner_of(self, outer: int) -> SameCall | None:
        """Returns the request in another source that carried out a call."""
        near = self._near_calls(outer, outward=False)
        own = self._identifier(outer)
        naming = [row for row in near if own is not None and own in self._names(row)]
        if naming:
            return SameCall(outer, naming[0], True, "it names the call")
        traced = [row for row in near if self._names(outer) & self._names(row)]
        # Several requests of one trace do not tell which is meant.
        if len(traced) == 1:
            return SameCall(outer, traced[0], True, "both name one traceparent")
        return self._likely_match(outer, near)

    def _likely_match(self, outer: int, near: list[int]) -> SameCall | None:
        arguments = self._arguments(outer)
        if arguments is None:
            return None
        alike = [row for row in near if self._arguments(row) == arguments]
        sources = {self._source(row) for row in alike}
        if len(sources) > 1:
            sources = {source for source in sources if self._is_of_server(outer, source)}
        if len(sources) != 1:
            return None
        inner = [row for row in alike if self._source(row) in sources]
        found = self._first_free(outer, arguments, inner)
        return SameCall(outer, found, False, self._evidence(outer, found, arguments)) if found is not None else None

    def _first_free(self, outer: int, arguments: str, inner: list[int]) -> int | None:
        """Returns the request for a call, after earlier equal calls have got theirs."""
        taken: set[int] = set()
        found: int | None = None
        for call in (*self._alike_before(outer, arguments), outer):
            found = next((row for row in inner if row not in taken and self._is_during(call, row)), None)
            if found is not None:
                taken.add(found)
        return found

    def _evidence(self, outer: int, inner: int, arguments: str) -> str:
        times = self._capture.columns["time_ns"]
        apart = int(times[inner]) - int(times[outer])
        name = self._capture.sources[self._source(inner)].name
        what = "the same arguments" if arguments != "{}" else "no arguments"
        when = f"{duration_in_words(abs(apart))} {'later' if apart >= 0 else 'earlier'}"
        return f"the same tool with {what} in {name}, {when}"

    def _alike_before(self, outer: int, arguments: str) -> list[int]:
        """Returns earlier equal calls of the same source, ascending."""
        columns, near = self._capture.columns, slice(max(0, outer - MAX_DISTANCE), outer)
        found = self._links["target"][near] == self._links["target"][outer]
        for name in ("kind", "source"):
            found &= columns[name][near] == columns[name][outer]
        rows = (np.flatnonzero(found) + near.start)[-_MAX_CANDIDATES:].tolist()
        return [row for row in rows if self._arguments(row) == arguments]

    # Neighbours

    def _near_calls(self, message: int, *, outward: bool) -> list[int]:
        """Returns calls of the same tool in other sources, one layer out or in, ascending; at most 100."""
        columns = self._capture.columns
        time = int(columns["time_ns"][message])
        rows = self._candidates(message, outward=outward)
        rows = rows[columns["source"][rows] != columns["source"][message]]
        times = columns["time_ns"][rows]
        rows = rows[(times != NO_TIME) & (times >= time - MAX_DISTANCE_NS) & (times <= time + MAX_DISTANCE_NS)]
        layers, own = self.layers(rows), self._layer(message)
        rows = rows[layers < own] if outward else rows[layers > own]
        # Each candidate's arguments are decoded, so a loop of equal calls must not be searched whole.
        nearest = np.argsort(np.abs(columns["time_ns"][rows] - time), kind="stable")[:_MAX_CANDIDATES]
        return np.sort(rows[nearest]).tolist()

    def _candidates(self, message: int, *, outward: bool) -> Rows:
        """Returns calls with the same tool name, with or without a client's prefix, ascending."""
        strings, targets = self._capture.strings, self._links["target"]
        rows = self.calls_between(max(0, message - MAX_DISTANCE), min(len(self._analysis), message + MAX_DISTANCE))
        name = strings[int(targets[message])]
        codes = [
            code
            for code in np.unique(targets[rows]).tolist()
            if code and (is_same_tool(strings[code], name) if outward else is_same_tool(name, strings[code]))
        ]
        return rows[np.isin(targets[rows], codes)]

    def calls_between(self, start: int, stop: int) -> Rows:
        """Returns the tool calls among messages `start` to `stop`, ascending."""
        columns, strings, near = self._capture.columns, self._capture.strings, slice(start, stop)
        request, call = (strings.find(name) or -1 for name in (kinds.REQUEST, _CALL))
        found = (columns["kind"][near] == request) & (self._links["method"][near] == call)
        found &= columns["flags"][near] & np.uint32(_UNUSABLE) == 0
        return np.flatnonzero(found) + start

    def layers(self, rows: Rows) -> Rows:
        """(n,) layer of each call: 0 in an agent's program, 1 in an envelope, 2 in MCP itself."""
        columns = self._capture.columns
        rpc = (columns["flags"][rows] & np.uint32(Flag.RPC.value)) != 0
        return np.where(columns["part"][rows] != 0, 0, np.where(rpc, MCP_LAYER, 1))

    def _layer(self, message: int) -> int:
        return int(self.layers(np.array([message]))[0])

    def _is_of_server(self, outer: int, source: int) -> bool:
        """Returns True if the client's tool name contains the server of a source."""
        found = _SERVER.match(self._capture.strings[int(self._links["target"][outer])])
        server = next((name for name in found.groups() if name), "") if found is not None else ""
        return bool(server) and server.casefold() in self._capture.sources[source].name.casefold()

    def _is_during(self, outer: int, inner: int) -> bool:
        """Returns True if the inner call lies between the outer call and its answer, if it has one."""
        times = self._capture.columns["time_ns"]
        start, time = int(times[outer]), int(times[inner])
        answer = int(self._links["answer"][outer])
        end = int(times[answer]) if answer != NO_ROW else NO_TIME
        end = end if end != NO_TIME else start + MAX_CALL_NS
        return start - TOLERANCE_NS <= time <= end + TOLERANCE_NS

    # Contents of calls

    def _is_call(self, message: int) -> bool:
        capture = self._capture
        if capture.string("kind", message) != kinds.REQUEST or int(capture.columns["time_ns"][message]) == NO_TIME:
            return False
        method = capture.strings[int(self._links["method"][message])]
        return method == _CALL and not int(capture.columns["flags"][message]) & _UNUSABLE

    def _source(self, message: int) -> int:
        return int(self._capture.columns["source"][message])

    def _arguments(self, message: int) -> str | None:
        """Returns the arguments of a call in canonical form; None if they are no object."""
        return self._decoded_call(message)[0]

    def _names(self, message: int) -> frozenset[str]:
        """Returns the ids that identify a call in any source: its own, that of the agent's call, its trace."""
        return self._decoded_call(message)[1]

    def _identifier(self, message: int) -> str | None:
        """Returns the id by an agent's program; JSON-RPC ids have no meaning in other sources."""
        return None if self._layer(message) == MCP_LAYER else self._capture.records.envelope_id(message)

    def _decoded_call(self, message: int) -> tuple[str | None, frozenset[str]]:
        found = self._decoded_calls.get(message)
        if found is None:
            # Rare, so that clearing all is good enough.
            if len(self._decoded_calls) > _MAX_CACHED:
                self._decoded_calls.clear()
            params = (
                None if self._capture.records.is_big(message) else self._capture.records.payload(message).get("params")
            )
            params = params if isinstance(params, Mapping) else {}
            given = params.get("arguments", {})
            recorded = not int(self._capture.columns["flags"][message]) & Flag.UNRECORDED.value
            told = isinstance(given, Mapping) and recorded
            arguments = json.dumps(given, sort_keys=True, default=str) if told else None
            names = {self._identifier(message), *_ids_in_meta(params.get("_meta"))}
            found = self._decoded_calls[message] = arguments, frozenset(name for name in names if name)
        return found


def _ids_in_meta(meta: Any) -> Iterator[str]:
    """Yields ids of agent calls and traces in a request's `_meta`."""
    for key, value in meta.items() if isinstance(meta, Mapping) else ():
        if isinstance(key, str) and isinstance(value, str) and (key == _TRACE or _TOOL_USE.search(key)):
            yield value


def is_same_tool(outer: str, inner: str) -> bool:
    """Returns True if both names are equal except for a client's prefix."""
    if outer == inner:
        return True
    return outer.endswith(inner) and _PREFIX.fullmatch(outer[: len(outer) - len(inner)]) is not None
