"""Describes the changes of a model request, and its prompt cache use, in words and as JSON.

Cache reads and writes are reported by the model; the reasons for misses follow from the requests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from inspector.analysis.views.model_context.recorded_requests import Request
from inspector.analysis.views.model_context.request_change import FirstDifference, RequestChange
from inspector.formats.model_vocabulary import cache_mark, tool_name
from inspector.present import formats
from inspector.present.wire_text import safe_line

_NAME = 40
# The two lifetimes that Anthropic's API offers.
_LASTS_NS = {"5m": 300 * 10**9, "1h": 3600 * 10**9}


def change_words(change: RequestChange) -> str:
    """Describes the content of a request: "No. 9 sends 4 entries and 1 tool: 2 added since No. 2"."""
    count, tools = len(change.request.stands), len(change.request.tools)
    sent = formats.count_of(count, "entry", "entries")
    sent += f" and {formats.count_of(tools, 'tool')}" if tools else ""
    lead = f"{_request_number(change.request)} sends {sent}"
    if change.before is None:
        return f"{lead}: the first to its model here"
    # Compacted entries are dropped too, but have a word of their own.
    dropped = len(change.dropped) - len(change.compacted)
    parts = ((len(change.added), "added"), (dropped, "dropped"), (len(change.compacted), "compacted"))
    words = ", ".join(f"{count:,} {word}" for count, word in parts if count) or "no changes"
    return f"{lead}: {words} since {_request_number(change.before)}"


def cache_words(change: RequestChange) -> tuple[str, str]:
    """Describes the reported cache reads of a request, and the reason for misses."""
    usage = change.usage
    if usage is None or change.answer is None:
        read = "Cache reads are not reported"
    else:
        given = usage.input + usage.cache_read + usage.cache_write
        written = f", {usage.cache_write:,} written to it" if usage.cache_write else ""
        by = formats.message_number(change.answer)
        read = f"{usage.cache_read:,} of {given:,} tokens read from a cache{written} (reported with {by})"
    return read, _cache_miss_reason(change)


def _cache_miss_reason(change: RequestChange) -> str:
    before, found = change.before, change.first_difference
    used = change.usage is not None and change.usage.cache_read + change.usage.cache_write > 0
    if change.is_unasked and not used:
        return "It requests no cache."
    if before is None:
        return "It is the first request to this model."
    if found is not None:
        return f"{_difference_words(change, found)} The rest could not be read from the cache."
    if change.shared < len(before.stands):
        return f"It equals the beginning of {_request_number(before)}."
    same = f"It begins with all of {_request_number(before)}."
    if change.usage is None or change.usage.cache_read:
        return same
    # The longest mark decides: entries before it stay in the cache as long.
    lasts = max((_LASTS_NS.get(mark, 0) for mark in before.marks.values()), default=0)
    if lasts and change.waited_ns is not None and change.waited_ns > lasts:
        return f"{same} {formats.duration(change.waited_ns)} had passed since then, longer than the cache lasts."
    return same


def _difference_words(change: RequestChange, found: FirstDifference) -> str:
    assert change.before is not None
    since = _request_number(change.before)
    if found.tool:
        return f"It differs from {since} first in the tool {safe_line(found.tool, _NAME)}."
    if found.setting:
        return f"Since {since} {found.setting} was changed."
    now, stood = (_entry(change, place) for place in (found.now, found.before))
    if found.is_inserted:
        return f"{now} was inserted before {stood}."
    return f"It differs from {since} first at {now}, instead of {stood}."


def _entry(change: RequestChange, place: int | None) -> str:
    return "" if place is None else formats.message_number(int(change.context.rows[place]))


def _request_number(request: Request) -> str:
    return formats.message_number(request.message)


def request_json(change: RequestChange | None) -> dict[str, Any] | None:
    """Returns the same data as JSON; reported tokens are under `reported`, apart from estimates."""
    if change is None:
        return None
    found, usage = change.first_difference, change.usage
    rows = change.context.rows

    def numbers(places: Any) -> list[int]:
        return [int(row) + 1 for row in rows[np.asarray(places, np.int64)]]

    return {
        "no": change.request.message + 1,
        "since": None if change.before is None else change.before.message + 1,
        "added": numbers(change.added),
        "dropped": numbers(change.dropped),
        "compacted": numbers(change.compacted),
        "cache": {
            "marks": [{"no": int(rows[place]) + 1, "lasts": mark} for place, mark in change.request.marks.items()],
            "tools": _marked_tools(change.request),
            "shared_entries": change.shared,
            "shared_tokens_estimate": change.could_be_read,
            "differs_at": None if found is None else {
                "tool": found.tool or None, "setting": found.setting or None,
                "no": None if found.now is None else int(rows[found.now]) + 1,
                "stood": None if found.before is None else int(rows[found.before]) + 1,
            },
            "why": _cache_miss_reason(change),
            "reported": None if usage is None else {**usage._asdict(), "no": (change.answer or 0) + 1},
        },
    }  # fmt: skip


def _marked_tools(request: Request) -> list[dict[str, str]]:
    marks = ((tool_name(tool), cache_mark(tool)) for tool in request.tools)
    return [{"tool": name, "lasts": mark} for name, mark in marks if mark is not None]
