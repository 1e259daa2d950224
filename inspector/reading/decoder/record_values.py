"""Derives column values of a record: identifiers, hashes, sender, recipient, flags, origin of a capture."""

from __future__ import annotations

from typing import Any

from inspector.formats.line_reading import payload_of
from inspector.protocol import calls, kinds
from inspector.protocol.correlation_ids import correlation_ids_of
from inspector.protocol.derived_messages import (
    DerivedMessage,
    envelope_bytes,
)
from inspector.protocol.directions import sender_and_receiver
from inspector.protocol.header import Header, NotAnObjectError, decode_json, json_or_none
from inspector.protocol.record import Record, Shape
from inspector.protocol.response_context import read_answered_call
from inspector.reading.decoder.fast_path import fold_hash
from inspector.store.columns.call_ids import hash_call_id
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_text

_EXPORT_RULE_FLAGS = {"correlation": Flag.CALL_FROM_CORRELATION.value, "rpc id": Flag.CALL_FROM_RPC_ID.value}
_NOISE_LENGTH = 80
_TOOL_CALL = "tools/call"


def call_id_hash(one: DerivedMessage) -> int:
    """Returns a hash of a tool call's id, or of the id of a result's call; NO_HASH for other messages."""
    is_call = one.kind == kinds.REQUEST and one.method == _TOOL_CALL
    is_result = one.kind == kinds.RESPONSE and one.method is None
    identifier = one.identifier if is_call else one.correlation if is_result else None
    return hash_call_id(identifier) if identifier else NO_HASH


def export_call_flags(record: Record, call: calls.Call) -> int:
    """Sets the call that a response of a self-contained export answers; returns flags about it.

    An envelope has to name the same call itself, in the form of Decision 002, and the request by its id.
    """
    header = record.header
    if header is None or call.kind != kinds.RESPONSE:
        return 0
    told = read_answered_call(header.response_context)
    # plain JSON-RPC has lost its connection, so a missing request is no fault of the answering side
    is_rpc = record.shape is Shape.RPC
    if told is None:
        return Flag.CONTAINS_REQUEST.value if is_rpc else 0
    if not is_rpc and (call.method, call.target) != (told.method, told.target):
        return 0
    named = is_rpc or told.request_id in correlation_ids_of(header)
    flags = Flag.CONTAINS_REQUEST.value if named else 0
    if call.method in (None, told.method) and call.target in (None, told.target):
        call.method, call.target = told.method, told.target
        flags |= _EXPORT_RULE_FLAGS.get(told.rule, 0) if isinstance(told.rule, str) else 0
    return flags


def noise_beginning(record: Record, line: bytes) -> str:
    """Returns the beginning of a noise line without the recorder's wrapper."""
    if record.shape is not Shape.UNREADABLE:
        try:
            text = decode_json(line).get("text")
        except (NotAnObjectError, AttributeError):
            text = None
        return text[:_NOISE_LENGTH] if isinstance(text, str) else ""
    return record.raw[:_NOISE_LENGTH].decode("utf-8", "replace")


def sender_and_recipient(record: Record) -> tuple[str | None, tuple[str, ...] | None]:
    """Returns sender and recipient by the record's direction."""
    sender, receiver = sender_and_receiver(record.direction)
    return sender, (receiver,) if receiver is not None else None


def record_fold_hash(record: Record, header: Header) -> int:
    """Returns the hash shared by an envelope's copies in a gateway log; NO_HASH without an id or such a log."""
    if record.event is None:
        return NO_HASH
    return fold_hash(record.space, header.id, header.sender, header.ts, header.kind)


def progress_hash(one: DerivedMessage) -> int:
    """Returns the hash shared by the ticks of one call; NO_HASH for other messages."""
    return hash_text(f"{one.correlation}\0{one.kind}\0tick") if one.is_progress else NO_HASH


def written_message(record: Record, part: int) -> bytes:
    """Returns the envelope, or JSON-RPC message, as written; a synthesized one for a transcript's record."""
    return record.raw if not part else envelope_bytes(record.derived_messages[part - 1], payload_of(record, part - 1))


def capture_origin(line: bytes) -> dict[str, Any] | None:
    """Returns the object of a line, or None if it is no object."""
    origin = json_or_none(line)
    return origin if isinstance(origin, dict) else None
