"""Random traffic for two readers: dialects mixed, late, doubled, in others' names, across restarts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Line = dict[str, Any]
_PEOPLE = ("lead", "files", "coder")
_GATEWAYS = ("system:gateway", "system:gateway", "system")
_CONTEXTS = ("why", "job", "fs", "s/t")
_TOOLS = ("search_records", "analysis_store", "grep")
_people = st.sampled_from(_PEOPLE)
_tools = st.sampled_from(_TOOLS)
_names = st.sampled_from(_CONTEXTS)
_often = st.sampled_from((True, True, True, False))
_seldom = st.sampled_from((False, False, False, False, True))

_objects = st.fixed_dictionaries(
    {"id": _names},
    optional={"parent": _names | st.fixed_dictionaries({"id": _names, "parent": _names}), "type": st.just("review")},
)
_paths = st.lists(_names, min_size=1, max_size=3).map("/".join) | st.sampled_from(("why//fs/", "/", "x/y/z", "why/x"))
_operations = st.fixed_dictionaries(
    {"operation": st.sampled_from(("push", "push", "pop", "resume"))},
    optional={"topic": _names, "correlation_id": _names},
)
_contexts = st.one_of(_names, _paths, _objects, _operations, st.sampled_from((7, {"type": "review"}, None)))
_hint = {"tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}
_metas = st.sampled_from(
    (
        {"contextHints": [_hint]},
        {"contextHints": [_hint], "context": {"lifecycle": "transient"}},
        {"context": {"lifecycle": "transient", "summary": "15 records"}},
        {"context": {"lifecycle": "transient", "consumedBy": "grep"}},
        {"context": {"consumed": True}},
        {"context": {"consumed": True}},
        {"context": {"consumed": True, "lifecycle": "transient"}},
        {"context": {"consumed": "true"}},
    )
)
_patterns = st.sampled_from(({"kind": "chat"}, {"kind": "mcp/*"}, {"kind": "mcp/request", "to": ["files"]}, "mcp/*"))


@st.composite
def _exchange(draw: st.DrawFn, number: int) -> list[Line]:
    """A call, proposed first or not, and its answers; each may say less than it should, in any dialect's form."""
    asks, answers = draw(st.permutations(_PEOPLE))[:2]
    tool, made = draw(_tools), list[Line]()
    full = {"method": "tools/call", "params": {"name": tool}}
    request: Line = {"id": f"q{number}", "from": asks, "to": [answers], "kind": "mcp/request", "payload": full}
    if draw(_seldom):
        request["kind"] = draw(st.sampled_from(("mcp/request:tools/call:grep", "mcp.request", "mcp")))
    if draw(_seldom):
        request["payload"] = draw(st.sampled_from(({}, {"method": "tools/call"}, {"method": "tools/list"})))
    if draw(_seldom):
        proposer = draw(_people)
        made.append({"id": f"d{number}", "from": proposer, "kind": "mcp/proposal", "payload": full})
        request["correlation_id"] = [f"d{number}"]
        for kind in draw(st.lists(st.sampled_from(("mcp/reject", "mcp/withdraw")), max_size=2)):
            about = {"kind": kind, "correlation_id": [f"d{number}"]}
            made.append({"id": f"{kind[4]}{number}", "from": draw(_people), **about})
    made.append(request)
    for more in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
        result: Line = {"_meta": draw(_metas), **({"isError": True} if draw(_seldom) else {})}
        answer: Line = {"id": f"a{number}{more or ''}", "from": answers, "to": [asks], "kind": "mcp/response"}
        answer |= {"correlation_id": [f"q{number}"], "payload": {"result": result}}
        if draw(_seldom):
            answer["from"] = draw(_people)
        if draw(_seldom):
            answer["kind"] = draw(
                st.sampled_from(("mcp/response:tools/call:search_records", "mcp/response:tools/list", "mcp"))
            )
        if draw(_seldom):  # only the JSON-RPC id tells, if anything
            answer["correlation_id"] = []
            request["payload"], answer["payload"] = {**request["payload"], "id": 7}, {**answer["payload"], "id": 7}
        elif draw(_seldom):
            answer["correlation_id"] = draw(
                st.sampled_from((f"q{number}", ["gone", f"q{number}"], [f"d{number}"], ["why"]))
            )
        made.append(answer)
    return made


