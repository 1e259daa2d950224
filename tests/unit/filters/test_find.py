"""Find in view over rows: what it finds in any slices, and where the next hit is."""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter, find, text_search
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.find import FindSearch
from inspector.filters.find_query import FindQuery
from inspector.filters.sorting import SortBy, Sorting
from inspector.filters.visible import VisibleRows
from inspector.store.columns.hashes import NO_ROW
from tests.builders import GrowingLog, clean_up, document_of, envelope, received, tool_call, tool_result
from tests.ui.windows import story


def rows_of(document: CaptureDocument, filter_: str = "") -> VisibleRows:
    rows = VisibleRows(document.analysis)
    rows.apply_filter(compile_filter(filter_), None)
    return rows


def chats(*texts: str) -> CaptureDocument:
    return document_of(*(envelope("chat", {"text": text}) for text in texts))


def finished(search: FindSearch) -> list[int]:
    while not search.step():
        pass
    return search.hits.tolist()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (FindQuery("slow"), [1, 2]),
        (FindQuery("SLOW"), [1, 2]),
        (FindQuery("Slow", match_case=True), []),
        (FindQuery(r"s\w*w", is_pattern=True), [1, 2]),
        (FindQuery("record 7"), [5]),
        (FindQuery("15 records (page 1)"), [5]),
        (FindQuery("nowhere at all"), []),
    ],
    ids=lambda value: value.text if isinstance(value, FindQuery) else "",
)
def test_folded_texts_are_found_too(query: FindQuery, expected: list[int]) -> None:
    assert finished(FindSearch(rows_of(story()), query)) == expected


def test_a_generated_summary_is_found_though_nobody_wrote_it() -> None:
    asked = tool_call("look_around")
    hints = {"contextHints": [{"tool": "look_around", "lifecycle": "transient", "consumedBy": "store"}]}
    found = tool_result(asked, meta={**hints, "context": {"lifecycle": "transient"}})
    store = tool_call("store")
    document = document_of(asked, found, store, tool_result(store, meta={"context": {"consumed": True}}))
    for query in (FindQuery("look_around result"), FindQuery(r"^look_\w+ result$", is_pattern=True)):
        assert finished(FindSearch(rows_of(document), query)) == [1]


_WORD = st.sampled_from(("a", "b1", "é", "ß", " ", '"', "\\", "\n", "K"))
_WORDS = st.lists(_WORD, min_size=1, max_size=3).map("".join)
_PART = st.sampled_from(("^", "$", "a", "b[0-9]", "a+b1", "é", r"\b", ".", "(?:ab|b1)"))
_EXPRESSIONS = st.lists(_PART, min_size=1, max_size=4).map("".join)
_QUERIES = st.one_of(
    st.builds(FindQuery, _WORDS, match_case=st.booleans()),
    st.builds(FindQuery, _EXPRESSIONS, match_case=st.booleans(), is_pattern=st.just(True)),
)


def collapsed_results(summaries: list[str], *, told: bool = False) -> CaptureDocument:
    """A call and its result for each summary, all of which were collapsed."""
    asked = [tool_call("search") for _ in summaries]
    hints = [{"tool": "search", "lifecycle": "transient", "consumedBy": "store"}]
    metas = [{"contextHints": hints, "context": {"lifecycle": "transient", "summary": one}} for one in summaries]
    results = [tool_result(one, meta=meta) for one, meta in zip(asked, metas, strict=True)]
    store = [tool_call("store") for _ in summaries]
    stored = [tool_result(one, meta={"context": {"consumed": True}}) for one in store]
    said = [one for four in zip(asked, results, store, stored, strict=True) for one in four]
    return document_of(*(received(one) if told else one for one in said))


@given(st.lists(_WORDS, min_size=1, max_size=4), _QUERIES, st.booleans())
def test_summaries_are_found_as_if_each_were_read(summaries: list[str], query: FindQuery, told: bool) -> None:
    document = collapsed_results(summaries, told=told)
    collapsed = document.analysis.transients.signals.links("collapsed_by", np.arange(len(document.capture)))
    finder, locate, expected = query.finder(), query.locator(), []
    for row in range(len(document.capture)):
        summary = document.analysis.transients.summary(row) or "" if collapsed[row] != NO_ROW else ""
        if finder(document.capture.records.read_line_of(row)) or locate(summary):
            expected.append(row)
    assert np.count_nonzero(collapsed != NO_ROW) == len(summaries)
    assert finished(FindSearch(rows_of(document), query)) == expected
    clean_up()


