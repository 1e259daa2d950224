"""Normalizes the correlation ids of an envelope to a list of strings."""

from __future__ import annotations

import msgspec

from inspector.protocol import kinds
from inspector.protocol.calls import Payload, read_payload
from inspector.protocol.header import ABSENT
from inspector.protocol.line_structs import WrittenEnvelope


def correlation_ids_of(header: WrittenEnvelope, payload: Payload | None = None) -> list[str]:
    """Returns `correlation_id` as a list of strings; also reads the draft's `correlationId`.

    The MEUP v0.2 client named the proposal it accepts or rejects in the payload instead.

    Args:
        header: the envelope.
        payload: its decoded payload; None if the header has it as written.
    """
    value: object = header.correlation_id if header.correlation_id is not ABSENT else header.correlationId
    if value is ABSENT and isinstance(header.kind, str) and kinds.decides_by_payload(header.kind):
        if payload is None and isinstance(header.payload, msgspec.Raw):
            payload = read_payload(header.payload)
        value = payload.correlation_id if payload is not None else value
    return normalize_ids(value)


def normalize_ids(value: object) -> list[str]:
    """Returns a `correlation_id` as a list of strings."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
