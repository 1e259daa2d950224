"""Converts runs of LangSmith to spans: of its client and API, with child runs inside, and posted batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.langsmith import FORMAT
from inspector.formats.span_exports import span_converter
from inspector.formats.span_records import (
    exception_event,
    object_of,
    prefixed_members,
    span_document,
    span_record,
    time_of,
)
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.timestamps import NO_TIME

_PREFIX = "langsmith."
_PLACED = (
    "id", "run_id", "trace_id", "parent_run_id", "name", "start_time", "end_time", "run_type", "inputs", "outputs",
    "error", "child_runs", "prompt_tokens", "completion_tokens", "total_cost", "extra", "serialized", "dotted_order",
    "status", "child_run_ids", "parent_run_ids",
)  # fmt: skip
_USES = (
    ("llm_output", "token_usage"), ("llm_output", "usage"), ("usage_metadata",), ("usage",),
    ("generations", 0, 0, "message", "kwargs", "usage_metadata"), ("generations", 0, 0, "message", "usage_metadata"),
)  # fmt: skip
"""Places of a model's tokens in its outputs."""
_INPUT, _OUTPUT = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")
_TYPES = ("chain", "embedding", "llm", "parser", "prompt", "retriever", "tool")
_RELATIONS = {"trace_id", "dotted_order", "child_runs"}
_MAX_DEPTH = 64


def is_export(value: Mapping[str, Any]) -> bool:
    """Returns True for a run, a page of runs, or a posted batch."""
    return _is_run(value) or any(
        _is_run(one) for key in ("runs", "post", "patch") for one in mappings_in(value.get(key))
    )


def _is_change(value: Mapping[str, Any]) -> bool:
    """Returns True for the changes to a run that was posted before."""
    return isinstance(value.get("id"), str) and isinstance(value.get("trace_id"), str) and "dotted_order" in value


def _is_run(value: Mapping[str, Any]) -> bool:
    return value.get("run_type") in _TYPES and "start_time" in value and not _RELATIONS.isdisjoint(value)


def restate(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record as a document of spans."""
    posted = _posted(value)
    runs = mappings_in(value.get("runs")) or posted or [value]
    read = [one for one in runs if _is_run(one) or (posted and _is_change(one))]
    spans = [span for one in read for span in _spans_of(one, None, None, 0)]
    return span_document(spans, {"service.name": "langsmith"}) if spans else value


def _posted(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the runs of a batch: each as it began, with the later changes to it."""
    runs: dict[object, Mapping[str, Any]] = {}
    for one in (*mappings_in(value.get("post")), *mappings_in(value.get("patch"))):
        key = str(one.get("dotted_order") or one.get("id"))
        runs[key] = {**runs.get(key, {}), **{name: told for name, told in one.items() if told is not None}}
    return list(runs.values())


def _spans_of(value: Mapping[str, Any], trace: object, parent: object, depth: int) -> Iterator[dict[str, Any]]:
    """Yields the spans of a run and its child runs."""
    identifier = value.get("id") or value.get("run_id")
    trace = value.get("trace_id") or trace or identifier
    start, end, error = time_of(value.get("start_time")), time_of(value.get("end_time")), value.get("error")
    outputs = object_of(value.get("outputs"))
    yield span_record(
        trace=trace, identifier=identifier, parent=value.get("parent_run_id") or parent, name=value.get("name"),
        start_ns=start, end_ns=start if end == NO_TIME and (outputs or error) else end,
        attributes=_attributes_of(value, outputs), failed=bool(error), reason=error,
        events=[exception_event(error, end)] if error else [],
    )  # fmt: skip
    for child in mappings_in(value.get("child_runs")) if depth < _MAX_DEPTH else ():
        yield from _spans_of(child, trace, identifier, depth + 1)


def _attributes_of(value: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    extra, kind = object_of(value.get("extra")), value.get("run_type")
    use = next((found for path in _USES if (found := mapping_or_empty(_at(outputs, path)))), {})
    result = outputs.get("output", outputs)
    inner = mapping_or_empty(mapping_or_empty(result).get("kwargs") or result)
    # Changes to a run may leave out its type.
    kind = kind or ("llm" if use else "tool" if "output" in outputs or "tool_call_id" in inner else None)
    metadata = mapping_or_empty(extra.get("metadata"))
    invoked, inputs = mapping_or_empty(extra.get("invocation_params")), object_of(value.get("inputs"))
    models = (outputs.get("model"), metadata.get("ls_model_name"), invoked.get("model"), invoked.get("model_name"),
              inputs.get("model"))  # fmt: skip
    told: dict[str, Any] = {
        "langsmith.span.kind": value.get("run_type"), "gen_ai.prompt": inputs or None,
        "gen_ai.completion": outputs or None,
        "session.id": metadata.get("thread_id") or metadata.get("session_id"),
        **prefixed_members(value, _PREFIX, _PLACED), **prefixed_members(metadata, "langsmith.metadata."),
    }  # fmt: skip
    if kind == "llm":
        details = mapping_or_empty(use.get("input_token_details") or use.get("prompt_tokens_details"))
        told |= {
            "gen_ai.request.model": next((one for one in models if isinstance(one, str) and one), None),
            "gen_ai.usage.input_tokens": _first(use, _INPUT, value.get("prompt_tokens")),
            "gen_ai.usage.output_tokens": _first(use, _OUTPUT, value.get("completion_tokens")),
            "gen_ai.usage.cache_read.input_tokens": _first(details, ("cache_read", "cached_tokens"), None),
            "gen_ai.usage.cache_write.input_tokens": _first(details, ("cache_creation",), None),
            "gen_ai.usage.cost": _number(value.get("total_cost")),
        }  # fmt: skip
    if kind == "tool":
        told |= {"gen_ai.tool.name": value.get("name"), "gen_ai.tool.call.id": inner.get("tool_call_id"),
                 "gen_ai.completion": inner.get("content", result) if outputs else None}  # fmt: skip
    return told


def _at(value: object, path: tuple[str | int, ...]) -> object:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = mapping_or_empty(value).get(step)
    return value


def _first(value: Mapping[str, Any], keys: tuple[str, ...], otherwise: object) -> object:
    return next((value[key] for key in keys if key in value), otherwise)


def _number(value: object) -> float | None:
    """Returns a number, also one that is written as a text."""
    try:
        return float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except ValueError:
        return None


CONVERSION = span_converter(FORMAT.name, marks=(b'"run_type"',), is_own=is_export, restate=restate)
