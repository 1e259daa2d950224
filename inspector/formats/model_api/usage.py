"""Token counts in the answers of model APIs, in one arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import token_count
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.derived_messages import ApiCall

_CACHED_APART = (
    "cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens",
)  # fmt: skip
"""Counts of Anthropic and Bedrock that the input does not contain."""


def answer_name(body: Mapping[str, Any]) -> str | None:
    """Returns the id of an answer."""
    return text_or_none(body.get("id", body.get("responseId"))) or None


def api_call(value: Mapping[str, Any]) -> ApiCall | None:
    """Returns the model call that an answer's body reports; None for a request."""
    usage = value.get("usage", value.get("usageMetadata"))
    if not isinstance(usage, Mapping):
        return None
    # Cohere has two counts: of billed tokens, and of the model.
    counted = usage.get("tokens", usage.get("billed_units"))
    usage = {**usage, **counted} if isinstance(counted, Mapping) else usage
    read = token_count(usage, "cache_read_input_tokens", "cachedContentTokenCount", "cacheReadInputTokens",
                       "total_cached_tokens", "cached_tokens")  # fmt: skip
    written = token_count(usage, "cache_creation_input_tokens", "cacheWriteInputTokens")
    given = token_count(
        usage, "input_tokens", "prompt_tokens", "promptTokenCount", "inputTokens", "total_input_tokens"
    )  # fmt: skip
    made = token_count(usage, "output_tokens", "completion_tokens", "candidatesTokenCount", "outputTokens",
                       "total_output_tokens")  # fmt: skip
    made += token_count(usage, "thoughtsTokenCount", "total_thought_tokens") + _reasoned_apart(usage, given + made)
    # Google counts the input of its own tools separately.
    given += token_count(usage, "toolUsePromptTokenCount", "total_tool_use_tokens")
    for key in ("prompt_tokens_details", "input_tokens_details"):
        if isinstance(details := usage.get(key), Mapping):
            read = token_count(details, "cached_tokens")
            written = token_count(details, "cache_write_tokens", "cache_creation_tokens")
    if usage.keys().isdisjoint(_CACHED_APART):
        given = max(given - read - written, 0)
    for one in mappings_in(usage.get("iterations")):
        if one.get("type") != "message":  # the totals cover messages
            given, made = given + token_count(one, "input_tokens"), made + token_count(one, "output_tokens")
            read += token_count(one, "cache_read_input_tokens")
            written += token_count(one, "cache_creation_input_tokens")
    hour = token_count(mapping_or_empty(usage.get("cache_creation")), "ephemeral_1h_input_tokens")
    return ApiCall(
        answer_name(value), text_or_none(value.get("model", value.get("modelVersion"))), has_usage=True, input=given,
        output=made, cache_read=read, cache_write=written, cache_write_1h=min(hour, written),
    )  # fmt: skip


def stated_cost(body: Mapping[str, Any]) -> float | None:
    """Returns the cost in dollars that an answer states: OpenRouter and Perplexity add it to the usage."""
    cost = mapping_or_empty(body.get("usage")).get("cost")
    cost = mapping_or_empty(cost).get("total_cost", cost)
    is_number = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < _MOST_DOLLARS
    return float(cost) if is_number else None


_MOST_DOLLARS = 1e6


def _reasoned_apart(usage: Mapping[str, Any], counted: int) -> int:
    """Returns reasoning tokens missing in `completion_tokens` (xAI), by the total."""
    details = mapping_or_empty(usage.get("completion_tokens_details"))
    reasoned = token_count(details, "reasoning_tokens")
    return reasoned if reasoned and token_count(usage, "total_tokens") == counted + reasoned else 0
