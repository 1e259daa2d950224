"""Traces of a stream: rows while it goes on, and at its end what a file of the same bytes gives."""

from __future__ import annotations

import gc
import json
import os
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.analysis.views.steps.step_table import step_table
from inspector.document.summary import summary
from inspector.filters.fields import FIELDS
from inspector.formats.otlp.conversion import HEAD_BYTES, holds_traces, lines_in_order
from inspector.formats.otlp.repeated_spans import SpanIds
from inspector.formats.otlp.spans import Span, spans_in
from inspector.formats.otlp.stream_conversion import as_they_come
from inspector.present.answers import summary_answer
from inspector.sources.stream_feed import StreamFeed
from tests.builders import document_at, log_file
from tests.pages import ROOT
from tests.samples import FORMAT_SAMPLES

_SAMPLES = [*sorted((ROOT / "tests/data/otlp").glob("*.jsonl")), FORMAT_SAMPLES["otlp.jsonl"]]
_DATA = _SAMPLES[-1].read_bytes()
_BEGINS = b'{"resourceSpans":[],"resolved":{}}\n'
"""Lines of ours, not to be converted again."""


def told(lines: bytes) -> list[object]:
    """What is said, but for whose it is and how often; what is added up, and the calls."""
    document = document_at(log_file(_BEGINS + lines))
    fields = [one for one in FIELDS if one.name in ("kind", "correlation", "text")]
    rows = range(len(document.capture))
    found = summary(document, "x")
    return [
        {repr([one.value(document.analysis, row) for one in fields]) for row in rows},
        [found[key] for key in ("usage", "models", "contexts", "calls", "unreadable")],
        dict(tool_calls(document.analysis).by_tool),
    ]


@pytest.mark.parametrize("sample", _SAMPLES, ids=lambda path: path.stem)
def test_a_pause_behind_each_span_gives_the_rows_and_calls_of_the_file(sample: Path) -> None:
    data = sample.read_bytes()
    pieces = as_they_come(chain.from_iterable((line, None) for line in data.splitlines(keepends=True)))
    assert told(b"".join(pieces)) == told(b"".join(lines_in_order(data)))


def test_lines_of_ours_are_told_by_their_first_bytes_however_long_a_span_is() -> None:
    span = {"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "n" * HEAD_BYTES}
    lines = b"".join(lines_in_order(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()))
    assert len(lines) > HEAD_BYTES
    assert not holds_traces(lines[:HEAD_BYTES])
    assert len(document_at(log_file(lines)).capture) == 1


@given(
    st.lists(st.integers(0, len(_DATA))),
    st.sampled_from([_DATA, _DATA + b"{torn", b"[" + _DATA, b"\xef\xbb\xbf" + _DATA]),
)
def test_what_comes_without_a_pause_is_as_the_file_however_it_is_cut(cuts: list[int], data: bytes) -> None:
    places = [0, *sorted(cuts), len(data)]
    blocks = [data[start:stop] for start, stop in pairwise(places)]
    assert b"".join(as_they_come(blocks)) == b"".join(lines_in_order(data))


@given(st.lists(st.integers(0, len(_DATA))))
def test_no_pause_takes_a_span_away_or_gives_one_twice(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(_DATA)]
    blocks = [(_DATA[start:stop], None) for start, stop in pairwise(places)]
    lines = b"".join(as_they_come(chain.from_iterable(blocks)))
    assert lines.count(b"\n") == b"".join(lines_in_order(_DATA)).count(b"\n")


def test_a_document_over_several_lines_waits_for_its_end() -> None:
    data = b'{\n"resourceSpans": [\n' + _DATA.splitlines()[0][len(b'{"resourceSpans":[') :]
    assert data.endswith(b"]}")
    blocks = chain.from_iterable((line, None) for line in data.splitlines(keepends=True))
    assert [*filter(None, as_they_come(blocks))] == [*lines_in_order(data)] != []


def test_rows_come_while_a_pipe_goes_on() -> None:
    out, into = os.pipe()
    feed = StreamFeed("a stream", out)
    lines = _DATA.splitlines(keepends=True)
    for place, line in enumerate(lines):
        os.write(into, line)
        before = feed.path.stat().st_size
        while place < 2 and feed.path.stat().st_size == before:  # each pause costs time
            feed.wait(0.5)
    assert feed.is_growing
    os.close(into)
    while feed.is_growing:
        feed.wait(1)
    assert feed.problem is None
    assert told(feed.path.read_bytes()) == told(b"".join(lines_in_order(_DATA)))
    feed.close()
    os.close(out)


def _span(identifier: str, name: str, start: int, **attributes: str) -> dict[str, Any]:
    told = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    times = {"startTimeUnixNano": str(start * 10**9), "endTimeUnixNano": str((start + 1) * 10**9)}
    return {"traceId": "ab" * 16, "spanId": identifier * 8, "name": name, **times, "attributes": told}


def _told_in_both(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    """The summaries of a file and of a stream with a pause behind each span."""
    lines = [json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}).encode() + b"\n" for one in spans]
    pieces = b"".join(as_they_come(chain.from_iterable((line, None) for line in lines)))
    logs = (b"".join(lines), _BEGINS + pieces)
    documents = [document_at(log_file(log)) for log in logs]
    return [summary_answer(one, "x", step_table(one.analysis), tokens=False)[0] for one in documents]


