"""What property tests draw from: conversations that go wrong in every way the protocols allow, and spoilt lines."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tests.builders import delivered, received


def share_of_examples(part: int) -> settings:
    """For a slow property: one example where others try so many, of what the profile says (tests/conftest.py)."""
    return settings(max_examples=max(1, settings().max_examples // part))


IDS = ("a", "b", "r1", "r2", "r1/r2", "s/t")
NAMES = ("lead", "files", "system:gateway")
TOOLS = ("search_records", "analysis_store", "grep")

_ids = st.sampled_from(IDS)
_names = st.sampled_from(NAMES)
_kinds = st.sampled_from(
    (
        "mcp/request", "mcp/request", "mcp/response", "mcp/response", "mcp/response", "mcp/proposal", "mcp/reject",
        "mcp/withdraw", "chat", "reasoning/start", "reasoning/start", "reasoning/thought", "reasoning/conclusion",
        "reasoning/cancel", "mcp/request:tools/call:grep", "mcp/response:tools/call:grep", "participant/status",
        "system/presence", "system/welcome", "mcp.request", "stream/open", "meup/context", "capability/grant",
        "capability/revoke",
    )
)  # fmt: skip
_object_contexts = st.fixed_dictionaries(
    {"id": _ids},
    optional={
        "parent": _ids | st.fixed_dictionaries({"id": _ids}, optional={"parent": _ids}),
        "type": st.sampled_from(("reasoning", "review")),
        "metadata": st.dictionaries(st.sampled_from(("trigger", "started")), st.integers(0, 9) | _ids, max_size=2),
    },
)
_operations = st.fixed_dictionaries(
    {"operation": st.sampled_from(("push", "push", "pop", "resume"))},
    optional={"topic": _ids, "correlation_id": _ids},
)
contexts = st.one_of(
    _ids,
    st.tuples(_ids, _ids).map("/".join),
    st.sampled_from(("", "/", "r1//r2/", "x/y/z")),
    _object_contexts,
    _operations,
    st.just(7),
    st.just({"type": "nameless"}),
)
_meta = st.sampled_from(
    (
        {"contextHints": [{"tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}]},
        {"context": {"lifecycle": "transient", "summary": "15 records"}},
        {"context": {"lifecycle": "transient"}},
        {"context": {"consumed": True}},
        {"context": {"consumed": True, "lifecycle": "transient"}},
        {"context": {"consumed": "true"}},
    )
)
_rpc_ids = st.sampled_from((1, 2, "1"))
_calls = st.fixed_dictionaries(
    {"method": st.sampled_from(("tools/call", "tools/list"))},
    optional={"id": _rpc_ids, "params": st.builds(lambda tool: {"name": tool}, st.sampled_from(TOOLS))},
)
_outcomes = st.fixed_dictionaries(
    {
        "result": st.fixed_dictionaries({}, optional={"_meta": _meta, "isError": st.booleans()}),
    },
    optional={"id": _rpc_ids},
)
_presences = st.fixed_dictionaries(
    {"event": st.sampled_from(("join", "leave", "update")), "participant": st.builds(lambda n: {"id": n}, _names)}
)
_payloads = st.one_of(
    _calls, _outcomes, _outcomes, _presences, st.just({"tokens": 5, "max_tokens": 9}), st.just({"message": "why so"})
)
_stamps = st.integers(0, 40).map(lambda s: f"2026-01-05T09:00:{s:02d}.000Z")

envelopes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"kind": _kinds},
    optional={
        "id": _ids,
        "ts": _stamps,
        "from": _names,
        "to": st.lists(_names, max_size=2) | _names,
        "correlation_id": st.lists(_ids, max_size=2) | _ids,
        "context": contexts,
        "payload": _payloads,
    },
)


_ACTS = (
    ("get_workflow_step",
     {"contextHints": [{"tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}]}),
    ("search_records", {"context": {"lifecycle": "transient", "summary": "15 records"}}),
    ("search_records", {"context": {"lifecycle": "transient"}}),
    ("analysis_store", {"context": {"consumed": True}}),
    ("analysis_store", {"context": {"consumed": True}}),
)  # fmt: skip


def _call(caller: str, server: str, number: int, tool: str, *, context: Any = None) -> dict[str, Any]:
    fields = {} if context is None else {"context": context}
    payload = {"method": "tools/call", "params": {"name": tool}}
    return {"id": f"q{number}", "kind": "mcp/request", "from": caller, "to": [server], "payload": payload, **fields}


@st.composite
def calls(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some tool calls and their results with `_meta`, by their ids, in any order: late requests, late hints."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 6))):
        caller, server = draw(st.sampled_from((("lead", "files"), ("lead", "files"), ("files", "lead"))))
        tool, meta = draw(st.sampled_from(_ACTS) | st.tuples(st.sampled_from(TOOLS), _meta))
        made.append(_call(caller, server, number, tool))
        result: dict[str, Any] = {"_meta": meta}
        if draw(st.integers(0, 5)) == 0:
            result["isError"] = True
        made.append(
            {"id": f"p{number}", "kind": "mcp/response", "from": server, "to": [caller],
             "correlation_id": [f"q{number}"], "payload": {"result": result}}
        )  # fmt: skip
    return draw(st.permutations(made)) if draw(st.booleans()) else made


@st.composite
def proposals(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A proposal or two, and what may become of them, in any order."""
    call = {"method": "tools/call", "params": {"name": "grep"}}
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 2))):
        named = {"correlation_id": [f"d{number}"]}
        made.append({"id": f"d{number}", "kind": "mcp/proposal", "from": "lead", "payload": call})
        if draw(st.booleans()):
            made.append({"kind": "mcp/reject", "from": "files", **named})
        if draw(st.booleans()):
            made.append({"kind": "mcp/withdraw", "from": draw(st.sampled_from(("lead", "files"))), **named})
        if draw(st.booleans()):
            payload = draw(st.sampled_from((call, {})))
            made.append({"id": f"f{number}", "kind": "mcp/request", "from": "files", "payload": payload, **named})
            for _ in range(draw(st.integers(0, 2))):
                result = {"correlation_id": [f"f{number}"], "payload": {"result": {}}}
                made.append({"kind": "mcp/response", "from": "lead", **result})
    return draw(st.permutations(made))


