"""Regular expressions looked for in the text of whole records, as `full_text` looks for plain text.

An expression that must hold some plain text is only tried where that text is. Matching is limited in time: an
expression can be written (or a message sent) so that it would take for ever.
"""

from __future__ import annotations

import re
import warnings
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]  # the only one who reads expressions
from typing import Any

import numpy as np

from inspector.filters.full_text import Mask, Offsets, TextFinder, record_texts
from inspector.filters.operators import MAX_PATTERN
from inspector.filters.time_limit import HAS_LIMIT, at_most

LIMIT_S = 0.5
"""Processor time for the records that are looked at together: some megabytes, which take a tenth of it."""
_PIECE = 1 << 16
_OVERLAP = 1 << 12
"""A long text is searched in pieces that share so many characters; a match that is longer may be missed."""
_LEAST_LITERAL = 2
_MOST_BRANCHES = 6
"""Alternatives that are looked for one by one before the expression is tried."""
_FOLDS_APART = frozenset("iI")
"""Letters of ASCII whose other forms are others to `re` than to `str.casefold` (dotless and dotted i)."""


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
            if not HAS_LIMIT and _repeats_repetition(parser.parse(text), inside=False):
                raise PatternError("A repetition inside a repetition may take for ever.")
    except re.error as error:
        raise PatternError(f"{error.msg[:1].upper()}{error.msg[1:]}.", error.pos) from None
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
        needed = _needed(parser.parse(text, self._pattern.flags & ~re.UNICODE), match_case=match_case)
        self._first = [TextFinder(literal, match_case=match_case) for literal in needed]

    def __call__(self, record: bytes) -> bool:
        """Whether the text of a record holds a match.

        Raises:
            TookTooLongError: that takes too long to say.
        """
        with at_most(LIMIT_S):
            return self._holds(record)

    def among(self, data: bytes, starts: Offsets, ends: Offsets) -> Mask:
        """Which of many records hold a match; arguments and result as for `TextFinder.among`.

        Raises:
            TookTooLongError: that takes too long to say.
        """
        found = np.full(len(starts), not self._first)
        for first in self._first:
            found |= first.among(data, starts, ends)
        with at_most(LIMIT_S):
            for row in np.flatnonzero(found).tolist():
                found[row] = self._holds(data[int(starts[row]) : int(ends[row])])
        return found

    def _holds(self, record: bytes) -> bool:
        return any(self._is_in(text) for text in record_texts(record))

    def _is_in(self, text: str) -> bool:
        search = self._pattern.search
        if len(text) <= _PIECE:
            return search(text) is not None
        # By places and not by pieces: what stands before a piece counts for ^ and for what looks back.
        return any(search(text, at, at + _PIECE + _OVERLAP) for at in range(0, len(text), _PIECE))


def _needed(tree: Any, *, match_case: bool) -> tuple[str, ...]:
    """Plain texts of which each match holds one at least, as far as it is easily seen; none where it is not."""
    best: tuple[str, ...] = ()
    run = ""
    for operation, value in tree:
        name = str(operation)
        if name == "LITERAL" and 0x20 <= value < 0x7F and (match_case or chr(value) not in _FOLDS_APART):
            run += chr(value)
            continue
        best, run = _better(best, (run,)), ""
        if name == "SUBPATTERN" and not value[1] and not value[2]:
            best = _better(best, _needed(value[3], match_case=match_case))
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and value[0] >= 1:
            best = _better(best, _needed(value[2], match_case=match_case))
        elif name == "BRANCH" and len(value[1]) <= _MOST_BRANCHES:
            each = [_needed(branch, match_case=match_case) for branch in value[1]]
            best = _better(best, tuple(text for one in each for text in one) if all(each) else ())
    return _better(best, (run,))


def _better(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that leave fewer records to try: those whose shortest is longer."""
    length = min(map(len, other), default=0)
    if length < _LEAST_LITERAL or len(other) > _MOST_BRANCHES:
        return one
    return other if length > min(map(len, one), default=0) else one


def _repeats_repetition(tree: Any, *, inside: bool) -> bool:
    """Whether something is repeated any number of times within what is."""
    for operation, value in tree:
        endless = str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and value[1] is parser.MAXREPEAT
        if endless and inside:
            return True
        if any(_repeats_repetition(part, inside=inside or endless) for part in _parts(value)):
            return True
    return False


def _parts(value: Any) -> list[Any]:
    """The expressions an operation is made of."""
    if isinstance(value, parser.SubPattern):
        return [value]
    return [part for one in value for part in _parts(one)] if isinstance(value, list | tuple) else []
