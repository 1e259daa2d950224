"""Lines with something before a message: a time, a process, a level, as programs, containers and services log them.

`2026-01-05T09:00:00.123Z [files] [info] Message from client: {"jsonrpc":...}`, `gateway-1  | {...}`, `data: {...}`.
Only what can be nothing else counts: an envelope or a JSON-RPC message, and nothing that looks like a piece of JSON
around it, because a torn line must not pass for what it held inside.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable

from inspector.protocol.formats import messages
from inspector.protocol.formats.capture_file import MAX_SRC
from inspector.protocol.header import ABSENT, MAX_LENIENT, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape
from inspector.protocol.times import NO_TIME, parse_time

LABEL = "prefixed"
WORDS = {"prefixed": "lines with a prefix"}
READS = "any of these behind a time or a name"

_LONGEST = 512
"""Bytes that may stand before a message, and behind it."""
_TRIES = 4
_KNOWN = (Shape.ENVELOPE, Shape.RPC, Shape.JOIN, Shape.LOG_ONLY, Shape.MEANING)
_TIME = re.compile(rb"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:?\d\d)?")
_FROM = re.compile(rb"\bfrom (client|server)\b", re.IGNORECASE)
_WAYS = {b"client": "client->server", b"server": "server->client"}
_JSON = re.compile(rb"\{|\[\s*[\[{\]]")
"""How JSON begins, and nothing that is put before it."""
_NAME = re.compile(rb"\[(?!(?:trace|debug|info|notice|log|warn|warning|error)\])([^\[\]\d][^\[\]]*)\]", re.IGNORECASE)
"""A server in brackets: clients log what they say with all of theirs in one file."""
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_FIELD = re.compile(
    rb"(?:event: ?[\w./-]*|id: ?[\w.:-]*|retry: ?\d+"
    rb"|: ?(?:ping|keep-?alive|heartbeat|[A-Z]{2,20} PROCESSING)\b.{0,80})\s*"
)
"""A line of an event stream that is not its data (HTML, server-sent events): it goes with the line behind it."""
_find_end = json.JSONDecoder().raw_decode


def read(line: bytes, read_inner: Callable[[bytes], Record]) -> Record | None:
    """Read what stands behind a prefix; None when it is nothing known. Costs a search where there is no brace."""
    if _FIELD.fullmatch(line):
        return Record(Shape.NOTHING, line)
    begin = 0
    for _ in range(_TRIES):
        begin = line.find(b"{", begin + 1, _LONGEST)
        if begin <= 0 or b'"' in line[:begin] or _JSON.match(line):
            return None
        raw = _message(line, begin)
        if raw is None:
            continue
        record = read_inner(raw)
        if line[:begin].strip() == b"data:" and record.meant_by == messages.LABEL:
            return record  # an event of a model's answer, or all of it
        if record.shape in _KNOWN and _is_certain(record):
            _take_from(line[:begin], record)
            return record
    return None


def _message(line: bytes, begin: int) -> bytes | None:
    """The object that begins at a place, without what follows; None when that may belong to it, or be another one."""
    rest = line[begin:].rstrip()
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
        behind = _COLOUR.sub(b"", text[stop:].encode("utf-8", "surrogateescape")).strip()
        if len(behind) > _LONGEST or behind[:1] in (b",", b"}", b"]", b":", b'"') or b'{"' in behind:
            return None
        return text[:stop].encode("utf-8", "surrogateescape")
    return rest


def _is_certain(record: Record) -> bool:
    """Whether a program would log nothing of its own that looks so: `{"kind":"Pod"}`, `{"method":"GET","path":"/"}`."""
    header = record.header
    if header is None or record.shape is Shape.JOIN:
        return record.shape is not Shape.MEANING
    if record.shape in (Shape.RPC, Shape.MEANING):
        return header.jsonrpc is not ABSENT
    if record.shape is Shape.LOG_ONLY:
        return header.participant is not ABSENT or header.envelope_id is not ABSENT
    return bool(header.payload) or header.sender is not ABSENT or header.protocol is not ABSENT


def _take_from(prefix: bytes, record: Record) -> None:
    """Time, direction and connection, where the message has none of its own."""
    found = _TIME.search(prefix)
    if found is not None and record.time_ns == NO_TIME:
        record.time_ns = parse_time(found[0].decode())
    way = _FROM.search(prefix)
    if way is not None and record.direction is None:
        record.direction = _WAYS[way[1].lower()]
        name = _NAME.search(prefix)
        record.src = zlib.crc32(name[1]) % MAX_SRC if name is not None else 0
