"""Converts exports of observability programs: each record becomes spans, which are read as OTLP is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.otlp.file_conversion import OtlpFile
from inspector.formats.otlp.stream_conversion import as_they_come

SPAN_KIND = "openinference.span.kind"
"""Attribute of a span's kind: LLM, TOOL, AGENT, CHAIN..."""


def span_converter(
    container: str,
    *,
    marks: tuple[bytes, ...],
    is_own: Callable[[Mapping[str, Any]], bool],
    restate: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> FileConverter:
    """Returns the converter of a program's exports: a document, a list, a line each, or objects one after another.

    Args:
        container: name of the format.
        marks: all of them are in the first bytes of such a file; a fast test.
        is_own: returns True for the first record, which may be incomplete.
        restate: returns a record as a document of spans (`span_records.span_document`); others unchanged.
    """

    def begins_file(head: bytes) -> bool:
        return all(mark in head for mark in marks) and is_own(first_record(head))

    return FileConverter(
        head_bytes=HEAD_BYTES, begins_file=begins_file, convert=partial(OtlpFile, restate=restate),
        container=container, convert_stream=partial(as_they_come, restate=restate),
    )  # fmt: skip
