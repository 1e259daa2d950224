"""Small helpers both sides of the demo share: JSON, time stamps, ids. No I/O."""

from __future__ import annotations

import json
import secrets
import time
from datetime import UTC, datetime
from typing import Any

PROTOCOL = "mew/v0.4"

Envelope = dict[str, Any]
"""A decoded envelope; its shape is whatever the sender made of it."""


def dump(value: object) -> str:
    """Return compact JSON, as gateways send it. Text stays readable, not escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate cannot travel but as an escape
        return json.dumps(value, separators=(",", ":"))
    return text


def now_ms() -> int:
    """Return milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


def timestamp() -> str:
    """Return the time now as MEW writes it: RFC 3339, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id(prefix: str) -> str:
    """Return an id such as ``reason-1795293582711-oa9xyr`` that no earlier run of the story used."""
    return f"{prefix}-{now_ms()}-{secrets.token_hex(3)}"
