r"""Searches many records in one buffer with RE2, in linear time.

RE2 looks through the raw bytes of all records at once, and a match tells its record by its offset. Bytes without
escapes are text, so most matches are certain. The others leave a doubt that only the decoded text resolves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.base.first_matches import Offsets, first_matches
from inspector.filters.raw_expression import RawExpression

Mask = NDArray[np.bool_]

NO, YES, MAYBE = np.int8(0), np.int8(1), np.int8(2)
"""Results of a search; MAYBE if only the decoded text can tell."""
_Find = Callable[[bytes, int, int], Any]

_DIGITS = 5
r"""Bytes of the escape `\u0000` behind its backslash."""
_SAMPLE_RECORDS, _MANY_MATCHES = 32, 4
"""Records searched first, and the number of matches above which a search per record costs less than RE2's matches."""
_BACKSLASH, _NEWLINE, _LETTER_U = b"\\\nu"


class RefusedError(ValueError):
    """RE2 does not take the expression."""


class BlockSearch:
    """Finds records whose text may match an expression.

    Raises:
        RefusedError: RE2 does not take the expression, for its size.
    """

    def __init__(self, expression: RawExpression) -> None:
        self._expression = expression
        compiled = _compiled(expression.pattern)
        self._search, self._find = compiled.search, compiled.finditer
        self._may_be_anywhere = self._search(b"") is not None
        self._find_rare_numbers = _compiled(expression.rare_numbers).finditer
        rare = expression.rare_characters
        self._find_rare_characters = _compiled(rare).finditer if rare else None
        self._find_numbers = _compiled(rb"\\u").finditer
        self._doubtful = re.compile(expression.doubtful).search
        self._is_literal = bool(expression.literal)
        self._has_spellings = bool(expression.lead) or rb"\\+" in expression.pattern

    def search_records(self, data: bytes, starts: Offsets, ends: Offsets) -> NDArray[np.int8]:
        """Searches records.

        Args:
            data: bytes with all records.
            starts: (k,) integer, start offsets in `data`, ascending; records do not overlap.
            ends: (k,) integer, end offsets.

        Returns:
            (k,) int8: YES, NO or MAYBE.
        """
        if self._may_be_anywhere or not len(starts):
            return np.full(len(starts), MAYBE)
        # Without escapes by number, ASCII bytes hold no other characters.
        if self._expression.is_wide and data.isascii() and next(self._find_numbers(data), None) is None:
            return np.zeros(len(starts), np.int8)
        block = _Block(data, starts, ends)
        if not self._expression.is_exact and self._is_in_most(block):
            return np.full(len(starts), MAYBE)
        if self._is_literal and self._is_dense(block):
            self._search_each(block)
        elif self._is_literal or block.are_lines():
            self._mark(block, self._find, may_be_certain=True)
        else:
            # A match in one record could reach through all others, and each search as far.
            self._mark_each(block, range(len(starts)))
        self._mark(block, self._find_rare_numbers)
        if self._find_rare_characters is not None and not data.isascii():
            self._mark(block, self._find_rare_characters)
        if self._expression.may_hold_line_end:
            block.mark_offsets(np.flatnonzero(block.bytes == _NEWLINE))
        return block.found

    def may_match_records(self, records: list[bytes]) -> Mask:
        """Returns a mask of possible matches among records, in their text or in one of their strings alone."""
        lengths = np.fromiter(map(len, records), np.int64, len(records))
        # One more byte per record for the line end between them.
        ends = (lengths + 1).cumsum() - 1
        return self.search_records(b"\n".join(records), ends - lengths, ends) != NO

    def _mark(self, block: _Block, find: _Find, *, may_be_certain: bool = False) -> None:
        """Marks the records in which a match begins. The first one decides, or leaves the record to its text."""
        data, found = block.data, block.found
        for row, start, end in first_matches(find, data, *block.offsets):
            if found[row] != YES:
                is_inside = may_be_certain and end <= block.ends[row]
                found[row] = YES if is_inside and self._is_certain(data, start, end, block.starts[row]) else MAYBE

    def _mark_each(self, block: _Block, rows: Iterable[int]) -> None:
        """Marks records by a search in each."""
        for row in rows:
            start, end = block.starts[row], block.ends[row]
            match = self._search(block.data, start, end)
            if match is not None:
                block.found[row] = YES if self._is_certain(block.data, match.start(), match.end(), start) else MAYBE

    def _is_dense(self, block: _Block) -> bool:
        """Returns True if many of the first records have the literal."""
        if len(block.found) <= _SAMPLE_RECORDS:
            return False
        expression, records = self._expression, block.first_records(_SAMPLE_RECORDS)
        matches = [expression.literal in (one if expression.match_case else one.lower()) for one in records]
        return sum(matches) > _MANY_MATCHES

    def _is_in_most(self, block: _Block) -> bool:
        """Returns True if most of the first records match; then the search excludes too few to be worth its time."""
        records = block.first_records(_SAMPLE_RECORDS)
        matches = [self._search(one) is not None for one in records]
        return len(records) == _SAMPLE_RECORDS and 2 * sum(matches) > len(records)

    def _search_each(self, block: _Block) -> None:
        """Searches a frequent literal record by record: as it is, in another case, and in other spellings."""
        data, literal, found = block.data, self._expression.literal, block.found
        offsets = np.fromiter(map(data.find, repeat(literal), block.starts, block.ends), np.int64, len(found))
        if not self._expression.match_case:
            for row in np.flatnonzero(offsets < 0).tolist():
                start = block.starts[row]
                offset = data[start : block.ends[row]].lower().find(literal)
                offsets[row] = start + offset if offset >= 0 else -1
        found[offsets >= 0] = YES
        if b"\\" in data:
            found[(offsets >= 0) & _may_be_in_escape(block.bytes, offsets)] = MAYBE
            if self._has_spellings:
                has_escape = block.contains(np.flatnonzero(block.bytes == _BACKSLASH))
                self._mark_each(block, np.flatnonzero(has_escape & (offsets < 0)).tolist())

    def _is_certain(self, data: bytes, start: int, end: int, first: int) -> bool:
        """Returns True if a match is one of the text.

        Args:
            data: bytes with the record.
            start, end: the match.
            first: start of the record.
        """
        expression = self._expression
        begin = start - len(expression.lead)
        if not expression.is_exact or begin < first or data[begin:start] != expression.lead:
            return False
        before = data[max(0, begin - _DIGITS) : begin]
        # The digits of an escape by number look like text.
        return not before.endswith(b"\\") and b"\\u" not in before and self._doubtful(data, start, end) is None


