"""A result that names its own consumer needs no workflow (docs/protocols.md 13)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.analysis.views.summaries.lifecycles import Pairing, lifecycle_of
from tests.builders import document_of, tool_call, tool_result

FETCH, STORE = tool_call("search", id="s1"), tool_call("store", id="s2")
HINT = {"contextHints": [{"tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
NAMED = {"context": {"lifecycle": "transient", "consumedBy": "store", "summary": "12 visits"}}
OTHER = {"contextHints": [{"tool": "list", "lifecycle": "transient", "consumedBy": "store"}]}
CONSUMED = {"context": {"consumed": True}}


@pytest.mark.parametrize(
    ("meta", "fields", "collapsed"),
    [
        (HINT, {}, None),  # a hint alone marks nothing as transient
        (HINT | {"context": {"lifecycle": "transient"}}, {}, 3),
        (NAMED, {}, 3),
        (OTHER, {}, None),
        (HINT, {"result": {"isError": True}}, None),
        ({"context": {"lifecycle": "transient"}}, {}, None),
        ({"context": {"consumedBy": "store"}}, {}, None),
        ({"context": {"lifecycle": "transient", "consumedBy": "archive"}}, {}, None),
    ],
)
def test_it_collapses_when_the_consumer_it_names_signals(meta: Any, fields: Any, collapsed: int | None) -> None:
    lines = [FETCH, tool_result(FETCH, meta=meta, **fields), STORE, tool_result(STORE, meta=CONSUMED)]
    analysis = document_of(*lines).analysis
    assert analysis.transients.collapsed_by(1) == collapsed
    if collapsed is not None:
        assert lifecycle_of(analysis, 1).pairing == Pairing(1, None, "search", "store")
