"""Reads and classifies one WebSocket frame or bare line by its shape (docs/protocols.md 2, 9, 13).

All wire data passes through `read_frame`: a log line's envelope, a live frame, a line of MCP stdio traffic.
"""

from __future__ import annotations

from collections.abc import Set

import msgspec

from inspector.protocol.header import (
    ABSENT,
    KEYS,
    MAX_LENIENT,
    Header,
    NotAnObjectError,
    decode_json,
    decode_object,
    read_header,
)
from inspector.protocol.json_values import Decode, decode_one
from inspector.protocol.msp import PROTOCOL as MSP
from inspector.protocol.record import Record, Shape, unreadable_record
from inspector.protocol.truncated_json import complete_json

_ENVELOPE = Shape.ENVELOPE  # a member lookup costs 0.1 us on Python 3.11
_HEAD_BYTES = 4096
_ENVELOPE_KEYS = ("protocol", "id", "ts", "sender", "to", "correlation_id", "context")


def read_frame(raw: bytes) -> Record:
    """Returns the record of a frame; unreadable for an unknown one. Never raises."""
    if raw[:1] == b"#":
        return _stream_frame(raw, raw)
    try:
        header = read_header(raw)
    except NotAnObjectError as error:
        return unreadable_record(raw, str(error))
    return classify(header, raw) or unreadable_record(raw, _describe_unknown(header, raw))


def classify(header: Header, raw: bytes) -> Record | None:
    """Returns the record of a decoded object, if known."""
    # The order matters: an envelope may have members of the forms below.
    if _is_envelope(header, raw):
        space = header.space if header.protocol == MSP and isinstance(header.space, str) else None
        return Record(_ENVELOPE, raw, header, space=space)
    if _is_rpc(header, raw):
        return Record(Shape.RPC, raw, header)
    if header.type == "join":
        return Record(Shape.CLIENT_HELLO, raw, header)
    if header.type == "Buffer" and header.data:
        return _buffer(header, raw)
    told = bytes(header.error)[:1] == b'"' and header.method is ABSENT and header.event is ABSENT
    if told and object_keys(raw) <= _OF_ERRORS:  # rows of an evaluation have an error, too
        return Record(Shape.ERROR, raw, header)  # an object there is the answer of some other API
    return None


def _is_envelope(header: Header, raw: bytes) -> bool:
    if header.kind is not ABSENT:
        # Other programs have kinds, too: `{"kind":"Pod","apiVersion":...}`.
        told = bool(header.payload) or header.sender is not ABSENT or header.protocol is not ABSENT
        return told or not _has_foreign_keys(raw)
    if header.jsonrpc is not ABSENT or header.type in ("join", "Buffer"):
        return False
    if header.type is not ABSENT and not header.payload and _wraps_message(header):
        return False  # a wrapper line: its endpoints, and the logger's own `type`
    # A gateway forwards envelopes without a kind (docs/protocols.md 16). Letters and events of other programs have a
    # sender or a payload and an id, too.
    present = sum(getattr(header, name) is not ABSENT for name in _ENVELOPE_KEYS) + bool(header.payload)
    if present < 2 or not (header.payload or header.sender is not ABSENT or header.protocol is not ABSENT):
        return False
    if header.protocol is not ABSENT or (header.payload and header.sender is not ABSENT):
        return True
    return not (_wraps_message(header) or _has_foreign_keys(raw))


def _is_rpc(header: Header, raw: bytes) -> bool:
    if header.jsonrpc is not ABSENT:
        return header.method is not ABSENT or bool(header.result) or _has_error(header)
    # Loggers have a `method` of their own ("stdio", "POST") on lines with or about a message. A gateway's decision has
    # a `result` too, but no id.
    if isinstance(header.method, str):
        may_be = bool(header.params) or header.id is not ABSENT or not _wraps_message(header)
    else:
        may_be = header.id is not ABSENT and (bool(header.result) or _has_error(header))
    return may_be and (bool(header.params) or not _has_foreign_keys(raw))


def _has_error(header: Header) -> bool:
    """Returns True for an error; JSON-RPC 1.0 and many loggers write null for success."""
    return bool(header.error) and bytes(header.error) != b"null"


def _wraps_message(header: Header) -> bool:
    """Returns True if a wrapper key of another format has a value (docs/design.md 4, Formats)."""
    held = (header.message, header.envelope, header.frame, header.text, header.data)
    return any(raw and bytes(raw) not in (b"null", b'""') for raw in held)


_decode_keys: Decode[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
"""Decodes keys only; the values may be megabytes."""


_OF_ERRORS = KEYS | {"details", "code", "status", "reason", "hint"}
"""Keys of a gateway's answer to a malformed message."""


def _has_foreign_keys(raw: bytes) -> bool:
    """Returns True if an object has keys without a meaning in any format."""
    return not object_keys(raw) <= KEYS


def object_keys(raw: bytes) -> Set[str]:
    """Returns the keys of an object, without decoding its values. Never raises."""
    found = decode_one(_decode_keys, raw)
    return (decode_object(raw) if found is None else found).keys()


def _buffer(header: Header, raw: bytes) -> Record:
    """Reads a binary frame as a JavaScript client logs it: `{"type":"Buffer","data":[35,...]}`."""
    try:
        data = bytes(msgspec.json.decode(bytes(header.data), type=list[int]))
    except (msgspec.MsgspecError, ValueError):
        return unreadable_record(raw, "a logged buffer whose data are no bytes")
    return _stream_frame(data, raw)


def _stream_frame(frame: bytes, raw: bytes) -> Record:
    stream, hash_sign, data = frame[1:].partition(b"#")
    if not frame.startswith(b"#") or not hash_sign:
        return unreadable_record(raw, "a stream frame without a second #")
    return Record(Shape.STREAM, raw, stream_id=stream.decode("utf-8", "replace"), data=data)


def _describe_unknown(header: Header, raw: bytes) -> str:
    """Returns a description of an unknown object, with its first keys."""
    if header.jsonrpc is not ABSENT:
        return "a JSON-RPC message without method, result or error"
    try:
        # A long object is described by its head.
        value = decode_json(raw if len(raw) <= MAX_LENIENT else complete_json(raw[:_HEAD_BYTES]) or raw[:_HEAD_BYTES])
    except NotAnObjectError as error:
        return str(error)
    keys = [str(key)[:24] for key in list(value)[:4]] if isinstance(value, dict) else []
    return f"a JSON object with {', '.join(keys)}, which is no known line" if keys else "an empty JSON object"