def test_summaries_that_cannot_hold_it_are_not_read_again() -> None:
    document = story()
    with patch.object(document.analysis.transients, "summary", side_effect=AssertionError("read again")):
        for query in (FindQuery("nowhere"), FindQuery("niemals größer"), FindQuery("no[w]here", is_pattern=True)):
            assert finished(FindSearch(rows_of(document), query)) == []


@given(st.lists(st.sampled_from(("aa", "ab", "ba", "bb")), min_size=1, max_size=30), st.integers(0, 30), st.booleans())
def test_where_it_begins_makes_no_difference(texts: list[str], origin: int, filtered: bool) -> None:
    document = chats(*texts)
    rows = rows_of(document, "no > 3" if filtered else "")
    expected = [n for n, text in enumerate(texts) if "ab" in text and (n >= 3 or not filtered)]
    search = FindSearch(rows, FindQuery('"ab"'), origin)
    assert finished(search) == expected
    assert search.fraction == (1 if len(rows.visible) else 0)
    for message in range(len(texts)):
        assert search.is_hit(message) == (message in expected)


def test_next_goes_around_both_ends() -> None:
    search = FindSearch(rows_of(chats("x", "hit", "x", "hit", "x")), FindQuery("hit"))
    finished(search)
    assert search.next_hit(None, 1) == (1, False)
    assert search.next_hit(None, -1) == (3, False)
    assert search.next_hit(1, 1) == (3, False)
    assert search.next_hit(3, 1) == (1, True)
    assert search.next_hit(2, -1) == (1, False)
    assert search.next_hit(0, -1) == (3, True)
    assert [search.place_of(n) for n in range(5)] == [None, 0, None, 1, None]


def test_the_next_hit_is_known_before_all_is_searched() -> None:
    count = 3_000
    document = chats(*("hit " + "x" * 200 if n % 1_000 == 500 else "y" * 200 for n in range(count)))
    search = FindSearch(rows_of(document), FindQuery("hit"), 1_200)
    while not search.knows_next(1_200, 1):
        assert not search.is_done
        search.step()
    assert search.next_hit(1_200, 1) == (1_500, False)
    assert not search.is_done
    assert not search.knows_next(1_200, -1)
    finished(search)
    assert search.next_hit(1_200, -1) == (500, False)


def test_another_filter_asks_for_nothing_that_is_known() -> None:
    document = chats("hit", "x", "hit")
    rows = rows_of(document)
    search = FindSearch(rows, FindQuery("hit"))
    assert finished(search) == [0, 2]
    rows.apply_filter(compile_filter("no > 1"), None)
    document.capture.close()  # nothing can be read any more
    search.follow_rows(None)
    assert finished(search) == [2]
    rows.apply_filter(compile_filter(""), None)
    search.follow_rows(None)
    assert finished(search) == [0, 2]


def test_new_messages_are_searched() -> None:
    log = GrowingLog()
    log.write(envelope("chat", {"text": "hit"}))
    rows = rows_of(log.document)
    search = FindSearch(rows, FindQuery("hit"), 0)
    assert finished(search) == [0]
    for changes in log.write(envelope("chat", {"text": "x"}), envelope("chat", {"text": "hit"})):
        rows.apply(rows.prepare(changes))
        search.note_changed(changes.changed)
        search.follow_rows(0)
    assert not search.is_done
    assert finished(search) == [0, 2]


def test_a_result_that_is_collapsed_later_is_found_by_its_summary() -> None:
    document = story()
    summary = document.analysis.transients.summary
    document.analysis.transients.summary = lambda row: ""  # type: ignore[method-assign]
    rows = rows_of(document)
    search = FindSearch(rows, FindQuery("short words"))
    assert finished(search) == []
    document.analysis.transients.summary = lambda row: "short words"  # type: ignore[method-assign]
    search.note_changed(np.array([5]))
    assert search.follow_rows(None)
    assert search.hits.tolist() == []  # summaries may be many, and an expression take long in each
    assert finished(search) == [5]
    document.analysis.transients.summary = summary  # type: ignore[method-assign]


def test_summaries_are_asked_for_again_a_few_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_MOST_QUEUED", 1)
    document = collapsed_results(["a", "b", "c"])
    transients = document.analysis.transients
    search = FindSearch(rows_of(document), FindQuery("short words"))
    assert finished(search) == []
    rows = np.flatnonzero(transients.signals.links("collapsed_by", np.arange(len(document.capture))) != NO_ROW)
    asked: list[int] = []
    with patch.object(transients, "summary", lambda row: asked.append(row) or "short words"):
        for times in 1, 2:  # asked for twice before it gets to it
            search.note_changed(np.arange(12))
            assert search.follow_rows(None), times
        for count in 1, 2, 3:
            assert search.step() is (count == 3)
            assert asked == search.hits.tolist() == rows[:count].tolist()


