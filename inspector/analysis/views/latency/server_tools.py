"""Summarizes a server's tools: offers, calls, latencies, token cost and changes of definitions.

Computed on demand for the selected server, from its last lists. Only `changed_tools` is cached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.account.mcp_totals import mcp_revisions
from inspector.analysis.views.latency.latency import Latency, latency_of
from inspector.protocol import kinds
from inspector.protocol.mcp_definitions import Definition, ListPages, changed_aspects, definitions_of
from inspector.protocol.mcp_notes import SERVER_KEY
from inspector.protocol.message_text import compact_json
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Found = NDArray[np.int64]

# Each list is decoded whole, and the page of a server waits for it.
MAX_LISTS = 50
"""Lists read, the last ones."""
_MAX_ARGUMENTS = 12
_TYPES = {"string": "text", "integer": "whole number", "boolean": "yes or no", "array": "list", "null": "nothing"}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Usage of a tool.

    Attributes:
        calls: calls, each once, independent of its number of requests.
        failed: failed calls.
        latency: latency of answers, or None.
    """

    calls: int
    failed: int
    latency: Latency | None


class ToolChange(NamedTuple):
    """A changed definition.

    Attributes:
        row: the list with the new definition; `before` is the list with the old one.
        tool: its name.
        what: differing parts, in words; `new` and `gone` for added and removed tools.
    """

    row: int
    before: int
    tool: str
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """Contents of a server's tool lists.

    Attributes:
        arguments: by tool, arguments as `name: type`; optional ones have a question mark.
        hints: by tool, its annotations in words: reads only, may destroy...
        tokens: by tool, estimated tokens of its definition; empty until counted.
        changes: in order.
        lists: number of complete lists.
    """

    arguments: Mapping[str, tuple[str, ...]]
    hints: Mapping[str, tuple[str, ...]]
    tokens: Mapping[str, int]
    changes: tuple[ToolChange, ...]
    lists: int


def tool_use(analysis: Analysis, sent: Found, asked: Found) -> dict[str, ToolUse]:
    """Returns usage by tool of a server, most calls first. O(messages it sent or received).

    Args:
        analysis: the passes.
        sent: messages from the server.
        asked: messages addressed to it.
    """
    capture, links, rounds = analysis.capture, analysis.correlation.columns, analysis.correlation.rounds
    request, call = (capture.strings.find(text) or -1 for text in (kinds.REQUEST, "tools/call"))
    rows = asked[(capture.columns["kind"][asked] == request) & (links["method"][asked] == call)]
    rows = rows[~np.isin(rows, list(rounds.retries))]
    answers = rounds.results(rows, links["answer"][rows].astype(np.int64))
    error = np.uint32(Flag.ERROR.value)
    failed = (answers != NO_ROW) & (capture.columns["flags"][np.where(answers != NO_ROW, answers, 0)] & error != 0)
    failed |= np.isin(rows, [row for row, one in rounds.calls.items() if one.failed])
    took, _ = latency_of(analysis, sent)
    codes, counts = np.unique(links["target"][rows], return_counts=True)
    found = {
        capture.strings[code]: ToolUse(
            count, int(np.count_nonzero(failed & (links["target"][rows] == code))), took.get(capture.strings[code])
        )
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
        if code
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1].calls, item[0])))


def offered_tools(analysis: Analysis, sent: Found) -> OfferedTools | None:
    """Returns the contents of a server's lists; None without any. Reads the last lists."""
    columns, strings = analysis.capture.columns, analysis.capture.strings
    response, listing = strings.find(kinds.RESPONSE) or -1, strings.find("tools/list") or -1
    rows = sent[(columns["kind"][sent] == response) & (analysis.correlation.columns["method"][sent] == listing)]
    rows = rows[columns["flags"][rows] & np.uint32(Flag.ERROR.value) == 0][-MAX_LISTS:]
    last: dict[int, tuple[int, dict[str, Definition]]] = {}  # by conversation
    pages: dict[int, ListPages] = {}
    changes: list[ToolChange] = []
    tools: dict[str, tuple[int, dict[str, Any]]] = {}
    lists = 0
    for row, pipe in zip(rows.tolist(), _conversations(analysis, rows), strict=True):
        page, cursor, next_cursor = _page(analysis, row)
        tools.update({tool["name"]: (row, tool) for tool in page if isinstance(tool.get("name"), str)})
        complete = pages.setdefault(pipe, ListPages()).add_page(cursor, page, next_cursor)
        if complete is None:
            continue
        lists += 1
        listed = definitions_of(complete)
        if pipe in last:
            changes += _changes(row, *last[pipe], listed)
        # Per connection, as two servers may share a name.
        last[pipe] = row, listed
    if not len(rows):
        return None
    return OfferedTools(
        {name: tuple(_arguments(tool)) for name, (_, tool) in tools.items()},
        {name: tuple(_hints(tool)) for name, (_, tool) in tools.items()},
        _tokens(analysis, tools), tuple(changes), lists,
    )  # fmt: skip


# Cached, since the account asks at each update. Weak, so that a closed document is freed.
_changed: WeakKeyDictionary[Analysis, tuple[bytes, tuple[ToolChange, ...]]] = WeakKeyDictionary()


