"""Reads payload values by path, also in large records, and the text that a message shows.

For a message above 1 MB, only the head stays decoded. Its record is read and scanned again, which takes about 30 ms for
50 MB; only the requested value is decoded.
"""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded
from inspector.filters.field import Field, FieldType
from inspector.filters.record_prefilter import key_hint
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.message_text import text_shown
from inspector.protocol.payloads.stream_chunks import frame_text
from inspector.protocol.secrets.masking import is_secret_key
from inspector.store.columns.extracts import SELF_PAYLOAD_FLAGS
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import OPEN_JSON, PayloadValues, value_at_path

_MAX_DECODED = 8 << 20
"""Limit in bytes of a decoded list or object; of a longer one only the head is known. Texts have no limit."""

_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode


def payload_field(path: tuple[str, ...]) -> Field:
    """Returns a field for a value inside the payload.

    Args:
        path: keys from the payload down. Digits index arrays (and name keys of objects); OPEN_JSON opens a text that is
            JSON. A wrong type on the path means absent.
    """
    hint = key_hint(path)
    values = PayloadValues(path, None if hint is None else hint.match_lines)

    def column(analysis: Analysis) -> Column:
        capture = analysis.capture

        def value(message: int) -> object:
            return value_at_path(capture.records.payload(message), path)

        return Decoded(value, len(analysis), decode_held=lambda rows: values.read_batches(capture, rows, value))

    name = "payload"
    for step in path:
        plain_step = step if step.replace("_", "").isalnum() else json.dumps(step, ensure_ascii=False)
        name = f"json({name})" if step == OPEN_JSON else f"{name}.{plain_step}"
    label = next((step for step in reversed(path) if step != OPEN_JSON), "payload")
    secret = next(filter(is_secret_key, path), None)
    return Field(name, FieldType.ANY, label, "A value inside the payload.", column, secret=secret, path=path)


def message_text(capture: Capture, message: int) -> str | None:
    """Returns the text that a message shows; for lines that are no envelope, their bytes as text.

    For a message above 1 MB, only the text in its head; `big_text` reads the rest.
    """
    flags = int(capture.columns["flags"][message])
    if flags & Flag.FRAME.value:
        return frame_text(capture.records.frame_data(message))
    if flags & Flag.UNREADABLE.value:
        return capture.records.read_record(message).raw.decode("utf-8", "replace")
    if flags & Flag.GAP.value:
        return capture.records.reason(message)
    return text_shown(capture.string("kind", message) or "", capture.records.payload(message))


class TooLargeError(Exception):
    """The value is too long to decode."""


_REFUSED = (msgspec.MsgspecError, LookupError, UnicodeDecodeError, RecursionError, NotAnObjectError)


def big_value(capture: Capture, message: int, path: tuple[str, ...]) -> object:
    """Returns the value at a path below a big message's payload, if any. Same result as a `payload_field`.

    Raises:
        TooLargeError: the value is above the limit.
    """
    try:
        first, *rest = path
        value = bytes(_payload(capture, message)[first])
        for step in rest:
            value = _member(value, step)
        if _is_too_large(value):
            raise TooLargeError
        return decode_json(value)
    except _REFUSED:
        return None


def big_text(capture: Capture, message: int) -> str | None:
    """Returns the text of a big message; same result as `message_text`."""
    if capture.flags_of(message) & (Flag.FRAME | Flag.UNREADABLE | Flag.GAP):
        return message_text(capture, message)
    # A copy: the decoded head is cached and shared.
    payload = dict(capture.records.payload(message))
    with suppress(*_REFUSED):
        for key, written in _payload(capture, message).items():
            value = bytes(written)
            if not _is_too_large(value):
                payload[key] = decode_json(value)
    return text_shown(capture.string("kind", message) or "", payload)


def _payload(capture: Capture, message: int) -> dict[str, msgspec.Raw]:
    """As `Records.payload`, with the values still encoded."""
    envelope = _object(capture.records.envelope_bytes(message))
    if capture.flags_of(message) & SELF_PAYLOAD_FLAGS or "payload" not in envelope:
        return envelope if "kind" not in envelope else {}
    return _object(bytes(envelope["payload"]))


def _is_too_large(value: bytes) -> bool:
    # Decoded lists and objects take many times their bytes in memory; texts do not.
    return len(value) > _MAX_DECODED and value[:1] != b'"'


def _member(value: bytes, step: str) -> bytes:
    if step == OPEN_JSON:
        return _text(value).encode() if value[:1] == b'"' else value
    if value[:1] == b"{":
        return bytes(_object(value)[step])
    # Python refuses to convert very long digits; no array has that many elements.
    if value[:1] == b"[" and step.isdecimal() and len(step) < 10:
        return bytes(_array(value)[int(step)])
    raise KeyError(step)
