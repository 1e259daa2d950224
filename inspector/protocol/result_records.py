"""Counts the records in a tool's result: in structured content, else in the JSON of its texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_NAMES = ("", "records", "results", "items", "data", "rows")  # "": the list is the whole value
_MOST_TEXTS = 16  # of one result

may_hold_json = re.compile(rb'"text"\s*:\s*"(?:\s|\\[nrt])*[\[{]').search
"""Matches raw content with a text that begins like a JSON array or object."""


class RecordCounts(NamedTuple):
    """The longest list in a result."""

    records: int
    """Length as a list of objects; names and paths are no records."""
    of_anything: int
    """Length as records, or as anything under the list names of known tools."""


def count_records(result: Mapping[str, Any]) -> RecordCounts:
    """Returns the longest list of records in a result, by both measures, else 0."""
    structured = result.get("structuredContent")
    # Structured content usually repeats the text, so one of both is enough.
    found = [structured] if structured is not None else [*_texts_as_json(result.get("content"))]
    named = [pair for one in found for pair in (one.items() if isinstance(one, Mapping) else [("", one)])]
    # One level deeper, as many servers wrap their lists.
    named += [pair for _, one in named if isinstance(one, Mapping) for pair in one.items()]  # {"data": {"items": []}}
    lists = [(name, one) for name, one in named if isinstance(one, list)]
    records = max((len(one) for _, one in lists if all(isinstance(item, Mapping) for item in one)), default=0)
    return RecordCounts(records, max([records, *(len(one) for name, one in lists if name in _NAMES)]))


def _texts_as_json(blocks: object) -> Iterator[Any]:
    for block in blocks[:_MOST_TEXTS] if isinstance(blocks, list) else ():
        text = block.get("text") if isinstance(block, Mapping) else None
        if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "{"):
            continue
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue
