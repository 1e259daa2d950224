"""Converts traces and observations of Langfuse to spans.

An observation keeps the attributes of the span that it came from in its metadata. Keys are in camel case in the
interface and API, and in snake case in exports to a bucket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.langfuse import FORMAT
from inspector.formats.span_exports import span_converter
from inspector.formats.span_records import object_of, prefixed_members, span_document, span_record, time_of
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.timestamps import NO_TIME

_SNAKE = re.compile(r"_([a-z])")
_PREFIX = "langfuse.observation."
_NAMES = {"usageDetails": "usage_details", "costDetails": "cost_details", "providedModelName": "model.name",
          "model": "model.name"}  # fmt: skip
"""Members with another name among the attributes of spans that Langfuse receives."""
_PLACED = ("id", "traceId", "parentObservationId", "name", "startTime", "endTime", "metadata", "type")


def is_export(value: Mapping[str, Any]) -> bool:
    """Returns True for a trace with its observations, an observation, or a page of observations."""
    if _is_observation(value):
        return True
    if any(map(_is_observation, mappings_in(value.get("data")))):
        return True
    trace = value.get("trace")
    return (isinstance(trace, Mapping) and "projectId" in trace) or _is_trace(value)


def _is_trace(value: Mapping[str, Any]) -> bool:
    return {"projectId", "timestamp", "bookmarked"} <= value.keys() or any(
        map(_is_observation, mappings_in(value.get("observations")))
    )


def _is_observation(value: Mapping[str, Any]) -> bool:
    keys = {"traceId", "startTime"} if "traceId" in value else {"trace_id", "start_time"}
    return keys <= value.keys() and isinstance(value.get("type"), str) and value["type"].isupper()


def restate(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record as a document of spans."""
    trace = mapping_or_empty(value.get("trace", value if _is_trace(value) else None))
    found = mappings_in(value.get("observations")) or mappings_in(value.get("data")) or [value]
    spans = [held for one in found if _is_observation(one) for held in _span_of(_camel_case(one), _camel_case(trace))]
    return {"resourceSpans": spans} if spans else value


def _camel_case(value: Mapping[str, Any]) -> dict[str, Any]:
    return {_SNAKE.sub(lambda found: found[1].upper(), key): one for key, one in value.items()}


def _span_of(value: Mapping[str, Any], trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    metadata = object_of(value.get("metadata"))
    filled = {key: one for key, one in value.items() if one not in (None, "", {})}
    told = {_NAMES.get(key, key): one for key, one in (_earlier_counts(value) | filled).items()}
    attributes = {
        **{key: one for key, one in object_of(metadata.get("attributes")).items() if isinstance(key, str)},
        **prefixed_members(told, _PREFIX, _PLACED), _PREFIX + "type": str(value["type"]).lower(),
        **prefixed_members(metadata, "langfuse.metadata.", ("attributes", "resourceAttributes", "scope")),
        "session.id": value.get("sessionId") or trace.get("sessionId"),
    }  # fmt: skip
    start, end = time_of(value.get("startTime")), time_of(value.get("endTime"))
    has_ended = value["type"] == "EVENT" or value.get("output") is not None
    resource = object_of(metadata.get("resourceAttributes"))
    service = resource.get("service.name") or value.get("traceName") or trace.get("name")
    record = span_record(
        trace=value.get("traceId"), identifier=value.get("id"), parent=value.get("parentObservationId"),
        name=value.get("name"), start_ns=start, end_ns=start if has_ended and end == NO_TIME else end,
        attributes=attributes, failed=value.get("level") == "ERROR", reason=value.get("statusMessage"),
    )  # fmt: skip
    yield from span_document([record], {**resource, "service.name": service})["resourceSpans"]


def _earlier_counts(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns tokens and cost as of now, from the members that they had until version 3."""
    use = {"input": value.get("promptTokens"), "output": value.get("completionTokens"), **object_of(value.get("usage"))}
    counts = {key: use[key] for key in ("input", "output", "total") if use.get(key)}
    cost = value.get("calculatedTotalCost")
    return {"usageDetails": counts, "costDetails": {"total": cost} if cost else {}}


CONVERSION = span_converter(FORMAT.name, marks=(b'"', b"race"), is_own=is_export, restate=restate)
