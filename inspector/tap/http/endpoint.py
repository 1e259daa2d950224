"""Finds the `endpoint` event of MCP 2024-11-05 at the beginning of a stream, and replaces its address."""

from __future__ import annotations

import re
from collections.abc import Callable

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)")
_BOM = b"\xef\xbb\xbf"
_NAMES = (b"event: endpoint", b"event:endpoint")
_BEFORE = (b":", b"id:", b"retry:")
"""Lines that may come before the name of the first event."""
_LONGEST_LINE = 1 << 16


class EndpointAddress:
    """Replaces the address in the first event of a stream, if that is an `endpoint` event.

    Other bytes pass at once. Only an unfinished line that may belong to that event waits for its end.

    Attributes:
        is_over: all further bytes pass unread.
    """

    def __init__(self, translate: Callable[[str], str]) -> None:
        self._translate = translate
        self._held = b""
        self._is_endpoint = self._is_after_cr = False
        self.is_over = False

    def feed(self, piece: bytes) -> bytes:
        """Returns the bytes to pass on now."""
        data, self._held = self._held + piece, b""
        passed: list[bytes] = []
        while not self.is_over and (found := _LINE.match(data)):
            passed.append(self._line(found[0]))
            data = data[found.end() :]
        if not self.is_over and len(data) < _LONGEST_LINE and self._may_belong(data):
            self._held = data
        else:
            self.is_over = True
            passed.append(data)
        return b"".join(passed)

    def rest(self) -> bytes:
        """Returns the held bytes at the end of the stream."""
        return self._held

    def _line(self, line: bytes) -> bytes:
        """Returns a complete line, with its address replaced."""
        # A line end of two bytes may come in two pieces.
        is_second_half = self._is_after_cr and line == b"\n"
        self._is_after_cr = line.endswith(b"\r")
        text = line.rstrip(b"\r\n").removeprefix(_BOM)
        if is_second_half:
            return line
        if self._is_endpoint:
            self.is_over = not text.startswith(_BEFORE)
            if text.startswith(b"data:") and (address := text[5:].strip()):
                return line.replace(address, self._translate(address.decode("latin-1")).encode("latin-1"), 1)
        elif text in _NAMES:
            self._is_endpoint = True
        else:
            self.is_over = bool(text) and not text.startswith(_BEFORE)
        return line

    def _may_belong(self, begun: bytes) -> bool:
        begun = begun.removeprefix(_BOM)
        starts = (*_BEFORE, b"data:", _BOM) if self._is_endpoint else (*_BEFORE, *_NAMES, _BOM)
        return any(begun.startswith(one) or one.startswith(begun) for one in starts)
