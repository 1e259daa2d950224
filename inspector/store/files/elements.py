"""The elements of a JSON array as records: where each one lies in the file, found block by block.

Knows brackets, strings and escapes and nothing else of JSON; whether an element is good is for its reader to say.
Linear on any bytes, and no block is looked at twice. What is broken costs as few records as possible: a line's end ends
a string (JSON has none in one), and where the array's own layout begins a new element, a new element begins.

After the array's closing bracket whatever follows counts as lines.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
"""Where a record begins, and where it ends."""

BLANK = b" \t\r\n"
_BEFORE = BLANK + b"\xef\xbb\xbf"
"""What may stand before the array: blanks, a byte order mark."""

_QUOTE, _ESCAPE, _NEWLINE, _COMMA, _OPEN, _CLOSE = range(1, 7)
_LETTERS = ((b'"', _QUOTE), (b"\\", _ESCAPE), (b"\n", _NEWLINE), (b",", _COMMA), (b"[{", _OPEN), (b"]}", _CLOSE))
_CLASSES = bytes(next((kind for letters, kind in _LETTERS if letter in letters), 0) for letter in range(256))

_LONGEST_INDENT = 64
_FIRST_ELEMENT = re.compile(rb"\s*\[[ \t\r]*\n([ \t]*)(?=\{)")


def layout_of(head: bytes) -> bytes | None:
    """What stands before each element on its line, where each begins a line of its own; None where that is not known.

    Args:
        head: the file's first bytes, as many as hold an element or two.
    """
    found = _FIRST_ELEMENT.match(head)
    if found is None or len(found[1]) > _LONGEST_INDENT:
        return None
    spans = ElementScanner().scan(head)
    if not spans or (not found[1] and not head[spans[0][0] : spans[0][1]].strip(b"{} \t\r\n[")):
        return None  # an empty element does not show how others are written
    # Written without indentation, a line inside an element looks like one that begins an element.
    inner = re.compile(rb"\n" + found[1] + rb"[^ \t\r\n}\]]")
    return None if inner.search(head, found.end(), spans[0][1]) else found[1]


class ElementScanner:
    """Finds elements in blocks of an array's bytes, given in order.

    Attributes:
        position: how far it has come, bytes from the start of the file.
        closed_at: behind the array's closing bracket; None until it was seen.
        bracketed: there are brackets at all. Objects that just follow each other are read in the same way.
    """

    def __init__(self, indent: bytes | None = None, *, begin: int | None = None, bracketed: bool = True) -> None:
        """Begin at the start of a file.

        Args:
            indent: as `layout_of` says it.
            begin: offset of the first byte in the array, where it is a value of an object: `{"history":[`. The
                brace that closes the object is passed over.
            bracketed: as the attribute says.
        """
        self.position = 0
        self.bracketed = bracketed
        self._begin = begin
        self._brace_due = begin is not None
        self.closed_at: int | None = None
        self._lead = None if indent is None else b"\n" + indent
        self._begun = False
        self._depth = 1
        self._in_string = False
        self._escaped = False
        self._inside = False  # an element that is an object or array
        self._from = 0  # what is not part of an element yet begins here
        self._before = b""  # the last bytes of the block before

    @property
    def begun_at(self) -> int:
        """Where what has not ended yet begins."""
        return self._from

    def scan(self, data: bytes) -> list[Span]:
        """Elements that end in the next block, from the start of the file; blanks may still stand around them."""
        spans: list[Span] = []
        begin = 0
        if not self._begun:
            begin = self._find_begin(data)
            self._from = self.position + begin
        if self.closed_at is None and begin < len(data):
            begin = self._scan_array(data, begin, spans)
        if self.closed_at is not None:
            self._scan_lines(data, begin, spans)
        self.position += len(data)
        self._before = (self._before + data[-_LONGEST_INDENT - 1 :])[-_LONGEST_INDENT - 1 :]
        return spans

    def _find_begin(self, data: bytes) -> int:
        """Where in the next block the array's contents begin; its length when that is not in it."""
        if self._begin is not None:
            self._begun = self.position + len(data) >= self._begin
            return min(len(data), self._begin - self.position)
        begin = len(data) - len(data.lstrip(_BEFORE))
        if begin < len(data):
            begin += 1  # the bracket
            self._begun = True
        return begin

    def finish(self) -> list[Span]:
        """What is left when the file has ended: a torn element, or a last line."""
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
        """Scan to the end of the array or of the block; returns where that is."""
        classes = np.frombuffer(data.translate(_CLASSES), np.uint8)
        places = np.flatnonzero(classes[begin:] != 0) + begin
        kinds = classes[places]
        self._drop_escaped(kinds, places, begin, len(data))
        outside = (kinds >= _COMMA) & ~self._strings(kinds)
        places, kinds = places[outside], kinds[outside]
        depths, ends = self._depths(data, places, kinds)
        stop = int(ends[0]) if len(ends) else len(places)
        starts = (kinds == _OPEN) & (depths == 2)
        closes = (kinds == _CLOSE) & (depths == 1)
        commas = (kinds == _COMMA) & (depths <= 1)
        events = np.flatnonzero((starts | closes | commas)[:stop])
        self._cut(data, places[events].tolist(), kinds[events].tolist(), spans)
        if len(ends):
            end = int(places[stop])
            self._claim(data, end, spans)
            self.closed_at = self._from = self.position + end + 1
            return end + 1
        rest = self._from - self.position
        if not self._inside and rest >= 0 and rest < len(data) and not data[rest:].strip(BLANK):
            self._from = self.position + len(data)
        return len(data)

    def _drop_escaped(self, kinds: NDArray[np.uint8], places: NDArray[np.intp], begin: int, stop: int) -> None:
        """Quotes behind an odd number of backslashes are none."""
        escapes = places[kinds == _ESCAPE]
        escaped = [begin] if self._escaped else []
        self._escaped = False
        if len(escapes):
            firsts = np.concatenate(([0], np.flatnonzero(np.diff(escapes) != 1) + 1))
            lengths = np.diff(np.append(firsts, len(escapes)))
            behind = escapes[firsts] + lengths
            odd = lengths % 2 == 1
            if escaped and escapes[0] == begin:  # the run began in the block before
                odd[0], escaped = not odd[0], []
            escaped += behind[odd].tolist()
            self._escaped = bool(escaped) and escaped[-1] == stop
        if escaped and len(places):
            found = np.minimum(np.searchsorted(places, escaped), len(places) - 1)
            found = found[places[found] == escaped]
            kinds[found[kinds[found] == _QUOTE]] = 0

    def _strings(self, kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which places lie in a string."""
        quotes = np.cumsum(kinds == _QUOTE) + int(self._in_string)
        before_line = np.maximum.accumulate(np.where(kinds == _NEWLINE, quotes, 0))
        inside = ((quotes - before_line) & 1).astype(np.bool_)
        if len(inside):
            self._in_string = bool(inside[-1])
        return inside

    def _depths(
        self, data: bytes, places: NDArray[np.intp], kinds: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """How deep the nesting is behind each place, 1 between elements; and which places close the array itself."""
        if not len(places):
            return np.empty(0, np.int64), np.empty(0, np.intp)
        letters = np.frombuffer(data, np.uint8)[places]
        steps = (kinds == _OPEN).astype(np.int64) - (kinds == _CLOSE)
        sums = np.cumsum(steps) + self._depth
        least = np.minimum(np.minimum.accumulate(sums), 1)
        under = sums < np.concatenate(([1], least[:-1]))  # closes more than was opened
        depths = sums - (least - 1)
        if self._lead is not None:
            begins = self._begins(data, places, letters, depths)
            if len(begins):
                latest = np.zeros(len(places), np.intp)
                latest[begins] = begins
                latest = np.maximum.accumulate(latest)
                depths -= np.where(np.arange(len(places)) >= begins[0], depths[latest] - 2, 0)
                under |= (steps < 0) & (depths == 0)
        self._depth = max(1, int(depths[-1]))
        depths[under] = 0
        return depths, np.flatnonzero(under & (letters == ord("]")))

    def _begins(
        self, data: bytes, places: NDArray[np.intp], letters: NDArray[np.uint8], depths: NDArray[np.int64]
    ) -> NDArray[np.intp]:
        """Opening braces that stand where this array's elements begin, though the element before has not ended."""
        lead = self._lead or b"\n"
        maybe = places_of = np.flatnonzero((letters == ord("{")) & (depths > 2))
        back = places[maybe] - len(lead)
        at_line = np.frombuffer(data, np.uint8)[np.maximum(back, 0)] == ord("\n")
        maybe = places_of[at_line | (back < 0)]
        return np.array([n for n in maybe.tolist() if self._stands_behind(lead, data, int(places[n]))], np.intp)

    def _stands_behind(self, lead: bytes, data: bytes, place: int) -> bool:
        if place >= len(lead):
            return data[place - len(lead) : place] == lead
        return (self._before + data[:place]).endswith(lead)

    def _cut(self, data: bytes, places: list[int], kinds: list[int], spans: list[Span]) -> None:
        for place, kind in zip(places, kinds, strict=True):
            if kind == _CLOSE:
                if self._inside:
                    spans.append((self._from, self.position + place + 1))
                    self._from = self.position + place + 1
                    self._inside = False
            else:
                self._claim(data, place, spans)
                if kind == _OPEN:
                    self._inside = True
                else:
                    self._from += 1

    def _claim(self, data: bytes, place: int, spans: list[Span]) -> None:
        """What stands between elements is one too, such as a number, unless it is blank."""
        start, begin = self._from, self._from - self.position
        self._from = self.position + place
        self._inside = False
        if begin < place and (begin < 0 or data[begin:place].strip(BLANK)):
            spans.append((start, self.position + place))


def trimmed(data: bytes, span: Span) -> Span | None:
    """A span of `data` without the blanks around it and a torn element's comma; None when nothing is left."""
    piece = data[span[0] : span[1]]
    bare = piece.lstrip(BLANK)
    start = span[0] + len(piece) - len(bare)
    bare = bare.rstrip(BLANK)
    if bare.endswith(b","):
        bare = bare.rstrip(BLANK + b",")
    return (start, start + len(bare)) if bare else None
