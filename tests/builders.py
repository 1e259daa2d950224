"""What tests make traffic from: one builder per concept, with defaults for all a test does not care about."""

from __future__ import annotations

import json
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

from inspector.document import CaptureDocument

_numbers = count(1)


def envelope(kind: Any = "chat", payload: Any = None, **fields: Any) -> dict[str, Any]:
    """An envelope of MEW v0.4 from `lead`; name fields to change them, `sender` for `from`; None leaves a field out."""
    number = next(_numbers)
    made: dict[str, Any] = {
        "protocol": "mew/v0.4",
        "id": f"m{number}",
        "ts": f"2026-01-05T09:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "from": "lead",
        "kind": kind,
        "payload": {"text": f"message {number}"} if payload is None else payload,
    }
    if "sender" in fields:
        made["from"] = fields.pop("sender")
    made.update(fields)
    return {key: value for key, value in made.items() if value is not None}


def tool_call(name: str, *, to: str = "files", arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """A tools/call request."""
    params = {"name": name, "arguments": arguments or {}}
    return envelope("mcp/request", {"method": "tools/call", "params": params}, to=[to], **fields)


def tool_result(request: dict[str, Any], text: str = "done", *, meta: Any = None, **fields: Any) -> dict[str, Any]:
    """The response to a request, with `_meta` when given."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], **fields.pop("result", {})}
    if meta is not None:
        result["_meta"] = meta
    return envelope(
        "mcp/response",
        {"result": result},
        **{"sender": request["to"][0], "to": [request["from"]], "correlation_id": [request["id"]], **fields},
    )


def received(inner: dict[str, Any], participant: str | None = None, **fields: Any) -> dict[str, Any]:
    """A gateway log's line for an accepted envelope."""
    return _log_line("received", inner, participant or inner.get("from"), "inbound", fields)


def delivered(inner: dict[str, Any], participant: str, **fields: Any) -> dict[str, Any]:
    """A gateway log's line for one copy sent out."""
    return _log_line("delivered", inner, participant, "outbound", fields)


def _log_line(
    event: str, inner: dict[str, Any], participant: str | None, direction: str, fields: dict[str, Any]
) -> dict[str, Any]:
    line = {
        "timestamp": inner.get("ts", "2026-01-05T09:00:00.000Z"), "event": event, "id": inner.get("id"),
        "envelope": inner, "participant": participant, "space_id": "demo", "direction": direction,
        "transport": "websocket", **fields,
    }  # fmt: skip
    return {key: value for key, value in line.items() if value is not None}


def lines_of(*lines: dict[str, Any] | str | bytes) -> bytes:
    """The bytes of a log with these lines."""
    encoded = (
        line if isinstance(line, bytes) else line.encode() if isinstance(line, str) else json.dumps(line).encode()
        for line in lines
    )
    return b"".join(line + b"\n" for line in encoded)


def document_of(*lines: dict[str, Any] | str | bytes, name: str = "test.jsonl") -> CaptureDocument:
    """A document that has read a log with these lines. Its file is gone when it is closed, if the system allows."""
    folder = Path(tempfile.mkdtemp(prefix="inspector-test-"))
    path = folder / name
    path.write_bytes(lines_of(*lines))
    document = CaptureDocument()
    document.load(path)
    return document
