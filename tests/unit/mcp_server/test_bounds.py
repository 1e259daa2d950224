from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.mcp_server.bounds import MOST_CHARACTERS, bounded, dumped, page

values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.text("ab", min_size=300, max_size=900),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=8), inner, max_size=30),
    max_leaves=60,
)


@given(values, st.integers(200, 3_000))
def test_what_is_bounded_is_small_and_whole_where_it_was_small(value: Any, most: int) -> None:
    cut = bounded(value, most)
    assert len(dumped(cut)) <= 2 * most + 200  # quotes and escapes of the beginning that is shown
    if len(dumped(value)) <= most:
        assert cut == value or dumped(cut) == dumped(value)


@given(st.lists(st.text(max_size=40), max_size=60), st.integers(1, 20))
def test_pages_hold_every_row_once_in_order(rows: list[str], limit: int) -> None:
    taken: list[str] = []
    offset: int | None = 0
    while offset is not None:
        found = page(rows[offset:], offset, limit)
        assert len(found["rows"]) <= limit
        taken += found["rows"]
        offset = found["next"]
    assert taken == rows


def test_a_long_text_says_how_long_it_is() -> None:
    cut = bounded({"a": "x" * 100_000, "b": list(range(10))})
    assert cut["a"].endswith("… [100,000 characters in all]")
    assert cut["b"] == list(range(10))
    rows = page(["y" * MOST_CHARACTERS] * 20, 0, 20)
    assert 1 <= len(rows["rows"]) < 20
    assert rows["next"] == len(rows["rows"])
