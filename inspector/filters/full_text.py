r"""Searches literal text in whole records, ignoring case or not, with JSON escapes resolved.

The text of a record is its bytes as UTF-8, with invalid bytes replaced and JSON string escapes resolved. So `"café"`
finds `caf\u00e9`, and a quotation mark in the needle finds the one that JSON wrote as `\"`. A text that is JSON itself
has nested escapes; each level is resolved and searched.

Only records whose bytes leave a doubt are decoded. Letters stand in JSON as they are, so most records are decided by a
search over megabytes of bytes. A record without the needle's longest plain part cannot match.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby, repeat
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from inspector.filters.records import Mask, Offsets, Records

# Byte search in many records, optionally ignoring ASCII case: the first match in each record.
# Case is folded by setting one bit of every byte, 16 times as fast as `bytes.lower`. That makes a few other bytes equal
# too; `is_exactly` separates them after a match.

_CASE_BIT = 0x20
_MAX_BUFFER = 2 << 20
"""Limit in bytes of the buffer kept between two searches; longer data gets a buffer of its own."""
# The records after them are searched by the way that suits the sample; any way gives the same result.
_SAMPLE_RECORDS = 64
"""Sample of records searched first; the rest are assumed to be similar."""
_MAX_OFFSETS, _OFFSET_SHARE = 8, 6
"""Offsets tried first if most records match there, and the minimum share (1 in 6) of sampled matches for one."""
_WORD = 4
"""Word size in bytes of the vectorized comparison; half the time of `bytes.find` for short needles."""
_LONG_NEEDLE = 12
"""From this length on, `bytes.find` skips more bytes than it reads and is as fast for a rare text."""

MatchOffsets = NDArray[np.int64]


class Folded:
    """Folds ASCII case of bytes into a reused buffer."""

    def __init__(self, *, match_case: bool) -> None:
        self._match_case = match_case
        self._room = bytearray()

    def fold(self, data: bytes) -> bytes | bytearray:
        """Returns the folded bytes, valid until the next call. They may be longer than the data."""
        if self._match_case:
            return data
        room = self._room
        if len(room) < len(data):
            room = bytearray(len(data))
            # One huge record must not keep its memory for the rest of the search.
            if len(data) <= _MAX_BUFFER:
                self._room = room
        out = np.frombuffer(room, np.uint8, len(data))
        # The buffer may be longer than the data; its tail holds bytes of an earlier search.
        np.bitwise_or(np.frombuffer(data, np.uint8), np.uint8(_CASE_BIT), out=out)
        return room


def fold_case(text: bytes) -> bytes:
    """Folds a needle for search in folded bytes."""
    return bytes(byte | _CASE_BIT for byte in text)


class Literal:
    """Finds a byte string in many records.

    Args:
        text: the bytes, not empty; ASCII letters in lower case if case is ignored.
        match_case: case-sensitive.
    """

    def __init__(self, text: bytes, *, match_case: bool) -> None:
        self.looked_for = text if match_case else fold_case(text)
        self._length = len(text)
        # A letter matches only its two cases; any other byte also matches the byte that differs in the case bit.
        exact = [] if match_case else [n for n, byte in enumerate(text) if not 0x61 <= byte <= 0x7A]
        self._exact = [(n, text[n]) for n in exact]

    def one_in_each(self, folded: bytes | bytearray, records: Records) -> tuple[MatchOffsets, NDArray[np.intp]]:
        """Finds the first match in each record.

        Returns:
            (m,) start offsets, ascending, and (m,) record numbers.
        """
        first = records.slice_records(0, _SAMPLE_RECORDS)
        found = self._one_by_one(folded, first)
        # Texts such as a key stand at the same offset in most records: one comparison decides them all.
        if 4 * len(found) > 3 * len(first) and len(first) < len(records):
            return self._in_most(self._frequent_offsets(first, found), folded, records)
        # `bytes.find` restarts after each match, so many matches make it slow.
        is_slow = self._length < _LONG_NEEDLE or 8 * len(found) > len(first)
        if len(first) < len(records) and self._length >= _WORD and is_slow:
            return self._first_in_each(folded, records)
        places = np.array(found + self._one_by_one(folded, records.slice_records(len(first), len(records))), np.int64)
        return places, records.row_at(places)

    def _first_in_each(self, folded: bytes | bytearray, records: Records) -> tuple[MatchOffsets, NDArray[np.intp]]:
        """Finds the first matches by word comparison, if the share of matching records is unknown."""
        at = self._all_offsets(folded, int(records.starts[0]), int(records.ends[-1]))
        rows = records.row_at(at)
        # A match may cross the end of its record into the next one.
        inside = np.flatnonzero(at + self._length <= records.ends[rows])
        at, rows = at[inside], rows[inside]
        first = np.ones(len(rows), np.bool_)
        first[1:] = rows[1:] != rows[:-1]
        return at[first], rows[first]

    def _all_offsets(self, folded: bytes | bytearray, start: int, stop: int) -> MatchOffsets:
        """Returns all match offsets between two offsets, ascending. The needle is at least one word long."""
        text, ahead = self.looked_for, self._length - _WORD
        word, found = np.frombuffer(text[ahead:], np.uint32), list[MatchOffsets]()
        # Words can be compared at one alignment per pass, so four passes cover every offset.
        for begin in range(start, min(start + _WORD, stop - self._length + 1)):
            words = np.frombuffer(folded, np.uint32, (stop - begin - ahead) // _WORD, begin + ahead)
            found.append(np.flatnonzero(words == word) * _WORD + begin)
        places = np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)
        return places[self._windows(folded)[places] == np.void(text)] if ahead and len(places) else places

    def _windows(self, folded: bytes | bytearray) -> NDArray[np.void]:
        """Returns a view of windows with the needle's length at every offset."""
        length = self._length
        return np.ndarray(len(folded) - length + 1, np.dtype((np.void, length)), folded, strides=(1,))

    def _one_by_one(self, folded: bytes | bytearray, records: Records) -> list[int]:
        """Returns the first match of each record that has one."""
        text, length = self.looked_for, self._length
        stop = int(records.ends[-1]) if len(records) else 0
        at = folded.find(text, int(records.starts[0]), stop) if len(records) else -1
        if at < 0:
            return []
        starts, ends = records.starts.tolist(), records.ends.tolist()
        found: list[int] = []
        row = 0
        while at >= 0:
            row = bisect_right(starts, at, row)
            if at + length <= ends[row - 1]:
                found.append(at)
            if row == len(starts):
                break
            # The rest of a matching record is skipped: its first match decides.
            at = folded.find(text, starts[row], stop)
        return found

    @staticmethod
    def _frequent_offsets(records: Records, found: list[int]) -> list[int]:
        """Returns offsets in a record at which matches are frequent enough to try first.

        Args:
            records: the sampled records.
            found: offsets of their matches.
        """
        counted = Counter((found - records.starts[records.row_at(found)]).tolist()).most_common(_MAX_OFFSETS)
        return [offset for offset, times in counted if _OFFSET_SHARE * times >= len(found)]

    def _in_most(
        self, usual: list[int], folded: bytes | bytearray, records: Records
    ) -> tuple[MatchOffsets, NDArray[np.intp]]:
        """Finds first matches if most records have one, often at the same offsets in the record."""
        text, starts, ends = self.looked_for, records.starts, records.ends
        windows = self._windows(folded)
        places, left = np.full(len(records), -1, np.int64), np.arange(len(records))
        for offset in usual:
            at = starts[left] + offset
            # The minimum keeps the index inside; the first condition rejects such windows.
            here = (at + len(text) <= ends[left]) & (windows[np.minimum(at, len(windows) - 1)] == np.void(text))
            places[left[here]] = at[here]
            left = left[~here]
        finds = map(folded.find, repeat(text), starts[left].tolist(), ends[left].tolist())
        places[left] = np.fromiter(finds, np.int64, len(left))
        rows = np.flatnonzero(places >= 0)
        return places[rows], rows

    def is_exactly(self, records: Records, places: MatchOffsets) -> Mask:
        """Returns a mask of the matches that are equal beyond the case bit."""
        same = np.ones(len(places), np.bool_)
        for offset, byte in self._exact:
            same &= records.bytes[places + offset] == byte
        return same


