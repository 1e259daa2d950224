"""Searches regular expressions in the text of whole records, with time limits.

RE2 finds most matches in the bytes. Where they leave a doubt, or the expression has an assertion or a back reference,
Python's matcher searches the text. An expression or a message can be written so that this takes forever, so its time is
limited. A record that times out is reported and left out. After several in a row, or very many in all, the expression
is given up.
"""

from __future__ import annotations

import re
import time
import warnings
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue] - no public function parses expressions
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.block_search import MAYBE, BlockSearch, Mask, Offsets, RefusedError
from inspector.filters.cache import UNKNOWN
from inspector.filters.full_text import record_texts
from inspector.filters.operators import MAX_PATTERN
from inspector.filters.pattern_words import pattern_trouble
from inspector.filters.raw_expression import raw_pattern
from inspector.filters.time_limit import HAS_LIMIT, TookTooLongError, limited_time
from inspector.store.messages.adjacent_reads import LineRange

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
            if not HAS_LIMIT and _repeats_repetition(_read_expression(text)):
                raise PatternError("A repetition inside a repetition may take for ever.")
    except re.error as error:
        raise PatternError(f"{pattern_trouble(error)}.", error.pos) from None
    except (RecursionError, OverflowError, MemoryError):
        raise PatternError("The expression is too complex.") from None
    return pattern


def _read_expression(text: str, flags: int = 0) -> Any:
    """Parses an expression. Raises re.error if it is malformed."""
    return parser.parse(text, flags)


def _repeats_repetition(tree: Any, *, inside: bool = False) -> bool:
    """Returns True if an unbounded repetition contains another one."""
    for operation, value in tree:
        endless = str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and value[1] is parser.MAXREPEAT
        if endless and inside:
            return True
        if any(_repeats_repetition(part, inside=inside or endless) for part in _subexpressions(value)):
            return True
    return False


def _subexpressions(value: Any) -> list[Any]:
    """Returns the subexpressions of an operation."""
    if isinstance(value, parser.SubPattern):
        return [value]
    return [part for one in value for part in _subexpressions(one)] if isinstance(value, list | tuple) else []


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
        flags = self._pattern.flags
        tree = _read_expression(text, flags & ~re.UNICODE)
        try:
            self._blocks = BlockSearch(raw_pattern(tree, flags))
        except RefusedError:
            self._blocks = BlockSearch(raw_pattern(tree, flags, counted=False))
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
        found = self._blocks.search_records(data, starts, ends)
        rows = np.flatnonzero(found == MAYBE)
        self._wasted = 0.0
        if len(rows):
            lines = LineRange(data, np.asarray(starts, np.int64), np.asarray(ends, np.int64))
            found[rows] = self._search_texts(lines.records(rows))
        return found

    def may_match_strings(self, records: list[bytes]) -> Mask:
        """As `find_query.Finder`."""
        return self._blocks.may_match_records(records)

    def _search_texts(self, records: list[bytes]) -> list[np.int8]:
        """Returns the results of records whose bytes leave a doubt."""
        found: list[np.int8] = []
        until = [*accumulate(map(len, records))]
        while len(found) < len(records):
            first = len(found)
            # Setting the timer costs more than a short search, so records of one piece share a limit.
            stop = max(first + 1, bisect_right(until, (until[first - 1] if first else 0) + _PIECE_CHARS))
            some = records[first:stop]
            if self._wasted >= _WASTED_S:
                return found + [UNKNOWN] * (len(records) - first)
            together = self._search_together(some) if len(some) > 1 else None
            # One record of the group is slow: each gets its own limit.
            found += together or [self._search_within_limit(partial(self, record)) for record in some]
        return found

    def _search_together(self, records: list[bytes]) -> list[np.int8] | None:
        """Returns the results of records that share a limit, or None if they time out."""
        try:
            with limited_time(LIMIT_S):
                found = [np.int8(any(map(self._pattern.search, record_texts(record)))) for record in records]
        except TookTooLongError:
            return None
        self._in_a_row = 0
        return found

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """As `find_query.Finder`.

        Raises:
            TookTooLongError: so many records timed out that the search is given up.
        """
        found = int(self._blocks.search_records(part, np.zeros(1, np.int64), np.array([len(part)]))[0])
        if found != MAYBE:
            return found
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
