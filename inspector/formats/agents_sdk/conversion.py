"""Converts traces and spans of the OpenAI Agents SDK, as its processors export them, to spans.

Spans of turns and tasks (type `custom`) sum the tokens of the model calls below them, which count alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.agents_sdk import FORMAT
from inspector.formats.span_exports import SPAN_KIND, span_converter
from inspector.formats.span_records import (
    exception_event,
    json_words,
    prefixed_members,
    span_document,
    span_record,
    time_of,
)
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none

_TRACE, _SPAN = "trace", "trace.span"
_KINDS = {"generation": "LLM", "response": "LLM", "function": "TOOL", "agent": "AGENT", "guardrail": "GUARDRAIL"}
_PLACED = ("type", "name", "input", "output", "model", "usage", "response")
_SERVICE = "openai-agents"


def is_export(value: Mapping[str, Any]) -> bool:
    """Returns True for a trace, a span, or a batch of them as it is sent."""
    return _is_own(value) or any(map(_is_own, mappings_in(value.get("data"))))


def _is_own(value: Mapping[str, Any]) -> bool:
    if value.get("object") == _TRACE:
        return "workflow_name" in value
    return value.get("object") == _SPAN and "trace_id" in value and isinstance(value.get("span_data"), Mapping)


def restate(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record as a document of spans."""
    records = mappings_in(value.get("data")) if not _is_own(value) else [value]
    named = {one.get("id"): one for one in records if one.get("object") == _TRACE}
    spans = [_span_of(one, named) for one in records if _is_own(one) and one.get("object") == _SPAN]
    alone = [_root_of(one) for one in records if _is_own(one) and one.get("object") == _TRACE]
    return span_document([*alone, *spans], {"service.name": _SERVICE}) if spans or alone else value


def _root_of(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the span of a trace, which names its workflow."""
    return span_record(
        trace=trace.get("id"), identifier=trace.get("id"), parent=None, name=trace.get("workflow_name"),
        start_ns=time_of(trace.get("started_at")), end_ns=time_of(trace.get("ended_at")),
        attributes={SPAN_KIND: "CHAIN", "session.id": trace.get("group_id"),
                    **prefixed_members(mapping_or_empty(trace.get("metadata")), "metadata.")},
    )  # fmt: skip


def _span_of(value: Mapping[str, Any], named: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    data, error = mapping_or_empty(value.get("span_data")), mapping_or_empty(value.get("error"))
    start, end = time_of(value.get("started_at")), time_of(value.get("ended_at"))
    sort = text_or_none(data.get("type")) or "span"
    session = mapping_or_empty(named.get(value.get("trace_id"))).get("group_id")
    return span_record(
        trace=value.get("trace_id"), identifier=value.get("id"),
        parent=value.get("parent_id") or value.get("trace_id"), name=_name_of(sort, data), start_ns=start, end_ns=end,
        attributes={"session.id": session, **_attributes_of(sort, data)}, failed=bool(error),
        reason=error.get("message"), events=[exception_event(_reason(error), end)] if error else [],
    )  # fmt: skip


def _reason(error: Mapping[str, Any]) -> str:
    inner = mapping_or_empty(error.get("data")).get("error")
    return ": ".join(json_words(one) for one in (error.get("message"), inner) if one)


def _name_of(sort: str, data: Mapping[str, Any]) -> str:
    if sort == "handoff":
        return f"handoff to {data.get('to_agent')}"
    return text_or_none(data.get("name")) or sort


def _attributes_of(sort: str, data: Mapping[str, Any]) -> dict[str, Any]:
    kind = _KINDS.get(sort, "CHAIN")
    told: dict[str, Any] = {SPAN_KIND: kind, **prefixed_members(data, "openai_agents.", _PLACED)}
    if kind == "TOOL":
        return {**told, "tool.name": data.get("name"), "input.value": data.get("input"),
                "output.value": data.get("output")}  # fmt: skip
    if sort == "agent":
        return {**told, "agent.name": data.get("name")}
    if kind != "LLM":
        return told
    response = mapping_or_empty(data.get("response"))
    given, made = data.get("input"), data.get("output") or response.get("output")
    usage = mapping_or_empty(data.get("usage")) or mapping_or_empty(response.get("usage"))
    if sort == "generation":
        told["input.value"] = None if given is None else {"messages": given}
        told["output.value"] = {"choices": [{"message": one} for one in mappings_in(made)]} if made else None
    else:
        told["input.value"] = None if given is None else {"input": given}
        told["output.value"] = {"object": "response", "output": made} if made else None
    details = mapping_or_empty(usage.get("input_tokens_details"))
    return {
        **told, "llm.model_name": data.get("model") or response.get("model"),
        "llm.token_count.prompt": usage.get("input_tokens", usage.get("prompt_tokens")),
        "llm.token_count.completion": usage.get("output_tokens", usage.get("completion_tokens")),
        "llm.token_count.prompt_details.cache_read": details.get("cached_tokens"),
        "llm.token_count.prompt_details.cache_write": details.get("cache_write_tokens"),
    }  # fmt: skip


CONVERSION = span_converter(FORMAT.name, marks=(b'"object"', b'"trace'), is_own=is_export, restate=restate)
