"""Maps pairs of space and string to numbers in eight bytes a string; a dict of pairs would take 200."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.store.columns.intern_table import InternTable

UNKNOWN = -1
_NO_SPACE = -1
_STRING_MASK = 0xFFFFFFFF


class SpaceNumbers:
    """Numbers by space and string, both string ids.

    Almost every string is used in one space only: two arrays by string store that space and the number. A dict stores
    the rest.
    """

    def __init__(self) -> None:
        self._space_of = array("i")
        self._number_of = array("i")
        self._further_numbers: dict[tuple[int, int], int] = {}

    def find(self, space: int, string: int) -> int:
        """Returns the number of a string in a space, or UNKNOWN."""
        if string < len(self._space_of) and self._space_of[string] == space:
            return self._number_of[string]
        return self._further_numbers.get((space, string), UNKNOWN)

    def find_all(self, spaces: NDArray[Any], strings: NDArray[Any]) -> NDArray[np.int32]:
        """Returns (n,) the numbers of strings in their spaces, or UNKNOWN. O(n)."""
        if not len(strings):
            return np.empty(0, np.int32)
        self._make_room(int(strings.max()))
        found = np.where(as_numpy(self._space_of)[strings] == spaces, as_numpy(self._number_of)[strings], UNKNOWN)
        # Few strings occur in two spaces, so this loop is short.
        if self._further_numbers:
            missing = np.flatnonzero(found == UNKNOWN)
            pairs = zip(spaces[missing].tolist(), strings[missing].tolist(), strict=True)
            found[missing] = [self._further_numbers.get(pair, UNKNOWN) for pair in pairs]
        return found.astype(np.int32, copy=False)

    def set_number(self, space: int, string: int, number: int) -> None:
        """Stores the number of a new pair of space and string."""
        if string >= len(self._space_of):
            self._make_room(string)
        # The first space of a string gets the arrays; any further space goes to the dict.
        if self._space_of[string] == _NO_SPACE:
            self._space_of[string], self._number_of[string] = space, number
        else:
            self._further_numbers[space, string] = number

    def _make_room(self, string: int) -> None:
        """Makes room for strings up to this one, and for some later ones."""
        room = len(self._space_of)
        if string >= room:
            more = string + 1 + max(1024, room // 8) - room
            self._space_of.extend(array("i", [_NO_SPACE]) * more)
            self._number_of.frombytes(bytes(4 * more))


class NamesBySpace(SpaceNumbers):
    """Names, each in its space (string id), numbered in the order of arrival.

    Attributes:
        keys: by number, space << 32 | string id of the name.

    Args:
        strings: the table of the string ids.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        super().__init__()
        self._strings = strings
        self.keys = array("q")

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return map(self.pair, range(len(self)))

    def pair(self, number: int) -> tuple[int, str]:
        key = self.keys[number]
        return key >> 32, self._strings[key & _STRING_MASK]

    def find_name(self, space: int, name: str) -> int:
        """Returns the number of a name in a space, or UNKNOWN."""
        code = self._strings.find(name)
        return self.find(space, code) if code else UNKNOWN

    def add(self, space: int, code: int) -> int:
        """Adds a new name (string id) in a space; returns its number."""
        number = len(self.keys)
        self.keys.append(space << 32 | code)
        self.set_number(space, code, number)
        return number
