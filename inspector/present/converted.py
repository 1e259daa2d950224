"""Locates a message in a file that was converted, since Raw shows the converted lines."""

from __future__ import annotations

import numpy as np

from inspector.formats.entry_builders import decoded_object
from inspector.formats.table import format_named
from inspector.present import wire_text
from inspector.present.formats import number
from inspector.store.messages.capture import Capture

_MAX_NAME = 80


def place_in_original(capture: Capture, message: int) -> str | None:
    """Returns the origin of a message in its file as a sentence; None for files that are not converted."""
    source = capture.sources[int(capture.columns["source"][message])]
    name = wire_text.safe_line(source.name, _MAX_NAME)
    converted = format_named(source.container or "")
    if converted is None:
        return None
    if converted.has_numbered_entries:
        entry = int(capture.extracted.exchanges("number", np.array([message]))[0])
        return f"Converted from entry {number(entry)} of {name}." if entry else f"Converted from an entry of {name}."
    # Other conversions keep the line of the original, so Raw suffices.
    if not converted.original_records or capture.records.is_big(message):
        return None
    line = decoded_object(capture.records.read_line_of(message)) or {}
    for kind in converted.original_records:
        record = line.get(kind.key)
        if isinstance(record, dict):
            identifier, noun = record.get(kind.id_key), kind.noun
            words = (
                f"{noun} {wire_text.safe_line(identifier, _MAX_NAME)}" if isinstance(identifier, str) else f"the {noun}"
            )
            return f"Converted from {words} in {name}."
    return None
