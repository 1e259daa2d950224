"""Values inside the payload of a message above 1 MB, whose head is all that is kept decoded.

The record is read again and passed over, which costs some 30 ms for 50 MB; only the value asked for is decoded.
"""

from __future__ import annotations

import contextlib

import msgspec

from inspector.capture.capture import OWN_PAYLOAD, Capture
from inspector.capture.flags import Flag
from inspector.filters.fields import message_text
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.text import text_shown

_MOST = 8 << 20
"""Bytes of a list or an object that is decoded; of a longer one only the head is known. Texts are decoded always."""

_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


class TooLargeError(Exception):
    """The value is too long to be decoded."""


_REFUSED = (msgspec.MsgspecError, LookupError, UnicodeDecodeError, RecursionError, NotAnObjectError)


def big_value(capture: Capture, message: int, path: tuple[str, ...]) -> object:
    """The value at a path below a big message's payload; None when there is none. As `payload_field` reads others.

    Raises:
        TooLargeError: it is longer than what is decoded.
    """
    try:
        first, *rest = path
        value = bytes(_payload(capture, message)[first])
        for step in rest:
            value = _below(value, step)
        if _is_too_large(value):
            raise TooLargeError
        return decode_json(value)
    except _REFUSED:
        return None


def big_text(capture: Capture, message: int) -> str | None:
    """The text a big message shows, as `fields.message_text` reads it of others."""
    if capture.flags(message) & (Flag.FRAME | Flag.UNREADABLE | Flag.GAP):
        return message_text(capture, message)
    payload = dict(capture.payload(message))
    with contextlib.suppress(*_REFUSED):
        for key, written in _payload(capture, message).items():
            value = bytes(written)
            if not _is_too_large(value):
                payload[key] = decode_json(value)
    return text_shown(capture.string("kind", message) or "", payload)


def _payload(capture: Capture, message: int) -> dict[str, msgspec.Raw]:
    """What `Capture.payload` is, not decoded below its keys."""
    envelope = _object(capture.envelope_bytes(message))
    if capture.flags(message) & OWN_PAYLOAD or "payload" not in envelope:
        return envelope if "kind" not in envelope else {}
    return _object(bytes(envelope["payload"]))


def _is_too_large(value: bytes) -> bool:
    return len(value) > _MOST and value[:1] != b'"'


def _below(value: bytes, step: str) -> bytes:
    if value[:1] == b"{":
        return bytes(_object(value)[step])
    if value[:1] == b"[" and step.isdecimal() and len(step) < 10:
        return bytes(_array(value)[int(step)])
    raise KeyError(step)