def changed_tools(analysis: Analysis) -> tuple[ToolChange, ...]:
    """Returns the definitions that servers changed, in order. O(messages) in numpy; lists are read once."""
    columns, strings = analysis.capture.columns, analysis.capture.strings
    response, listing = strings.find(kinds.RESPONSE), strings.find("tools/list")
    if response is None or listing is None:
        return ()
    rows = np.flatnonzero(
        (analysis.correlation.columns["method"][:] == listing) & (columns["kind"][: len(analysis)] == response)
    )
    if len(rows) < 2:
        return ()
    # The lists themselves never change, so their rows identify the result.
    key = rows.tobytes()
    known = _changed.get(analysis)
    if known is None or known[0] != key:
        senders = columns["space"][rows].astype(np.int64) << 32 | columns["sender"][rows].astype(np.int64)
        found = [offered_tools(analysis, rows[senders == one]) for one in np.unique(senders)]
        changes = sorted((change for one in found if one is not None for change in one.changes), key=lambda c: c.row)
        known = _changed[analysis] = key, tuple(changes)
    return known[1]


def server_words(analysis: Analysis, sent: Found) -> str:
    """Returns a server's name, version and MCP revision; "" if unknown."""
    methods = [analysis.capture.strings.find(method) for method in ("initialize", "server/discover")]
    kind = analysis.capture.strings.find(kinds.RESPONSE) or -1
    rows = sent[np.isin(analysis.correlation.columns["method"][sent], [code for code in methods if code])]
    rows = rows[analysis.capture.columns["kind"][rows] == kind]
    for row in rows[::-1][:_MAX_ANSWERS].tolist():
        result: Any = analysis.capture.records.payload(row).get("result")
        result = result if isinstance(result, dict) else {}
        meta = result.get("_meta") if isinstance(result.get("_meta"), dict) else {}
        info = result.get("serverInfo") or meta.get(SERVER_KEY)
        names = [info.get(key) for key in ("name", "version")] if isinstance(info, dict) else []
        named = " ".join(name for name in names if isinstance(name, str) and name)
        version = mcp_revisions(analysis, np.array([row]))[0]
        if named:
            return f"{named}, MCP {analysis.capture.strings[int(version)]}" if version else named
    return ""


_MAX_ANSWERS = 10


def _conversations(analysis: Analysis, rows: Found) -> list[int]:
    of_rpc = analysis.capture.columns["flags"][rows] & np.uint32(Flag.RPC.value) != 0
    return np.where(of_rpc, connection_keys(analysis.capture, rows), NO_ROW).tolist()


def _page(analysis: Analysis, row: int) -> tuple[list[dict[str, Any]], Any, Any]:
    """Returns the tools of a page, its cursor, and the next cursor."""
    result: Any = {} if analysis.capture.records.is_big(row) else analysis.capture.records.payload(row).get("result")
    result = result if isinstance(result, dict) else {}
    tools = result.get("tools")
    asked = int(analysis.correlation.columns["cause"][row])
    params: Any = analysis.capture.records.payload(asked).get("params") if asked != NO_ROW else None
    cursor = params.get("cursor") if isinstance(params, dict) else None
    page = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return page, cursor, result.get("nextCursor")


def _changes(
    row: int, before: int, old: Mapping[str, Definition], new: Mapping[str, Definition]
) -> Iterator[ToolChange]:
    for name in {**old, **new}:
        if name not in new:
            yield ToolChange(row, before, name, ("gone",))
        elif name not in old:
            yield ToolChange(row, before, name, ("new",))
        elif what := changed_aspects(old[name].aspects, new[name].aspects):
            yield ToolChange(row, before, name, tuple(what))


def _arguments(tool: Mapping[str, Any]) -> Iterator[str]:
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return
    required = schema.get("required")
    needed = {one for one in required if isinstance(one, str)} if isinstance(required, list) else set[str]()
    for name in [*properties][:_MAX_ARGUMENTS]:
        yield f"{name}{'' if name in needed else '?'}: {_type(properties[name])}"
    if len(properties) > _MAX_ARGUMENTS:
        yield f"{len(properties) - _MAX_ARGUMENTS} more"


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything"
    if isinstance(choices := schema.get("enum"), list):
        return " | ".join(compact_json(one)[:20] for one in choices[:6])
    named = schema.get("type")
    names = [one for one in named if isinstance(one, str)] if isinstance(named, list) else [named]
    words = [_TYPES.get(one, one) for one in names if isinstance(one, str)]
    return " or ".join(words) or ("one of several" if "anyOf" in schema or "oneOf" in schema else "anything")


_HINTS = {
    "readOnlyHint": ("reads only", None), "destructiveHint": ("may destroy", "is not destructive"),
    "idempotentHint": ("safe to repeat", None), "openWorldHint": ("reaches outside", "stays inside"),
}  # fmt: skip


def _hints(tool: Mapping[str, Any]) -> Iterator[str]:
    given = tool.get("annotations")
    hints: dict[str, Any] = given if isinstance(given, dict) else {}
    for name, words in _HINTS.items():
        value = hints.get(name)
        word = words[value is False] if isinstance(value, bool) else None
        if word:
            yield word


def _tokens(analysis: Analysis, tools: Mapping[str, tuple[int, dict[str, Any]]]) -> dict[str, int]:
    """Returns estimated tokens by definition: its share of its list's tokens; without uncounted lists."""
    sizes = {name: len(compact_json(tool)) for name, (_, tool) in tools.items()}
    of_list: dict[int, int] = {}
    for name, (row, _) in tools.items():
        of_list[row] = of_list.get(row, 0) + sizes[name]
    found: dict[str, int] = {}
    for name, (row, _) in tools.items():
        counted = int(analysis.tokens.columns["tokens"][row])
        if counted != NOT_COUNTED:
            # A share of the list's count, as a list is counted whole and its definitions are not.
            found[name] = round(counted * sizes[name] / max(1, of_list[row]))
    return found
