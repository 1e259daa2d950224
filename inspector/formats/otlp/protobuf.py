"""Converts OTLP protobuf to OTLP/JSON with the extra `otel`, and ids to the form of the specification."""

from __future__ import annotations

from typing import Any

from inspector.base.optional_dependencies import OTEL
from inspector.formats.otlp.spans import hex_id


class ProtobufError(ValueError):
    """Unreadable protobuf; the text is a sentence or two."""


def traces_of(data: bytes) -> dict[str, Any]:
    """Decodes a request or file of spans to OTLP/JSON.

    Raises:
        ProtobufError: it is not valid, or the extra is not installed.
    """
    return _decoded(data, "trace", "ExportTraceServiceRequest")


def logs_of(data: bytes) -> dict[str, Any]:
    """Decodes log records to OTLP/JSON."""
    return _decoded(data, "logs", "ExportLogsServiceRequest")


def _decoded(data: bytes, signal: str, name: str) -> dict[str, Any]:
    if missing := OTEL.missing_message("OTLP as protobuf"):
        raise ProtobufError(f"{missing} OTLP as JSON is read without it.")
    from importlib import import_module

    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    message: Any = getattr(
        import_module(f"opentelemetry.proto.collector.{signal}.v1.{signal}_service_pb2"), name
    )()  # fmt: skip
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise ProtobufError("it is no OTLP in protobuf, or not complete.") from None
    return as_specified(MessageToDict(message, use_integers_for_enums=True))


_IDS = ("traceId", "spanId", "parentSpanId")
_LISTS = ("resourceSpans", "scopeSpans", "spans", "links", "resourceLogs", "scopeLogs", "logRecords")


def as_specified(value: dict[str, Any]) -> dict[str, Any]:
    """Converts base64 ids of plain protobuf JSON to hexadecimal, in place."""
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, dict):
            continue
        for key in _IDS:
            if isinstance(written := one.get(key), str):
                one[key] = hex_id(written)
        for key in _LISTS:
            if isinstance(held := one.get(key), list):
                waiting += held
    return value
