"""The critical path of a trace: the spans that its end waited for."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.views.steps.critical_path import critical_path
from inspector.analysis.views.steps.step_columns import StepKind, StepTable
from inspector.analysis.views.steps.step_table import step_table
from tests.builders import document_of

_S = 1_000_000_000
Spans = list[tuple[str, str | None, int, int]]
"""Name, name of the parent, start and end in seconds."""


def _line(spans: Spans) -> dict[str, Any]:
    numbers = {name: f"{place + 1:016x}" for place, (name, *_) in enumerate(spans)}
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "t"}, "spans": [
        {
            "traceId": "a" * 32, "spanId": numbers[name], "parentSpanId": numbers.get(parent or "", ""), "name": name,
            "kind": 1, "startTimeUnixNano": str(1_700_000_000 * _S + start * _S),
            "endTimeUnixNano": str(1_700_000_000 * _S + stop * _S),
        }
        for name, parent, start, stop in spans
    ]}]}]}  # fmt: skip


def _path(*spans: tuple[str, str | None, int, int]) -> list[tuple[str, int, int]]:
    """Returns name, start and end of each section."""
    document = document_of(_line(list(spans)))
    table = step_table(document.analysis)
    found = critical_path(table, as_numpy(document.analysis.contexts.tree.parent).astype(np.int64))
    words = {int(step): _name(table, spans, int(step)) for step in found.steps}
    base = 1_700_000_000 * _S
    return [
        (words[step], (start - base) // _S, (stop - base) // _S)
        for step, start, stop, _ in zip(*(column.tolist() for column in found), strict=True)
    ]


def _name(table: StepTable, spans: Any, step: int) -> str:
    base = 1_700_000_000 * _S
    times = ((int(table.starts_ns[step]) - base) // _S, (int(table.stops_ns[step]) - base) // _S)
    return next(name for name, _, *own in spans if tuple(own) == times)


def test_a_span_is_on_the_path_where_no_child_ran() -> None:
    assert _path(("root", None, 0, 10), ("a", "root", 2, 5)) == [("root", 0, 2), ("a", 2, 5), ("root", 5, 10)]


def test_of_parallel_children_the_last_to_finish_is_on_the_path() -> None:
    found = _path(("root", None, 0, 10), ("short", "root", 1, 4), ("long", "root", 2, 9), ("before", "root", 0, 2))
    assert found == [("before", 0, 2), ("long", 2, 9), ("root", 9, 10)]


def test_a_child_counts_within_the_time_of_its_parent() -> None:
    found = _path(("root", None, 0, 10), ("late", "root", 6, 14), ("leaf", "late", 11, 13))
    assert found == [("root", 0, 6), ("late", 6, 10)]


def test_the_path_goes_down_to_the_leaves() -> None:
    found = _path(("root", None, 0, 10), ("a", "root", 1, 9), ("b", "a", 3, 8), ("c", "a", 2, 6))
    assert found == [("root", 0, 1), ("a", 1, 3), ("b", 3, 8), ("a", 8, 9), ("root", 9, 10)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(1, 20)), max_size=8))
def test_the_sections_cover_the_root_once(children: list[tuple[int, int, int]]) -> None:
    spans: Spans = [("s0", None, 0, 30)]
    for place, (parent, start, length) in enumerate(children):
        spans.append((f"s{place + 1}", f"s{min(parent, place)}", start, start + length))
    document = document_of(_line(spans))
    table = step_table(document.analysis)
    found = critical_path(table, as_numpy(document.analysis.contexts.tree.parent).astype(np.int64))
    if children:
        assert (table.kinds[found.roots] == StepKind.SPAN).all()
        assert (found.starts_ns[1:] == found.stops_ns[:-1]).all()
        assert int((found.stops_ns - found.starts_ns).sum()) == 30 * _S
