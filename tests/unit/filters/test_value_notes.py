"""Filters in the protocols' own words, and values that no message can have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter

FIVE = Path(__file__).parents[2] / "data" / "contexts" / "a06-five-filters.jsonl"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('context && kind == "conclusion"', [4, 6]),
        ('kind == "reflection"', [2, 3, 7]),
        ('kind in {"reflection", "reasoning.conclusion"}', [2, 3, 4, 5, 6, 7]),
        ('kind != "reflection"', [1, 4, 5, 6]),
        ('context == "sub"', [7]),
        ('context == "reason-789/sub"', [7]),
        ('context.id == "sub"', [7]),
        ('context under "sub"', [7]),
        ('context above "sub"', [2, 6]),
        ('context childof "reason-789"', [7]),
        ('context in {"sub", "wf"}', [3, 4, 7]),
        ('context == "789"', []),
    ],
)
def test_words_of_the_protocols(text: str, numbers: list[int]) -> None:
    document = CaptureDocument()
    document.load(FIVE)
    mask = compile_filter(text).mask(document.analysis, np.arange(len(document.capture)))
    assert (np.flatnonzero(mask) + 1).tolist() == numbers
    document.close()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('kind == "conclusion"', '"conclusion" counts as "reasoning/conclusion". '
                                 'For those sent so: kind.raw == "conclusion"'),
        ('kind == "cht"', 'No protocol has the kind "cht". Did you mean kind == "chat"?'),
        ('kind == "thougt"', 'No protocol has the kind "thougt". Did you mean kind == "reasoning/thought"?'),
        ('kind == "mcp/reqest" && error', 'No protocol has the kind "mcp/reqest". '
                                          'Did you mean kind == "mcp/request" && error?'),
        ('kind == "mcp"', '"mcp" counts as one of several kinds, by its payload. For those sent so: kind.raw == "mcp"'),
        ('kind == "mcp/request:tools/call:x"', 'kind is "mcp/request" there: method and target are no part of it. '
                                               'Did you mean kind like "mcp/request:tools/call:x"?'),
        ('state != "conclude"', 'state is never "conclude". Did you mean state != "concluded"?'),
        ('context.state == "closed"', 'context.state is never "closed". It is active, idle, concluded or cancelled.'),
        ('finding == "beyond-capabilites"', 'finding is never "beyond-capabilites". '
                                            'Did you mean finding == "beyond-capabilities"?'),
        ('kind == "chat"', None), ('kind == "task/created"', None), ('kind == "mcp/request"', None),
        ('state == "running"', None), ('kind.raw == "cht"', None), ('kind contains "cht"', None),
    ],
)  # fmt: skip
def test_notes(text: str, note: str | None) -> None:
    found = compile_filter(text).note
    assert (None if found is None else str(found)) == note