conversations: st.SearchStrategy[list[dict[str, Any]]] = st.one_of(
    st.lists(envelopes, max_size=14),
    calls(),
    proposals(),
    st.builds(lambda some, more: [*some, *more], calls(), st.lists(envelopes, max_size=8)),
)

_context_kinds = st.sampled_from(
    (
        "chat",
        "reasoning/start",
        "reasoning/start",
        "reasoning/thought",
        "reasoning/conclusion",
        "reasoning/cancel",
        "meup/context",
        "meup/context",
        "mcp/request",
    )
)
context_conversations: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"kind": _context_kinds, "id": _ids, "from": _names, "payload": st.just({"message": "why"})},
        optional={"context": contexts, "correlation_id": st.sampled_from((*IDS, "x", "x/y", "gone"))},
    ),
    max_size=14,
)
"""Messages about nothing but contexts: string and object forms, starts before and after their messages, cycles."""

_rpc_lines = st.builds(
    lambda message, way: {"t": "2026-01-05T09:00:00Z", "dir": way, "message": {"jsonrpc": "2.0", **message}},
    st.one_of(_calls, _outcomes),
    st.sampled_from(("client->server", "server->client", "in", "out")),
)
rpc_conversations = st.lists(_rpc_lines, max_size=14)


@st.composite
def gateway_logs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines of a gateway log: some envelopes, each received, delivered or rejected any number of times, mixed up."""
    some = draw(st.lists(envelopes, min_size=1, max_size=5))
    lines: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 16))):
        inner = draw(st.sampled_from(some))
        event = draw(st.sampled_from(("received", "delivered", "delivered", "rejected")))
        if event == "received":
            lines.append(received(inner))
        else:
            lines.append(delivered(inner, draw(_names), event=event))
    return lines


@st.composite
def traffic(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A gateway log of two spaces in which everything comes late: answers before requests, copies, hints, parents."""
    told = [*draw(calls()), *draw(proposals()), *draw(context_conversations), *draw(st.lists(envelopes, max_size=4))]
    told = draw(st.permutations(told)) if draw(st.booleans()) else told
    lines: list[dict[str, Any]] = []
    for inner in told[:20]:
        if "context" not in inner and draw(st.booleans()):
            inner = {**inner, "context": draw(contexts)}
        space = draw(st.sampled_from(("demo", "demo", "other")))
        lines.append(received(inner, space_id=space))
        for _ in range(draw(st.integers(0, 2))):  # a copy, now or later
            event = draw(st.sampled_from(("delivered", "rejected")))
            copy = delivered(inner, draw(_names), event=event, space_id=space)
            lines.insert(draw(st.integers(len(lines) // 2, len(lines))), copy)
    return lines


_good = st.one_of(envelopes, _rpc_lines).map(lambda line: json.dumps(line).encode())
_spoilt = st.one_of(
    st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
    st.builds(lambda line, cut: line[:cut], _good, st.integers(0, 200)),
    st.sampled_from(
        (
            b"", b"\r", b" \t ", b"\x00", b"\x00{}", b"{}", b"[]", b"null", b"7", b'"text"', b"{", b"]", b"NaN",
            b'{"kind":"chat","payload":{"text":"\\ud800"}}', b'{"kind":"chat","ts":NaN,"payload":{}}',
            b'{"kind":"chat","id":"\\udfff","context":"\\ud800/x","payload":{}}', b"#s1#data", b"#s1", b"##", b"#",
            b'{"ctxcap":1,"x":"\\ud800"}', b'{"t":1,"dir":"in","frame":{"kind":"chat","payload":{}}}',
            b'{"t":1,"dir":"in","text":"#s#x"}', b'{"t":1,"dir":"in","b64":"****"}', b'{"t":1,"mark":"gap"}',
            b'{"t":1,"dir":"out","b64":"I3MjAP8="}', b'{"type":"join","participantId":"me","token":"x"}',
            b'{"error":"Invalid message format"}', b'{"type":"Buffer","data":[35,115,35,300]}', b"\xff\xfe{\x00}\x00",
            b'{"event":"capability_check","timestamp":"x","result":"allowed"}', b'{"kind":["a"],"id":7,"payload":[]}',
            b'{"kind":"chat","ts":"9999-12-31T23:59:59.999Z","payload":null}', b"\xef\xbb\xbf{}",
            b'{"kind":"mcp/request","payload":{"id":{"a":"\\ud800"},"method":"tools/call","params":[1]}}',
            b'[{"jsonrpc":"2.0","id":1,"method":"a"}, {"jsonrpc":"2.0","id":1,"result":{}} ]', b'[{"jsonrpc":"2.0"},',
            b'{"t":1,"dir":"in->out","src":2,"frame":[{"jsonrpc":"2.0","id":1,"method":"a"}, 7]}',
            b'{"message":[{"jsonrpc":"2.0","id":1,"result":{}}],"t":1}', b'{"t":1,"src":2,"mark":"opened"}',
            b'{"kind":"mcp/response","payload":{"result":{"_meta":{"context":7}}},"correlation_id":[[1]]}',
        )
    ),
)  # fmt: skip
lines: st.SearchStrategy[list[bytes]] = st.lists(st.one_of(_good, _spoilt), max_size=12)
"""Lines without their ends: good ones, cut ones, bytes of any kind."""

logs = st.builds(lambda parts, end, last: end.join(parts) + last, lines, st.sampled_from((b"\n", b"\r\n")),
                 st.sampled_from((b"", b"\n")))  # fmt: skip
"""Bytes of a log, some of it spoilt, with either line end, its last line ended or torn."""
