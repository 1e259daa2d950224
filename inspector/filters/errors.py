"""Errors of display filters, with suggestions for the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FilterError(Exception):
    """A display filter that is malformed or does not fit its fields; the only exception that a text can cause.

    Attributes:
        message: one sentence.
        position: start of the error, in characters from the start of the filter text.
        length: number of characters covered; 0 if something is missing at `position`.
        suggestion: a second sentence with a remedy, if any.
        replacement: text for the covered characters that follows the suggestion; None if a replacement is not enough.
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


def nearest_choice(word: str, choices: Iterable[str]) -> str | None:
    """Returns the choice most similar to `word`, if similar enough, ignoring case."""
    by_lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(word[:100].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def truncate(text: str, limit: int = 40) -> str:
    """Truncates text with an ellipsis if it is longer than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
