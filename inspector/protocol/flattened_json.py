"""Flattens too deeply nested JSON: drops the deep values, so that sender and kind stay readable."""

from __future__ import annotations

import re
from bisect import bisect_right

from inspector.protocol.truncated_json import MAX_DEPTH

MAX_LENGTH = 8 << 20
"""Bytes of a processed line."""

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_NOTHING = b"null"


class FlattenedJson:
    """A JSON text with null in place of every object and array deeper than `MAX_DEPTH`.

    Attributes:
        text: the JSON; valid if the original's brackets match and it is valid otherwise.
    """

    def __init__(self, line: bytes) -> None:
        """Processes a text. O(bytes), without recursion."""
        self._line = line
        parts: list[bytes] = []
        self._starts: list[int] = []  # start of each part in `text`
        self._origins: list[int] = []  # and in the original
        reached = length = depth = 0
        for found in _TOKEN.finditer(line):
            token = line[found.start()]
            if token in b"{[":
                depth += 1
                # Only brackets beyond the depth limit are replaced; the decoder refuses deeper
                # nesting.
                if depth == MAX_DEPTH + 1:
                    for part, origin in ((line[reached : found.start()], reached), (_NOTHING, found.start())):
                        parts.append(part)
                        self._starts.append(length)
                        self._origins.append(origin)
                        length += len(part)
            elif token in b"}]":
                if depth == MAX_DEPTH + 1:
                    reached = found.end()
                depth -= 1
        parts.append(line[reached:])
        self._starts.append(length)
        self._origins.append(reached)
        self.text = b"".join(parts)

    def original_bytes(self, part: bytes) -> bytes:
        """Returns the original bytes of a part of `text` that begins and ends outside of dropped values.

        Returns the whole original if it is no part of `text`.
        """
        start = self.text.find(part)
        return self._line[self._origin(start) : self._origin(start + len(part) - 1) + 1] if start >= 0 else self._line

    def _origin(self, place: int) -> int:
        at = bisect_right(self._starts, place) - 1
        return self._origins[at] + place - self._starts[at]
