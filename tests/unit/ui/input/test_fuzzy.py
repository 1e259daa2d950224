"""Finding names by some of their letters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.ui.input import fuzzy

NAMES = ("Next problem", "Previous problem", "Unpack", "Next in the same chain", "Mark or unmark", "Command palette")


def best(query: str) -> str:
    found = [(match.score, name) for name in NAMES if (match := fuzzy.match(query, name)) is not None]
    return max(found)[1]


def test_beginnings_of_words_count_most() -> None:
    assert best("np") == "Next problem"
    assert best("pp") == "Previous problem"
    assert best("mark") == "Mark or unmark"
    assert best("palette") == "Command palette"


def test_words_come_in_any_order() -> None:
    assert best("problem next") == "Next problem"
    assert fuzzy.match("problem chain", "Next problem") is None


def test_what_was_meant_is_told() -> None:
    found = fuzzy.match("np", "Next problem")
    assert found is not None
    assert found.places == (0, 5)


@given(st.text(max_size=12), st.text(max_size=30))
def test_places_are_in_the_name_and_spell_the_query(query: str, name: str) -> None:
    found = fuzzy.match(query, name)
    if found is not None:
        assert list(found.places) == sorted(set(found.places))
        assert all(0 <= place < len(name) for place in found.places)


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=20))
def test_a_name_finds_itself_whole(name: str) -> None:
    found = fuzzy.match(name, name)
    assert found is not None
    assert found.places == tuple(range(len(name)))