_ESCAPES = re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]')
_NAMED_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE_OF = {'"': '"', "/": "/"} | {character: letter for letter, character in _NAMED_ESCAPES.items()}
"""The letter after the backslash in a JSON escape, by character."""
_NAMED_PAIRS = tuple((f"\\{letter}", character) for character, letter in _ESCAPE_OF.items())
_PLACEHOLDER = "\0"
"""Placeholder for a resolved backslash while other escapes are resolved."""
# A tool's result may hold JSON that holds JSON. Each level is one more pass over the text.
_MAX_NESTING = 4
"""Maximum nesting of JSON in texts."""

_PLAIN_ASCII = frozenset(map(chr, range(0x20, 0x7F))) - set('"\\/')


# Folding all characters of the basic plane takes 40 ms.
@cache
def _folds_to_ascii() -> dict[str, str]:
    """Returns non-ASCII characters that case-fold to ASCII, such as the Kelvin sign, sharp s and ligatures."""
    return {
        character: folded
        # No character above the basic plane folds to ASCII.
        for character in map(chr, range(0x80, 0x10000))
        if not "\ud800" <= character <= "\udfff" and any(map(str.isascii, folded := character.casefold()))
    }


@cache
def _ascii_escapes() -> re.Pattern[bytes]:
    """Returns a pattern for escapes of ASCII characters, or of characters that fold to ASCII."""
    folding = b"|".join(f"{ord(c):04x}".encode() for c in _folds_to_ascii())
    return re.compile(rb"\\u(?:00[0-7]|" + folding + rb")", re.IGNORECASE)