@given(
    st.lists(st.sampled_from(("hit a", "hit b", "x")), min_size=1, max_size=12), st.integers(1, 12), st.integers(1, 3)
)
def test_places_of_hits_in_sorted_rows_stay_right_as_rows_come(texts: list[str], first: int, size: int) -> None:
    log = GrowingLog()
    lines = [envelope("chat", {"text": text}) for text in texts]
    log.write(*lines[:first])
    rows = rows_of(log.document)
    by = SortBy(FIELD_BY_NAME["text"], descending=True)
    sorting = Sorting(log.document.analysis, by, rows.visible)
    rows.sort(by.order, run_to_end(sorting.find_order()))
    search = FindSearch(rows, FindQuery("hit"), 0)
    finished(search)
    for start in range(first, len(lines), size):
        for changes in log.write(*lines[start : start + size]):
            rows.apply(rows.prepare(changes))
            search.note_changed(changes.changed)
            search.follow_rows(0)
        if start % 2:
            rows.expand(0, 2)
        finished(search)
        expected = sorted(row for row in map(rows.row_of, search.hits.tolist()) if row is not None)
        assert [search.place_of(rows.row_at(row)[0]) for row in expected] == list(range(len(expected)))
    clean_up()


def test_what_is_kept_of_hits_is_added_to_and_not_made_again() -> None:
    log = GrowingLog()
    log.write(*(envelope("chat", {"text": "hit"}) for _ in range(5)))
    rows = rows_of(log.document)
    rows.sort(SortBy(FIELD_BY_NAME["text"]).order, np.arange(5, dtype=np.uint32)[::-1].copy())
    search = FindSearch(rows, FindQuery("hit"), 0)
    finished(search)
    assert search.place_of(0) == 4
    with patch.object(rows, "rows_of", wraps=rows.rows_of) as rows_of_messages:
        for changes in log.write(envelope("chat", {"text": "hit"}), envelope("chat", {"text": "x"})):
            rows.apply(rows.prepare(changes))
            search.note_changed(changes.changed)
            search.follow_rows(0)
        finished(search)
        assert search.place_of(5) == 5
    assert sum(len(call.args[0]) for call in rows_of_messages.call_args_list) == 1
    clean_up()


def test_a_message_that_takes_too_long_is_left_out_and_the_others_are_found() -> None:
    rows = rows_of(chats("took 12.5ms", " " * 60_000 + "x", "ends in blanks  "))
    search = FindSearch(rows, FindQuery(r"ms\b|\s+$", is_pattern=True))
    assert finished(search) == [0]
    assert (search.timeout_count, search.gave_up) == (1, False)
    search = FindSearch(rows_of(chats("aab", "a" * 40 + "b", "xaa")), FindQuery(r'(a+)+(?=")', is_pattern=True))
    assert finished(search) == [2]
    assert search.timeout_count == 1


def test_an_expression_that_takes_too_long_everywhere_is_given_up_with_what_was_found() -> None:
    rows = rows_of(chats("xaa", *["a" * 40 + "b"] * 30))
    search = FindSearch(rows, FindQuery(r'(a+)+(?=")', is_pattern=True))
    worst = 0.0
    while not search.is_done:
        began = time.thread_time()
        search.step()
        worst = max(worst, time.thread_time() - began)
    assert search.hits.tolist() == [0]
    assert search.gave_up
    assert search.timeout_count < 10
    assert worst < 2


_LONG = ('é line of "text" and more\n' * 40_000) + "the very tail"


@pytest.mark.parametrize("window", [1 << 12, 1 << 18])
def test_a_long_record_is_searched_window_by_window(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_search, "_WINDOW", window)
    monkeypatch.setattr(text_search, "_OVERLAP", 1 << 10)
    monkeypatch.setattr(find, "LONG_RECORD", 1 << 12)
    rows = rows_of(chats("hello", _LONG, "hello again"))
    for query, expected in (
        (FindQuery("the very tail"), [1]),
        (FindQuery("more\nthe"), [1]),
        (FindQuery("é LINE"), [1]),
        (FindQuery("nothing"), []),
        (FindQuery("nline"), []),
        (FindQuery(r"\bthe very", is_pattern=True), [1]),
        (FindQuery(r"^e line|^ine of", is_pattern=True), []),
        (FindQuery("hello"), [0, 2]),
    ):
        assert (query.text, finished(FindSearch(rows, query))) == (query.text, expected)


def test_no_slice_searches_a_long_record_whole() -> None:
    search = FindSearch(rows_of(chats("hello", _LONG)), FindQuery("nothing"))
    slices = 0
    while not search.step():
        slices += 1
    assert slices > 3
