"""Format: lines of a recorder between an MCP client and its server (docs/protocols.md 13, Over HTTP).

Over HTTP a line is a request, the head of its answer, a server-sent event, or the end of an exchange; over stdio a line
of either side. A line with a JSON-RPC message is that message; every other line is a row that describes the event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec

from inspector.formats.model_api import calls as model_calls
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json, decode_object
from inspector.protocol.json_values import NO_RAW, decode_one
from inspector.protocol.record import HttpExchange, ModelCall, Record, Shape
from inspector.protocol.rpc_batch import batch_in
from inspector.protocol.timestamps import parse_time
from inspector.protocol.tolerant_encoder import to_json

LABEL = "http-lines"

REQUEST, RESPONSE, EVENT, END, ERROR = "http-request", "http-response", "sse-event", "http-end", "http-error"
FRAME = "websocket-frame"
_PROCESS = ("start", "end")
NOISE_KIND = "stdio/line"
"""Kind of a process's line without a message."""
_NAMES = {
    REQUEST: "http/request", RESPONSE: "http/response", EVENT: "http/event", END: "http/end", ERROR: "http/error",
    FRAME: "websocket/frame",
    "line": NOISE_KIND, "end-of-input": "stdio/end", "start": "recorder/start", "end": "recorder/end",
}  # fmt: skip
_SESSION_HEADER = "mcp-session-id"
_SESSION_IN_QUERY = ("sessionId", "session_id")
HEADERS = frozenset(
    {
        _SESSION_HEADER,
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "www-authenticate",
        "retry-after",
        "content-type",
    }
)
"""Headers read from a request, or from the head of an answer, beside headers with the prefix PARAMETER."""
PARAMETER_PREFIX = "mcp-param-"
_HUNG_UP = "client-closed"
FIRST_FAILURE_STATUS = 400
"""First HTTP status that is a failure."""
_NOT_ALLOWED = 405
_MOST_NUMBER = 1 << 32
_USUAL = re.compile(
    rb'\{\s*(?:"n":\s*\d+,\s*)?"t":\s*[^,]{1,60},\s*"dir":\s*"[^"]{1,20}->[^"]{1,20}",\s*'
    rb'"kind":\s*"(?:http-(?:request|response|end|error)|sse-event)"'
)


class Line(msgspec.Struct, gc=False):
    """Members of a line beside its message, of any type before validation."""

    kind: Any = None
    t: Any = None
    x: Any = None
    method: Any = None
    path: Any = None
    query: Any = None
    status: Any = None
    headers: Any = None
    sse: Any = None
    text: Any = None
    how: Any = None
    process: Any = None
    transport: Any = None
    exit: Any = None
    first_ms: Any = None
    untimed: Any = None
    message: msgspec.Raw = NO_RAW


_decode = msgspec.json.Decoder(Line).decode


def is_usual(line: bytes) -> bool:
    """Returns True if a line begins like one of an exchange, and like no other format."""
    return _USUAL.match(line) is not None


def decode_members(line: bytes) -> Line:
    """Returns the members of a recording's line; also reads lone surrogates and huge numbers."""
    found = decode_one(_decode, line)
    if found is not None:
        return found
    known = decode_object(line)
    parts = {name: known[name] for name in Line.__struct_fields__ if name in known}
    if "message" in parts:
        parts["message"] = msgspec.Raw(to_json(parts["message"]))
    return Line(**parts)


def read(
    header: Header, line: bytes, known: Mapping[str, Any] | None = None,
    known_of: Callable[[ModelCall], Mapping[str, Any]] | None = None,
) -> Record | None:  # fmt: skip
    """Reads one line if it has this format. Never raises.

    Args:
        header: of the line.
        line: without its end.
        known: facts from earlier lines.
        known_of: returns such facts for a model call that is not known before.
    """
    sort = header.kind
    # An envelope of the protocol has a sender and may have a time `t`, too.
    if header.t is ABSENT or not isinstance(sort, str) or sort not in _NAMES or header.sender is not ABSENT:
        return None
    directed = isinstance(header.dir, str) and "->" in header.dir
    if not directed and sort not in _PROCESS:
        return None
    found = decode_members(line)
    # Another program's log may have a line of kind "start".
    if sort in _PROCESS and not directed and found.transport is None and sort == "start":
        return None
    record = _message(header) or _model_call(sort, found, line, header, known, known_of)
    if record is not None and record.shape is Shape.DERIVED:
        record.exchange = _exchange(sort, found, record)
        return record
    record = record or Record(Shape.LOG_ONLY, line, header, name=_NAMES[sort])
    record.time_ns = parse_time(header.t)
    record.direction = header.dir if directed else None
    # The process number separates several servers in one log.
    record.src = number if 0 <= (number := _number(found.process)) < 1 << 16 else 0
    if record.shape is Shape.LOG_ONLY:
        record.failed = _reports_failure(sort, found)
        record.reason = _crash_reason(found.exit) if sort == _PROCESS[1] else None
        record.failed |= record.reason is not None
    if sort.startswith("http-") or sort in (EVENT, FRAME):
        record.exchange = _exchange(sort, found, record)
        if sort == EVENT and record.shape is Shape.RPC and isinstance(found.sse, Mapping):
            identifier = found.sse.get("id")
            # The client sends this id to continue a broken stream.
            record.event_id = identifier if isinstance(identifier, str) and identifier else None
    return record


