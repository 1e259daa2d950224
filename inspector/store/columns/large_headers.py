"""Reads messages above 1 MB by their head, without decoding them whole (docs/design.md 7).

The first 64 kB of a line nearly always contain its sender, kind and the beginning of its text. A key written after the
payload is searched at the line's end and accepted if its hash equals the reader's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from inspector.formats.line_reading import read_line
from inspector.protocol.calls import payload_of_rpc, read_payload
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, TOO_DEEP, Header, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape, unreadable_record
from inspector.protocol.truncated_json import TRUNCATION_MARK, complete_json, is_too_deep
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import hash_text

MAX_WHOLE_BYTES = 1 << 20
"""Bytes of a line; longer lines are read by their head (docs/design.md 7)."""
HEAD_BYTES = 1 << 16
"""Bytes of a head, and of the examined end."""

ReadRange = Callable[[int, int], bytes]
"""Reads bytes of the line: offset and length."""


@dataclass(frozen=True, slots=True)
class ExpectedHeader:
    """Column values of a line, used to verify its head."""

    length: int
    flags: Flag
    id_hash: int
    correlation_hash: int


def read_head(read: ReadRange, noted: ExpectedHeader) -> Record:
    """Returns the record of a big line as far as its head goes; `raw` is completed JSON. Raises OSError only."""
    head = read(0, HEAD_BYTES)
    # The file was truncated after its messages were read.
    if len(head) < min(HEAD_BYTES, noted.length):
        return unreadable_record(head, "its file has become shorter since it was opened")
    if noted.flags & Flag.UNREADABLE:
        return unreadable_record(head, _unreadable_reason(head, noted.length))
    record = _read_head_record(head, noted.flags)
    if record.shape not in _possible_shapes(noted.flags):  # its distinguishing key follows a long value
        record = _read_without_values(read(0, noted.length))
    header = record.header
    if header is None:
        return record
    if record.shape is Shape.ENVELOPE:
        # The hash of the column tells a truncated id from a whole one.
        if noted.id_hash and not _has_hash(header.id, noted.id_hash):
            header.id = _key_after_payload(read, noted.length, b"id", noted.id_hash, header.id)
        if noted.flags & Flag.CORRELATED and not _names_hash(header.correlation_id, noted.correlation_hash):
            hash_ = noted.correlation_hash
            header.correlation_id = _key_after_payload(
                read, noted.length, b"correlation_id", hash_, header.correlation_id
            )
    if noted.flags & Flag.HAS_META:
        record.raw = _with_meta(record.raw, read(0, noted.length))
    return record


def _read_head_record(head: bytes, flags: Flag) -> Record:
    if flags & Flag.FRAME and head[:1] == b"#":
        return read_frame(head)
    whole = complete_json(head)
    return read_line(whole) if whole is not None else unreadable_record(head, "a long line that is no JSON")


_SHAPES = {Flag.RPC: Shape.RPC, Flag.JOIN: Shape.CLIENT_HELLO, Flag.FRAME: Shape.STREAM, Flag.LOG_ONLY: Shape.LOG_ONLY,
           Flag.GAP: Shape.GAP}  # fmt: skip


def _possible_shapes(flags: Flag) -> tuple[Shape, ...]:
    """Returns the possible shapes of a message with these flags."""
    return tuple(shape for flag, shape in _SHAPES.items() if flags & flag) or (Shape.ENVELOPE, Shape.ERROR)


_RAW_FIELDS = tuple(field.name for field in msgspec.structs.fields(Header) if field.type is msgspec.Raw)


def _read_without_values(line: bytes) -> Record:
    """Returns the record of a line that had to be read whole, without its long values."""
    record = read_line(line)
    record.raw = complete_json(record.raw[:HEAD_BYTES]) or record.raw[:HEAD_BYTES]
    for name in _RAW_FIELDS if record.header is not None else ():
        setattr(record.header, name, msgspec.Raw(b""))  # a reference would keep the whole line in memory
    return record


def _unreadable_reason(head: bytes, length: int) -> str:
    """Returns the reason why a long line could not be read, as far as its head shows."""
    too_deep = is_too_deep(head)  # walks thousands of tokens
    if too_deep is None:
        return "no JSON at byte 0"
    return TOO_DEEP if too_deep else f"JSON that cannot be read, {length / 1e6:.1f} MB of it"


def _has_hash(value: object, hash_: int) -> bool:
    return isinstance(value, str) and hash_text(value) == hash_


def _names_hash(value: object, hash_: int) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return _has_hash(first, hash_)


_decode_value = msgspec.json.Decoder(str | list[str]).decode


def _key_after_payload(read: ReadRange, length: int, key: bytes, hash_: int, found: object) -> object:
    """Returns a key written after the payload, or `found` if it is not there either."""
    if isinstance(found, str) and found.endswith(TRUNCATION_MARK):
        return found  # it fills the head already
    start = max(0, length - HEAD_BYTES)
    tail = read(start, length - start)
    places = [m.end() for m in re.finditer(rb'"' + key + rb'"\s*:\s*', tail)]
    for place in reversed(places[-50:]):
        value = _value_at(tail[place:])
        if value is not None and _names_hash(value, hash_):
            return value
    # The rare expensive case: the whole line is scanned once, and the result is kept.
    record = read_line(read(0, length))
    if record.header is None:
        return found
    value = record.header.id if key == b"id" else record.header.correlation_id
    return value if value is not ABSENT else found


def _value_at(data: bytes) -> object:
    """Returns the string, or list of strings, at the start of these bytes."""
    found = re.match(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|\[[^\[\]{}]*+\]', data)
    if found is None:
        return None
    try:
        return _decode_value(found[0])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _with_meta(head: bytes, line: bytes) -> bytes:
    """Returns the head with its result's `_meta`, which follows a long content and names the parts that may collapse.

    Scanning 50 MB takes some 30 ms.
    """
    record = read_line(line)
    if record.header is None:
        return head
    # The long content stays undecoded bytes.
    is_rpc = record.shape is Shape.RPC
    whole = payload_of_rpc(record.header) if is_rpc else read_payload(record.header.payload)
    written = bytes(whole.result.meta) if whole is not None and whole.result else b""
    try:
        envelope = decode_json(head)
        meta = decode_json(written) if 0 < len(written) <= MAX_WHOLE_BYTES else None
    except NotAnObjectError:
        return head
    if meta is None or not isinstance(envelope, dict):
        return head
    payload = envelope if is_rpc else envelope.get("payload")
    if isinstance(payload, dict):
        outcome = payload.setdefault("result", {})
        if isinstance(outcome, dict):
            outcome["_meta"] = meta
    return msgspec.json.encode(envelope)
