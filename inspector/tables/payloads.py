"""Payloads as JSON, decoded for the rows that ask, secrets masked by their keys and by what they look like."""

from __future__ import annotations

import json

from inspector.analysis.arrays.field_columns import Decoded
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.messages.capture import Capture
from inspector.store.messages.decoding import decoded_in_blocks
from inspector.store.messages.payload_values import walk
from inspector.tables.arrays import encodable


def payloads(capture: Capture, *path: str) -> Decoded:
    """What stands at a path below the payload of each message, as JSON."""

    def value(message: int) -> str | None:
        return _payload_json(capture, message, *path)

    return Decoded(value, len(capture), decode_many=lambda rows: decoded_in_blocks(capture, rows, value), masked=True)


def _payload_json(capture: Capture, message: int, *path: str) -> str | None:
    """What stands at a path below a message's payload, as JSON; None where there is nothing.

    Of a message above 1 MB as far as its head goes.
    """
    payload = capture.records.payload(message)
    # Masked whole: whether a value is a secret may be told by what stands beside it.
    found = walk(mask_secrets(payload), path) if payload else None
    if found is None:
        return None
    try:
        return encodable(json.dumps(found, ensure_ascii=False, allow_nan=False))
    except (ValueError, RecursionError):  # infinities, which JSON cannot say; nesting without end
        return None
