"""OTLP as protobuf to and from OTLP as JSON, by the extra `otel`."""

from __future__ import annotations

from typing import Any

from inspector.base.extras import OTEL


class ProtobufError(ValueError):
    """Protobuf that cannot be read; the text is a sentence or two."""


def traces_of(data: bytes) -> dict[str, Any]:
    """A request, or a file, that holds spans, as OTLP JSON has it but for ids in base64.

    Raises:
        ProtobufError: it is none, or the extra is not installed.
    """
    return _decoded(data, "trace", "ExportTraceServiceRequest")


def logs_of(data: bytes) -> dict[str, Any]:
    """The same of records of logs."""
    return _decoded(data, "logs", "ExportLogsServiceRequest")


def _decoded(data: bytes, signal: str, name: str) -> dict[str, Any]:
    if missing := OTEL.missing("OTLP as protobuf"):
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
    return MessageToDict(message)