_ANY_NUMBERED = re.compile(rb"\\u")

_NUMBERED_ASCII = re.compile(rb"\\u00[0-7]")
"""An escape of an ASCII character."""

_NEVER_PLAIN = frozenset('"\\/\ufffd')
"""Characters with a second JSON spelling besides their number, and the replacement for invalid UTF-8."""


__all__ = ["Mask", "Offsets", "TextFinder", "record_text", "record_texts"]


def _resolve_escape(escape: re.Match[str]) -> str:
    text = escape[0]
    if text[1] != "u":
        return _NAMED_ESCAPES.get(text[1], text[1])
    code = int(text[2:6], 16)
    if len(text) > 6:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(text[8:], 16) - 0xDC00)
    return chr(code)


def without_escapes(text: str) -> str:
    """Resolves JSON escapes in a text, one level."""
    if "\\" not in text:
        return text
    # The fast path below cannot resolve numbered escapes, nor texts with the placeholder itself.
    if "\\u" in text or _PLACEHOLDER in text:
        return _ESCAPES.sub(_resolve_escape, text)
    doubled = "\\\\" in text
    if doubled:
        # Doubled backslashes first: the second one must not begin another escape.
        text = text.replace("\\\\", _PLACEHOLDER)
    for escape, character in _NAMED_PAIRS:
        if escape in text:
            text = text.replace(escape, character)
    return text.replace(_PLACEHOLDER, "\\") if doubled else text


def record_text(record: bytes) -> str:
    """Returns the searchable text of a record; costs a few passes over the bytes."""
    return without_escapes(record.decode("utf-8", "replace"))


def record_texts(record: bytes) -> Iterator[str]:
    """Yields the text of a record, then of the JSON in its strings, level by level."""
    text = record_text(record)
    yield text
    for _ in range(_MAX_NESTING):
        if "\\" not in text:
            return
        before, text = text, without_escapes(text)
        if text == before:
            return
        yield text


