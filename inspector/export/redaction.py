"""The one way a value leaves the program: masked by the rules of `protocol.secrets`, or as it is on request."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

from inspector.filters.field import Field, FieldType
from inspector.protocol.secrets.masking import SecretRule, Tally, mask_secrets, mask_text, mask_value
from inspector.protocol.times import format_time, log_time


class Redaction:
    """Masks what is written, and counts what it masked.

    Attributes:
        masked: whether it masks at all.
        tally: secrets masked so far, by rule.
    """

    def __init__(self, *, masked: bool = True) -> None:
        self.masked = masked
        self.tally: Tally = Counter[SecretRule]()

    def text(self, text: str) -> str:
        """A text with its secrets masked, which are counted; as it is where nothing is masked."""
        return mask_text(text, tally=self.tally) if self.masked else text

    def long_line(self, raw: bytes) -> bytes:
        """A line above 1 MB on one line of JSON, masked as text; lines of its own end between values only."""
        if raw[:1] != b"{":
            return self.wrapped(raw)
        text = self.text(raw.decode("utf-8", "replace")).replace("\r", "").replace("\n", " ")
        return text.encode("utf-8", "backslashreplace")  # half of a surrogate pair as JSON writes it

    def wrapped(self, raw: bytes) -> bytes:
        """What is no JSON, in an object: as `text`, or as `b64` what is none and holds no secrets."""
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
            shown = self.text(text)
            return json_line({"b64": base64.b64encode(raw).decode()} if shown == text else {"text": shown})
        return json_line({"text": self.text(text)})

    def value(self, value: Any) -> Any:
        """A copy of decoded JSON with every secret masked, which are counted; itself where nothing is masked."""
        return mask_secrets(value, self.tally) if self.masked else value

    def field(self, field: Field, value: object, secret: str | None) -> object:
        """A field's value, with its `secret_at`, as JSON has it; times in RFC 3339, UTC, or since its log began."""
        if field.type is FieldType.TIME:
            written = log_time if field.name == "time" else format_time  # what a sender writes is always a date
            return written(value) if isinstance(value, int) else None
        if not self.masked:
            return value
        if secret is not None:
            return mask_value(secret, value, tally=self.tally)
        return self.text(value) if isinstance(value, str) else self.value(value)


def json_line(value: Any) -> bytes:
    """A value as JSON on one line, without its end."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value, separators=(",", ":")).encode()


def shown_value(field: Field, value: object, secret: str | None) -> object:
    """A field's value, with its `secret_at`, as it is shown: times in RFC 3339, UTC; secrets masked."""
    return Redaction().field(field, value, secret)
