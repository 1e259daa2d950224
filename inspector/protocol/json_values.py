"""JSON decoded into a shape: what does not fit it is no error, but somebody else's.

For values of any shape, also where half of what they hold is no JSON at all, see `decode_json` in `header`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

_Shape = TypeVar("_Shape")
Decode = Callable[[Any], _Shape]

NO_RAW = msgspec.Raw(b"")
"""A value as written that is not there."""
REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises of bytes that are no JSON, or of another shape."""

_decode_text: Decode[str] = msgspec.json.Decoder(str).decode


def decode_one(decode: Decode[_Shape], raw: bytes | msgspec.Raw) -> _Shape | None:
    """Decode a line, or a value; None where it does not fit."""
    try:
        return decode(raw)
    except REFUSALS:
        return None


def fits(decode: Decode[Any], raw: bytes | msgspec.Raw) -> bool:
    """Whether a line, or a value, has this shape."""
    try:
        decode(raw)
    except REFUSALS:
        return False
    return True


def text_in(raw: msgspec.Raw) -> str | None:
    """A string as it was meant; None for what is none."""
    return decode_one(_decode_text, raw)


def json_text(text: str) -> bytes:
    """A string as JSON, as most programs write it."""
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:  # half characters
        return json.dumps(text).encode()
