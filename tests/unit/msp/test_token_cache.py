"""Tests of `inspector.msp.merged_layers`."""

from __future__ import annotations

from inspector.msp.merged_layers import TokenCache
from inspector.tokens.counter import count


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    def counting(text: str) -> int:
        asked.append(text)
        return len(text)

    cache = TokenCache(counting)
    assert [cache("abc"), cache("abc"), cache("")] == [3, 3, 0]
    assert asked == ["abc"]


def test_what_was_counted_elsewhere_is_not_counted() -> None:
    cache = TokenCache(lambda text: -1)
    assert cache.known("abc") is None
    cache.learn(["abc", "de"], [7, 8])
    assert (cache("abc"), cache.known("de"), cache.known("other")) == (7, 8, None)


def test_counts_are_those_of_the_program() -> None:
    assert TokenCache()("what is a kelvin?") == count("what is a kelvin?")
