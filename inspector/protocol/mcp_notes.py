"""Extracts from JSON-RPC messages what MCP checks need: parameters, result, error, server name; no content.

Values may have any type, since no validation precedes. Sources: MCP 2024-11-05 to 2026-07-28, schema; SEP-2663 for
tasks.
"""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.protocol.header import ABSENT, Header
from inspector.protocol.json_values import NO_RAW, REFUSALS

CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"


class Params(
    msgspec.Struct,
    rename={
        "meta": "_meta", "version": "protocolVersion", "state": "requestState", "inputs": "inputResponses",
        "request_id": "requestId", "token": "progressToken", "task_id": "taskId", "granted": "notifications",
        "schema": "requestedSchema",
    },
    gc=False,
):  # fmt: skip
    """Parameters of a request or notification."""

    name: Any = ABSENT
    uri: Any = ABSENT
    arguments: msgspec.Raw = NO_RAW
    meta: Any = None
    version: Any = None
    capabilities: Any = None
    state: Any = None
    inputs: Any = ABSENT
    reason: Any = None
    request_id: Any = ABSENT
    token: Any = ABSENT
    progress: Any = ABSENT
    task_id: Any = None
    status: Any = None
    granted: Any = None
    schema: Any = None
    mode: Any = None
    cursor: Any = None

    def meta_value(self, key: str) -> Any:
        """Returns a member of `_meta`, if any."""
        return self.meta.get(key) if isinstance(self.meta, dict) else None


class Result(
    msgspec.Struct,
    rename={
        "version": "protocolVersion", "server": "serverInfo", "type": "resultType", "inputs": "inputRequests",
        "state": "requestState", "next_cursor": "nextCursor", "structured": "structuredContent",
        "is_error": "isError", "ttl_ms": "ttlMs", "task_id": "taskId", "meta": "_meta",
        "poll_ms": "pollIntervalMilliseconds", "poll_ms_2025": "pollInterval",
    },
    gc=False,
):  # fmt: skip
    """Members of a result."""

    version: Any = None
    capabilities: Any = None
    server: Any = None
    type: Any = None
    inputs: Any = None
    state: Any = None
    tools: msgspec.Raw = NO_RAW
    next_cursor: Any = None
    structured: msgspec.Raw = NO_RAW
    is_error: Any = None
    ttl_ms: Any = None
    task: Any = None
    task_id: Any = None
    status: Any = None
    meta: Any = None
    poll_ms: Any = None
    poll_ms_2025: Any = None


class RpcError(msgspec.Struct, gc=False):
    """An error by its code."""

    code: Any = None


class McpNote(msgspec.Struct, gc=False):
    """The facts of a message for checks.

    Attributes:
        method: of a request or notification; None for an answer.
        written_id: the id in JSON notation, or "".
        params, result, error: each if the message has it.
        is_foreign: True for a result that is no object; MCP has none.
    """

    method: str | None = None
    written_id: str = ""
    params: Params | None = None
    result: Result | None = None
    error: RpcError | None = None
    is_foreign: bool = False


_decode_params = msgspec.json.Decoder(Params).decode
_decode_result = msgspec.json.Decoder(Result).decode
_decode_error = msgspec.json.Decoder(RpcError).decode


def note_of(header: Header) -> McpNote | None:
    """Returns a message's facts; None if its parameters or result are unreadable. Never raises."""
    note = McpNote(header.method if isinstance(header.method, str) else None)
    if header.id is not ABSENT:
        # `repr` tells the id 1 from "1".
        note.written_id = repr(header.id)
    params, result, error = bytes(header.params), bytes(header.result), bytes(header.error)
    try:
        if note.method is not None:
            note.params = _decode_params(params) if params[:1] == b"{" else Params()
            # Copied, since raw values would keep the whole line in memory.
            note.params.arguments = note.params.arguments.copy()
        elif result:
            note.is_foreign = result[:1] != b"{"
            note.result = Result() if note.is_foreign else _decode_result(result)
            note.result.tools, note.result.structured = note.result.tools.copy(), note.result.structured.copy()
        elif error:
            note.error = _decode_error(error) if error[:1] == b"{" else RpcError()
    except REFUSALS:
        return None
    return note


def server_name_and_version(result: Result) -> tuple[str, str]:
    """Returns a server's own name and version in a result; "" if missing."""
    info = result.server
    if info is None and isinstance(result.meta, dict):
        info = result.meta.get(SERVER_KEY)
    named = (info.get("name"), info.get("version")) if isinstance(info, dict) else ()
    name, version = (value if isinstance(value, str) else "" for value in named or ("", ""))
    return name, version
