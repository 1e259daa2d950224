"""Converts traces of MLflow to spans: a trace with its facts, or the artifact with its spans alone.

Attributes are JSON in texts. Since version 3, ids are in base64 and times have units in their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.mlflow import FORMAT
from inspector.formats.span_exports import span_converter
from inspector.formats.span_records import span_document, span_event, span_record, time_of
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none

_FAILED = ("ERROR", "STATUS_CODE_ERROR", 2)


def is_export(value: Mapping[str, Any]) -> bool:
    """Returns True for a trace; of a long one the first bytes may have its facts alone."""
    if any(map(_is_span, _spans_in(value))):
        return True
    info = value.get("info")
    return (
        isinstance(info, Mapping) and bool({"request_id", "trace_id"} & info.keys()) and "trace_metadata" in str(info)
    )


def _is_span(value: Mapping[str, Any]) -> bool:
    attributes = value.get("attributes")
    return isinstance(attributes, Mapping) and any(key.startswith("mlflow.") for key in attributes)


def _spans_in(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return mappings_in(mapping_or_empty(value.get("data")).get("spans", value.get("spans")))


def restate(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a record as a document of spans."""
    found = _spans_in(value)
    info = mapping_or_empty(value.get("info"))
    metadata = mapping_or_empty(info.get("trace_metadata", info.get("request_metadata")))
    session = metadata.get("mlflow.trace.session")
    spans = [_span_of(one, session) for one in found]
    return span_document(spans, {"service.name": "mlflow"}) if spans else value


def _span_of(value: Mapping[str, Any], session: object) -> dict[str, Any]:
    context, status = mapping_or_empty(value.get("context")), mapping_or_empty(value.get("status"))
    start = time_of(value.get("start_time_unix_nano", value.get("start_time")))
    return span_record(
        trace=context.get("trace_id", value.get("trace_id")), identifier=context.get("span_id", value.get("span_id")),
        parent=value.get("parent_id") or value.get("parent_span_id"), name=value.get("name"), start_ns=start,
        end_ns=time_of(value.get("end_time_unix_nano", value.get("end_time"))),
        attributes={**mapping_or_empty(value.get("attributes")), "session.id": session},
        events=[_event_of(one, start) for one in mappings_in(value.get("events"))],
        failed=value.get("status_code", status.get("code")) in _FAILED,
        reason=text_or_none(value.get("status_message")) or status.get("message"),
    )  # fmt: skip


def _event_of(value: Mapping[str, Any], start_ns: int) -> dict[str, Any]:
    time_ns = time_of(value.get("time_unix_nano", value.get("timestamp")), start_ns)
    return span_event(value.get("name"), time_ns, mapping_or_empty(value.get("attributes")))


CONVERSION = span_converter(FORMAT.name, marks=(b"race",), is_own=is_export, restate=restate)
