"""What is said about a display filter that cannot be used."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FilterError(Exception):
    """A display filter that cannot be read or makes no sense; the only exception any filter text can cause.

    Attributes:
        message: one sentence.
        position: where the trouble starts, in characters from the start of the filter text.
        length: how many characters it covers; 0 when something is missing at `position`.
        suggestion: a second sentence that says what to do instead, or None.
        replacement: text to put in place of the covered characters to follow the suggestion, or None when it takes
            more than a replacement.
    """

    def __init__(
        self,
        message: str,
        *,
        position: int,
        length: int,
        suggestion: str | None = None,
        replacement: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.length = length
        self.suggestion = suggestion
        self.replacement = replacement

    def __str__(self) -> str:
        return self.message if self.suggestion is None else f"{self.message} {self.suggestion}"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice most like `word`, letter case aside; None when none is near enough to be worth saying."""
    by_lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(word[:100].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def shortened(text: str, limit: int = 40) -> str:
    """The text for use in a sentence: its end replaced by an ellipsis when it is longer than `limit`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
