"""Extracts literals or character runs that every match of a regular expression must contain.

Both are fast to find in megabytes of bytes, so the expression is only tried on records that may match.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.expression import compiled
from inspector.filters.records import Mask, Records

# One letter is in nearly every record, so searching it first only costs time.
_LEAST_LITERAL = 2
_MOST_BRANCHES = 6
"""Limit of alternatives that are searched one by one before the expression is tried."""
_FOLDS_APART = frozenset("iI")
"""ASCII letters that `re` and `str.casefold` fold differently (dotless and dotted i)."""

_LONGEST_RUN = 8
"""Limit of character classes in a run: the number of bits in a byte."""
# At a match in every fiftieth byte, nearly every record would be tried anyway.
_RARE_ENOUGH = 0.02
"""Share of matching offsets above which a run is of no use."""
_ASCII = tuple(map(chr, range(128)))
_PLAIN_ASCII = frozenset(map(chr, range(0x20, 0x7F))) - set('"\\/')
"""Characters that JSON can only write plainly or by number."""
_ONE_CHARACTER = frozenset(("LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY", "RANGE"))
_NOTHING_WIDE = frozenset(("AT", "ASSERT", "ASSERT_NOT"))
_REPEATS = frozenset(("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"))

_FREQUENCIES = {
    **dict.fromkeys(string.ascii_lowercase, 0.026), **dict.fromkeys(string.ascii_uppercase, 0.002),
    **dict.fromkeys(string.digits, 0.012), " ": 0.08,
}  # fmt: skip
"""Approximate frequency by character; others are rare."""
_RARE_FREQUENCY = 0.004

CharacterClass = frozenset[str]


def required_literals(tree: Any, *, match_case: bool) -> tuple[str, ...]:
    """Returns literals of which every match contains at least one; empty if unknown."""
    best: tuple[str, ...] = ()
    run = ""
    for operation, value in tree:
        name = str(operation)
        if name == "LITERAL" and 0x20 <= value < 0x7F and (match_case or chr(value) not in _FOLDS_APART):
            run += chr(value)
            continue
        best, run = _more_selective(best, (run,)), ""
        if name == "SUBPATTERN" and not value[1] and not value[2]:
            best = _more_selective(best, required_literals(value[3], match_case=match_case))
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and value[0] >= 1:
            best = _more_selective(best, required_literals(value[2], match_case=match_case))
        elif name == "BRANCH" and len(value[1]) <= _MOST_BRANCHES:
            each = [required_literals(branch, match_case=match_case) for branch in value[1]]
            best = _more_selective(best, tuple(text for one in each for text in one) if all(each) else ())
    return _more_selective(best, (run,))


def _more_selective(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the more selective texts: the set with the longer shortest text."""
    length = min(map(len, other), default=0)
    if length < _LEAST_LITERAL or len(other) > _MOST_BRANCHES:
        return one
    return other if length > min(map(len, one), default=0) else one


class RequiredRun:
    """A run of character classes that every match contains.

    Args:
        tree: the expression, parsed with the flags of the search.

    Attributes:
        classes: the run; empty if no useful one was found.
    """

    def __init__(self, tree: Any) -> None:
        self.classes = _rarest_part(_runs(tree))
        table = bytearray(256)
        for place, characters in enumerate(self.classes):
            for character in characters:
                # Bit n of a byte's entry: the byte fits class n. One `translate` tests all classes.
                table[ord(character)] |= 1 << place
        self._table = bytes(table)
        self._single = [next(iter(one)).encode() for one in self.classes if len(one) == 1]
        self._room = np.zeros(0, np.uint8)

    def possible_matches(self, records: Records) -> Mask:
        """Returns a mask of records that may contain the run; the others cannot."""
        if not self.classes:
            return np.ones(len(records), np.bool_)
        return records.containing(self._match_offsets(records)) | records.beyond_ascii

    def _match_offsets(self, records: Records) -> NDArray[np.intp]:
        count = len(records.data) - len(self.classes) + 1
        if count <= 0 or any(single not in records.data for single in self._single):
            return np.zeros(0, np.intp)
        fits = np.frombuffer(records.data.translate(self._table), np.uint8)
        # Buffers are reused, since allocation would take longer than the comparison.
        if len(self._room) < 2 * count:
            self._room = np.empty(2 * count, np.uint8)
        all_fit, moved = self._room[:count], self._room[count : 2 * count]
        np.bitwise_and(fits[:count], 1, out=all_fit)
        for place in range(1, len(self.classes)):
            # Shifting aligns the bit of each class at the start of the run.
            np.right_shift(fits[place : place + count], place, out=moved)
            np.bitwise_and(all_fit, moved, out=all_fit)
        return np.flatnonzero(all_fit.view(np.bool_))


def _runs(tree: Any) -> list[list[CharacterClass]]:
    """Returns the runs of classes that are part of every match."""
    runs: list[list[CharacterClass]] = [[]]
    for operation, value in tree:
        name = str(operation)
        if name in _ONE_CHARACTER:
            _add(runs, _class_of(tree, operation, value))
        elif name == "SUBPATTERN" and not value[1] and not value[2]:
            first, *others = _runs(value[3])
            runs[-1] += first
            runs += others
        elif name in _REPEATS:
            _add_repeat(runs, tree, value)
        elif name not in _NOTHING_WIDE:
            runs.append([])
    return runs


def _add_repeat(runs: list[list[CharacterClass]], tree: Any, value: Any) -> None:
    least, most, body = value
    if len(body) == 1 and str(body[0][0]) in _ONE_CHARACTER and least:
        some = [_class_of(tree, *body[0])] * min(least, _LONGEST_RUN)
        for one in some:
            _add(runs, one)
        if most != least or least > _LONGEST_RUN:
            runs.append([])
            for one in some:
                _add(runs, one)
        return
    if least:
        runs += [[], *_runs(body)]
    runs.append([])


def _add(runs: list[list[CharacterClass]], characters: CharacterClass | None) -> None:
    if characters is None:
        runs.append([])
    else:
        runs[-1].append(characters)


def _class_of(tree: Any, operation: Any, value: Any) -> CharacterClass | None:
    """Returns the ASCII characters that match one element; None if JSON could write one differently."""
    matches = compiled(tree, operation, value).fullmatch
    found = frozenset(filter(matches, _ASCII))
    return found if found and found <= _PLAIN_ASCII else None


def _rarest_part(runs: list[list[CharacterClass]]) -> list[CharacterClass]:
    """Returns the part of a run with the fewest expected matches."""
    best: list[CharacterClass] = []
    least = _RARE_ENOUGH
    for run in runs:
        usual = [sum(_FREQUENCIES.get(character, _RARE_FREQUENCY) for character in one) for one in run]
        for start in range(max(1, len(run) - _LONGEST_RUN + 1)):
            share = float(np.prod(usual[start : start + _LONGEST_RUN])) if run else 1.0
            if share < least:
                best, least = run[start : start + _LONGEST_RUN], share
    return best
