"""Format: messages after a prefix (time, process, level), and MCP clients' log lines about a server.

`2026-01-05T09:00:00.123Z [files] [info] Message from client: {"jsonrpc":...}`, `gateway-1 | {...}`, `data: {...}`. Only
unambiguous messages count: an envelope or a JSON-RPC message, without JSON fragments around it, because a torn line
must not pass for its inner content.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

from inspector.formats.capture.reader import MAX_SRC
from inspector.formats.entry_builders import decoded_object
from inspector.formats.model_api import reader as api_messages
from inspector.formats.wire_recording.reader import NOISE_KIND
from inspector.protocol.derived_messages import DerivedMessage, Payload
from inspector.protocol.header import ABSENT, MAX_LENIENT, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME, parse_time

LABEL = "prefixed"

_MAX_PREFIX_BYTES = 512
"""Limit in bytes before a message, and after it."""
_TRIES = 4
_KNOWN = (Shape.ENVELOPE, Shape.RPC, Shape.CLIENT_HELLO, Shape.LOG_ONLY, Shape.DERIVED)
_TIME = re.compile(rb"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:?\d\d)?")
_FROM = re.compile(rb"\bfrom (client|server)\b", re.IGNORECASE)
"""Sender of a message, in Claude Desktop's form."""
_ARROW = re.compile(
    "(?i)\\b(editor|client|local|server|remote)\\s*(?:->|→)\\s*(editor|client|local|server|remote)\\b".encode()
)
"""Direction, in the forms of VS Code (`editor -> server`) and mcp-remote (`Local→Remote`)."""
_SERVERS = (b"server", b"remote")
_JSON = re.compile(rb"\{|\[\s*[\[{\]]")
"""Beginning of JSON, in contrast to a prefix."""
_NAME = re.compile(rb"\[(?!(?:trace|debug|info|notice|log|warn|warning|error)\])([^\[\]\d][^\[\]]*)\]", re.IGNORECASE)
"""A server in brackets: clients log the messages of all servers in one file."""
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_FIELD = re.compile(
    rb"(?:event: ?[\w./-]*|id: ?[\w.:-]*|retry: ?\d+|data: ?\[DONE\]?"
    rb"|: ?(?:ping|keep-?alive|heartbeat|[A-Z]{2,20} PROCESSING)\b.{0,80})\s*"
)
"""A line of an event stream without data (HTML, server-sent events), or its end; it belongs to other lines."""
SPREAD_DATA = (b"data: {\n", b"data:{\n", b"data: {\r", b"data:{\r")
"""Beginnings of an event's data that goes on in further lines."""
_EVENT_LOGGERS = re.compile(rb"\bautogen_(?:core|agentchat)\.events\b")
"""Names of loggers whose lines are events in JSON behind a prefix of the user's choice."""
_find_end = json.JSONDecoder().raw_decode


def read(line: bytes, read_inner: Callable[[bytes], Record]) -> Record | None:
    """Reads the message after a prefix, if its content is known. Costs a search if there is no brace."""
    if _FIELD.fullmatch(line):
        return Record(Shape.NO_MESSAGE, line)
    begin = 0
    # A prefix may contain braces, so a few places are tried.
    for _ in range(_TRIES):
        begin = line.find(b"{", begin + 1, _MAX_PREFIX_BYTES)
        if begin <= 0 or b'"' in line[:begin] or _JSON.match(line):
            return _server_event(line)
        raw = _message(line, begin)
        if raw is None:
            continue
        record = read_inner(raw)
        if line[:begin].strip() == b"data:" and record.derived_by == api_messages.LABEL:
            return record  # an event of a model's answer, or all of it
        is_event = record.shape is Shape.DERIVED and _EVENT_LOGGERS.search(line[:begin]) is not None
        if is_event or (record.shape in _KNOWN and _is_certain(record)):
            _copy_prefix_facts(line[:begin], record)
            return record
    return _server_event(line)


