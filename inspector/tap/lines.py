"""Lines out of bytes that come cut anywhere, and what is lost of them. No I/O."""

from __future__ import annotations

LONGEST_LINE_BYTES = 1 << 28
"""A longer line is passed on like any other, but not kept."""


class LineMaker:
    """Makes whole lines of one side's bytes.

    Attributes:
        lost_bytes, lost_lines: what was not kept since `take_loss`; a line that lost its beginning or its end is lost.
    """

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self.lost_bytes = 0
        self.lost_lines = 0
        self._longest_bytes = longest_bytes
        self._parts: list[bytes] = []
        self._held_bytes = 0
        self._skipping = False  # the beginning of this line is lost

    def feed(self, data: bytes) -> list[bytes]:
        """Lines that these bytes end, without their line feeds."""
        if self._skipping:
            end = data.find(b"\n") + 1
            self.lost_bytes += end or len(data)
            if not end:
                return []
            self.lost_lines += 1
            self._skipping = False
            data = data[end:]
        first, *others = data.split(b"\n")
        if not others:
            self._hold(first)
            return []
        whole = [b"".join((*self._parts, first)), *others[:-1]]
        self._parts, self._held_bytes = [], 0
        self._hold(others[-1])
        return whole

    def lose(self, size: int, ends: int, *, torn: bool = True) -> None:
        """Bytes are missing here, with so many line ends among them; `torn`: they end within a line."""
        self.lost_bytes += self._held_bytes + size
        self.lost_lines += ends
        self._parts, self._held_bytes, self._skipping = [], 0, torn

    def rest(self) -> bytes:
        """The line that has no end yet; it is taken."""
        rest = b"".join(self._parts)
        if self._skipping:
            self.lost_lines += 1
        self._parts, self._held_bytes, self._skipping = [], 0, False
        return rest

    def take_loss(self) -> tuple[int, int]:
        """Bytes and lines lost since the last call, when there is a line's end to tell it at."""
        if self._skipping:
            return 0, 0
        found = self.lost_bytes, self.lost_lines
        self.lost_bytes = self.lost_lines = 0
        return found

    def _hold(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._held_bytes += len(part)
            if self._held_bytes > self._longest_bytes:
                self.lose(0, 0)
