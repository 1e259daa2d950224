"""Reads spans from OTLP JSON with its variants, Tempo's `batches`, and Jaeger's export.

Sources: opentelemetry-proto 1.x (JSON Protobuf Encoding: ids in hex, 64-bit numbers as texts, enumerations as numbers).
Writers of plain protobuf JSON use ids in base64, enumerations by name and keys in snake case; Tempo writes times as
numbers. All of these are read. Missing values are accepted: a span without a time, parent or name is a span.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inspector.protocol.timestamps import NO_TIME

_MAX_DEPTH = 32
_AS_THEY_ARE = frozenset(("stringValue", "boolValue", "doubleValue", "bytesValue"))
"""Members of an `AnyValue` that need no conversion, in usual JSON names."""
_LAST_NS = 2**63 - 1


class SpanEvent(msgspec.Struct, gc=False):
    """An event within a span."""

    name: str
    time_ns: int
    attributes: dict[str, Any]


class Span(msgspec.Struct):
    """One span, or one log record.

    Attributes:
        attributes: by key, plain values; lists and objects as such.
        resource: attributes of the reporting resource.
        given: as written, with its containers in OTLP form.
        ended: False if it was exported before its end.
        has_begun: an earlier batch had it before its end.
        number: number of other spans of the trace that had its id before.
    """

    trace: str
    identifier: str
    parent: str
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    events: list[SpanEvent]
    failed: bool
    status: str
    resource: dict[str, Any]
    given: dict[str, Any]
    is_log: bool = False
    ended: bool = True
    has_begun: bool = False
    number: int = 0


def spans_in(value: Mapping[str, Any]) -> list[Span]:
    """Returns the spans of a document or a line, in order; empty without any. Never raises."""
    found: list[Span] = []
    trace = value.get("trace")
    # Some exporters wrap the document once more.
    if isinstance(trace, Mapping):
        value = trace
    # Spellings of JSON, of protobuf in Python, and of older versions.
    for held in _lists(value, "resourceSpans", "resource_spans", "batches"):
        resource = _object(held, "resource")
        for scope in _lists(held, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            named = _object(scope, "scope", "instrumentationLibrary")
            found += [_span(one, resource, named) for one in _lists(scope, "spans")]
    for held in _lists(value, "resourceLogs", "resource_logs"):
        resource = _object(held, "resource")
        for scope in _lists(held, "scopeLogs", "scope_logs"):
            named = _object(scope, "scope")
            found += [_log(one, resource, named) for one in _lists(scope, "logRecords", "log_records")]
    for traced in [value] if _is_of_jaeger(value) else _lists(value, "data"):
        if isinstance(traced.get("spans"), list):
            found += _of_jaeger(traced)
    return found


def holds_spans(value: Mapping[str, Any]) -> bool:
    """Returns True for an object in a span format, even without spans."""
    inner = value.get("trace")
    held = inner if isinstance(inner, Mapping) else value
    keys = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resourceMetrics")
    named = next((held[key] for key in keys if key in held), None)
    if isinstance(named, list) and "kind" not in value:
        return not named or isinstance(named[0], Mapping)
    traces = value.get("data")
    first = traces[0] if isinstance(traces, list) and traces else None
    return _is_of_jaeger(value) or (isinstance(first, Mapping) and "traceID" in first)


def plain_attributes(given: object) -> dict[str, Any]:
    """Returns OTLP attributes by key; an object is returned unchanged."""
    if isinstance(given, dict):
        return {str(key): value for key, value in given.items()}
    found: dict[str, Any] = {}
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and isinstance(key := one.get("key"), str):
            found[key] = plain_value(one.get("value"))
    return found


def plain_value(given: object, depth: int = 0) -> Any:
    if not isinstance(given, dict) or depth > _MAX_DEPTH:
        return given if not isinstance(given, dict) else None
    for key, value in given.items():
        if key in _AS_THEY_ARE:
            return value
        name = key.replace("_", "").lower()
        if name in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return value
        if name == "intvalue":
            return _integer(value)
        inner = value.get("values") if isinstance(value, dict) else value
        if name == "arrayvalue":
            return [plain_value(one, depth + 1) for one in inner] if isinstance(inner, list) else []
        if name == "kvlistvalue":
            pairs = inner if isinstance(inner, list) else []
            return {
                str(one.get("key")): plain_value(one.get("value"), depth + 1) for one in pairs if isinstance(one, dict)
            }
    return None


# Single spans


def _span(one: Mapping[str, Any], resource: Mapping[str, Any], scope: Mapping[str, Any]) -> Span:
    status = _object(one, "status")
    code = status.get("code")
    events = [
        SpanEvent(_text(event, "name"), _time(event, "timeUnixNano", "time_unix_nano"),
                  plain_attributes(event.get("attributes")))
        for event in _lists(one, "events")
    ]  # fmt: skip
    start = _time(one, "startTimeUnixNano", "start_time_unix_nano")
    end = _time(one, "endTimeUnixNano", "end_time_unix_nano")
    attributes = plain_attributes(one.get("attributes"))
    identifier, parent = _identifier(one, "spanId", "span_id"), _identifier(one, "parentSpanId", "parent_span_id")
    ended = end != NO_TIME or start == NO_TIME
    if attributes.get("logfire.span_type") == "pending_span":  # it lies within the span that it announces
        above = attributes.get("logfire.pending_parent_id")
        identifier, parent, ended = parent, above if isinstance(above, str) and above.strip("0") else "", False
    return Span(
        _identifier(one, "traceId", "trace_id"), identifier, parent, _text(one, "name"), start,
        end if end >= start else start, attributes, events, code in (2, "2", "STATUS_CODE_ERROR"),
        _text(status, "message"), plain_attributes(resource.get("attributes")),
        {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": [one]}]}]}, ended=ended,
    )  # fmt: skip


def _log(one: Mapping[str, Any], resource: Mapping[str, Any], scope: Mapping[str, Any]) -> Span:
    """Returns a log record as a span without duration."""
    attributes = plain_attributes(one.get("attributes"))
    name = _text(one, "eventName", "event_name") or str(attributes.get("event.name") or "log")
    time_ns = _time(one, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")
    body = plain_value(one.get("body"))
    attributes = {**attributes, **({"body": body} if body is not None else {})}
    severity = one.get("severityNumber", 0)
    return Span(
        _identifier(one, "traceId", "trace_id"), "", _identifier(one, "spanId", "span_id"), name, time_ns, time_ns,
        attributes, [], isinstance(severity, int) and severity >= _ERROR, "",
        plain_attributes(resource.get("attributes")),
        {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": [one]}]}]}, is_log=True,
    )  # fmt: skip


_ERROR = 17
"""Smallest severity number of an error."""


def _is_of_jaeger(value: Mapping[str, Any]) -> bool:
    """Returns True for a single trace of Jaeger, as in its API and its tests."""
    return "traceID" in value and "processes" in value and isinstance(value.get("spans"), list)


def _of_jaeger(trace: Mapping[str, Any]) -> Iterator[Span]:
    """Yields the spans of a trace in the Jaeger UI's export, converted to OTLP."""
    processes = trace.get("processes")
    processes = processes if isinstance(processes, Mapping) else {}
    for one in _lists(trace, "spans"):
        process = processes.get(one.get("processID"))
        process = process if isinstance(process, Mapping) else {}
        resource = {"service.name": process.get("serviceName"), **_tags(process)}
        # Jaeger lists all references; only this type is the parent.
        parents = [ref.get("spanID") for ref in _lists(one, "references") if ref.get("refType") in ("CHILD_OF", None)]
        start, duration = _integer(one.get("startTime")), _integer(one.get("duration"))
        tags = _tags(one)
        failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
        written = {
            "traceId": one.get("traceID"), "spanId": one.get("spanID"), "parentSpanId": parents[0] if parents else "",
            "name": one.get("operationName"), "startTimeUnixNano": str((start or 0) * 1000),
            "endTimeUnixNano": str(((start or 0) + (duration or 0)) * 1000),
            "attributes": [_pair(key, value) for key, value in tags.items()],
            "events": [
                {"name": str(fields.get("event") or "log"),
                 "timeUnixNano": str((_integer(log.get("timestamp")) or 0) * 1000),
                 "attributes": [_pair(key, value) for key, value in fields.items()]}
                for log in _lists(one, "logs") for fields in [_tags(log, "fields")]
            ],
            "status": {"code": 2 if failed else 0},
        }  # fmt: skip
        told = {"attributes": [_pair(key, value) for key, value in resource.items() if value is not None]}
        yield _span(written, told, {})


