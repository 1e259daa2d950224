"""Searches regular expressions in the text of whole records, with time limits.

If every match contains a literal, only records with the literal are tried. An expression or a message can be written so
that matching takes forever, so matching time is limited. A record that times out is reported and left out. After
several in a row, or very many in all, the expression is given up.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.cache import UNKNOWN
from inspector.filters.expression import has_look_behind, is_ascii_only, read_expression, repeats_repetition
from inspector.filters.full_text import TextFinder, record_texts
from inspector.filters.operators import MAX_PATTERN
from inspector.filters.pattern_words import pattern_trouble
from inspector.filters.records import Mask, Offsets, Records
from inspector.filters.required_literals import RequiredRun, required_literals
from inspector.filters.time_limit import HAS_LIMIT, TookTooLongError, limited_time

LIMIT_S = 0.03
"""Processor time in seconds for one piece of 64 KB; a normal piece takes a tenth of it."""
MOST_S = 0.5
"""Processor time in seconds for one record of any length."""
_PIECE_CHARS = 1 << 16
_OVERLAP = 1 << 12
"""Overlap in characters between pieces of a long text; a longer match may be missed."""
TOO_LONG = np.int8(2)
"""Result for a record that timed out."""
# At 30 ms each, eight take a quarter of a second and two hundred take six seconds.
_MOST_IN_A_ROW, _MOST_IN_ALL = 8, 200
"""Timeouts, in a row and in all, after which no more records are tried."""
_WASTED_S = 0.05
"""Processor time in seconds spent on timeouts, after which one call leaves the rest to the next."""
# Enough for `\b`, `^` and usual look-behinds at the beginning of a part.
_LEAD_CHARS = 256
"""Characters at the start of a part that serve as context only; no match begins in them."""
_SPACES_OF_TEXT = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""White space in text, but not in bytes."""


