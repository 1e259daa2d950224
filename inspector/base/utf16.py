"""Converts between offsets in characters, as Python counts, and in UTF-16 units, as Qt counts."""

from __future__ import annotations

from bisect import bisect_left


class Utf16Offsets:
    """Offsets in one text: characters beyond U+FFFF take two units. O(text) to make, O(log wide characters) to ask."""

    def __init__(self, text: str) -> None:
        wide = [] if text.isascii() else [place for place, one in enumerate(text) if one > "\uffff"]
        self._length = len(text)
        self._wide = wide
        self._wide_units = [place + number for number, place in enumerate(wide)]

    def units(self, place: int) -> int:
        """Returns the units before a character offset; all for one beyond the end."""
        place = min(place, self._length)
        return place + bisect_left(self._wide, place)

    def place(self, units: int) -> int:
        """Returns the character offset of an offset in units; inside of a wide character, its beginning."""
        return units - bisect_left(self._wide_units, units)
