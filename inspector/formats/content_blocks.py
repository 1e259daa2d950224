"""Events of messages with content blocks as Anthropic's API has them, for logs of several programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, media_words
from inspector.formats.value_conversions import mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice

_THOUGHTS = {"thinking": "thinking", "redacted_thinking": "", "reasoning": "text"}
"""Types of blocks with reasoning, each with the member that has its text."""


def blocks_in(content: object) -> list[Mapping[str, Any]]:
    """Returns the blocks of a message's content, which may be a text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else mappings_in(content)


def block_event(voice: Voice, block: Mapping[str, Any], *, by_model: bool) -> Event:
    """Returns the event of a block: a text, a thought, a call or a result.

    Args:
        voice: of the format.
        block: the block.
        by_model: the message is of the model, not of the user.
    """
    kind, tool = block.get("type"), text_or_none(block.get("name"))
    if kind == "tool_use":
        return voice.call(text_or_none(block.get("id")), tool, block.get("input"))
    if kind == "tool_result":
        call, failed = text_or_none(block.get("tool_use_id")), block.get("is_error") is True
        return voice.result(call, block.get("content"), tool=tool, failed=failed)
    if isinstance(kind, str) and kind in _THOUGHTS:
        return voice.thought(text_or_none(block.get(_THOUGHTS[kind])) or NOT_READABLE)
    text = block["text"] if isinstance(block.get("text"), str) else media_words(block)
    return voice.answer(text) if by_model else voice.prompt(text)
