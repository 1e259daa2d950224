"""Detects texts that agents' programs write in the user's place, in recordings of their model's API."""

from __future__ import annotations

from inspector.formats.tagged_texts import without_tags


def is_program_text(text: str) -> bool:
    """Returns True if a program wrote the whole text."""
    from inspector.formats.table import AGENT_TOOLS  # imported late, since readers in the table import this module

    text = text.lstrip()
    if not text.startswith(AGENT_TOOLS.program_texts):
        return False
    # A prompt may follow in the same text.
    rest = without_tags(text)
    return not rest or rest is text or rest.startswith(AGENT_TOOLS.program_texts)
