"""How many records a tool's result lists: in structured content, else in the JSON of its texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_NAMES = ("", "records", "results", "items", "data", "rows")  # "": the list is all there is
_MOST_TEXTS = 16  # of one result

may_hold_json = re.compile(rb'"text"\s*:\s*"(?:\s|\\[nrt])*[\[{]').search
"""Whether a text of a result's content, as written, begins as a JSON array or object does."""


class Listed(NamedTuple):
    """The longest list in a result."""

    records: int
    """Of objects: names and paths are no records."""
    of_anything: int
    """Of records, or of anything under the names that tools known to list records use."""


def listed_in(result: Mapping[str, Any]) -> Listed:
    """The longest list of records in a result, by either measure; 0 where there is none."""
    structured = result.get("structuredContent")
    found = [structured] if structured is not None else [*_texts_as_json(result.get("content"))]
    named = [pair for one in found for pair in (one.items() if isinstance(one, Mapping) else [("", one)])]
    named += [pair for _, one in named if isinstance(one, Mapping) for pair in one.items()]  # {"data": {"items": []}}
    lists = [(name, one) for name, one in named if isinstance(one, list)]
    records = max((len(one) for _, one in lists if all(isinstance(item, Mapping) for item in one)), default=0)
    return Listed(records, max([records, *(len(one) for name, one in lists if name in _NAMES)]))


def _texts_as_json(blocks: object) -> Iterator[Any]:
    for block in blocks[:_MOST_TEXTS] if isinstance(blocks, list) else ():
        text = block.get("text") if isinstance(block, Mapping) else None
        if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "{"):
            continue
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue
