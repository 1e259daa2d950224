"""Limits results to sizes that fit an agent's context: pages of rows, and cut texts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

MOST_CHARACTERS = 40_000
"""Characters of a result as JSON, about 10,000 tokens: clients accept that much in one piece."""
# Steps of a quarter: four attempts at most, each with a full dump of the value.
_TEXT_LIMITS = (4_000, 1_000, 250, 80)
_MAX_ITEMS = 200


def page(rows: Iterable[Any], offset: int, limit: int) -> dict[str, Any]:
    """Returns a page of rows that fits `MOST_CHARACTERS`.

    Args:
        rows: the rows of the page as JSON, and one more if there is a next page.
        offset: number of rows before the page.
        limit: number of rows at most.

    Returns:
        `rows`, and `next`: the offset of the next page, None on the last page.
    """
    taken: list[Any] = []
    room = MOST_CHARACTERS
    for row in rows:
        if len(taken) == limit:
            return {"rows": taken, "next": offset + len(taken)}
        # A quarter of the page for each row, so that one huge row leaves room for others.
        cut = bounded(row, MOST_CHARACTERS // 4)
        room -= len(dumped(cut))
        if taken and room < 0:
            return {"rows": taken, "next": offset + len(taken)}
        taken.append(cut)
    return {"rows": taken, "next": None}


def bounded(value: Any, most: int = MOST_CHARACTERS) -> Any:
    """Cuts long texts and lists until a value fits `most` characters as JSON; each cut states the full length."""
    if len(dumped(value)) <= most:
        return value
    # From generous to strict limits: the first one that fits loses least.
    for longest in _TEXT_LIMITS:
        cut = _cut(value, longest, max(1, longest * _MAX_ITEMS // _TEXT_LIMITS[0]))
        if len(dumped(cut)) <= most:
            return cut
    return {
        "cut": f"This is the beginning; the result has {len(dumped(value)):,} characters.",
        "begins": dumped(value)[: most // 2],
    }


def dumped(value: Any) -> str:
    """Dumps compact JSON; NaN and infinities become strings."""
    return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        # RFC 8259 has no NaN, and clients reject the whole answer.
        return str(value)
    return value


def _cut(value: Any, longest: int, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… [{len(value):,} characters in all]"
    if isinstance(value, list | tuple):
        shown = [_cut(item, longest, most) for item in value[:most]]
        return shown if len(value) <= most else [*shown, f"… [{len(value):,} in all]"]
    if isinstance(value, dict):
        shown = {key: _cut(item, longest, most) for key, item in islice(value.items(), most)}
        return shown if len(value) <= most else shown | {"…": f"[{len(value):,} in all]"}
    return value
