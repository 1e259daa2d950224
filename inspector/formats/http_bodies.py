"""Decodes bodies of HTTP messages: compressed ones, and event streams of Amazon's services."""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.protocol.header import json_or_none

_MAX_BYTES = 1 << 28
"""Limit of an unpacked body."""
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_PRELUDE = struct.Struct(">II4x")
_CHECKSUM_BYTES = 4
_STRING = 7
_FIRST_HEADER = 40
_MAX_FRAMES = 1 << 20


def unpacked_body(data: bytes, encoding: str | None) -> bytes | None:
    """Returns a body without its content encoding; None if it cannot be unpacked."""
    name = (encoding or "").strip().lower()
    if name in _WINDOWS:
        return _inflated(data, _WINDOWS[name])
    if name == "zstd":
        import zstandard

        try:
            with zstandard.ZstdDecompressor().stream_reader(data) as reader:
                return reader.read(_MAX_BYTES)
        except zstandard.ZstdError:
            return data if _is_text(data) else None
    return data if name in ("", "identity") or _is_text(data) else None


def _inflated(data: bytes, window: int) -> bytes | None:
    # Some recorders keep the header of a body that they have unpacked.
    for bits in (window, -15):
        try:
            return zlib.decompressobj(bits).decompress(data, _MAX_BYTES)
        except zlib.error:
            continue
    return data if _is_text(data) else None


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_amazon_stream(data: bytes) -> bool:
    """Returns True for a body that begins with a frame of an event stream."""
    return any(
        mark in data[: _PRELUDE.size + _FIRST_HEADER] for mark in (b":event-type", b":exception-type", b":message-t")
    )


def amazon_events(data: bytes) -> Iterator[dict[str, Any]]:
    """Yields the events of a body as objects, each with the event's name as its key; stops at a damaged frame.

    Events of `InvokeModelWithResponseStream` contain an event of the model's own API.
    """
    at = 0
    for _ in range(_MAX_FRAMES):
        if len(data) - at < _PRELUDE.size + _CHECKSUM_BYTES:
            return
        size, header_size = _PRELUDE.unpack_from(data, at)
        start, stop = at + _PRELUDE.size, at + size - _CHECKSUM_BYTES
        if size < _PRELUDE.size + _CHECKSUM_BYTES + header_size or at + size > len(data):
            return
        names = dict(_headers(data[start : start + header_size]))
        payload = json_or_none(data[start + header_size : stop])
        at += size
        name = names.get(":event-type") or names.get(":exception-type")
        if name == "chunk" and isinstance(payload, Mapping) and isinstance(inner := payload.get("bytes"), str):
            event = _inner_event(inner)
            if isinstance(event, dict):
                yield event
                continue
        if name is not None and payload is not None:
            yield {name: payload}


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """Yields the headers with text values up to one of another type."""
    at = 0
    while at < len(data):
        end = at + 1 + data[at]
        name = data[at + 1 : end].decode("utf-8", "replace")
        if data[end : end + 1] != bytes((_STRING,)) or end + 3 > len(data):
            return
        at = end + 3 + int.from_bytes(data[end + 1 : end + 3], "big")
        yield name, data[end + 3 : at].decode("utf-8", "replace")


def _inner_event(written: str) -> Any:
    try:
        return json_or_none(base64.b64decode(written))
    except (binascii.Error, ValueError):
        return None