_MODEL = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m", "gen_ai__usage__input_tokens": "7"}
_TOOL = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "t", "gen_ai__tool__call__result": "ok"}


def test_spans_that_are_exported_twice_count_once() -> None:
    spans = [_span("01", "chat m", 1, **_MODEL), _span("02", "execute_tool t", 3, **_TOOL)]
    for found in _told_in_both(*spans, *spans):
        assert (found["usage"]["input"], found["calls"]["tools"], found["messages"]) == (7, 1, 3)
        assert found["findings"] == {}


def test_a_later_export_with_more_attributes_counts_once() -> None:
    spans = [_span("01", "chat m", 1, **_MODEL), _span("02", "execute_tool t", 3, **_TOOL)]
    more = [_span("01", "chat m", 1, **_MODEL, note="x"), _span("02", "execute_tool t", 3, **_TOOL, note="x")]
    for found in _told_in_both(*spans, *more):
        assert (found["usage"]["input"], found["calls"]["tools"], found["messages"]) == (7, 1, 3)


def test_different_spans_with_one_id_stay_with_a_finding() -> None:
    spans = [_span("01", "chat m", 1, **_MODEL), _span("02", "execute_tool t", 3, **_TOOL)]
    other = _TOOL | {"gen_ai__tool__name": "u"}
    for found in _told_in_both(*spans, _span("01", "chat m", 5, **_MODEL), _span("02", "execute_tool u", 7, **other)):
        assert (found["usage"]["input"], found["calls"]["tools"]) == (14, 2)
        assert found["findings"] == {"span-id-again": 2}


def test_no_span_is_lost_however_many_have_one_id() -> None:
    spans = [_span("02", f"execute_tool {number}", 3 + number, **_TOOL) for number in range(100)]
    for found in _told_in_both(_span("01", "chat m", 1, **_MODEL), *spans):
        assert found["calls"]["tools"] == 100


def test_a_span_that_begins_and_ends_is_one_call_in_a_stream_too() -> None:
    whole = _span("02", "execute_tool t", 3, **_TOOL)
    begun = {key: value for key, value in whole.items() if key != "endTimeUnixNano"}
    for found in _told_in_both(begun, whole):
        assert found["messages"] == 2
        assert found["calls"] == {"tools": 1, "answered": 1, "failed": 0, "unanswered": 0, "rejected": 0}


@pytest.mark.parametrize("odd", [[{}], [None], [5], "x", {"a": 1}])
def test_odd_attributes_of_an_update_lose_no_span(odd: object) -> None:
    begun = {key: value for key, value in _span("02", "work", 3).items() if key != "endTimeUnixNano"}
    update = {"traceId": "ab" * 16, "spanId": "02" * 8, "endTimeUnixNano": str(4 * 10**9), "attributes": odd}
    for found in _told_in_both(begun, update, _span("03", "other", 5)):
        assert found["kinds"] == {"otlp/span": found["messages"]}
        assert found["messages"] >= 2


def test_ended_spans_are_not_held_in_memory() -> None:
    ids = SpanIds()
    ids.distinct(spans_in({"resourceSpans": [{"scopeSpans": [{"spans": [_span("02", "held no more", 3)]}]}]}))
    ids.distinct([])
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, Span) and one.name == "held no more"]


def test_a_late_update_of_an_ended_span_is_no_other_span() -> None:
    spans = [_span("01", "chat m", 1, **_MODEL), _span("02", "execute_tool t", 3, **_TOOL)]
    late = {"traceId": "ab" * 16, "spanId": "02" * 8, "endTimeUnixNano": str(9 * 10**9)}
    for found in _told_in_both(*spans, late):
        assert (found["calls"]["tools"], found["messages"], found["findings"]) == (1, 3, {})
