"""Reads session logs of mcpsnoop: a line for each message of MCP, and for each line that a server wrote beside them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec

from inspector.formats.value_conversions import text_or_none
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, Header, read_struct
from inspector.protocol.json_values import NO_RAW
from inspector.protocol.record import Record, Shape, unreadable_record
from inspector.protocol.rpc_batch import batch_in
from inspector.protocol.timestamps import parse_time

NAME = "mcpsnoop"
_TO_SERVER, _TO_CLIENT, _STDERR, _META = "c2s", "s2c", "stderr", "meta"
_START, _RESPONSE, _NOISE, _ERROR_LINE = "recorder/start", "http/response", "stdio/line", "stdio/stderr"
"""Kinds of lines without a message, as recordings of other programs have them."""
_MAX_CONNECTIONS = 1 << 16
_ERROR_STATUS = 400


class _Line(msgspec.Struct, gc=False):
    session_id: Any = None
    server_label: Any = None
    seq: Any = None
    raw: msgspec.Raw = NO_RAW
    text: Any = None
    conn_id: Any = None
    status: Any = None


def read(header: Header, line: bytes) -> Record | None:
    """Reads one line if it has this format. Never raises."""
    way = header.direction
    if way not in (_TO_SERVER, _TO_CLIENT, _STDERR, _META) or header.ts is ABSENT or b'"session_id"' not in line:
        return None
    found = read_struct(line, _Line)
    if found is None or not isinstance(found.session_id, str) or not isinstance(found.seq, int):
        return None
    record = _record(str(way), found, header, line)
    server = text_or_none(found.server_label) or "server"
    record.time_ns = parse_time(header.ts)
    record.direction = f"client->{server}" if way == _TO_SERVER else f"{server}->client"
    # Ids of messages are unique in a connection; a proxy has several.
    record.src = zlib.crc32(f"{found.session_id} {found.conn_id or ''}".encode("utf-8", "replace")) % _MAX_CONNECTIONS
    return record


def _record(way: str, found: _Line, header: Header, line: bytes) -> Record:
    raw = bytes(found.raw)
    if way == _META:
        return Record(Shape.LOG_ONLY, line, header, name=_START)
    if way == _STDERR:  # where servers may write
        return Record(Shape.LOG_ONLY, line, header, name=_ERROR_LINE)
    if raw[:1] == b"[" and (batch := batch_in(raw)) is not None:
        return batch
    record = read_frame(raw) if raw[:1] == b"{" else None
    if record is not None and record.shape is Shape.RPC:
        return record
    if isinstance(found.status, int) and not found.text:
        return Record(Shape.LOG_ONLY, line, header, name=_RESPONSE, failed=found.status >= _ERROR_STATUS)
    if isinstance(found.text, str) and found.status is None and not raw:
        return Record(Shape.LOG_ONLY, line, header, name=_NOISE)
    return unreadable_record(line, "no message of JSON-RPC")


def line_of_event(event: Mapping[str, object], session: Mapping[str, object]) -> dict[str, object]:
    """Returns the line of a session log for an event of an export."""
    told = {"raw": event.get("raw"), "text": event.get("text"), "status": event.get("http_status")}
    return {
        "session_id": str(session.get("id")), "server_label": str(session.get("label")), "seq": event.get("seq"),
        "ts": event.get("timestamp"), "direction": event.get("direction"),
        **{key: one for key, one in told.items() if one is not None},
    }  # fmt: skip
