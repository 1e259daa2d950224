"""Streams as a capture of ours holds them: what opens them, their frames, what closes them."""

from __future__ import annotations

import base64
import json
from itertools import count
from typing import Any

from tests.builders import envelope

Line = dict[str, Any]

HEAD: Line = {"ctxcap": 1, "origin": {"space": "demo", "participant": "me"}}
_BEGAN = 1_767_600_000_000_000_000
_times = count()


def came(inner: dict[str, Any] | bytes, apart_ns: int = 10_000_000) -> Line:
    """A line of a capture: what came in, each a hundredth of a second after the one before."""
    line: Line = {"t": _BEGAN + next(_times) * apart_ns, "dir": "in", "src": 0}
    if isinstance(inner, dict):
        return {**line, "frame": inner}
    try:
        return {**line, "bin": True, "text": inner.decode()}
    except UnicodeDecodeError:
        return {**line, "b64": base64.b64encode(inner).decode()}


def frame(stream: str, data: bytes) -> Line:
    return came(b"#%b#%b" % (stream.encode(), data))


def chunk(stream: str, value: Any, kind: str = "token", **fields: Any) -> Line:
    """A frame with a JSON chunk."""
    return frame(stream, json.dumps({"type": kind, "value": value, **fields}).encode())


def asked(about: str | None = None, *, id: str = "ask", sender: str = "mew", **payload: Any) -> Line:
    """A request for a stream."""
    told = {} if about is None else {"description": f"reasoning:{about}"}
    return came(
        envelope("stream/request", {"direction": "upload", **told, **payload}, id=id, sender=sender, to=["gateway"])
    )


def opened(stream: str, request: str | None = "ask", *, sender: str = "gateway", owner: str | None = "mew",
           to: str = "mew", **payload: Any) -> Line:  # fmt: skip
    """What gives a stream its id."""
    told = {"stream_id": stream, "encoding": "text", **({} if owner is None else {"owner": owner}), **payload}
    named = {} if request is None else {"correlation_id": [request]}
    return came(envelope("stream/open", told, sender=sender, to=[to], **named))


def closed(stream: str, *, sender: str = "mew") -> Line:
    """What ends a stream."""
    return came(envelope("stream/close", {"stream_id": stream, "reason": "complete"}, sender=sender))


def speech(stream: str, words: str, **fields: Any) -> list[Line]:
    """A text token by token, with what agents say of it before and behind."""
    said = [("thinking", "status"), *((f"{word} ", "token") for word in words.split(" ")), ("done", "status")]
    return [chunk(stream, value, kind, **fields) for value, kind in said]
