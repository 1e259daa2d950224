"""Encodes values of the tolerant decoder in `inspector.protocol.header`: lone surrogates, huge numbers."""

from __future__ import annotations

import json

import msgspec


def to_json(value: object) -> bytes:
    """Returns a decoded value as JSON on one line; escapes characters without a UTF-8 form."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, msgspec.MsgspecError, OverflowError, RecursionError):
        return json.dumps(value, separators=(",", ":")).encode()