class _Block:
    """Records in one buffer, and the results so far.

    Attributes:
        found: (k,) int8, results.
        offsets: (k,) integer each, the starts and the ends.
    """

    def __init__(self, data: bytes, starts: Offsets, ends: Offsets) -> None:
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        self.found = np.zeros(len(starts), np.int8)
        self.offsets = self._starts, self._ends = starts, ends

    @cached_property
    def starts(self) -> list[int]:
        """Start offsets; most blocks need none."""
        return self._starts.tolist()

    @cached_property
    def ends(self) -> list[int]:
        """End offsets."""
        return self._ends.tolist()

    def first_records(self, count: int) -> list[bytes]:
        places = zip(self._starts[:count].tolist(), self._ends[:count].tolist(), strict=True)
        return [self.data[start:end] for start, end in places]

    def are_lines(self) -> bool:
        """Returns True if a line end separates each two records."""
        return bool((self.bytes.take(self._starts[1:] - 1, mode="clip") == _NEWLINE).all()) if self.data else True

    def contains(self, offsets: NDArray[np.intp]) -> Mask:
        """Returns a mask of records that contain any of the offsets."""
        rows = self._starts.searchsorted(offsets, "right") - 1
        inside = (rows >= 0) & (offsets < self._ends[rows])
        found = np.zeros(len(self.found), np.bool_)
        found[rows[inside]] = True
        return found

    def mark_offsets(self, offsets: NDArray[np.intp]) -> None:
        """Marks records that contain any of the offsets as possible matches."""
        self.found[self.contains(offsets) & (self.found == NO)] = MAYBE


def _may_be_in_escape(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Mask:
    """Returns a mask of offsets that may lie within an escape that begins earlier."""
    found = data.take(offsets - 1, mode="clip") == _BACKSLASH
    for distance in range(2, _DIGITS + 1):
        before = data.take(offsets - distance, mode="clip") == _BACKSLASH
        found |= before & (data.take(offsets - distance + 1, mode="clip") == _LETTER_U)
    return found


def _compiled(pattern: bytes) -> Any:
    import re2  # imported for the first search: a C++ library

    options = re2.Options()
    # Bytes, since records may be invalid as UTF-8.
    options.encoding = re2.Options.Encoding.LATIN1
    # RE2 would write its errors to standard error.
    options.log_errors = False
    # The module would keep the last 128 expressions with megabytes of tables each.
    re2.purge()
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise RefusedError(str(error)) from None
