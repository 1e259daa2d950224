"""What is looked for by find in view: the one place that says which records hold it, and where in a text it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from inspector.filters.full_text import Offsets, TextFinder
from inspector.filters.long_records import PartFinder
from inspector.filters.patterns import PatternFinder, compile_pattern
from inspector.filters.records import Mask
from inspector.filters.time_limit import TookTooLongError, at_most

LONGEST = 1_000
"""Characters of what is looked for."""
MOST_PLACES = 2_000
"""Places in one text that are told: more are no help to the eye."""
_LIMIT_S = 0.03
_MOST_IN_A_ROW = 4
"""Texts that took too long one after the other, after which none is tried any more."""
_REMEMBERED = 256

Places = list[tuple[int, int]]
"""(start, stop) in characters, ascending, none of them empty, none within another."""


class Finder(PartFinder, Protocol):
    """Finds something in the text of records."""

    def __call__(self, record: bytes) -> bool:
        """Whether a record's text holds it."""
        ...

    def among(self, data: bytes, starts: Offsets, ends: Offsets) -> NDArray[Any]:
        """Which of the records that lie in `data` hold it; arguments as for `TextFinder.among`.

        Returns:
            (k,) bool or int8: 1 or true where it is, 0 or false where not; TOO_LONG where that takes too long to say,
            and UNKNOWN where nobody tried because others took long.
        """
        ...

    def may_hold_apart(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Of records in which it was not found: whether a string in one may hold it when it is looked at by itself.

        An expression may ask for the end of a text, and may take too long for the record and not for a string in it.

        Args:
            data: bytes in which the records lie; as for `among`.
            starts: (k,) integer, where they begin.
            ends: (k,) integer, where they end.

        Returns:
            (k,) bool, false where surely none does.
        """
        ...


@dataclass(frozen=True, slots=True)
class FindQuery:
    """What is looked for."""

    text: str
    """The words, or the expression; not empty."""
    match_case: bool = False
    """Upper and lower case differ."""
    is_pattern: bool = False
    """It is a regular expression."""

    def finder(self) -> Finder:
        """What finds it in records.

        Raises:
            PatternError: the expression cannot be used.
        """
        if self.is_pattern:
            return PatternFinder(self.text, match_case=self.match_case)
        return TextFinder(self.text, match_case=self.match_case)

    def locator(self) -> Callable[[str], Places]:
        """What finds it in texts that are shown; it never raises, and gives up on texts that would take long.

        Raises:
            PatternError: the expression cannot be used.
        """
        if not self.is_pattern:
            return literal_locator(self.text, match_case=self.match_case)
        search = compile_pattern(self.text, match_case=self.match_case).finditer

        dear: set[int] = set()
        in_a_row = 0

        def locate(text: str) -> Places:
            nonlocal in_a_row
            found: Places = []
            if in_a_row >= _MOST_IN_A_ROW or (dear and hash(text) in dear):  # it would take as long again
                return found
            try:
                with at_most(_LIMIT_S):
                    for match in search(text):
                        if match.end() > match.start():
                            found.append(match.span())
                            if len(found) >= MOST_PLACES:
                                break
            except TookTooLongError:
                in_a_row += 1
                if len(dear) < _REMEMBERED:
                    dear.add(hash(text))
                return []
            in_a_row = 0
            return found

        return locate


def literal_locator(needle: str, *, match_case: bool) -> Callable[[str], Places]:
    """What finds a text in texts that are shown."""
    folded = needle if match_case else needle.casefold()

    def locate(text: str) -> Places:
        within = text if match_case else text.casefold()
        at = within.find(folded)
        if at < 0:
            return []
        found: Places = []
        while at >= 0 and len(found) < MOST_PLACES:
            found.append((at, at + len(folded)))
            at = within.find(folded, at + len(folded))
        if match_case or (text.isascii() and len(within) == len(text)):
            return found
        return _unfolded(text, found)

    return locate


def _unfolded(text: str, places: Places) -> Places:
    """Places in the folded text as places in the text itself: some characters become two or three when folded."""
    origins: list[int] = []
    for place, character in enumerate(text):
        origins.extend([place] * len(character.casefold()))
    found: Places = []
    for start, stop in places:
        begin, end = origins[start], origins[stop - 1] + 1
        if not found or begin >= found[-1][1]:
            found.append((begin, end))
    return found