class TextFinder:
    """Finds one needle in one record or in many.

    Args:
        needle: any text; the empty text is in every record.
        match_case: case-sensitive.
    """

    def __init__(self, needle: str, *, match_case: bool = False) -> None:
        self._match_case = match_case
        folded = self._folded = self._fold(needle)
        is_plain = _is_plain_in_its_case if match_case else _is_plain
        parts = ["".join(run) for plain, run in groupby(folded, is_plain) if plain]
        part = max(parts, key=lambda text: len(text.encode()), default="")
        self._part = part.encode()
        self._whole = folded.encode("utf-8", "replace")
        self._literal = "\\" not in folded and all(c.isascii() or is_plain(c) for c in folded)
        self._escaped = "".join(_ESCAPE_OF[c] for c in folded if c in _ESCAPE_OF).encode()
        self._numbered = (_NUMBERED_ASCII if match_case else _ascii_escapes()) if part.isascii() else _ANY_NUMBERED
        others = {} if match_case else _folds_to_ascii()
        self._others = [c.encode() for c, to in others.items() if not set(to).isdisjoint(part)]
        self._room = Folded(match_case=match_case)
        self._plain = b""  # the data last searched, if it is ASCII including its escapes
        self._find_whole = Literal(self._whole, match_case=match_case)

    def _fold(self, text: str) -> str:
        return text if self._match_case else text.casefold()

    def __call__(self, record: bytes) -> bool:
        """Returns True if the text of the record contains the needle."""
        if self._literal and record.isascii() and b"\\" not in record:
            return self._whole in (record if self._match_case else record.lower())
        return any(self._folded in self._fold(text) for text in record_texts(record))

    def search_records(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Returns a mask of the records that contain the needle.

        Args:
            data: bytes with all records.
            starts: (k,) integer, start offsets in `data`, ascending; records do not overlap.
            ends: (k,) integer, end offsets.

        Returns:
            (k,) bool, equal to a call for each record.
        """
        found = np.zeros(len(starts), np.bool_)
        if not self._folded:
            return ~found
        records = Records(data, starts, ends)
        # Without escapes by number, ASCII bytes cannot hold a needle beyond ASCII.
        if not self._folded.isascii() and records.is_ascii and not len(records.numbers):
            self._plain = data
            return found
        open_ = np.zeros(len(starts), np.bool_)
        if not self._part:
            open_ |= self._folded.isascii() or records.beyond_ascii
        else:
            self._find(records, found, open_)
            self._mark_odd(records, found, open_)
        for row in np.flatnonzero(open_ & ~found).tolist():
            found[row] = self(records.record(row))
        return found

    def may_match_strings(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """As `find_query.Finder`: an ASCII needle in a JSON string is in the record too; ASCII data has no other."""
        if self._folded.isascii() or data is self._plain:
            return np.zeros(len(starts), np.bool_)
        return Records(data, starts, ends).compacted().beyond_ascii

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """As `long_records.PartFinder`; a literal matches at the ends of a part as it does within."""
        return int(self.search_records(part, np.zeros(1, np.int64), np.array([len(part)]))[0])

    def _find(self, records: Records, found: Mask, open_: Mask) -> None:
        """Marks records with a plain match, and records whose remaining characters may be escaped."""
        folded = self._room.fold(records.data)
        if self._literal:
            at, rows = self._find_whole.one_in_each(folded, records)
            sure = self._find_whole.is_exactly(records, at) & ~records.after_escape(at)
            found[rows[sure]] = True
            # The byte search cannot decide these: the case bit or a backslash before the match leaves a doubt.
            open_[rows[~sure]] = True
            # In ASCII text, only characters that JSON escapes have a second spelling.
            maybe = records.with_escapes(self._escaped)
        elif self._folded.isascii():
            maybe = records.with_escapes(None)
        else:
            maybe = records.beyond_ascii.copy()
        maybe &= ~(found | open_)
        part = self._part if self._match_case else fold_case(self._part)
        for row in np.flatnonzero(maybe).tolist():
            open_[row] = folded.find(part, int(records.starts[row]), int(records.ends[row])) >= 0

    def _mark_odd(self, records: Records, found: Mask, odd: Mask) -> None:
        """Marks unmatched records whose plain part may be escaped or differently cased."""
        left = np.flatnonzero(~found)
        some, marked = records.subset(left), np.zeros(len(left), np.bool_)
        if len(some.numbers):
            some.mark(marked, [match.start() for match in self._numbered.finditer(some.data)])
        if self._others and not some.is_ascii:
            for other in self._others:
                if other in some.data:
                    some.mark(marked, [match.start() for match in re.finditer(other, some.data)])
        odd[left[marked]] = True


def _is_plain(character: str) -> bool:
    """Returns True if only the ASCII capital folds to it, and JSON writes it plainly or by its number."""
    return character in _PLAIN_ASCII if character.isascii() else category(character) == "Lo"


def _is_plain_in_its_case(character: str) -> bool:
    """Returns True if JSON can only write it plainly or by its number."""
    return character >= " " and character not in _NEVER_PLAIN and not "\ud800" <= character <= "\udfff"
