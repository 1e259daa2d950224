"""Names of Grok Build's messages, and conversions that its three kinds of records share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import bytes_of, media_words, text_of, token_count
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice

NAME = "grok-build"
VOICE = Voice(agent="grok", program="grok-build", namespace="grok/")
RECORDS = (
    "turn_completed", "hook_execution", "available_commands_update", "available_commands", "tool_call_update", "usage",
    "end", "current_mode_update", "task_backgrounded", "task_completed", "phase_changed",
)  # fmt: skip
"""Records that the program writes for itself."""
_TICKS = 1e10
"""Parts of a dollar in which costs are stated."""


def content_words(content: object) -> str:
    """Returns the text of a message's content: a text, a block or blocks; images are named."""
    if isinstance(content, Mapping):
        content = [content]
    blocks = mappings_in(content)
    if not blocks:
        return text_of(content)
    return "\n".join(
        text if (text := text_or_none(one.get("text"))) is not None else media_words(one) for one in blocks
    )


def output_words(output: object) -> str:
    """Returns a tool's output: the text for the model if there is one."""
    if isinstance(output, str):
        return output
    held = mapping_or_empty(output)
    for value in (held, *held.values()):
        for key in ("output_for_prompt", "tool_output_for_prompt", "content"):
            if isinstance(text := mapping_or_empty(value).get(key), str):
                return text
    return bytes_of(dict(held)).decode("utf-8", "replace") if held else ""


def has_failed(status: object, output: object) -> bool:
    """Returns True if a tool failed, or a command ended with another exit code than 0."""
    code = mapping_or_empty(output).get("exit_code")
    return status == "failed" or (isinstance(code, int) and not isinstance(code, bool) and code != 0)


def count_turn(event: Event, usage: object, *, cached_in_input: bool, stop: str | None, cost: float | None) -> None:
    """Sets the tokens of a turn, all its calls of models together.

    Args:
        event: of the turn's end.
        usage: as stated.
        cached_in_input: cached tokens are part of the input, as in a session's file.
        stop: the reason why the turn ended.
        cost: in dollars; None to read it from the usage.
    """
    told = mapping_or_empty(usage)
    if not told:
        return
    models = [name for name in mapping_or_empty(told.get("modelUsage")) if isinstance(name, str)]
    taken = token_count(told, "inputTokens", "input_tokens")
    read = token_count(told, "cachedReadTokens", "cache_read_input_tokens")
    written = token_count(told, "cacheCreationTokens", "cache_creation_input_tokens")
    ticks = number_or_none(told.get("costUsdTicks"))
    VOICE.usage(
        event, model=models[0] if len(models) == 1 else None, stop=stop,
        input=max(taken - read - written, 0) if cached_in_input else taken,
        output=token_count(told, "outputTokens", "output_tokens"), cache_read=read, cache_write=written,
        cost=cost if cost is not None or ticks is None else ticks / _TICKS,
    )  # fmt: skip


def with_models(usage: object, models: object) -> Mapping[str, Any]:
    """Returns a usage with the models that are stated beside it."""
    return {"modelUsage": models, **mapping_or_empty(usage)} if isinstance(usage, Mapping) else {}
