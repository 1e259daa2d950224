"""Regular expressions looked for in the text of whole records, as `full_text` looks for plain text.

An expression that must hold some plain text is only tried where that text is. Matching is limited in time: an
expression can be written (or a message sent) so that it would take for ever. A message that takes too long is told
from the others and left out; only when several in a row do, or very many, the expression is given up.
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
from inspector.filters.expression import is_of_ascii, looks_before, read_expression, repeats_repetition
from inspector.filters.full_text import TextFinder, record_texts
from inspector.filters.operators import MAX_PATTERN
from inspector.filters.pattern_words import pattern_trouble
from inspector.filters.records import Mask, Offsets, Records
from inspector.filters.required_literals import NeededRun, needed_texts
from inspector.filters.time_limit import HAS_LIMIT, TookTooLongError, at_most

LIMIT_S = 0.03
"""Processor time for what is looked at without a pause: 64 KB, which take a tenth of it."""
MOST_S = 0.5
"""Processor time for one record, however long."""
_PIECE = 1 << 16
_OVERLAP = 1 << 12
"""A long text is searched in pieces that share so many characters; a match that is longer may be missed."""
TOO_LONG = np.int8(2)
"""The answer for a record of which it takes too long to say whether it holds a match."""
_MOST_IN_A_ROW, _MOST_IN_ALL = 8, 200
"""Records that took too long, after which no more are tried."""
_WASTED_S = 0.05
"""Processor time for records that took too long, after which one call leaves the rest for the next."""
_LEAD = 256
"""Characters at the beginning of a part that only say what stands before the others."""
_SPACES_OF_TEXT = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""White space in a text, but not in bytes."""