class PatternError(ValueError):
    """Text that is not a regular expression, or is not accepted as one.

    Attributes:
        message: one sentence.
        offset: place of the error, in characters, if not the whole text.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def compile_pattern(text: str, *, match_case: bool) -> re.Pattern[str]:
    """Compiles a regular expression.

    Raises:
        PatternError: it is malformed, too long, or could run forever on systems without a time limit.
    """
    if len(text) > MAX_PATTERN:
        raise PatternError(f"The expression is longer than {MAX_PATTERN:,} characters.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set" and similar warnings are for programmers
            pattern = re.compile(text, re.MULTILINE | (0 if match_case else re.IGNORECASE))
            # Without a time limit, such an expression could block the thread for hours.
            if not HAS_LIMIT and repeats_repetition(read_expression(text)):
                raise PatternError("A repetition inside a repetition may take for ever.")
    except re.error as error:
        raise PatternError(f"{pattern_trouble(error)}.", error.pos) from None
    except (RecursionError, OverflowError, MemoryError):
        raise PatternError("The expression is too complex.") from None
    return pattern


class PatternFinder:
    """Finds one regular expression, with the interface of `TextFinder`. `^` and `$` match at line ends.

    Args:
        text: the expression.
        match_case: case-sensitive.

    Raises:
        PatternError: as `compile_pattern`.
    """

    def __init__(self, text: str, *, match_case: bool = False) -> None:
        self._pattern = compile_pattern(text, match_case=match_case)
        match_case = not self._pattern.flags & re.IGNORECASE  # (?i) in the text has the same effect
        tree = read_expression(text, self._pattern.flags & ~re.UNICODE)
        needed = required_literals(tree, match_case=match_case)
        self._first = [TextFinder(literal, match_case=match_case) for literal in needed]
        self._run = RequiredRun(tree)
        self._of_bytes = None if has_look_behind(tree) else _of_bytes(text, tree, self._pattern.flags)
        self._in_a_row = self._in_all = 0
        self._wasted = 0.0

    def __call__(self, record: bytes) -> bool:
        """Returns True if the record's text has a match.

        Raises:
            TookTooLongError: the search timed out.
        """
        return any(self._is_in(text) for text in record_texts(record))

    def search_records(self, data: bytes, starts: Offsets, ends: Offsets) -> NDArray[np.int8]:
        """Searches many records; arguments as for `TextFinder.search_records`.

        Returns:
            (k,) int8: 1 for a match, 0 for no match, TOO_LONG for a timeout. UNKNOWN for the last records if others
            took long: search them again.

        Raises:
            TookTooLongError: so many records timed out that the search is given up.
        """
        found = np.zeros(len(starts), np.int8)
        records = Records(data, starts, ends)
        likely = np.flatnonzero(self._possible_matches(records))
        self._wasted = 0.0
        if len(likely):
            found[likely] = self._search_likely(records.subset(likely))
        return found

    def may_match_strings(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """As `find_query.Finder`: the record contains every literal of a match too."""
        return self._possible_matches(Records(data, starts, ends).compacted())

    def _possible_matches(self, records: Records) -> Mask:
        """Returns a mask of records that may match; the others cannot."""
        if not self._first:
            return self._run.possible_matches(records)
        likely = np.zeros(len(records), np.bool_)
        for first in self._first:
            likely |= first.search_records(records.data, records.starts, records.ends)
        # The run is slower to find than a literal, so it only sees records with the literal.
        rows = np.flatnonzero(likely)
        if len(rows):
            likely[rows] = self._run.possible_matches(records.subset(rows))
        return likely

    def _search_likely(self, records: Records) -> NDArray[np.int8]:
        """Returns the results of records in which the expression is tried."""
        found = np.zeros(len(records), np.int8)
        as_bytes = self._may_be_bytes(records)
        self._search_bytes(records, np.flatnonzero(as_bytes), found)
        for row in np.flatnonzero(~as_bytes).tolist():
            found[row] = self._search_within_limit(partial(self, records.record(row)))
        return found

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """As `long_records.PartFinder`.

        Raises:
            TookTooLongError: so many records timed out that the search is given up.
        """
        self._wasted = 0.0
        lead = 0 if first else _LEAD_CHARS
        return int(
            self._search_within_limit(lambda: any(self._is_in(text, lead, last=last) for text in record_texts(part)))
        )

    def _search_within_limit(self, ask: Callable[[], bool]) -> np.int8:
        """Returns the result for one record, or UNKNOWN if the time is used up."""
        if self._wasted >= _WASTED_S:
            return UNKNOWN
        began = time.thread_time()
        try:
            found = np.int8(ask())
        except TookTooLongError:
            self._wasted += time.thread_time() - began
            self._in_a_row += 1
            self._in_all += 1
            # Every timeout costs the full limit, so a slow expression over many records must end.
            if self._in_a_row >= _MOST_IN_A_ROW or self._in_all >= _MOST_IN_ALL:
                raise
            return TOO_LONG
        self._in_a_row = 0
        return found

    def _may_be_bytes(self, records: Records) -> Mask:
        """Masks records to search in place: their bytes are their text, and no context before them counts."""
        if self._of_bytes is None or any(separator in records.data for separator in _SPACES_OF_TEXT):
            return np.zeros(len(records), np.bool_)
        plain = ~(records.with_escapes(None) | records.beyond_ascii)
        # The byte before a record affects ^ and \b, so it must be a newline.
        plain &= records.follows_newline()
        return plain & (records.ends - records.starts <= _PIECE_CHARS)

    def _search_bytes(self, records: Records, rows: NDArray[np.intp], found: NDArray[np.int8]) -> None:
        """Searches records in place, several at a time; one by one if a group times out."""
        if self._of_bytes is None or not len(rows):
            return
        search, data = self._of_bytes.search, records.data
        starts, ends = records.starts[rows], records.ends[rows]
        until = (ends - starts).cumsum()

        def is_in(start: int, end: int) -> bool:
            with limited_time(LIMIT_S):
                return search(data, start, end) is not None

        first = 0
        while first < len(rows):
            # Setting the timer costs more than a short search, so records of one piece share a limit.
            stop = max(first + 1, int(until.searchsorted((until[first - 1] if first else 0) + _PIECE_CHARS, "right")))
            places = list(zip(starts[first:stop].tolist(), ends[first:stop].tolist(), strict=True))
            some = rows[first:stop]
            try:
                if self._wasted >= _WASTED_S:
                    found[rows[first:]] = UNKNOWN
                    return
                with limited_time(LIMIT_S):
                    found[some] = [search(data, start, end) is not None for start, end in places]
                self._in_a_row = 0
            except TookTooLongError:
                # One record of the group is slow: each gets its own limit.
                found[some] = [self._search_within_limit(partial(is_in, start, end)) for start, end in places]
            first = stop

    def _is_in(self, text: str, begin: int = 0, *, last: bool = True) -> bool:
        # Search by offsets, not in copies: the text before an offset affects ^ and look-behind.
        left = MOST_S
        for at in range(begin, len(text) or 1, _PIECE_CHARS):
            began = time.thread_time()
            with limited_time(min(LIMIT_S, left)):
                end = at + _PIECE_CHARS + _OVERLAP if len(text) > _PIECE_CHARS else len(text)
                match = self._pattern.search(text, at, end)
                # At the end of a part, a match could still grow or fail with the text that follows.
                if match is not None and (last or match.end() < len(text)):
                    return True
            left -= time.thread_time() - began
            if left <= 0:
                raise TookTooLongError
        return False


def _of_bytes(text: str, tree: Any, flags: int) -> re.Pattern[bytes] | None:
    """Compiles the same expression for ASCII bytes; returns None if its meaning would differ."""
    if not text.isascii() or not is_ascii_only(tree):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # re.UNICODE is an error in patterns of bytes.
            return re.compile(text.encode(), flags & (re.MULTILINE | re.IGNORECASE))
    except (re.error, ValueError):  # features of text patterns only
        return None
