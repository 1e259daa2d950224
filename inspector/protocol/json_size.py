"""How much memory JSON would take when it is decoded: a hundred megabytes of brackets become five gigabytes.

Counted by its brackets, braces and commas, which is quick and more than it takes: those in texts count as well.
"""

from __future__ import annotations

TOO_MUCH = "it holds so many values that they would fill memory"
"""Why such a record is not read, as the end of a sentence or a reason."""
_CONTAINER, _VALUE = 100, 40
"""Bytes of an empty list or object, and of a place in one with what usually stands there; CPython of 64 bits."""
_SURELY_LITTLE = 4 << 20
MOST_DECODED = 1 << 30
"""Of one record."""


def decoded_bytes(data: bytes) -> int:
    """About how many bytes JSON takes when it is decoded, at most."""
    containers = data.count(b"[") + data.count(b"{")
    return len(data) + _CONTAINER * containers + _VALUE * data.count(b",")


def is_too_much(data: bytes) -> bool:
    """Whether a record is one to fill memory: decoded it might take more than a gigabyte."""
    return len(data) > _SURELY_LITTLE and decoded_bytes(data) > MOST_DECODED
