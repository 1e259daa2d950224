"""Helpers for both sides of the demo: JSON, time stamps, ids. No I/O."""

from __future__ import annotations

import json
import secrets
import time
from datetime import UTC, datetime
from typing import Any

PROTOCOL = "mew/v0.4"

Envelope = dict[str, Any]
"""A decoded envelope in any shape."""


def to_compact_json(value: object) -> str:
    """Returns compact JSON, as gateways send it, with unescaped text."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate needs an escape
        return json.dumps(value, separators=(",", ":"))
    return text


def now_ms() -> int:
    """Returns milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


def timestamp() -> str:
    """Returns the present time in MEW's form: RFC 3339, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id(prefix: str) -> str:
    """Returns a new id such as ``reason-1795293582711-oa9xyr``, unique across runs of the story."""
    return f"{prefix}-{now_ms()}-{secrets.token_hex(3)}"
