r"""Searches literal text in whole records, ignoring case or not, with JSON escapes resolved.

The text of a record is its bytes as UTF-8, with invalid bytes replaced and JSON string escapes resolved. So `"café"`
finds `caf\u00e9`, and a quotation mark in the needle finds the one that JSON wrote as `\"`. A text that is JSON itself
has nested escapes; each level is resolved and searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from inspector.filters.block_search import MAYBE, NO, BlockSearch, Mask, Offsets
from inspector.filters.raw_expression import raw_literal

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
        self._folded = self._fold(needle)
        self._blocks = BlockSearch(raw_literal(self._folded, match_case=match_case))

    def _fold(self, text: str) -> str:
        return text if self._match_case else text.casefold()

    def __call__(self, record: bytes) -> bool:
        """Returns True if the text of the record contains the needle."""
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
        found = self._blocks.search_records(data, starts, ends)
        for row in np.flatnonzero(found == MAYBE).tolist():
            found[row] = self(data[int(starts[row]) : int(ends[row])])
        return found.view(np.bool_)

    def may_match(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Returns a mask of the records that may contain the needle; arguments as for `search_records`."""
        return self._blocks.search_records(data, starts, ends) != NO

    def may_match_strings(self, records: list[bytes]) -> Mask:
        """As `find_query.Finder`: an ASCII needle in a JSON string is in the record too."""
        if self._folded.isascii():
            return np.zeros(len(records), np.bool_)
        return self._blocks.may_match_records(records)

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """As `find_query.Finder`; a literal matches at the ends of a part as it does within."""
        return int(self.search_records(part, np.zeros(1, np.int64), np.array([len(part)]))[0])
