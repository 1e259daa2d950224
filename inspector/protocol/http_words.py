"""Describes lines of an HTTP recording without a message (`inspector.formats.wire_recording.reader`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def line_words(kind: str, line: Mapping[str, Any]) -> str | None:
    """Returns a short description of such a line; None for kinds of messages."""
    words = _WORDS.get(kind)
    return words(line) if words is not None else None


def _request_words(line: Mapping[str, Any]) -> str:
    # Set by the reader of gRPC calls, whose bodies are binary.
    return " ".join(_texts(line, "grpc") or _texts(line, "method", "path")) or "request"


def _response_words(line: Mapping[str, Any]) -> str:
    headers = line.get("headers")
    content = headers.get("content-type") if isinstance(headers, Mapping) else None
    streams = isinstance(content, str) and content.startswith("text/event-stream")
    status = f"status {line.get('status')}"
    if binary := _texts(line, "grpc"):
        return ", ".join([status, *binary])
    return f"{status}, a stream of events" if streams else " ".join([status, *_texts(line, "text")])


def _event_words(line: Mapping[str, Any]) -> str:
    sse = line.get("sse")
    told = _texts(sse, "event", "comment") if isinstance(sse, Mapping) else []
    return " ".join([*told, *_texts(line, "text")]) or "an event without data"


def _end_words(line: Mapping[str, Any]) -> str:
    words = {
        "complete": "exchange complete", "client-closed": "the client hung up", "server-broke": "the server broke off",
        "cut-by-network": "cut off on the way",
    }  # fmt: skip
    how = line.get("how")
    return words.get(how, how) if isinstance(how, str) else "exchange ended"


def _error_words(line: Mapping[str, Any]) -> str:
    return " ".join(_texts(line, "error", "reason", "text", "how")) or "the exchange failed"


def _start_words(line: Mapping[str, Any]) -> str:
    return f"recording of {' '.join(_texts(line, 'transport', 'program', 'endpoint')) or 'a connection'}"


def _stop_words(line: Mapping[str, Any]) -> str:
    code = line.get("exit")
    return f"ended with exit code {code}" if isinstance(code, int) else "the recording ends"


def _line_words(line: Mapping[str, Any]) -> str:
    return " ".join(_texts(line, "text")) or "a line without a message"


_WORDS = {
    "http/request": _request_words, "http/response": _response_words, "http/event": _event_words,
    "http/end": _end_words, "http/error": _error_words, "stdio/line": _line_words,
    "stdio/stderr": _line_words, "stdio/end": lambda _: "end of input",
    "recorder/start": _start_words, "recorder/end": _stop_words,
}  # fmt: skip


def _texts(line: Mapping[str, Any], *keys: str) -> list[str]:
    return [value for key in keys if isinstance(value := line.get(key), str) and value]
