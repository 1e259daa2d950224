"""What the copies of a message in a gateway's log differ in."""

from __future__ import annotations

from typing import Any

from inspector.capture.capture import Capture
from inspector.protocol.formats import read_line
from inspector.protocol.header import NotAnObjectError, decode_json

_MOST_COPIES = 64
_LONGEST = 1 << 20


def differing_keys(capture: Capture, row: int) -> list[str]:
    """Keys of the envelope that a copy has otherwise.

    A text in correlation_id and a list with it alone are the same: gateways turn one into the other (protocols.md 11).
    Of a message above 1 MB nothing is said.
    """
    if capture.is_big(row):
        return []
    first = capture.record(row).raw
    seen = {first}
    original = _normal(first)
    keys: dict[str, None] = {}
    for place, delivery in enumerate(capture.deliveries_of(row)):
        if place >= _MOST_COPIES:
            break
        if delivery.length > _LONGEST:
            continue
        raw = read_line(capture.sources[delivery.source].read(delivery.offset, delivery.length)).raw
        if raw not in seen:
            seen.add(raw)
            copy = _normal(raw)
            keys.update((key, None) for key in sorted(original.keys() | copy.keys()) if _differ(original, copy, key))
    return list(keys)


_NONE = object()


def _differ(original: dict[str, Any], copy: dict[str, Any], key: str) -> bool:
    return original.get(key, _NONE) != copy.get(key, _NONE)


def _normal(raw: bytes) -> dict[str, Any]:
    try:
        envelope = decode_json(raw)
    except NotAnObjectError:
        return {}
    if not isinstance(envelope, dict):
        return {}
    named = envelope.get("correlation_id")
    if isinstance(named, str):
        envelope["correlation_id"] = [named]
    return envelope
