"""Converts spans of Phoenix: of its API and client, and rows of its data frames, whose columns are paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.phoenix import FORMAT
from inspector.formats.span_exports import SPAN_KIND, span_converter
from inspector.formats.span_records import span_document, span_event, span_record, time_of
from inspector.formats.value_conversions import mapping_or_empty, mappings_in

_MAX_DEPTH = 32
_ATTRIBUTES = "attributes."


def is_export(value: Mapping[str, Any]) -> bool:
    """Returns True for a span, or a page of spans."""
    return _is_span(value) or any(map(_is_span, mappings_in(value.get("data"))))


def _is_span(value: Mapping[str, Any]) -> bool:
    context = value.get("context")
    return "span_kind" in value and (
        (isinstance(context, Mapping) and "span_id" in context) or "context.span_id" in value
    )


def restate(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record as a document of spans."""
    spans = [_span_of(one) for one in mappings_in(value.get("data")) or [value] if _is_span(one)]
    return span_document(spans, {"service.name": "phoenix"}) if spans else value


def _span_of(value: Mapping[str, Any]) -> dict[str, Any]:
    context, start = mapping_or_empty(value.get("context")), time_of(value.get("start_time"))
    columns = {key.removeprefix(_ATTRIBUTES): one for key, one in value.items() if key.startswith(_ATTRIBUTES)}
    attributes = dict(_paths(columns or mapping_or_empty(value.get("attributes")), ""))
    return span_record(
        trace=context.get("trace_id", value.get("context.trace_id")),
        identifier=context.get("span_id", value.get("context.span_id")), parent=value.get("parent_id"),
        name=value.get("name"), start_ns=start, end_ns=time_of(value.get("end_time")),
        attributes={**attributes, SPAN_KIND: value.get("span_kind")},
        events=[span_event(one.get("name"), time_of(one.get("timestamp"), start), _of_event(one))
                for one in mappings_in(value.get("events"))],
        failed=value.get("status_code") == "ERROR", reason=value.get("status_message"),
    )  # fmt: skip


def _of_event(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the attributes of an event; the API states the message of a failure beside them."""
    return {"exception.message": value.get("message"), **dict(_paths(mapping_or_empty(value.get("attributes")), ""))}


def _paths(value: object, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yields the values within objects and lists of objects with their paths, as in attributes of spans."""
    pairs: list[tuple[Any, Any]] | None = None
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        pairs = list(value.items())
    elif isinstance(value, list) and value and len(mappings_in(value)) == len(value) and depth < _MAX_DEPTH:
        pairs = list(enumerate(value))
    if pairs is None:
        yield path, value
        return
    for key, one in pairs:
        yield from _paths(one, f"{path}.{key}" if path else str(key), depth + 1)


CONVERSION = span_converter(FORMAT.name, marks=(b"span_id", b'"span_kind"'), is_own=is_export, restate=restate)
