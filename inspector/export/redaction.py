"""Masks every value that leaves the program by the rules of `protocol.secrets`, unless the user opts out."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

from inspector.filters.field import Field, FieldType
from inspector.protocol.secrets.masking import MaskCounts, SecretRule, mask_secrets, mask_text, mask_value
from inspector.protocol.timestamps import format_time, log_time


class Redaction:
    """Masks values and counts the masked secrets.

    Attributes:
        masked: masks secrets; False passes values unchanged.
        tally: number of masked secrets by rule.
    """

    def __init__(self, *, masked: bool = True) -> None:
        self.masked = masked
        self.tally: MaskCounts = Counter[SecretRule]()

    def mask_text(self, text: str) -> str:
        """Masks and counts secrets in a text."""
        return mask_text(text, tally=self.tally) if self.masked else text

    def mask_long_line(self, raw: bytes) -> bytes:
        """Returns a line above 1 MB as one line of JSON, masked as text; its own line ends are between values only."""
        if raw[:1] != b"{":
            return self.wrap_line(raw)
        # Decoding 50 MB would take seconds and gigabytes; a text search takes neither.
        text = self.mask_text(raw.decode("utf-8", "replace")).replace("\r", "").replace("\n", " ")
        return text.encode("utf-8", "backslashreplace")  # JSON can contain half a surrogate pair

    def wrap_line(self, raw: bytes) -> bytes:
        """Wraps data that is not JSON in an object: as `text`, or as `b64` for binary data without secrets."""
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
            # Base64 would hide a secret from readers, but not remove it.
            shown = self.mask_text(text)
            return json_line({"b64": base64.b64encode(raw).decode()} if shown == text else {"text": shown})
        return json_line({"text": self.mask_text(text)})

    def mask_value(self, value: Any) -> Any:
        """Returns a copy of decoded JSON with secrets masked and counted; the value itself if masking is off."""
        return mask_secrets(value, self.tally) if self.masked else value

    def field_value(self, field: Field, value: object, secret: str | None) -> object:
        """Returns a field's value as JSON, masked by `secret_at`; times as RFC 3339 in UTC, or since the log began."""
        if field.type is FieldType.TIME:
            written = log_time if field.name == "time" else format_time  # a sender's time is always a date
            return written(value) if isinstance(value, int) else None
        if not self.masked:
            return value
        if secret is not None:
            return mask_value(secret, value, tally=self.tally)
        return self.mask_text(value) if isinstance(value, str) else self.mask_value(value)


def json_line(value: Any) -> bytes:
    """Encodes a value as JSON on one line, without newline."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(value, separators=(",", ":")).encode()


def shown_value(field: Field, value: object, secret: str | None) -> object:
    """Returns a field's value for display, masked by `secret_at`; times as RFC 3339 in UTC."""
    return Redaction().field_value(field, value, secret)
