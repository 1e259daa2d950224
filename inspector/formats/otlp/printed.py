"""Converts spans as an SDK prints them: console exporters, `span.to_json()`, files of JavaScript objects.

Python prints `context` with ids in hexadecimal, or dumps them as numbers. JavaScript prints `traceId`, `id` and times
in microseconds on a console, and elsewhere whole objects with `hrTime` or `startTime` as seconds and nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.span_records import attribute_pairs, span_document, span_event, span_record, time_of
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.timestamps import NO_TIME

_CALLS_MODEL, _CALLS_TOOL = "gen_ai.client.inference.operation.details", "gen_ai.tool.name"
_ERROR_CODES = ("ERROR", "error", 2)


def is_printed(value: Mapping[str, Any]) -> bool:
    """Returns True for a span or log record of an SDK, or for an object with a list of them."""
    if isinstance(context := value.get("context"), Mapping):
        return "span_id" in context and "span_kind" not in value and "attributes" in value
    if "hrTime" in value:
        return "resource" in value and ("attributes" in value or "instrumentationScope" in value)
    if "timestamp" in value:
        return {"traceId", "id", "duration", "attributes"} <= value.keys()
    spans = mappings_in(value.get("spans"))
    return "startTime" in value and _has_context(value) if not spans else is_printed(spans[0])


def _has_context(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(key), Mapping) for key in ("_spanContext", "spanContext"))


def as_otlp(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record of an SDK as a document of OTLP; others unchanged."""
    if not value:  # an exporter writes this for a span that it cannot write
        return {"resourceSpans": []}
    if "scopeMetrics" in value:
        return {"resourceMetrics": [value]}
    if not is_printed(value):
        return value
    spans = mappings_in(value.get("spans")) or [value]
    if "hrTime" in value:
        return _of_log(value)
    documents = [_of_python(one) if "context" in one else _of_javascript(one) for one in spans]
    return {"resourceSpans": [held for one in documents for held in one["resourceSpans"]]}


def _of_python(value: Mapping[str, Any]) -> dict[str, Any]:
    context, status = mapping_or_empty(value.get("context")), mapping_or_empty(value.get("status"))
    start = time_of(value.get("start_time"))
    record = span_record(
        trace=context.get("trace_id"), identifier=context.get("span_id"),
        parent=value.get("parent_id") or mapping_or_empty(value.get("parent")).get("span_id"), name=value.get("name"),
        start_ns=start, end_ns=time_of(value.get("end_time")), attributes=mapping_or_empty(value.get("attributes")),
        events=[span_event(one.get("name"), time_of(one.get("timestamp"), start),
                           mapping_or_empty(one.get("attributes"))) for one in mappings_in(value.get("events"))],
        failed=status.get("status_code", value.get("status_code")) in _ERROR_CODES,
        reason=status.get("description", value.get("status_message")),
    )  # fmt: skip
    return span_document([record], _resource(value))


def _of_javascript(value: Mapping[str, Any]) -> dict[str, Any]:
    context = mapping_or_empty(value.get("_spanContext", value.get("spanContext")))
    status = mapping_or_empty(value.get("status"))
    above = mapping_or_empty(value.get("parentSpanContext")).get("spanId")
    start, took = time_of(value.get("timestamp", value.get("startTime"))), value.get("duration")
    end = time_of(value.get("endTime"))
    if end == NO_TIME and start != NO_TIME and isinstance(took, int | float) and abs(took) < 1 << 60:
        end = start + round(took * 1_000)
    # Exporters print spans that have ended.
    end = start if end == NO_TIME else end
    record = span_record(
        trace=value.get("traceId", context.get("traceId")), identifier=value.get("id", context.get("spanId")),
        parent=above or value.get("parentId") or value.get("parentSpanId"), name=value.get("name"),
        start_ns=start, end_ns=end, attributes=mapping_or_empty(value.get("attributes")),
        events=[span_event(one.get("name"), time_of(one.get("time"), start), mapping_or_empty(one.get("attributes")))
                for one in mappings_in(value.get("events"))],
        failed=status.get("code") in _ERROR_CODES, reason=status.get("message"),
    )  # fmt: skip
    return span_document([record], _resource(value))


def _of_log(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a log record; one about a whole call of a model or tool becomes a span within the span that it names."""
    context, attributes = mapping_or_empty(value.get("spanContext")), mapping_or_empty(value.get("attributes"))
    resource, time_ns = _resource(value), time_of(value.get("hrTime"))
    name = value.get("eventName", attributes.get("event.name"))
    body = value.get("body", value.get("_body"))
    took = attributes.get("duration_ms")
    if name == _CALLS_MODEL or (_CALLS_TOOL in attributes and isinstance(took, int | float)):
        lasted = round(took * 1_000_000) if isinstance(took, int | float) and 0 <= took < 1 << 40 else 0
        record = span_record(
            trace=context.get("traceId"), identifier=f"record {time_ns} {body}", parent=context.get("spanId"),
            name=body, start_ns=time_ns - lasted if time_ns != NO_TIME else NO_TIME, end_ns=time_ns,
            attributes=attributes, failed="error.type" in attributes or attributes.get("success") is False,
        )  # fmt: skip
        return span_document([record], resource)
    record = {
        "timeUnixNano": str(max(time_ns, 0)), "traceId": context.get("traceId"), "spanId": context.get("spanId"),
        "severityNumber": value.get("severityNumber", value.get("_severityNumber")), "eventName": name,
        "attributes": attribute_pairs(attributes),
        "body": attribute_pairs({"body": body})[0]["value"] if body is not None else None,
    }  # fmt: skip
    told = {"attributes": attribute_pairs(resource)}
    written = {key: one for key, one in record.items() if one is not None}
    return {"resourceLogs": [{"resource": told, "scopeLogs": [{"logRecords": [written]}]}]}


def _resource(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the resource's attributes: an object, or pairs of key and value."""
    held = mapping_or_empty(value.get("resource"))
    given = next((held[key] for key in ("attributes", "_attributes", "_rawAttributes") if key in held), None)
    if isinstance(given, Mapping):
        return dict(given)
    pairs = given if isinstance(given, list) else []
    return {one[0]: one[1] for one in pairs if isinstance(one, list) and len(one) == 2 and isinstance(one[0], str)}
