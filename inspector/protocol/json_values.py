"""Decodes JSON into a fixed shape; returns None instead of an error for other shapes.

For values of any shape, and partly invalid JSON, see `decode_json` in `header`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

_Shape = TypeVar("_Shape")
Decode = Callable[[Any], _Shape]

NO_RAW = msgspec.Raw(b"")
"""Placeholder of an absent raw value."""
REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Exceptions of a decoder for invalid JSON or another shape."""

_decode_text: Decode[str] = msgspec.json.Decoder(str).decode


def decode_one(decode: Decode[_Shape], raw: bytes | msgspec.Raw) -> _Shape | None:
    """Decodes a line, or a value; returns None if it has another shape."""
    try:
        return decode(raw)
    except REFUSALS:
        return None


def has_shape(decode: Decode[Any], raw: bytes | msgspec.Raw) -> bool:
    """Returns True if a line, or a value, has this shape."""
    try:
        decode(raw)
    except REFUSALS:
        return False
    return True


def decode_text(raw: msgspec.Raw) -> str | None:
    """Decodes a value if it is a string."""
    return decode_one(_decode_text, raw)


def json_text(text: str) -> bytes:
    """Returns a string as JSON, as most programs write it."""
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:  # lone surrogates
        return json.dumps(text).encode()