def _message(header: Header) -> Record | None:
    """Returns the JSON-RPC message, or batch, of a line.

    Messages written over several lines are in a text.
    """
    raw = bytes(header.message) or _in_text(bytes(header.text))
    if raw[:1] == b"[":
        return batch_in(raw)
    if raw[:1] != b"{":
        return None
    record = read_frame(raw)
    return record if record.shape is Shape.RPC else None


payload = model_calls.payload


def _model_call(
    sort: str, found: Line, line: bytes, header: Header, known: Mapping[str, Any] | None,
    known_of: Callable[[ModelCall], Mapping[str, Any]] | None,
) -> Record | None:  # fmt: skip
    """Returns a request to a model, or its answer; None for other lines."""
    if sort == RESPONSE and known is not None:
        return model_calls.read_answer(line, LABEL, known)
    if sort != REQUEST or bytes(header.message)[:1] != b"{":
        return None
    return model_calls.read_request(
        line, found.path, found.headers, header.t, _number(found.x), LABEL, known, known_of
    )  # fmt: skip


def _in_text(raw: bytes) -> bytes:
    if raw[:2] not in (b'"{', b'"['):
        return b""
    try:
        text = decode_json(raw)
    except NotAnObjectError:
        return b""
    return text.strip().encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


def _exchange(sort: str, found: Line, record: Record) -> HttpExchange:
    """Returns the exchange and session of a line, as far as recorded."""
    return HttpExchange(
        number=_number(found.x),
        session=_session(found),
        status=min(_number(found.status), 999),
        path=found.path if isinstance(found.path, str) else None,
        method=found.method if isinstance(found.method, str) else None,
        first_us=_microseconds(found.first_ms),
        is_request=sort == REQUEST,
        # The recorder saw the answer begin when it wrote this line, unless the line has a body as well.
        is_answer_head=sort == RESPONSE and not found.message and found.text is None,
        is_end=sort in (END, ERROR) or (sort == RESPONSE and record.call is not None),
        hung_up=found.how == _HUNG_UP,
        headers=_chosen(found.headers) if sort in (REQUEST, RESPONSE) else None,
        initializes=record.header is not None and record.header.method == "initialize",
    )


def _microseconds(ms: object) -> int:
    if not isinstance(ms, int | float) or isinstance(ms, bool) or not 0 <= ms < _MOST_NUMBER / 1_000:
        return 0
    return max(1, round(ms * 1_000))


def _chosen(headers: object) -> dict[str, str]:
    """Returns the headers for checks."""
    if not isinstance(headers, Mapping):
        return {}
    named = (
        (name.lower(), value) for name, value in headers.items() if isinstance(name, str) and isinstance(value, str)
    )
    return {name: value for name, value in named if name in HEADERS or name.startswith(PARAMETER_PREFIX)}


def _session(found: Line) -> str | None:
    """Returns the session in a header, in a request's address, or in a server's address to post to."""
    headers = found.headers
    if isinstance(headers, Mapping):
        # Header names are equal in any case.
        for name in headers:
            if isinstance(name, str) and name.lower() == _SESSION_HEADER and isinstance(headers[name], str):
                return headers[name] or None
    if isinstance(found.query, str):
        return _session_in(found.query.removeprefix("?"))
    if isinstance(found.query, Mapping):
        return next((one for name in _SESSION_IN_QUERY if isinstance(one := found.query.get(name), str)), None)
    if isinstance(found.sse, Mapping) and found.sse.get("event") == "endpoint" and isinstance(found.text, str):
        return _session_in(found.text.strip().partition("?")[2])
    return None


def _session_in(query: str) -> str | None:
    """Returns the session in an address's query; the whole query without a usual name."""
    asked = parse_qs(query)
    return next((asked[name][0] for name in _SESSION_IN_QUERY if name in asked), query or None)


def _reports_failure(sort: str, found: Line) -> bool:
    """Returns True if a line without a message reports a failure; a client's hang-up is none.

    Servers may refuse GET and DELETE, and accept only messages.
    """
    if sort == RESPONSE:
        status = _number(found.status)
        return status >= FIRST_FAILURE_STATUS and not (status == _NOT_ALLOWED and _accepts_posts(found.headers))
    return sort == ERROR or found.how in ("server-broke", "cut-by-network")


def _accepts_posts(headers: object) -> bool:
    """Returns True if the header Allow names POST."""
    named = headers.items() if isinstance(headers, Mapping) else ()
    allowed = [value for name, value in named if isinstance(name, str) and name.lower() == "allow"]
    return any("POST" in value.upper() for value in allowed if isinstance(value, str))


def _crash_reason(code: object) -> str | None:
    """Returns the reason of a server's crash; None for a normal end, or a signal that clients send."""
    if not isinstance(code, int) or isinstance(code, bool) or code in _USUAL_EXITS:
        return None
    return f"the server ended with exit code {code}" if code > 0 else f"the server was ended by signal {-code}"


_SIGNALS = (2, 9, 15)  # interrupt, kill and terminate: clients end servers by these
_USUAL_EXITS = {0, *(-signal for signal in _SIGNALS), *(128 + signal for signal in _SIGNALS)}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_NUMBER else 0