def _message(line: bytes, begin: int) -> bytes | None:
    """Returns the object at a place without trailing text; None if that text may belong to it, or be another object."""
    rest = line[begin:].rstrip()
    # A long message is not decoded twice, so only its end is checked.
    if len(rest) > MAX_LENIENT:
        return rest if rest.endswith(b"}") else None
    try:
        decode_json(rest)
    except NotAnObjectError:
        text = rest.decode("utf-8", "surrogateescape")
        try:
            _, stop = _find_end(text)
        except (ValueError, RecursionError):
            return None
        # A log may colour its lines, so escape sequences come after the message.
        behind = _COLOUR.sub(b"", text[stop:].encode("utf-8", "surrogateescape")).strip()
        if len(behind) > _MAX_PREFIX_BYTES or behind[:1] in (b",", b"}", b"]", b":", b'"') or b'{"' in behind:
            return None
        return text[:stop].encode("utf-8", "surrogateescape")
    return rest


def _is_certain(record: Record) -> bool:
    """Returns False for an object that programs log as well: `{"kind":"Pod"}`, `{"method":"GET","path":"/"}`."""
    header = record.header
    if header is None or record.shape is Shape.CLIENT_HELLO:
        return record.shape is not Shape.DERIVED
    if record.shape in (Shape.RPC, Shape.DERIVED):
        return header.jsonrpc is not ABSENT
    if record.shape is Shape.LOG_ONLY:
        return header.participant is not ABSENT or header.envelope_id is not ABSENT
    return bool(header.payload) or header.sender is not ABSENT or header.protocol is not ABSENT


def _copy_prefix_facts(prefix: bytes, record: Record) -> None:
    """Copies time, direction and connection from the prefix if the message lacks them."""
    found = _TIME.search(prefix)
    if found is not None and record.time_ns == NO_TIME:
        # The prefix of a log has the time of writing; the message's own is better.
        record.time_ns = parse_time(found[0].decode())
    said, arrow = _FROM.search(prefix), _ARROW.search(prefix)
    if (said is None and arrow is None) or record.direction is not None:
        return
    sender = said[1] if said is not None else arrow[1] if arrow is not None else b""
    name = _NAME.search(prefix) if said is not None else None
    server = name[1].decode("utf-8", "replace") if name is not None else "server"
    record.direction = f"{server}->client" if sender.lower() in _SERVERS else f"client->{server}"
    # One log may have lines of several servers, each named in its prefix.
    record.src = zlib.crc32(name[1]) % MAX_SRC if name is not None else 0


# Log lines of programs about a server, beside its messages


_LEVEL = rb"\[(?:trace|debug|info|warn|warning|error)\]"
_PROGRAM = re.compile(
    rb"\s*(?P<time>" + _TIME.pattern + rb")\s+(?:(?P<level>" + _LEVEL + rb")\s+(?:\[(?P<name>[^\[\]]{1,80})\]\s*)?"
    rb"|\[(?P<first>[^\[\]]{1,80})\]\s+(?P<second>" + _LEVEL + rb")\s+)(?P<text>.+)",
    re.IGNORECASE | re.DOTALL,
)
"""A time, a level and a server's name, the last two in either order."""
_DESKTOP = (
    b"Initializing server", b"Using MCP server command", b"Server started and connected", b"Server transport closed",
    b"Client transport closed", b"Server disconnected", b"Shutting down server", b"Message from client: ",
    b"Message from server: ", b"Attempting to connect", b"Server process ", b"Could not start", b"Era probe verdict",
)  # fmt: skip
"""Beginnings of Claude Desktop's lines after a server's name."""
_EDITOR = (
    b"Starting server ", b"Stopping server ", b"Connection state: ", b"Discovered ", b"Waiting for server to respond",
    b"Server exited ", b"Extension host shut down",
)  # fmt: skip
"""Beginnings of VS Code's lines."""
_BRIDGE = re.compile(
    "\\[\\d{1,10}\\] (?:\\[\\d{1,10}\\] )?(?P<text>\\[(?P<way>Local|Remote)\u2192(?:Local|Remote)\\] [^{]*"
    "|(?:Using |Connecting to |Connected to |Local STDIO server |Proxy established |Press Ctrl|Authenticat|Reconnect"
    "|Shutting down|(?P<failed>Error |Fatal error|Connection error|Failed )).*)".encode(),
    re.DOTALL,
)
"""A line of mcp-remote: its process, then a direction with a method or id, or a report."""
LOG_MARKS = (
    b"] Message from client: ", b"] Message from server: ", b"] Initializing server", b"] Using MCP server command",
    b"] Server started and connected", b"] Server transport closed", b"] Server disconnected",
    b"] Shutting down server", b"[server stderr]", b"] Connection state: ", b"[editor -> server]",
    "[Local\u2192Remote]".encode(), "[Remote\u2192Local]".encode(),
)  # fmt: skip
"""Substrings of these logs; every longer part has some."""
_CONTENTLESS = re.compile(rb'Message from (?:client: method="|server: id=)')
_BY_CLIENT = b"Message from client: "
_MESSAGES = (_BY_CLIENT, b"Message from server: ")
DISCONNECTED = "stdio/disconnect"
"""Kind of the line in which Claude Desktop or VS Code reports the loss of a server."""
_LOST = b"Server disconnected"
_EDITOR_LOST = b"Connection state: Error"
_STDERR = b"server stderr"
_MOST_TEXT = 2_000


