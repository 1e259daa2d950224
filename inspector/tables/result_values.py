"""Converts query results for display: times in RFC 3339 UTC, JSON decoded."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from inspector.protocol.timestamps import format_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_json_value(value: Any, type_: str = "") -> object:
    """Returns a column value in JSON types.

    Numbers, texts and lists keep their type; a time is written as in `list`.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _decoded(value) if type_ == "JSON" else value
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return format_time((moment - _EPOCH) // _MICROSECOND * 1_000)
    if isinstance(value, list | tuple):
        return [to_json_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): to_json_value(one) for key, one in value.items()}
    # Sums of integers are decimals in DuckDB.
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return value.isoformat() if isinstance(value, date) else str(value)


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
