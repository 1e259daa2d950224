"""The one way in which places of secrets in a text are replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable

MASK = "••••••••"
"""Stands for a secret of any length."""


def replaced(text: str, found: Iterable[tuple[int, int]], mask: Callable[[str], str]) -> str:
    """A text with some places of it replaced; those that are empty, or begin in one before them, are left.

    Args:
        text: any text.
        found: where each begins and ends, ascending.
        mask: what becomes of one.
    """
    parts: list[str] = []
    done = 0
    for start, end in found:
        if start >= done and end > start:
            parts += (text[done:start], mask(text[start:end]))
            done = end
    return "".join((*parts, text[done:])) if parts else text
