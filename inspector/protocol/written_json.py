"""JSON of what was decoded as tolerantly as `inspector.protocol.header` does: half a surrogate, endless numbers."""

from __future__ import annotations

import json

import msgspec


def to_json(value: object) -> bytes:
    """A decoded value as JSON on one line; what UTF-8 cannot hold is escaped."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, msgspec.MsgspecError, OverflowError, RecursionError):
        return json.dumps(value).encode()
