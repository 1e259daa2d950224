"""Tests of `inspector.msp.merged_layers`."""

from __future__ import annotations

from inspector.msp.merged_layers import TokenCache
from inspector.tokens.counter import count_tokens


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    def counting(text: str) -> int:
        asked.append(text)
        return len(text)

    cache = TokenCache(counting)
    assert [cache("abc"), cache("abc"), cache("")] == [3, 3, 0]
    assert asked == ["abc"]


def test_counts_are_those_of_the_program() -> None:
    assert TokenCache()("what is a kelvin?") == count_tokens("what is a kelvin?")
