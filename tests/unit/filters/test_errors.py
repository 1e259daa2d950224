"""Finding the word that was meant."""

from __future__ import annotations

import pytest

from inspector.filters.errors import FilterError, nearest_choice, truncate


@pytest.mark.parametrize(
    ("word", "expected"), [("form", "from"), ("KIND", "kind"), ("contxt", "context"), ("zzz", None), ("", None)]
)
def test_nearest(word: str, expected: str | None) -> None:
    assert nearest_choice(word, ["from", "kind", "context"]) == expected


def test_shortened() -> None:
    assert (truncate("a" * 40), truncate("a" * 41)) == ("a" * 40, "a" * 39 + "…")


def test_text_of_an_error() -> None:
    assert str(FilterError("No.", position=0, length=1)) == "No."
    assert str(FilterError("No.", position=0, length=1, suggestion="Try.")) == "No. Try."
