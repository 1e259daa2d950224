"""Converts exports of mcpsnoop (`mcpsnoop export --format json`) to the lines of its session logs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspector.formats.document_conversion import DocumentConversion
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.mcpsnoop.reader import NAME, line_of_event
from inspector.formats.value_conversions import mapping_or_empty, mappings_in


def begins_export(head: bytes) -> bool:
    """Returns True for the first bytes of an export."""
    if b'"generated_at"' not in head or b'"session"' not in head:
        return False
    session = mapping_or_empty(first_record(head).get("session"))
    return {"id", "label", "missing_frames"} <= session.keys()


def _lines(document: Any, path: Path) -> list[Mapping[str, Any]]:
    del path
    session = mapping_or_empty(mapping_or_empty(document).get("session"))
    return [line_of_event(event, session) for event in mappings_in(mapping_or_empty(document).get("events"))]


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_export, container=NAME,
    convert=lambda path: DocumentConversion(path, _lines),
)  # fmt: skip