class _LogLine(NamedTuple):
    """A line of a client about a server, without a message."""

    client: str
    server: str
    text: bytes
    time: str | None = None
    by_client: bool = False
    failed: bool = False
    lost: bool = False


def _log_line(line: bytes) -> _LogLine | None:
    found = _PROGRAM.match(line)
    if found is None:
        bridged = _BRIDGE.match(line)
        if bridged is None:
            return None
        failed = bridged["failed"] is not None
        return _LogLine("mcp-remote", "server", bridged["text"], by_client=bridged["way"] == b"Local", failed=failed)
    name, text = found["name"] or found["first"], found["text"]
    failed = (found["level"] or found["second"]).lower() == b"[error]"
    time = found["time"].decode()
    if name == _STDERR or (name is None and text.startswith(_EDITOR)):
        lost = name is None and text.startswith(_EDITOR_LOST)
        return _LogLine("VS Code", "server", text, time, failed=failed or lost, lost=lost)
    if name is not None and text.startswith(_DESKTOP):
        server, lost = name.decode("utf-8", "replace"), failed and text.startswith(_LOST)
        return _LogLine("Claude Desktop", server, text, time, text.startswith(_BY_CLIENT), failed, lost)
    return None


def is_log_line(line: bytes) -> bool:
    """Returns True for a line of Claude Desktop, VS Code or mcp-remote without a message."""
    return b'"jsonrpc"' not in line and _log_line(line) is not None


def names_message(line: bytes) -> str | None:
    """Returns the client of a line that names a message without its content."""
    found = _log_line(line) if b'"jsonrpc"' not in line else None
    if found is None:
        return None
    named = found.text.startswith(b"[") if found.time is None else _CONTENTLESS.match(found.text) is not None
    return found.client if named else None


def is_continuation(line: bytes) -> bool:
    """Returns True for a line that continues the log's previous one: it has no time and no message."""
    if (b'"jsonrpc"' in line and b"{" in line) or _TIME.search(line, 0, _LONGEST_TIME) is not None:
        return False
    return _BRIDGE.match(line) is None and (line[:1] != b"{" or decoded_object(line) is None)


_LONGEST_TIME = 60


def _server_event(line: bytes) -> Record | None:
    """Returns the record of such a line: no participant's message, and a failure if reported so."""
    found = _log_line(line)
    # A message that is cut off is no remark of the client; its loss must show.
    if found is None or (b'"jsonrpc"' in line and found.text.startswith(_MESSAGES)):
        return None
    ends = ("client", found.server) if found.by_client else (found.server, "client")
    meaning = DerivedMessage(DISCONNECTED if found.lost else NOISE_KIND, ends[0], (ends[1],), failed=found.failed)
    meaning.time_ns = parse_time(found.time) if found.time is not None else NO_TIME
    return Record(Shape.DERIVED, line, time_ns=meaning.time_ns, derived_messages=(meaning,), derived_by=LABEL)


def payload(line: bytes, number: int) -> Payload:
    """Returns the payload of such a line. Never raises."""
    found = _log_line(line)
    return {"text": found.text[:_MOST_TEXT].decode("utf-8", "replace")} if found is not None and not number else {}
