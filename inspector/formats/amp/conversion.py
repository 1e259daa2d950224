"""Converts threads of Amp, one document each, to a line for the thread and one for each message."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.amp.reader import NAME, THREAD_KEY
from inspector.formats.document_conversion import DocumentConversion
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none


def begins_thread(head: bytes) -> bool:
    """Returns True for the first bytes of a thread."""
    if b'"T-' not in head or b'"messages"' not in head:
        return False
    value = first_record(head)
    is_thread = str(value.get("id")).startswith("T-") and isinstance(value.get("created"), int)
    return is_thread and all("messageId" in one for one in mappings_in(value.get("messages"))[:1])


def _records(document: Any, path: Path) -> list[Mapping[str, Any]]:
    thread = dict(mapping_or_empty(document))
    name = text_or_none(thread.get("id")) or path.stem
    messages = mappings_in(thread.pop("messages", None))
    return [{THREAD_KEY: name, "thread": thread}, *({THREAD_KEY: name, "message": one} for one in messages)]


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_thread, convert=partial(DocumentConversion, records_of=_records),
    container=NAME,
)  # fmt: skip
