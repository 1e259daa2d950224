"""Converts calls of W&B Weave to spans.

A call has the name of its operation, as `weave:///team/project/op/openai.chat.completions.create:hash`. A call of a
model sums its tokens by model in `summary.usage`. So do the calls around it, each with the sums of its children.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from inspector.formats.span_exports import SPAN_KIND, span_converter
from inspector.formats.span_records import exception_event, prefixed_members, span_document, span_record, time_of
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.formats.weave import FORMAT
from inspector.protocol.timestamps import NO_TIME

_OPERATION = re.compile(r"(?:weave:///.*/op/)?([^:]*)")
_MODELS = re.compile(
    r"(?i)chat\.completions|\bcompletions?\.(?:create|parse)|messages\.(?:create|stream)|responses\.(?:create|parse)"
    r"|generate_?content|litellm\.|invoke_model|\bconverse\b"
)
"""Operations of clients of models."""
_PLACED = (
    "id", "trace_id", "parent_id", "op_name", "display_name", "started_at", "ended_at", "inputs", "output", "exception",
    "summary", "project_id", "attributes",
)  # fmt: skip
_KINDS = {"llm": "LLM", "tool": "TOOL", "agent": "AGENT"}


def is_export(value: Mapping[str, Any]) -> bool:
    """Returns True for a call, or a page of calls."""
    return _is_call(value) or any(map(_is_call, mappings_in(value.get("calls"))))


def _is_call(value: Mapping[str, Any]) -> bool:
    return {"op_name", "trace_id", "started_at"} <= value.keys()


def restate(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record as a document of spans."""
    spans = [_span_of(one) for one in mappings_in(value.get("calls")) or [value] if _is_call(one)]
    return span_document(spans, {"service.name": "weave"}) if spans else value


def _span_of(value: Mapping[str, Any]) -> dict[str, Any]:
    start, end, failure = time_of(value.get("started_at")), time_of(value.get("ended_at")), value.get("exception")
    found = _OPERATION.match(str(value.get("op_name") or ""))
    operation = found[1] if found else ""
    output = value.get("output")
    return span_record(
        trace=value.get("trace_id"), identifier=value.get("id"), parent=value.get("parent_id"),
        name=value.get("display_name") or operation, start_ns=start,
        end_ns=start if end == NO_TIME and (failure or output is not None) else end,
        attributes=_attributes_of(value, operation), failed=bool(failure), reason=failure,
        events=[exception_event(failure, end)] if failure else [],
    )  # fmt: skip


def _attributes_of(value: Mapping[str, Any], operation: str) -> dict[str, Any]:
    own, summary = mapping_or_empty(value.get("attributes")), mapping_or_empty(value.get("summary"))
    kind = _KINDS.get(str(own.get("kind", mapping_or_empty(own.get("weave")).get("kind"))).lower())
    if kind is None and _MODELS.search(operation):
        kind = "LLM"
    told: dict[str, Any] = {
        SPAN_KIND: kind or "CHAIN", "input.value": _inputs_of(value), "output.value": value.get("output"),
        "session.id": value.get("thread_id"), **prefixed_members(value, "weave.", _PLACED),
        **prefixed_members(own, "weave.attributes."),
    }  # fmt: skip
    if kind == "TOOL":
        told["tool.name"] = operation
    if kind == "LLM":
        told |= _usage_of(mapping_or_empty(summary.get("usage")))
        costs = mappings_in(list(mapping_or_empty(mapping_or_empty(summary.get("weave")).get("costs")).values()))
        prices = [one for held in costs for key, one in held.items() if key.endswith("_total_cost")]
        if prices and all(isinstance(one, int | float) for one in prices):
            told["llm.cost.total"] = sum(prices)
    return told


def _inputs_of(value: Mapping[str, Any]) -> Any:
    """Returns the inputs without the object of the method, which Weave names `self`."""
    inputs = value.get("inputs")
    return {key: one for key, one in inputs.items() if key != "self"} if isinstance(inputs, Mapping) else inputs


def _usage_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tokens of the call's one model as attributes."""
    model, counts = next(((name, one) for name, one in usage.items() if isinstance(one, Mapping)), (None, {}))
    details = mapping_or_empty(counts.get("prompt_tokens_details") or counts.get("input_tokens_details"))
    cached = counts.get("cache_read_input_tokens") or details.get("cached_tokens")
    written, given = counts.get("cache_creation_input_tokens"), counts.get("prompt_tokens", counts.get("input_tokens"))
    if (
        "cache_read_input_tokens" in counts and "prompt_tokens" not in counts and isinstance(given, int)
    ):  # Anthropic's input is without them
        given += sum(one for one in (cached, written) if isinstance(one, int))
    return {
        "llm.model_name": model, "llm.token_count.prompt": given,
        "llm.token_count.completion": counts.get("completion_tokens", counts.get("output_tokens")),
        "llm.token_count.prompt_details.cache_read": cached, "llm.token_count.prompt_details.cache_write": written,
    }  # fmt: skip


CONVERSION = span_converter(FORMAT.name, marks=(b'"op_name"', b'"trace_id"'), is_own=is_export, restate=restate)