@st.composite
def _thought(draw: st.DrawFn, number: int) -> Line:
    """A message that is about a context, or begins or ends one."""
    kind = draw(
        st.sampled_from(
            ("chat", "reasoning/start", "reasoning/thought", "reasoning/conclusion", "reasoning/cancel",
             "meup/context", "meup/context", "reflection")
        )
    )  # fmt: skip
    line: Line = {
        "id": draw(_names) if kind == "reasoning/start" else f"t{number}",
        "from": draw(_people),
        "kind": kind,
    }
    context = draw(_contexts if kind != "meup/context" else _operations | _contexts)
    if kind != "reasoning/start" or draw(_seldom):
        line["context"] = context
    return line


_reasoned = st.sampled_from(
    ("reasoning/start", "reasoning/start", "reasoning/thought", "reasoning/thought", "reasoning/conclusion",
     "reasoning/cancel", "chat", "context/start", "context/end", "conclusion", "reflection")
)  # fmt: skip


@st.composite
def sequences(draw: st.DrawFn) -> list[Line]:
    """Reasoning that names its context in any way: by the start's id, beside it, by correlation; late and again."""
    ids = [f"m{number}" for number in range(1, draw(st.integers(2, 9)) + 1)]
    names = ["job", "fs", *ids[:4], "s/t"]
    named = st.sampled_from(names)
    context = st.one_of(
        named, named, st.lists(named, min_size=2, max_size=3).map("/".join), st.fixed_dictionaries({"id": named}),
        st.fixed_dictionaries({"id": named, "parent": named}),
    )  # fmt: skip
    made: list[Line] = []
    for place, identifier in enumerate(ids):
        kind = draw(_reasoned)
        at = place if draw(_often) else max(0, place - 3)
        line: Line = {"id": identifier, "ts": f"2026-01-05T09:00:{at:02d}.000Z", "from": draw(_people), "kind": kind}
        if kind.startswith("context/"):
            name = draw(named)
            if kind == "context/start" or draw(st.booleans()):
                line["payload"] = {"context_id": name, **({"type": "review"} if draw(_seldom) else {})}
            if draw(st.booleans()):
                line["correlation_id"] = [draw(named)]
        elif draw(_often):
            where = draw(st.sampled_from(("context", "context", "context", "payload", "thread_id")))
            if where == "payload":
                line["payload"] = {"context": draw(context)}
            else:
                line[where] = draw(context if where == "context" else named)
        if not kind.startswith("context/") and draw(st.booleans()):
            line["correlation_id"] = draw(st.lists(named, min_size=1, max_size=2))
        made.append(line)
    if draw(_seldom):
        return draw(st.permutations(made))
    if draw(_seldom):
        made += draw(st.lists(st.sampled_from(made), max_size=2))
    return made


@st.composite
def _gateways_word(draw: st.DrawFn, number: int) -> Line:
    """Who is there and what they may do: by the gateway, or by somebody who plays it."""
    kind = draw(
        st.sampled_from(("system/welcome", "system/presence", "presence", "capability/grant", "capability/revoke"))
    )
    who, held = draw(_people), draw(st.lists(_patterns, max_size=2))
    line: Line = {"id": f"g{number}", "from": draw(_people), "kind": kind}
    if kind == "capability/grant":
        line["payload"] = {"recipient": who, "capabilities": held}
    elif kind == "capability/revoke":
        by_grant = {"grant_id": f"g{draw(st.integers(0, 4))}"}
        line["payload"] = {"recipient": who, **(by_grant if draw(st.booleans()) else {"capabilities": held})}
    else:
        if draw(_often):
            line["from"] = draw(st.sampled_from(_GATEWAYS))
        one: Line = {"id": who, "capabilities": held} if draw(_often) else {"id": who}
        if kind == "system/welcome":
            line |= {"to": [who], "payload": {"you": one, "participants": [{"id": "coder", "capabilities": held}]}}
        else:
            line["payload"] = {"event": draw(st.sampled_from(("join", "leave", "update"))), "participant": one}
    return line


@st.composite
def said(draw: st.DrawFn) -> list[Line]:
    """Envelopes of a conversation, in order or a little late, some of them twice."""
    made: list[Line] = []
    for number in range(draw(st.integers(1, 7))):
        what = draw(st.sampled_from(("call", "call", "thought", "thought", "thought", "gateway")))
        if what == "call":
            made += draw(_exchange(number))
        else:
            made.append(draw(_thought(number) if what == "thought" else _gateways_word(number)))
    for place, line in enumerate(made):
        line.setdefault("ts", f"2026-01-05T09:00:{place:02d}.000Z")
        if "context" not in line and line["kind"] != "reasoning/start" and draw(_seldom):
            line["context"] = draw(_contexts)
    if draw(_seldom):
        made += draw(st.lists(st.sampled_from(made), max_size=2))
    return draw(st.permutations(made)) if draw(_seldom) else made


