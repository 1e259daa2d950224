"""Query of find in view: matches records, and locates matches in shown text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from inspector.filters.block_search import Mask, Offsets
from inspector.filters.full_text import TextFinder
from inspector.filters.patterns import PatternFinder, compile_pattern
from inspector.filters.time_limit import TookTooLongError, limited_time

MAX_QUERY = 1_000
"""Limit of a query in characters."""
MAX_MATCHES = 2_000
"""Limit of matches in one text; more do not help the eye."""
_LIMIT_S = 0.03
_MAX_TIMEOUTS = 4
"""Consecutive timeouts after which no further text is searched."""
_MAX_SLOW_TEXTS = 256

Matches = list[tuple[int, int]]
"""(start, stop) in characters, ascending, not empty, not nested."""


class Finder(Protocol):
    """Finds a query in the text of records."""

    def __call__(self, record: bytes) -> bool:
        """Returns True if the record's text matches."""
        ...

    def search_records(self, data: bytes, starts: Offsets, ends: Offsets) -> NDArray[Any]:
        """Searches many records in `data`; arguments as for `TextFinder.search_records`.

        Returns:
            (k,) bool or int8: 1 or True for a match, 0 or False for no match. TOO_LONG for a timeout, and UNKNOWN for
            records not tried because others took long.
        """
        ...

    def may_match_strings(self, records: list[bytes]) -> Mask:
        """Checks records without a match for a possible match in one of their strings alone.

        An expression may anchor at the end of a text, or time out for the record but not for one string.

        Returns:
            (k,) bool, False if no string can match.
        """
        ...

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """Returns 1 for a match, 0 for no match, 2 for a timeout.

        Args:
            part: bytes of a record.
            first: the part begins the record; else a match at its first byte does not count.
            last: the part ends the record; else a match at its last byte does not count.
        """
        ...


@dataclass(frozen=True, slots=True)
class FindQuery:
    """Query of find in view."""

    text: str
    """The words, or the expression; not empty."""
    match_case: bool = False
    """Case-sensitive."""
    is_pattern: bool = False
    """The text is a regular expression."""

    def finder(self) -> Finder:
        """Returns a finder for records.

        Raises:
            PatternError: the expression is not valid.
        """
        if self.is_pattern:
            return PatternFinder(self.text, match_case=self.match_case)
        return TextFinder(self.text, match_case=self.match_case)

    def locator(self) -> Callable[[str], Matches]:
        """Returns a function that locates matches in shown texts. It never raises; slow texts give no match.

        Raises:
            PatternError: the expression is not valid.
        """
        if not self.is_pattern:
            return literal_locator(self.text, match_case=self.match_case)
        search = compile_pattern(self.text, match_case=self.match_case).finditer

        dear: set[int] = set()
        in_a_row = 0

        def locate(text: str) -> Matches:
            nonlocal in_a_row
            found: Matches = []
            if in_a_row >= _MAX_TIMEOUTS or (dear and hash(text) in dear):  # it would time out again
                return found
            try:
                with limited_time(_LIMIT_S):
                    for match in search(text):
                        if match.end() > match.start():
                            found.append(match.span())
                            if len(found) >= MAX_MATCHES:
                                break
            except TookTooLongError:
                in_a_row += 1
                if len(dear) < _MAX_SLOW_TEXTS:
                    # Hashes instead of texts, which may be megabytes long.
                    dear.add(hash(text))
                return []
            in_a_row = 0
            return found

        return locate


def literal_locator(needle: str, *, match_case: bool) -> Callable[[str], Matches]:
    """Returns a function that locates a literal text in shown texts."""
    folded = needle if match_case else needle.casefold()

    def locate(text: str) -> Matches:
        within = text if match_case else text.casefold()
        at = within.find(folded)
        if at < 0:
            return []
        found: Matches = []
        while at >= 0 and len(found) < MAX_MATCHES:
            found.append((at, at + len(folded)))
            at = within.find(folded, at + len(folded))
        # Folding can change the length, which would shift all later places.
        if match_case or (text.isascii() and len(within) == len(text)):
            return found
        return _unfold_places(text, found)

    return locate


def _unfold_places(text: str, places: Matches) -> Matches:
    """Maps places in case-folded text to the original text: folding expands some characters to two or three."""
    origins: list[int] = []
    for place, character in enumerate(text):
        origins.extend([place] * len(character.casefold()))
    found: Matches = []
    for start, stop in places:
        begin, end = origins[start], origins[stop - 1] + 1
        if not found or begin >= found[-1][1]:
            found.append((begin, end))
    return found
