"""Texts of an answer that grow event by event, with limits against hostile streams."""

from __future__ import annotations

from typing import Any

from inspector.protocol.header import NotAnObjectError, decode_json

MAX_JOINED = 1 << 26
"""Limit of characters in the texts of one answer; the rest is dropped."""
MAX_PIECES = 1 << 12
"""Limit of blocks, choices or items in one answer."""


class GrowingTexts:
    """Growing texts by key; together no longer than MAX_JOINED.

    Attributes:
        left_out: dropped characters.
    """

    def __init__(self) -> None:
        self._parts: dict[Any, list[str]] = {}
        self._size = self.left_out = 0

    def append_text(self, key: object, text: object) -> bool:
        """Appends to a text; returns True unless the addition is empty."""
        if not isinstance(text, str) or not text:
            return False
        if self._size + len(text) > MAX_JOINED:
            self.left_out += len(text)
        else:
            self._size += len(text)
            self._parts.setdefault(key, []).append(text)
        return True

    def text(self, key: object) -> str | None:
        """Returns a text so far."""
        parts = self._parts.get(key)
        if parts is None:
            return None
        if len(parts) > 1:
            parts[:] = ["".join(parts)]
        return parts[0]


def valid_place(value: object) -> int | None:
    """Returns a valid number of a block, choice or item."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else -1
    return number if 0 <= number < MAX_PIECES else None


def decoded_input(written: str) -> Any:
    """Decodes a call's streamed JSON input; returns it unchanged if truncated."""
    try:
        return decode_json(written.encode("utf-8", "replace"))
    except NotAnObjectError:
        return written
