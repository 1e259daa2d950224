r"""Search in the text of whole records, letter case aside or not.

The text of a record is its bytes as UTF-8 (what is no UTF-8 is replaced) with JSON's string escapes resolved, so that
`"café"` finds `caf\u00e9`, and a quotation mark in the needle finds the one that JSON wrote as `\"`. A text that is
JSON itself has escapes in its escapes; they are resolved as often as there are any, and found in each form.

A record is only looked at like this where its bytes leave something open. Most do not: letters stand in JSON as they
are, so bytes are searched by the megabyte, and a record without the needle's longest plain part cannot have it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

_ESCAPES = re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]')
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DEEPEST = 4
"""JSON in a text in a text in a text."""

_PLAIN_ASCII = frozenset(map(chr, range(0x20, 0x7F))) - set('"\\/')

_FOLDS_TO_ASCII = {
    character: folded
    for character in map(chr, range(0x80, 0x10000))
    if not "\ud800" <= character <= "\udfff" and any(map(str.isascii, folded := character.casefold()))
}
"""Characters that are others when case is put aside, some of ASCII among them: Kelvin sign, sharp s, ligatures."""

_NUMBERED = re.compile(rb"\\u(?:00[0-7]|" + b"|".join(
    f"{ord(c):04x}".encode() for c in _FOLDS_TO_ASCII
) + rb")", re.IGNORECASE)  # fmt: skip
"""An escape whose character is of ASCII, or folds to something of it."""

_ANY_NUMBERED = re.compile(rb"\\u")

_NUMBERED_ASCII = re.compile(rb"\\u00[0-7]")
"""An escape whose character is of ASCII."""

_NEVER_PLAIN = frozenset('"\\/\ufffd')
"""What JSON may write in another way than by its number, and what stands for bytes that are no UTF-8."""

_ESCAPE_BYTES = 5
"""So many bytes before a find may be the beginning of an escape that its first letter belongs to."""

Offsets = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]


def _resolved(escape: re.Match[str]) -> str:
    text = escape[0]
    if text[1] != "u":
        return _NAMED.get(text[1], text[1])
    code = int(text[2:6], 16)
    if len(text) > 6:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(text[8:], 16) - 0xDC00)
    return chr(code)


def record_text(record: bytes) -> str:
    """The text of a record, in which a search looks; cost is a few passes over the bytes."""
    text = record.decode("utf-8", "replace")
    return _ESCAPES.sub(_resolved, text) if "\\" in text else text


def record_texts(record: bytes) -> Iterator[str]:
    """The text of a record, then that of the JSON in its strings, as deep as there are escapes."""
    text = record_text(record)
    yield text
    for _ in range(_DEEPEST):
        if "\\" not in text:
            return
        before, text = text, _ESCAPES.sub(_resolved, text)
        if text == before:
            return
        yield text


class TextFinder:
    """Finds one needle, in one record or in many at once.

    Args:
        needle: any text; the empty one is in every record.
        match_case: whether upper and lower case differ.
    """

    def __init__(self, needle: str, *, match_case: bool = False) -> None:
        self._match_case = match_case
        folded = self._folded = self._fold(needle)
        is_plain = _is_plain_in_its_case if match_case else _is_plain
        parts = ["".join(run) for plain, run in groupby(folded, is_plain) if plain]
        part = max(parts, key=lambda text: len(text.encode()), default="")
        self._part = part.encode()
        self._whole = folded.encode("utf-8", "replace")
        self._as_it_is = part == folded
        self._literal = "\\" not in folded and all(c.isascii() or is_plain(c) for c in folded)
        self._numbered = (_NUMBERED_ASCII if match_case else _NUMBERED) if part.isascii() else _ANY_NUMBERED
        others = {} if match_case else _FOLDS_TO_ASCII
        self._others = [c.encode() for c, to in others.items() if not set(to).isdisjoint(part)]

    def _fold(self, text: str) -> str:
        return text if self._match_case else text.casefold()

    def _lower(self, data: bytes) -> bytes:
        return data if self._match_case else data.lower()

    def __call__(self, record: bytes) -> bool:
        """Whether the text of a record contains the needle."""
        if self._literal and record.isascii() and b"\\" not in record:
            return self._whole in self._lower(record)
        return any(self._folded in self._fold(text) for text in record_texts(record))

    def among(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Which of many records contain the needle.

        Args:
            data: bytes in which the records lie.
            starts: (k,) integer, places in `data` where they begin, ascending; no record overlaps another.
            ends: (k,) integer, places where they end.

        Returns:
            (k,) bool, what calling it for each record gives.
        """
        found = np.zeros(len(starts), np.bool_)
        if not self._folded:
            return ~found
        if not self._part:
            open_ = ~found if self._folded.isascii() else self._beyond_ascii(data, starts, ends)
        else:
            lowered, rows = self._lower(data), _Rows(starts.tolist(), ends.tolist())
            open_ = self._odd(data, starts, ends)
            if self._literal:
                self._find_plain(lowered, rows, found, open_)
            if not self._as_it_is:
                self._find_part(lowered, rows, found, open_)
        for row in np.flatnonzero(open_ & ~found).tolist():
            found[row] = self(data[int(starts[row]) : int(ends[row])])
        return found

    def _find_plain(self, lowered: bytes, rows: _Rows, found: Mask, open_: Mask) -> None:
        """Mark the records in which the needle stands as it is, and where its first letter may belong to an escape."""
        whole, length = self._whole, len(self._whole)
        at = lowered.find(whole)
        while at >= 0:
            row = rows.row_at(at)
            begin, end = rows.starts[row], rows.ends[row]
            if begin <= at and at + length <= end:
                before = lowered[max(at - _ESCAPE_BYTES, begin) : at]
                if before.endswith(b"\\") or b"\\u" in before:
                    open_[row] = True
                else:
                    found[row] = True
                    if row + 1 == len(rows.starts):
                        return
                    at = rows.starts[row + 1] - 1
            at = lowered.find(whole, at + 1)

    def _find_part(self, lowered: bytes, rows: _Rows, found: Mask, open_: Mask) -> None:
        """Mark the records to be looked at: they have the plain part, and what could be the rest of the needle."""
        rows.rewind()
        at = lowered.find(self._part)
        while at >= 0:
            row = rows.row_at(at)
            begin, end = rows.starts[row], rows.ends[row]
            if begin <= at < end:
                # Of ASCII only what JSON escapes can stand otherwise than as it is.
                open_[row] |= not found[row] and (not self._literal or lowered.find(b"\\", begin, end) >= 0)
                if row + 1 == len(rows.starts):
                    return
                at = rows.starts[row + 1] - 1
            at = lowered.find(self._part, at + 1)

    def _beyond_ascii(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Records with characters beyond ASCII, as they are or by their numbers."""
        beyond = np.zeros(len(starts), np.bool_)
        if _has_numbers(data):
            _mark(beyond, [match.start() for match in _ANY_NUMBERED.finditer(data)], starts, ends)
        if not data.isascii():
            _mark(beyond, np.flatnonzero(np.frombuffer(data, np.uint8) >= 0x80), starts, ends)
        return beyond

    def _odd(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Records in which the plain part may be written in another way."""
        odd = np.zeros(len(starts), np.bool_)
        if _has_numbers(data):
            _mark(odd, [match.start() for match in self._numbered.finditer(data)], starts, ends)
        if self._others and not data.isascii():
            for other in self._others:
                if other in data:
                    _mark(odd, [match.start() for match in re.finditer(other, data)], starts, ends)
        return odd


class _Rows:
    """Places of records, asked for from the first to the last."""

    def __init__(self, starts: list[int], ends: list[int]) -> None:
        self.starts, self.ends = starts, ends
        self.rewind()

    def rewind(self) -> None:
        self._row = 0

    def row_at(self, place: int) -> int:
        """The last record that begins at or before a place; the first one for places before it."""
        row, starts = self._row, self.starts
        if row + 1 < len(starts) and starts[row + 1] <= place:
            row = bisect_right(starts, place, row + 1) - 1
        self._row = row
        return row


def _has_numbers(data: bytes) -> bool:
    # One letter is found thirty times as fast as two, and these two twice as fast by an expression.
    return b"\\" in data and _ANY_NUMBERED.search(data) is not None


def _is_plain(character: str) -> bool:
    """Whether nothing folds to it but its ASCII capital, and JSON can only write it as it is or by its number."""
    return character in _PLAIN_ASCII if character.isascii() else category(character) == "Lo"


def _is_plain_in_its_case(character: str) -> bool:
    """Whether JSON can only write it as it is or by its number."""
    return character >= " " and character not in _NEVER_PLAIN and not "\ud800" <= character <= "\udfff"


def _mark(mask: Mask, places: list[int] | Offsets, starts: Offsets, ends: Offsets) -> None:
    """Set the records in which places lie."""
    if len(places):
        at = np.asarray(places, np.int64)
        rows = np.searchsorted(starts, at, "right") - 1
        inside = (rows >= 0) & (at < np.asarray(ends)[rows])
        mask[rows[inside]] = True
