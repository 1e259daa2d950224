"""Converts recorded exchanges to lines of an HTTP recording (docs/protocols.md 13).

An entry is an exchange with start time, duration and both bodies. It becomes the lines that a recording proxy would
have written: a request, the head or all of its answer, the events of a stream, and the end.

An entry without a start has no time, except for an answer with a date in its headers.

An archive has no times of single events. A server's requests and notifications before its answer get the start of the
stream, since clients answer them in other exchanges meanwhile; all other events get its end.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from inspector.formats.http_bodies import amazon_events, is_amazon_stream
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.timestamps import NO_TIME, format_time, parse_time

Line = tuple[int, dict[str, Any]]
"""Time in nanoseconds, and the line."""

_STREAM = "text/event-stream"
_MAX_TEXT = 1 << 16
"""Characters kept of a body that is not JSON, such as a script or a page."""
_LINES = ("application/x-ndjson", "application/jsonl", "application/json-lines")
_MOST_LINES = 1 << 26
"""Characters kept of a body of JSON lines, as Ollama streams its answers."""
_MAX_EVENTS = 1 << 20
_BINARY = ("application/grpc",)
"""Beginnings of media types whose bodies are never text."""


def entry_to_lines(entry: object, number: int) -> Iterator[Line]:
    """Yields the lines of an entry in time order. Never raises.

    Args:
        entry: as decoded.
        number: of the exchange.
    """
    if not isinstance(entry, Mapping):
        return
    began = parse_time(entry.get("startedDateTime"))
    if began != NO_TIME:
        yield from _lines(entry, number, began)
        return
    # An entry without a time still belongs to the log, in its order.
    date = _date(_headers(mapping_or_empty(entry.get("response"))).get("date"))
    for _, line in _lines(entry, number, 0):
        yield 0, {**line, "t": None if line["kind"] == "http-request" else date}


def _date(written: str | None) -> str | None:
    """Returns the time in a header `Date`."""
    try:
        return None if written is None else parsedate_to_datetime(written).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return None


def _lines(entry: Mapping[str, Any], number: int, began: int) -> Iterator[Line]:
    asked, answered = mapping_or_empty(entry.get("request")), mapping_or_empty(entry.get("response"))
    yield (
        began,
        {**_line_head(began, number, "http-request", out=True), **_address(asked), **_body(asked.get("postData"))},
    )
    # A browser writes -1 for a phase that did not happen.
    headed = began + _sum_timings(entry, "blocked", "dns", "connect", "send", "wait")
    ended = max(headed, began + _nanoseconds(entry.get("time")))
    # A status of 0 means that no answer came.
    status = answered.get("status")
    if not isinstance(status, int) or not status:
        why = next((one for key in ("_error", "statusText") if isinstance(one := answered.get(key), str) and one), None)
        yield ended, {**_line_head(ended, number, "http-error"), "error": why or "no answer came"}
        return
    headers = _headers(answered)
    head = {**_line_head(headed, number, "http-response"), "status": status, "headers": headers}
    content = mapping_or_empty(answered.get("content"))
    text = _text(content)
    events = _events(content, headers, text)
    if events is not None:
        yield headed, head
        at = headed
        for event in events:
            # The times of events are unknown: requests of the server come early, and an answer ends
            # the stream.
            if not _is_rpc_request(event.get("message")):
                at = ended
            yield at, {**_line_head(at, number, "sse-event"), "untimed": True, **event}
    else:
        yield ended, {**head, "t": _time(ended), **_body(content, text)}
    yield ended, {**_line_head(ended, number, "http-end"), "how": "complete"}


def _is_rpc_request(message: object) -> bool:
    """Returns True for a JSON-RPC request or notification."""
    return isinstance(message, Mapping) and "jsonrpc" in message and "method" in message


def parse_server_sent_events(text: str) -> Iterator[dict[str, Any]]:
    """Yields the server-sent events of a body (HTML, 9.2.6) as line members."""
    found: dict[str, str] = {}
    data: list[str] = []
    count = 0
    # A closing empty line ends an event that was cut.
    for line in (*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""):
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
            elif name in ("event", "id", "retry"):
                found[name] = value
            elif not name:
                found["comment"] = value
        elif (found or data) and count < _MAX_EVENTS:
            count += 1
            yield {"sse": found, **_body_member("\n".join(data))} if data else {"sse": found}
            found, data = {}, []


def _body_member(text: str, most: int = _MAX_TEXT) -> dict[str, Any]:
    """Returns a body: as JSON for an object or a list, else as text of `most` characters."""
    try:
        value = decode_json(text.encode("utf-8", "replace")) if text.lstrip()[:1] in ("{", "[") else None
    except NotAnObjectError:
        value = None
    return {"message": value} if isinstance(value, dict | list) else {"text": text[:most]} if text else {}


def _line_head(time_ns: int, number: int, kind: str, *, out: bool = False) -> dict[str, Any]:
    way = "client->server" if out else "server->client"
    return {"t": _time(time_ns), "dir": way, "kind": kind, "x": number}


def _time(time_ns: int) -> str | None:
    return format_time(time_ns)


def _address(asked: Mapping[str, Any]) -> dict[str, Any]:
    url = asked.get("url")
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
    except ValueError:  # brackets that are no address
        parts = urlsplit("")
    found = {"method": asked.get("method"), "path": parts.path or "/", "headers": _headers(asked)}
    if parts.netloc:
        # An address may contain a user and a password.
        found["host"] = parts.netloc.rpartition("@")[2]
    return {**found, "query": parts.query} if parts.query else found


def _headers(side: Mapping[str, Any]) -> dict[str, str]:
    """Returns headers by lower-case name, values of a repeated one joined."""
    found: dict[str, str] = {}
    given = side.get("headers")
    for one in given if isinstance(given, list) else ():
        name, value = (one.get("name"), one.get("value")) if isinstance(one, Mapping) else (None, None)
        if isinstance(name, str) and isinstance(value, str):
            name = name.lower()
            # Repeated headers are joined, as HTTP defines.
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _text(content: Mapping[str, Any]) -> str | None:
    text = content.get("text")
    if not isinstance(text, str):
        return None
    if content.get("encoding") != "base64":
        return text
    data = _data(text)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _data(text: str) -> bytes | None:
    try:
        # Line ends and other characters outside of Base64 are skipped.
        return base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return None


def _events(
    content: Mapping[str, Any], headers: Mapping[str, str], text: str | None
) -> Iterator[dict[str, Any]] | None:  # fmt: skip
    """Returns the events of a streamed answer; None for any other."""
    if text is not None:
        return parse_server_sent_events(text) if _is_stream(content, headers, text) else None
    written = content.get("text")
    data = _data(written) if isinstance(written, str) else None
    return None if data is None or not is_amazon_stream(data) else _amazon_lines(data)


def _amazon_lines(data: bytes) -> Iterator[dict[str, Any]]:
    return ({"sse": {}, "message": event} for event in amazon_events(data))


def _is_stream(content: Mapping[str, Any], headers: Mapping[str, str], text: str) -> bool:
    kinds = [one for one in (content.get("mimeType"), headers.get("content-type")) if isinstance(one, str) and one]
    # A recorder may leave out all headers.
    return any(one.startswith(_STREAM) for one in kinds) or (not kinds and text.startswith(("event:", "data:")))


def _body(holder: object, text: str | None = None) -> dict[str, Any]:
    content = mapping_or_empty(holder)
    mime = content.get("mimeType")
    if isinstance(mime, str) and mime.startswith(_BINARY):
        return _binary_size(content)
    text = text if text is not None else _text(content)
    if text is not None:
        return _body_member(text, _MOST_LINES if isinstance(mime, str) and mime.startswith(_LINES) else _MAX_TEXT)
    size = content.get("size")
    if isinstance(size, int) and size > 0:
        # A binary body was not stored, so its type and size stand for it.
        return {"text": f"{mime if isinstance(mime, str) else 'a body'}, {size:,} B"}
    return {}


def _binary_size(content: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the size of a binary body, as far as the archive shows it: a text without Base64 is damaged."""
    text, size = content.get("text"), content.get("size")
    if isinstance(text, str) and content.get("encoding") == "base64":
        size = len(text) * 3 // 4 - text[-2:].count("=")
    known = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    return {"bytes": size} if known else {"binary": True}


def _sum_timings(entry: Mapping[str, Any], *names: str) -> int:
    timings = mapping_or_empty(entry.get("timings"))
    return sum(_nanoseconds(timings.get(name)) for name in names)


def _nanoseconds(value: object) -> int:
    """Returns nanoseconds of an archive's milliseconds; -1 there means not applicable."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < _MOST_MS:
        return 0
    return round(value * 1_000_000)


_MOST_MS = 1e10
