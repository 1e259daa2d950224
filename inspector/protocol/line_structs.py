"""Structs of the common line shapes, decoded in one step.

A line that fits one of these structs has exactly the meaning of `inspector.formats.line_reading.read_line_as`, at a
fifth of the cost. Envelopes of other lines (another type, a rare key) are normalized to these structs
(`inspector.reading.decoder.normalize`). Null and absent are equal here, as in the protocols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from inspector.protocol.calls import Payload
from inspector.protocol.header import Header
from inspector.protocol.json_values import REFUSALS, Decode, decode_one, has_shape

_Absent = msgspec.UnsetType
_ABSENT = msgspec.UNSET


class LinePayload(Payload, gc=False):
    """A payload without fields of a context."""

    context: _Absent = _ABSENT
    reasoning_id: _Absent = _ABSENT
    thread_id: _Absent = _ABSENT
    threadId: _Absent = _ABSENT


class Envelope(msgspec.Struct, rename={"sender": "from"}, gc=False):
    """An envelope with a kind and only regular values."""

    kind: str
    protocol: str | None = None
    id: str | None = None
    ts: str | None = None
    sender: str | None = None
    to: tuple[str, ...] | str | None = None
    correlation_id: tuple[str, ...] | str | None = None
    context: str | dict[str, Any] | None = None
    payload: LinePayload | None = None
    space: Any = None
    t: _Absent = _ABSENT  # a line of an HTTP recording has a kind, too
    projectHash: _Absent = _ABSENT  # and so has the first line of a session of a coding agent
    correlationId: _Absent = _ABSENT  # the key of one draft
    thread_id: _Absent = _ABSENT
    threadId: _Absent = _ABSENT
    response_context: _Absent = _ABSENT  # of a self-contained export


class OpenEnvelope(msgspec.Struct, rename={"sender": "from"}, gc=False):
    """An envelope with a kind and values of any type; irregular for `Envelope`."""

    kind: str
    protocol: Any = _ABSENT
    id: Any = _ABSENT
    ts: Any = _ABSENT
    sender: Any = _ABSENT
    to: Any = _ABSENT
    correlation_id: Any = _ABSENT
    context: Any = _ABSENT
    payload: Payload | str | float | list[Any] | bool | None = None
    space: Any = None
    t: _Absent = _ABSENT
    projectHash: _Absent = _ABSENT
    correlationId: Any = _ABSENT
    thread_id: Any = _ABSENT
    threadId: Any = _ABSENT
    response_context: _Absent = _ABSENT


WrittenEnvelope = Header | OpenEnvelope
"""An envelope with its values as written."""


class LogLine(msgspec.Struct, gc=False):
    """A gateway log's line about an envelope."""

    event: str
    envelope: msgspec.Raw
    timestamp: str | None = None
    participant: str | None = None
    space_id: str | None = None
    direction: str | None = None
    kind: _Absent = _ABSENT
    jsonrpc: _Absent = _ABSENT


class CaptureLine(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A capture's line with an envelope as frame."""

    t: int
    dir: str
    frame: Envelope
    src: int = 0
    bin: bool = False


class FrameLine(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A capture's line with any frame."""

    t: int
    dir: str
    frame: msgspec.Raw
    src: int = 0
    bin: bool = False


class StreamLine(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A capture's line with a frame of a stream."""

    t: int
    dir: str
    text: str
    src: int = 0
    bin: bool = False


_Line = TypeVar("_Line", bound=msgspec.Struct)

decode_envelope: Decode[Envelope] = msgspec.json.Decoder(Envelope).decode
decode_open_envelope: Decode[OpenEnvelope] = msgspec.json.Decoder(OpenEnvelope).decode
decode_log_line: Decode[LogLine] = msgspec.json.Decoder(LogLine).decode
decode_capture_line: Decode[CaptureLine] = msgspec.json.Decoder(CaptureLine).decode
decode_frame_line: Decode[FrameLine] = msgspec.json.Decoder(FrameLine).decode
decode_stream_line: Decode[StreamLine] = msgspec.json.Decoder(StreamLine).decode


def decode_all(decode: Decode[_Line], lines: Sequence[bytes | msgspec.Raw]) -> list[_Line | None]:
    """Decodes each line; None for other shapes."""
    found: list[_Line | None] = []
    left = iter(lines)
    while len(found) < len(lines):
        try:
            # Decodes up to the first refusal; earlier results stay.
            found.extend(map(decode, left))
        except REFUSALS:
            found.append(None)
    return found


def is_regular_line(line: bytes) -> bool:
    """Returns True for a regular envelope with a sender, or a regular gateway log line."""
    if b'"kind"' not in line:
        return False
    envelope = decode_one(decode_envelope, line)
    return envelope.sender is not None if envelope is not None else has_shape(decode_log_line, line)
