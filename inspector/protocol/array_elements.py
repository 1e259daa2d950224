"""Finds the elements of a JSON array in blocks of a file, as spans of bytes.

Parses brackets, strings and escapes only; the element's reader validates the rest. Linear on any bytes, and no block is
scanned twice. Damage costs few records: a line end closes a string (JSON has none in one), and the array's own layout
marks the beginning of a new element. After the array's closing bracket the rest counts as lines.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
"""Start and end of a record in bytes."""

BLANK = b" \t\r\n"
_LEADING_BYTES = BLANK + b"\xef\xbb\xbf"
"""Allowed bytes before the array: blanks, a byte order mark."""

_QUOTE, _ESCAPE, _NEWLINE, _COMMA, _OPEN, _CLOSE = range(1, 7)
_LETTERS = ((b'"', _QUOTE), (b"\\", _ESCAPE), (b"\n", _NEWLINE), (b",", _COMMA), (b"[{", _OPEN), (b"]}", _CLOSE))
_CLASSES = bytes(next((kind for letters, kind in _LETTERS if letter in letters), 0) for letter in range(256))

# So many bytes of a block are kept to recognize an element's line in the next one.
_LONGEST_INDENT = 64
_FIRST_ELEMENT = re.compile(rb"\s*\[[ \t\r]*\n([ \t]*)(?=\{)")


def element_indent(head: bytes) -> bytes | None:
    """Returns the indentation of elements that begin on lines of their own, if known.

    Args:
        head: the file's first bytes, enough for an element or two.
    """
    found = _FIRST_ELEMENT.match(head)
    if found is None or len(found[1]) > _LONGEST_INDENT:
        return None
    spans = ElementScanner().scan(head)
    if not spans or (not found[1] and not head[spans[0][0] : spans[0][1]].strip(b"{} \t\r\n[")):
        return None  # an empty element does not show the layout of others
    # Without indentation, a line inside an element looks like the beginning of an element.
    inner = re.compile(rb"\n" + found[1] + rb"[^ \t\r\n}\]]")
    return None if inner.search(head, found.end(), spans[0][1]) else found[1]


class ElementScanner:
    """Finds elements in blocks of an array's bytes, given in order.

    Attributes:
        position: bytes scanned from the start of the file.
        closed_at: offset after the array's closing bracket; None until it was seen.
        bracketed: the file has array brackets. Consecutive objects without brackets are read in the same way.
    """

    def __init__(
        self,
        indent: bytes | None = None,
        *,
        begin: int | None = None,
        bracketed: bool = True,
        lines_follow: bool = True,
    ) -> None:
        """Starts at the beginning of a file.

        Args:
            indent: result of `element_indent`.
            begin: offset of the first byte in the array if it is a value of an object: `{"history":[`. The object's
                closing
                brace is skipped.
            bracketed: as the attribute.
            lines_follow: False skips the bytes after the array, as the rest of a document.
        """
        self.position = 0
        self.bracketed = bracketed
        self._begin = begin
        self._brace_due = begin is not None
        self._lines_follow = lines_follow
        self.closed_at: int | None = None
        self._lead = None if indent is None else b"\n" + indent
        self._has_begun = False
        self._depth = 1
        self._in_string = False
        self._escaped = False
        self._inside = False  # the current element is an object or array
        self._from = 0  # start of bytes that belong to no element yet
        self._previous_tail = b""  # last bytes of the previous block

    @property
    def unfinished_start(self) -> int:
        """Start of the unfinished rest."""
        return self._from

    def scan(self, data: bytes) -> list[Span]:
        """Returns the elements that end in the next block, as file offsets; they may include surrounding blanks."""
        spans: list[Span] = []
        begin = 0
        if not self._has_begun:
            begin = self._find_begin(data)
            self._from = self.position + begin
        if self.closed_at is None and begin < len(data):
            begin = self._scan_array(data, begin, spans)
        if self.closed_at is not None and self._lines_follow:
            self._scan_lines(data, begin, spans)
        elif self.closed_at is not None:
            self._from = self.position + len(data)
        self.position += len(data)
        self._previous_tail = (self._previous_tail + data[-_LONGEST_INDENT - 1 :])[-_LONGEST_INDENT - 1 :]
        return spans

    def _find_begin(self, data: bytes) -> int:
        """Returns the start of the array's contents in the next block, or the block's length."""
        if self._begin is not None:
            self._has_begun = self.position + len(data) >= self._begin
            return min(len(data), self._begin - self.position)
        begin = len(data) - len(data.lstrip(_LEADING_BYTES))
        if begin < len(data):
            begin += 1  # the bracket
            self._has_begun = True
        return begin

    def finish(self) -> list[Span]:
        """Returns the rest at the end of the file: a torn element, or a last line."""
        start, self._from = self._from, self.position
        return [(start, self.position)] if self.position > start else []

    def _scan_lines(self, data: bytes, begin: int, spans: list[Span]) -> None:
        if self._brace_due:
            begin += len(data[begin:]) - len(data[begin:].lstrip(BLANK))
            self._brace_due = begin == len(data)
            begin += data[begin : begin + 1] == b"}"
            self._from = self.position + begin
        while (end := data.find(b"\n", begin)) >= 0:
            spans.append((self._from, self.position + end))
            begin = end + 1
            self._from = self.position + begin

    def _scan_array(self, data: bytes, begin: int, spans: list[Span]) -> int:
        """Scans to the end of the array or block; returns that offset."""
        # `translate` classifies all bytes at once; a loop over them in Python would be far slower.
        classes = np.frombuffer(data.translate(_CLASSES), np.uint8)
        places = np.flatnonzero(classes[begin:] != 0) + begin
        kinds = classes[places]
        self._drop_escaped(kinds, places, begin, len(data))
        # Brackets and commas inside of strings are plain characters.
        outside = (kinds >= _COMMA) & ~self._string_mask(kinds)
        places, kinds = places[outside], kinds[outside]
        depths, ends = self._depths(data, places, kinds)
        stop = int(ends[0]) if len(ends) else len(places)
        starts = (kinds == _OPEN) & (depths == 2)
        closes = (kinds == _CLOSE) & (depths == 1)
        commas = (kinds == _COMMA) & (depths <= 1)
        events = np.flatnonzero((starts | closes | commas)[:stop])
        self._append_elements(data, places[events].tolist(), kinds[events].tolist(), spans)
        if len(ends):
            end = int(places[stop])
            self._append_between(data, end, spans)
            self.closed_at = self._from = self.position + end + 1
            return end + 1
        # Blanks between elements belong to none, so a later element must not begin with them.
        rest = self._from - self.position
        if not self._inside and rest >= 0 and rest < len(data) and not data[rest:].strip(BLANK):
            self._from = self.position + len(data)
        return len(data)

    def _drop_escaped(self, kinds: NDArray[np.uint8], places: NDArray[np.intp], begin: int, stop: int) -> None:
        """Clears quotes after an odd number of backslashes."""
        escapes = places[kinds == _ESCAPE]
        escaped = [begin] if self._escaped else []
        self._escaped = False
        if len(escapes):
            # Runs of adjacent backslashes: within one, each escapes the next.
            firsts = np.concatenate(([0], np.flatnonzero(np.diff(escapes) != 1) + 1))
            lengths = np.diff(np.append(firsts, len(escapes)))
            behind = escapes[firsts] + lengths
            # After an odd number of them, the last one escapes the byte behind it.
            odd = lengths % 2 == 1
            if escaped and escapes[0] == begin:  # the run began in the previous block
                odd[0], escaped = not odd[0], []
            escaped += behind[odd].tolist()
            self._escaped = bool(escaped) and escaped[-1] == stop
        if escaped and len(places):
            found = np.minimum(np.searchsorted(places, escaped), len(places) - 1)
            found = found[places[found] == escaped]
            kinds[found[kinds[found] == _QUOTE]] = 0

    def _string_mask(self, kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Returns a mask of the places inside strings."""
        quotes = np.cumsum(kinds == _QUOTE) + int(self._in_string)
        before_line = np.maximum.accumulate(np.where(kinds == _NEWLINE, quotes, 0))
        inside = ((quotes - before_line) & 1).astype(np.bool_)
        if len(inside):
            self._in_string = bool(inside[-1])
        return inside

    def _depths(
        self, data: bytes, places: NDArray[np.intp], kinds: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Returns the nesting depth after each place, 1 between elements; and the places that close the array."""
        if not len(places):
            return np.empty(0, np.int64), np.empty(0, np.intp)
        letters = np.frombuffer(data, np.uint8)[places]
        steps = (kinds == _OPEN).astype(np.int64) - (kinds == _CLOSE)
        sums = np.cumsum(steps) + self._depth
        # An unmatched close must not lower the depth of all later elements.
        least = np.minimum(np.minimum.accumulate(sums), 1)
        under = sums < np.concatenate(([1], least[:-1]))  # closes more than was opened
        depths = sums - (least - 1)
        # Indented JSON shows by its lines where an element begins, so a broken element spoils only
        # itself.
        if self._lead is not None:
            begins = self._layout_starts(data, places, letters, depths)
            if len(begins):
                latest = np.zeros(len(places), np.intp)
                latest[begins] = begins
                latest = np.maximum.accumulate(latest)
                depths -= np.where(np.arange(len(places)) >= begins[0], depths[latest] - 2, 0)
                under |= (steps < 0) & (depths == 0)
        self._depth = max(1, int(depths[-1]))
        depths[under] = 0
        return depths, np.flatnonzero(under & (letters == ord("]")))

    def _layout_starts(
        self, data: bytes, places: NDArray[np.intp], letters: NDArray[np.uint8], depths: NDArray[np.int64]
    ) -> NDArray[np.intp]:
        """Returns opening braces at the layout position of a new element inside an unfinished one."""
        lead = self._lead or b"\n"
        maybe = places_of = np.flatnonzero((letters == ord("{")) & (depths > 2))
        back = places[maybe] - len(lead)
        at_line = np.frombuffer(data, np.uint8)[np.maximum(back, 0)] == ord("\n")
        maybe = places_of[at_line | (back < 0)]
        return np.array([n for n in maybe.tolist() if self._follows_lead(lead, data, int(places[n]))], np.intp)

    def _follows_lead(self, lead: bytes, data: bytes, place: int) -> bool:
        if place >= len(lead):
            return data[place - len(lead) : place] == lead
        return (self._previous_tail + data[:place]).endswith(lead)

    def _append_elements(self, data: bytes, places: list[int], kinds: list[int], spans: list[Span]) -> None:
        for place, kind in zip(places, kinds, strict=True):
            if kind == _CLOSE:
                if self._inside:
                    spans.append((self._from, self.position + place + 1))
                    self._from = self.position + place + 1
                    self._inside = False
            else:
                self._append_between(data, place, spans)
                if kind == _OPEN:
                    self._inside = True
                else:
                    self._from += 1

    def _append_between(self, data: bytes, place: int, spans: list[Span]) -> None:
        """Appends non-blank bytes between elements, such as a number, as an element."""
        start, begin = self._from, self._from - self.position
        self._from = self.position + place
        self._inside = False
        if begin < place and (begin < 0 or data[begin:place].strip(BLANK)):
            spans.append((start, self.position + place))


def trim_span(data: bytes, span: Span) -> Span | None:
    """Returns a span without surrounding blanks and a torn element's comma; None if it is empty."""
    piece = data[span[0] : span[1]]
    bare = piece.lstrip(BLANK)
    start = span[0] + len(piece) - len(bare)
    bare = bare.rstrip(BLANK)
    if bare.endswith(b","):
        bare = bare.rstrip(BLANK + b",")
    return (start, start + len(bare)) if bare else None
