"""Lines of recordings of MCP, over stdio and HTTP, as tests of checks and of readers want them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MODERN, LEGACY = "2026-07-28", "2025-11-25"
Lines = list[Any]


def moment(second: float) -> str:
    return f"2026-09-01T08:{int(second) // 60:02d}:{second % 60:09.6f}Z"


def line(second: float, way: str, message: dict[str, Any]) -> dict[str, Any]:
    """A line of a stdio recording."""
    told = {"jsonrpc": "2.0", **message}
    return {"t": moment(second), "dir": way, "kind": "line", "message": told}


def ask(second: float, identifier: Any, method: str, params: Any = None, *, modern: bool = False) -> dict[str, Any]:
    """A request of the client; a modern one says so."""
    params = dict(params or {})
    if modern:
        params["_meta"] = {**meta(), **params.get("_meta", {})}
    return line(second, "client->server", {"id": identifier, "method": method, "params": params})


def meta(**more: Any) -> dict[str, Any]:
    prefix = "io.modelcontextprotocol/"
    told = {"protocolVersion": MODERN, "clientCapabilities": {"elicitation": {}, "roots": {}}, **more}
    return {f"{prefix}{name}": value for name, value in told.items()}


def tell(second: float, identifier: Any, result: Any = None, **more: Any) -> dict[str, Any]:
    """An answer of the server; without a result, `error` is one."""
    return line(second, "server->client", {"id": identifier, **(more or {"result": result})})


def notify(second: float, method: str, params: Any = None, *, by: str = "server") -> dict[str, Any]:
    way = "server->client" if by == "server" else "client->server"
    return line(second, way, {"method": f"notifications/{method}", "params": params or {}})


def hello(
    version: str = LEGACY, *, client: Any = None, server: Any = None, name: str = "harbour", release: str = ""
) -> Lines:
    """A handshake; both sides can all that is not said otherwise."""
    can = {"elicitation": {}, "sampling": {}, "roots": {}} if client is None else client
    declared = (
        {"tools": {"listChanged": True}, "logging": {}, "resources": {}, "prompts": {}} if server is None else server
    )
    return [
        ask(0, 0, "initialize", {"protocolVersion": version, "capabilities": can, "clientInfo": {"name": "c"}}),
        tell(
            0.1,
            0,
            {"protocolVersion": version, "capabilities": declared, "serverInfo": {"name": name, "version": release}},
        ),
        notify(0.2, "initialized", by="client"),
    ]


def tool(name: str = "weigh", **fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"kg": {"type": "number"}}, "required": ["kg"]}
    return {"name": name, "description": "Weighs.", "inputSchema": schema, **fields}


def listed(second: float, identifier: Any, *tools: Any, modern: bool = False, **more: Any) -> Lines:
    result = {"tools": list(tools), **({"resultType": "complete"} if modern else {}), **more}
    return [ask(second, identifier, "tools/list", modern=modern), tell(second + 0.1, identifier, result)]


def call(second: float, identifier: Any, name: str = "weigh", arguments: Any = None, **fields: Any) -> dict[str, Any]:
    modern = fields.pop("modern", False)
    return ask(
        second, identifier, "tools/call", {"name": name, "arguments": arguments or {"kg": 1}, **fields}, modern=modern
    )


def done(second: float, identifier: Any, **result: Any) -> dict[str, Any]:
    return tell(second, identifier, {"content": [], **result})


def chat(second: float) -> Lines:
    """Something that is said much later, by which the clock goes."""
    return [notify(second, "initialized", by="client")]


DISCOVER = [
    ask(0, 0, "server/discover", modern=True),
    tell(0.1, 0, {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}}),
]


def question(
    second: float, identifier: Any, state: str | None = "c2VhbGVkIGFuZCBzaWduZWQ9PQx1", **more: Any
) -> dict[str, Any]:
    form = {"method": "elicitation/create", "params": {"message": "Which berth?", "requestedSchema": {}}}
    result = {"resultType": "input_required", "inputRequests": {"berth": form}, **more}
    return tell(second, identifier, result if state is None else {**result, "requestState": state})


def again(
    second: float,
    identifier: Any,
    state: str | None = "c2VhbGVkIGFuZCBzaWduZWQ9PQx1",
    name: str = "weigh",
    **fields: Any,
) -> dict[str, Any]:
    told: dict[str, Any] = {"inputResponses": {"berth": {"action": "accept"}}, **fields}
    if state is not None:
        told["requestState"] = state
    return call(second, identifier, name, modern=True, **told)


def http(second: float, number: int, kind: str, **fields: Any) -> dict[str, Any]:
    """A line of an HTTP recording."""
    way = "client->server" if kind == "http-request" else "server->client"
    return {"t": moment(second), "dir": way, "kind": kind, "x": number, **fields}


def post(second: float, number: int, message: dict[str, Any], **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return http(second, number, "http-request", method="POST", path="/mcp", headers=named, message=message)


def reply(second: float, number: int, status: int = 200, message: Any = None, **headers: str) -> Lines:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    head = http(second, number, "http-response", status=status, headers=named)
    return [
        {**head, **({"message": message} if message else {})},
        http(second + 0.01, number, "http-end", how="complete"),
    ]


def rpc(identifier: Any, method: str, params: Any = None, *, modern: bool = False) -> dict[str, Any]:
    params = {**(params or {}), **({"_meta": meta()} if modern else {})}
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def result(identifier: Any, **fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "result": fields}


def standard(method: str, name: str = "", **more: str) -> dict[str, str]:
    return {"mcp_protocol_version": MODERN, "mcp_method": method, **({"mcp_name": name} if name else {}), **more}


def session(second: float, number: int, name: str = "s1") -> Lines:
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "c"}}
    answer = result(0, protocolVersion=LEGACY, capabilities={"tools": {}}, serverInfo={"name": "h"})
    return [
        post(second, number, rpc(0, "initialize", params)),
        *reply(second + 0.1, number, 200, answer, mcp_session_id=name),
    ]


def process(number: int, *lines: dict[str, Any]) -> Lines:
    return [{**one, "process": number} for one in lines]


def while_asked(said: dict[str, Any], asked: dict[str, Any], answer: dict[str, Any]) -> Lines:
    return [asked, said, answer]


def at_addresses(answer: Callable[[str], dict[str, Any]]) -> Lines:
    """Two servers of 2026-07-28 at two addresses, which list their tools."""
    return [
        line
        for n, path in ((71, "/one"), (72, "/two"))
        for line in (
            {**post(n - 68, n, rpc(1, "tools/list", modern=True), **standard("tools/list")), "path": path},
            *reply(n - 67.9, n, 200, result(1, resultType="complete", **answer(path))),
        )
    ]


def posted_to(*sessions: str) -> Lines:
    """Clients of 2024-11-05 that open streams of events, and ask at once under one id where these say."""
    streams = {name: number for number, name in enumerate(sessions, 81)}
    opened = [
        line
        for name, n in streams.items()
        for line in (
            http(3, n, "http-request", method="GET", path="/sse"),
            http(3.1, n, "http-response", status=200),
            http(3.2, n, "sse-event", sse={"event": "endpoint"}, text=f"/messages?session_id={name}"),
        )
    ]
    asked = [
        {**post(4, n + 10, rpc(0, "tools/list")), "path": "/messages", "query": f"session_id={name}"}
        for name, n in streams.items()
    ]
    told = [
        http(5, n, "sse-event", sse={"event": "message"}, message=result(0, tools=[]))
        for n in reversed(streams.values())
    ]
    return [*opened, *asked, *told]
