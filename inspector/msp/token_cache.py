"""Tokens of texts, counted once each: the same messages stand in the contexts of many sub-sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from inspector.tokens.counter import count

Count = Callable[[str], int]
"""The tokens of a text."""


class TokenCache:
    """Counts texts and remembers what it found, by the text itself."""

    def __init__(self, count_text: Count = count) -> None:
        """An empty one. The first count loads the tokenizer, unless everything asked for was learnt."""
        self._count = count_text
        self._known: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        """Tokens of a text."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._count(text)
        return found

    def known(self, text: str) -> int | None:
        """Tokens of a text if it was counted; never counts."""
        return self._known.get(text)

    def learn(self, texts: Iterable[str], counts: Iterable[int]) -> None:
        """Take in what was counted elsewhere, as in a process of its own."""
        self._known.update(zip(texts, counts, strict=True))
