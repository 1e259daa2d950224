"""Payloads as JSON, decoded on demand, with secrets masked by key and by form."""

from __future__ import annotations

import json

from inspector.analysis.arrays.field_columns import Decoded
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import value_at_path
from inspector.tables.column_arrays import encodable


def payload_column(capture: Capture, *path: str) -> Decoded:
    """Returns a column of the JSON at a path in each message's payload."""

    def value(message: int) -> str | None:
        return _payload_json(capture, message, *path)

    return Decoded(value, len(capture), decode_many=lambda rows: read_in_batches(capture, rows, value), masked=True)


def _payload_json(capture: Capture, message: int, *path: str) -> str | None:
    """Returns the JSON at a path in a message's payload.

    Of a message above 1 MB only its head is searched.
    """
    payload = capture.records.payload(message)
    # Masked as a whole: neighbouring keys may identify a value as secret.
    found = value_at_path(mask_secrets(payload), path) if payload else None
    if found is None:
        return None
    try:
        return encodable(json.dumps(found, ensure_ascii=False, allow_nan=False))
    except (ValueError, RecursionError):  # infinities have no JSON form; unlimited nesting
        return None
