"""Format: lines with another format's message under a key of their own (docs/design.md 4, Formats)."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from inspector.formats.value_conversions import line_time, text_or_none
from inspector.protocol.frames import object_keys
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape
from inspector.protocol.rpc_batch import batch_in
from inspector.protocol.timestamps import NO_TIME

LABEL = "wrapped"

_OF_CALLS = re.compile(r"(?:tool|call|method)s?|tool_?[A-Z_cu]\w*|function_?[cC]alls?|call_?(?:id|Id|ID)|finish_reason")
"""Keys of calls, tools and methods, and of a model's answer."""
_KEYS = ("message", "envelope", "frame", "text", "data", "log", "msg", "MESSAGE")


def read(header: Header, line: bytes, read_inner: Callable[[bytes], Record]) -> Record | None:
    """Reads the content of a wrapper line, as an object or as JSON in a string, if known.

    An array counts if it is a JSON-RPC batch. Time, direction and space come from the wrapper if the content lacks
    them.
    """
    for key in _KEYS:
        raw = getattr(header, key)
        inner = _inner_bytes(raw)
        record = read_inner(inner) if inner else batch_in(bytes(raw))
        if (
            record is None
            or record.shape is Shape.NO_MESSAGE
            or (record.shape is Shape.UNREADABLE and not record.batch)
        ):
            continue
        # The message's own time is better than the wrapper's.
        if record.time_ns == NO_TIME:
            record.time_ns = line_time(header)
        if record.direction is None:
            direction = header.dir if header.dir is not ABSENT else header.direction
            record.direction = text_or_none(direction)
        if record.space is None and header.space_id is not ABSENT:
            record.space = text_or_none(header.space_id)
        return record
    return None


def names_calls(line: bytes) -> bool:
    """Returns True if a wrapper has keys of calls, tools, methods or answers: then it is more than a wrapper.

    Reading its content alone would lose them.
    """
    return any(_OF_CALLS.fullmatch(key) for key in object_keys(line))


class SliceOrigin(msgspec.Struct, gc=False):
    """Origin of a line in a slice: a file by name, the line's number there, its offset in bytes."""

    source: str
    line: int
    offset: int


class _Sliced(msgspec.Struct, gc=False):
    slice: SliceOrigin


_SLICED = b'{"slice":'
_decode_sliced = msgspec.json.Decoder(_Sliced).decode


def slice_origin(line: bytes) -> SliceOrigin | None:
    """Returns the origin of a slice's line; None for other lines."""
    if not line.startswith(_SLICED):
        return None
    try:
        return _decode_sliced(line).slice
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def make_slice_line(
    line: bytes, source: str, number: int, offset: int, *, time_ns: int = NO_TIME, **around: str | None
) -> bytes:
    """Returns a line of a slice, without its end; content other than a JSON object, as a stream frame, becomes text.

    Args:
        line: the original.
        source, number, offset: its origin.
        time_ns: its log time, if it differs from the sender's.
        around: facts of its log beyond its own, under a wrapper's keys.
    """
    told = {key: value for key, value in around.items() if value is not None}
    time = {"t": time_ns} if time_ns != NO_TIME else {}
    head = msgspec.json.encode({"slice": SliceOrigin(source, number, offset), **time, **told})
    inner = line if line[:1] == b"{" else msgspec.json.encode(line.decode("utf-8", "replace"))
    return head[:-1] + b',"message":' + inner + b"}"


def _inner_bytes(raw: msgspec.Raw) -> bytes:
    data = bytes(raw)
    if data[:1] == b"{":
        return data
    if data[:1] != b'"':
        return b""
    try:
        text = decode_json(data)
    except NotAnObjectError:
        return b""
    inner = text.strip().encode("utf-8", "surrogatepass")
    return inner if inner[:2] not in (b"[{", b"[[", b"[ ") else b""  # a batch would not lie in the line literally