def _tags(holder: Mapping[str, Any], key: str = "tags") -> dict[str, Any]:
    return {str(one.get("key")): one.get("value") for one in _lists(holder, key)}


def _pair(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"key": key, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    if isinstance(value, float):
        return {"key": key, "value": {"doubleValue": value}}
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else str(value)}}


# Encodings of values


def _lists(holder: Mapping[str, Any], *names: str) -> list[Mapping[str, Any]]:
    for name in names:
        given = holder.get(name)
        if isinstance(given, list):
            return [one for one in given if isinstance(one, dict)]
    return []


def _object(holder: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((given for name in names if isinstance(given := holder.get(name), dict)), {})


def _text(holder: Mapping[str, Any], *names: str) -> str:
    return next((given for name in names if isinstance(given := holder.get(name), str)), "")


def _integer(given: object) -> int | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return given
    try:
        return int(given) if isinstance(given, str | float) else None
    except (ValueError, OverflowError):
        return None


def _time(holder: Mapping[str, Any], *names: str) -> int:
    for name in names:
        found = _integer(holder.get(name))
        if found:
            return found if 0 < found <= _LAST_NS else NO_TIME
    return NO_TIME


_SPAN_ID, _TRACE_ID = 16, 32


def _identifier(holder: Mapping[str, Any], *names: str) -> str:
    """Returns an id in hexadecimal; "" if it is missing or zero."""
    given = hex_id(_text(holder, *names))
    return "" if given.strip("0") == "" else given


def hex_id(given: str) -> str:
    """Returns an id in hexadecimal, also from base64, as in plain protobuf JSON."""
    if len(given) in (12, 24) and not _is_hex(given):
        try:
            return base64.b64decode(given, validate=True).hex()
        except (binascii.Error, ValueError):
            return given
    return given.lower() if _is_hex(given) else given


def _is_hex(text: str) -> bool:
    return not text.strip("0123456789abcdefABCDEF")
