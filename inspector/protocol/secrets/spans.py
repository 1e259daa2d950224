"""Replaces spans of secrets in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MASK = "••••••••"
"""Replacement of a secret of any length."""


def replace_spans(text: str, found: Iterable[tuple[int, int]], mask: Callable[[str], str]) -> str:
    """Returns a text with some spans replaced; skips empty and overlapping ones.

    Args:
        text: any text.
        found: spans, ascending.
        mask: returns the replacement of a span.
    """
    parts: list[str] = []
    done = 0
    for start, end in found:
        # Later rules may find a part of an earlier span.
        if start >= done and end > start:
            parts += (text[done:start], mask(text[start:end]))
            done = end
    return "".join((*parts, text[done:])) if parts else text
