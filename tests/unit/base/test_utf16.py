"""Offsets in characters and in UTF-16 units agree with Python's own encoder."""

from __future__ import annotations

import pytest

from inspector.base.utf16 import Utf16Offsets


@pytest.mark.parametrize("text", ["", "abc", "ä\uffffz", "a\U0001f600b", "\U0001f600\U0001f600", "\ud83d\U0001f600x"])
def test_units_and_places_agree_with_the_encoder(text: str) -> None:
    offsets = Utf16Offsets(text)
    encoded = text.encode("utf-16-le", "surrogatepass")
    for place in range(len(text) + 1):
        units = len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
        assert offsets.units(place) == units
        assert offsets.place(units) == place
    assert offsets.units(len(text)) == offsets.units(len(text) + 5) == len(encoded) // 2


def test_an_offset_inside_of_a_character_is_its_beginning() -> None:
    assert [Utf16Offsets("a\U0001f600b").place(units) for units in range(5)] == [0, 1, 1, 2, 3]
