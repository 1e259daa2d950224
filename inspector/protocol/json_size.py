"""Estimates the decoded size of JSON, before decoding: a hundred megabytes of brackets become five gigabytes.

It counts brackets, braces and commas, also those in texts: a fast upper bound.
"""

from __future__ import annotations

TOO_LARGE = "it holds so many values that they would fill memory"
"""Reason for skipping such a record, as the end of a sentence."""
_CONTAINER, _VALUE = 100, 40
"""Bytes of an empty list or object, and of an element with a typical value; 64-bit CPython."""
_UNCHECKED_BYTES = 4 << 20
MAX_DECODED_BYTES = 1 << 30
"""Limit of decoded bytes per record."""


def estimate_decoded_bytes(data: bytes) -> int:
    """Returns an upper bound of the decoded size in bytes."""
    containers = data.count(b"[") + data.count(b"{")
    return len(data) + _CONTAINER * containers + _VALUE * data.count(b",")


def is_too_large(data: bytes) -> bool:
    """Returns True if a record might take more than a gigabyte decoded."""
    return len(data) > _UNCHECKED_BYTES and estimate_decoded_bytes(data) > MAX_DECODED_BYTES