@st.composite
def mixed(draw: st.DrawFn) -> list[Line]:
    """Lines of a log: bare envelopes, or those of a gateway's log, of two spaces, with copies and false names."""
    told = draw(said())
    if draw(st.booleans()):
        return told
    lines: list[Line] = []
    for inner in told:
        space = draw(st.sampled_from(("demo", "demo", "demo", "other")))
        sender = inner["from"]
        if sender in _GATEWAYS and draw(_often):  # the gateway's own: delivered alone
            events = [("delivered", draw(_people)) for _ in range(draw(st.integers(1, 3)))]
        else:
            true = draw(_people) if sender in _GATEWAYS or draw(_seldom) else sender
            events = [("received", true)] if draw(_often) or true != sender else []
            events += [("delivered", name) for name in draw(st.lists(_people, max_size=2, min_size=not events))]
            if draw(_seldom):
                events = [("rejected", true)]
        for event, who in events:
            lines.append(
                {"timestamp": inner["ts"], "event": event, "id": inner["id"], "envelope": inner, "participant": who,
                 "space_id": space}
            )  # fmt: skip
    return lines


@st.composite
def pipes(draw: st.DrawFn) -> list[Line]:
    """MCP over stdio: requests of both sides, ids used again, answers late, early, twice or none."""
    lines: list[Line] = []
    way = draw(st.sampled_from((("client->server", "server->client"), ("out", "in"))))
    for _ in range(draw(st.integers(1, 8))):
        there, back = way if draw(_often) else reversed(way)
        number = draw(st.sampled_from((1, 2, 3, "1")))
        call: Line = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": draw(_tools)}}
        if draw(_seldom):
            call["method"] = "tools/list"
        lines.append({"t": "2026-01-05T09:00:00Z", "dir": there, "message": call})
        for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
            result: Line = {"_meta": draw(_metas), **({"isError": True} if draw(_seldom) else {})}
            answer = {"jsonrpc": "2.0", "id": number, "result": result}
            lines.insert(
                len(lines) - (1 if draw(_seldom) else 0), {"t": "2026-01-05T09:00:00Z", "dir": back, "message": answer}
            )
    return lines


_seen = st.sampled_from((None, None, "main_only", "subsession_only", "global"))
_policies = st.fixed_dictionaries(
    {},
    optional={
        "include_sub_context": st.sampled_from((True, False, "no")),
        "include_snapshots": st.sampled_from((True, False, 0)),
        "recent_parent_messages": st.sampled_from((-1, 0, 1, 2, 3, "2", True)),
    },
)


@st.composite
def sessions(draw: st.DrawFn) -> list[Line]:
    """A session and sub-sessions of it and of one another, each with messages of any visibility, in any time."""
    times = iter(draw(st.permutations(range(60))))

    def talk(name: str, most: int) -> list[Line]:
        made: list[Line] = []
        for place in range(draw(st.integers(0, most))):
            at = f"2026-01-05T09:00:{next(times):02d}Z"
            message = {"id": f"{name}-{place}", "role": "user", "content": f"{name} {place}", "timestamp": at}
            seen = draw(_seen)
            made.append(message if seen is None else {**message, "visibility": seen})
        return made

    covers = draw(st.lists(st.integers(0, 9), max_size=3, unique=True))
    snapshots = [
        {"id": f"sum-{n}", "covers_messages": [n, n + 2], "content": "so far", "created_at": "2026-01-05T09:00:00Z"}
        for n in covers
    ]
    names = [f"s{n}" for n in range(draw(st.integers(1, 4)))]
    made: list[Line] = [
        {"session_id": "main", "summary_snapshots": snapshots, "sub_context": {"intent": "report"},
         "subsessions": names, "messages": talk("main", 8)}
    ]  # fmt: skip
    for place, name in enumerate(names):
        above = draw(st.sampled_from(("main", *names[:place])))
        made.append(
            {"subsession_id": name, "parent_session_id": above, "label": name, "messages": talk(name, 4),
             "status": draw(st.sampled_from(("open", "open", "closed", "discarded"))),
             "context_policy": draw(_policies)}
        )  # fmt: skip
    return made
