"""Finds an array inside of a JSON document, so that its elements are read without decoding the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

MAX_SEARCHED_BYTES = 4 << 20
"""Bytes in which an array has to begin."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}:,]', re.DOTALL)


def find_array(read: Callable[[int, int], bytes], path: Sequence[str]) -> int | None:
    """Returns the offset after the bracket that opens an array, or None if there is no array at the path.

    Args:
        read: returns bytes by offset and length.
        path: keys from the document down; digits index arrays.
    """
    head = read(0, MAX_SEARCHED_BYTES)
    steps: list[bytes | int] = []  # key or index of each open container's current value
    wanted = [(step.encode("utf-8", "replace"), int(step) if step.isascii() and step.isdecimal() else None)
              for step in path]  # fmt: skip
    key = b""
    for token in _TOKEN.finditer(head):
        text = token[0]
        if text == b"[" and _is_at(steps, wanted):
            return token.end()
        if text in (b"{", b"["):
            steps.append(b"" if text == b"{" else 0)
        elif text in (b"}", b"]"):
            if not steps:
                return None
            steps.pop()
            if not steps:  # the document has ended
                return None
        elif text == b":":
            if steps and isinstance(steps[-1], bytes):
                steps[-1] = key
        elif text == b",":
            step = steps[-1] if steps else b""
            if isinstance(step, int):
                steps[-1] = step + 1
        else:
            key = text[1:-1].replace(b'\\"', b'"').replace(b"\\/", b"/")
    return None


def _is_at(steps: Sequence[bytes | int], wanted: Sequence[tuple[bytes, int | None]]) -> bool:
    if len(steps) != len(wanted):
        return False
    return all(step in (key, index) for step, (key, index) in zip(steps, wanted, strict=True))
