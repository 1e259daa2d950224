"""Folds and quotes words of session files for sentences: one line of at most 40 characters."""

from __future__ import annotations

_MAX_LENGTH = 40
_READ_LENGTH = 200  # blanks are folded, so more is read than is shown


def quote_word(text: str | None) -> str:
    """Returns a folded word in quotation marks; "" for None, also quoted."""
    folded = " ".join((text or "")[:_READ_LENGTH].split())
    return f'"{folded if len(folded) <= _MAX_LENGTH else folded[: _MAX_LENGTH - 1] + "…"}"'