class PatternError(ValueError):
    """Text that is no regular expression, or one that is not taken.

    Attributes:
        message: one sentence.
        offset: where the trouble is, in characters; None when it is the whole.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def compile_pattern(text: str, *, match_case: bool) -> re.Pattern[str]:
    """Read a regular expression.

    Raises:
        PatternError: it cannot be read, is too long, or could take for ever where nothing can stop it.
    """
    if len(text) > MAX_PATTERN:
        raise PatternError(f"The expression is longer than {MAX_PATTERN:,} characters.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set" and the like are no business of the user
            pattern = re.compile(text, re.MULTILINE | (0 if match_case else re.IGNORECASE))
            if not HAS_LIMIT and repeats_repetition(read_expression(text)):
                raise PatternError("A repetition inside a repetition may take for ever.")
    except re.error as error:
        raise PatternError(f"{pattern_trouble(error)}.", error.pos) from None
    except (RecursionError, OverflowError, MemoryError):
        raise PatternError("The expression is too complex.") from None
    return pattern


class PatternFinder:
    """Finds one regular expression, with the face of `TextFinder`. Lines of a text begin and end for `^` and `$`.

    Args:
        text: the expression.
        match_case: whether upper and lower case differ.

    Raises:
        PatternError: as `compile_pattern`.
    """

    def __init__(self, text: str, *, match_case: bool = False) -> None:
        self._pattern = compile_pattern(text, match_case=match_case)
        match_case = not self._pattern.flags & re.IGNORECASE  # (?i) in it says so too
        tree = read_expression(text, self._pattern.flags & ~re.UNICODE)
        needed = needed_texts(tree, match_case=match_case)
        self._first = [TextFinder(literal, match_case=match_case) for literal in needed]
        self._run = NeededRun(tree)
        self._of_bytes = None if looks_before(tree) else _of_bytes(text, tree, self._pattern.flags)
        self._in_a_row = self._in_all = 0
        self._wasted = 0.0

    def __call__(self, record: bytes) -> bool:
        """Whether the text of a record holds a match.

        Raises:
            TookTooLongError: that takes too long to say.
        """
        return any(self._is_in(text) for text in record_texts(record))

    def among(self, data: bytes, starts: Offsets, ends: Offsets) -> NDArray[np.int8]:
        """Which of many records hold a match; arguments as for `TextFinder.among`.

        Returns:
            (k,) int8: 1 where a match is, 0 where none is, TOO_LONG where that takes too long to say, and UNKNOWN for
            the last ones when others took long: ask for those again.

        Raises:
            TookTooLongError: so many records took too long that the others would too.
        """
        found = np.zeros(len(starts), np.int8)
        records = Records(data, starts, ends)
        likely = np.flatnonzero(self._likely(records))
        self._wasted = 0.0
        if len(likely):
            found[likely] = self._tried(records.some(likely))
        return found

    def may_hold_apart(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """As `find_query.Finder`: what each match holds is in the record as well."""
        return self._likely(Records(data, starts, ends).each())

    def _likely(self, records: Records) -> Mask:
        """Which records may hold a match: surely not those left out."""
        if not self._first:
            return self._run.likely(records)
        likely = np.zeros(len(records), np.bool_)
        for first in self._first:
            likely |= first.among(records.data, records.starts, records.ends)
        rows = np.flatnonzero(likely)
        if len(rows):
            likely[rows] = self._run.likely(records.some(rows))
        return likely

    def _tried(self, records: Records) -> NDArray[np.int8]:
        """What is said of records in which the expression is tried."""
        found = np.zeros(len(records), np.int8)
        as_bytes = self._may_be_bytes(records)
        self._search_bytes(records, np.flatnonzero(as_bytes), found)
        for row in np.flatnonzero(~as_bytes).tolist():
            found[row] = self._in_time(partial(self, records.record(row)))
        return found

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """As `long_records.PartFinder`.

        Raises:
            TookTooLongError: so many records took too long that the others would too.
        """
        self._wasted = 0.0
        lead = 0 if first else _LEAD
        return int(self._in_time(lambda: any(self._is_in(text, lead, last=last) for text in record_texts(part))))

    def _in_time(self, ask: Callable[[], bool]) -> np.int8:
        """The answer of a record, once there is time for it."""
        if self._wasted >= _WASTED_S:
            return UNKNOWN
        began = time.thread_time()
        try:
            found = np.int8(ask())
        except TookTooLongError:
            self._wasted += time.thread_time() - began
            self._in_a_row += 1
            self._in_all += 1
            if self._in_a_row >= _MOST_IN_A_ROW or self._in_all >= _MOST_IN_ALL:
                raise
            return TOO_LONG
        self._in_a_row = 0
        return found

    def _may_be_bytes(self, records: Records) -> Mask:
        """Records that can be searched where they lie: their bytes are their text, and nothing before them counts."""
        if self._of_bytes is None or any(separator in records.data for separator in _SPACES_OF_TEXT):
            return np.zeros(len(records), np.bool_)
        plain = ~(records.with_escapes(None) | records.beyond_ascii)
        # What stands before a record counts for ^ and \b: it is to be the end of a line.
        plain &= records.follows_newline()
        return plain & (records.ends - records.starts <= _PIECE)

    def _search_bytes(self, records: Records, rows: NDArray[np.intp], found: NDArray[np.int8]) -> None:
        """Try the expression in records as they lie, some at a time; one by one where some take too long."""
        if self._of_bytes is None or not len(rows):
            return
        search, data = self._of_bytes.search, records.data
        starts, ends = records.starts[rows], records.ends[rows]
        until = (ends - starts).cumsum()

        def is_in(start: int, end: int) -> bool:
            with at_most(LIMIT_S):
                return search(data, start, end) is not None

        first = 0
        while first < len(rows):
            stop = max(first + 1, int(until.searchsorted((until[first - 1] if first else 0) + _PIECE, "right")))
            places = list(zip(starts[first:stop].tolist(), ends[first:stop].tolist(), strict=True))
            some = rows[first:stop]
            try:
                if self._wasted >= _WASTED_S:
                    found[rows[first:]] = UNKNOWN
                    return
                with at_most(LIMIT_S):
                    found[some] = [search(data, start, end) is not None for start, end in places]
                self._in_a_row = 0
            except TookTooLongError:
                found[some] = [self._in_time(partial(is_in, start, end)) for start, end in places]
            first = stop

    def _is_in(self, text: str, begin: int = 0, *, last: bool = True) -> bool:
        # By places and not by pieces: what stands before a piece counts for ^ and for what looks back.
        left = MOST_S
        for at in range(begin, len(text) or 1, _PIECE):
            began = time.thread_time()
            with at_most(min(LIMIT_S, left)):
                end = at + _PIECE + _OVERLAP if len(text) > _PIECE else len(text)
                match = self._pattern.search(text, at, end)
                if match is not None and (last or match.end() < len(text)):
                    return True
            left -= time.thread_time() - began
            if left <= 0:
                raise TookTooLongError
        return False


def _of_bytes(text: str, tree: Any, flags: int) -> re.Pattern[bytes] | None:
    """The same expression for bytes, as far as they are of ASCII; None where it would not mean the same."""
    if not text.isascii() or not is_of_ascii(tree):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(text.encode(), flags & (re.MULTILINE | re.IGNORECASE))
    except (re.error, ValueError):  # what only texts can be asked for
        return None
