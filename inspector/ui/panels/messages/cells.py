"""What a cell of a field says: its value in one safe line, secrets masked."""

from __future__ import annotations

import json

from inspector.filters.fields import Field, FieldType
from inspector.present import formats, wire_text
from inspector.protocol.secrets.masking import mask_secrets, mask_text, mask_value

MAX_TEXT = 300
"""Characters of a cell."""


def cell_text(field: Field, value: object, secret: str | None) -> str:
    """A field's value as a cell shows it, with its `secret_at`; "" where there is none."""
    if value is None or value == [] or value == ():
        return ""
    if secret is not None:
        return _text(mask_value(secret, value))
    if field.type is FieldType.TIME and isinstance(value, int):
        return formats.time_of_day(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if field.name == "latency":
            return formats.latency(round(value * 1_000_000))
        if field.name == "size":
            return formats.size(int(value))
    return _text(mask_text(value) if isinstance(value, str) else mask_secrets(value))


def _text(value: object) -> str:
    if isinstance(value, str):
        return wire_text.plain(value, MAX_TEXT)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return wire_text.plain(", ".join(value[:MAX_TEXT]), MAX_TEXT)
    written = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
        written += piece  # a long value is not written to its end
        if len(written) > MAX_TEXT:
            break
    return wire_text.plain(written, MAX_TEXT)
