"""Writes spans of other programs in the JSON form of collectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol.timestamps import NO_TIME, parse_time
from inspector.protocol.tolerant_encoder import to_json


def span_document(spans: Iterable[Mapping[str, Any]], resource: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns a document of spans from one resource."""
    told = {"attributes": attribute_pairs(resource or {})}
    return {"resourceSpans": [{"resource": told, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def span_record(
    *, trace: object, identifier: object, parent: object, name: object, start_ns: int, end_ns: int,
    attributes: Mapping[str, Any], events: Iterable[Mapping[str, Any]] = (), failed: bool = False, reason: object = "",
) -> dict[str, Any]:  # fmt: skip
    """Returns one span.

    Args:
        trace, identifier, parent: ids; numbers and other values are written as text, None is left out.
        name: of the span.
        start_ns, end_ns: nanoseconds since the epoch, or NO_TIME.
        attributes: plain values by key; None is left out.
        events: results of `span_event`.
        failed: it reports a failure.
        reason: of the failure.
    """
    ids = {"traceId": trace, "spanId": identifier, "parentSpanId": parent}
    times = {"startTimeUnixNano": start_ns, "endTimeUnixNano": end_ns}
    return {
        **{key: _id_text(value) for key, value in ids.items() if value is not None},
        "name": name if isinstance(name, str) else "",
        **{key: str(value) for key, value in times.items() if value != NO_TIME},
        "attributes": attribute_pairs(attributes), "events": list(events),
        "status": {"code": 2 if failed else 0, "message": reason if isinstance(reason, str) else ""},
    }  # fmt: skip


def span_event(name: object, time_ns: int, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an event of a span."""
    pairs = attribute_pairs(attributes)
    return {"name": name if isinstance(name, str) else "", "timeUnixNano": str(max(time_ns, 0)), "attributes": pairs}


def exception_event(message: object, time_ns: int) -> dict[str, Any]:
    """Returns the event of a failure."""
    return span_event("exception", time_ns, {"exception.message": json_words(message)})


def attribute_pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns attributes as pairs of key and typed value, without None; lists and objects as JSON texts."""
    return [{"key": key, "value": _value(value)} for key, value in attributes.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": json_words(value)}


def json_words(value: Any) -> str:
    """Returns a text unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else to_json(value).decode()


def prefixed_members(value: Mapping[str, Any], prefix: str, without: Iterable[str] = ()) -> dict[str, Any]:
    """Returns the members of a record as attributes with a prefix, except the ones that are told elsewhere or empty."""
    left = set(without)
    return {f"{prefix}{key}": one for key, one in value.items() if key not in left and one not in (None, "", [], {})}


def object_of(value: object) -> Mapping[str, Any]:
    """Returns an object, also one that is written as a text; else an empty one."""
    if isinstance(value, str):
        return decoded_object(value.encode("utf-8", "replace")) or {}
    return mapping_or_empty(value)


def _id_text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):  # SDKs keep ids as numbers
        return f"{value:016x}" if 0 <= value < 1 << 64 else f"{value:032x}"
    return str(value).removeprefix("0x")


def time_of(value: object, start_ns: int = NO_TIME) -> int:
    """Returns a time in nanoseconds: an ISO text, a number of any unit, or a pair of seconds and nanoseconds.

    Args:
        value: the time.
        start_ns: result for other values.
    """
    match value:
        case [int(seconds), int(rest)]:
            found = seconds * 1_000_000_000 + rest
            return found if 0 < found < 1 << 63 else start_ns
        case _:
            found = parse_time(value)
            return found if found != NO_TIME else start_ns
