"""The frames of a stream have one row; what they say together is searched, whatever comes in between."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter, joined_text
from inspector.filters.find import FindSearch
from inspector.filters.find_query import FindQuery
from inspector.filters.folding import Folding, _first_of_each
from inspector.filters.joined_text import begins_in_frame
from inspector.filters.visible import VisibleRows
from tests.builders import GrowingLog, clean_up, document_of, envelope, tool_call, tool_result
from tests.streamed import HEAD, Line, asked, came, chunk, closed, frame, opened, speech


def rows_of(document: CaptureDocument, text: str = "") -> VisibleRows:
    rows = VisibleRows(document.analysis)
    rows.apply_filter(compile_filter(text), None)
    return rows


def talk() -> CaptureDocument:
    """Two streams that flow at once, with a chat among them: 2 to 5 and 7 to 9."""
    said = came(envelope("chat", {"text": "the direct way"}))
    return document_of(
        HEAD, opened("s"), opened("t", None, owner="lead"), chunk("s", "First the di"), chunk("s", "rect"),
        chunk("t", "the "), chunk("s", "ory."), said, chunk("t", "dir"), chunk("t", "ection"), closed("s"),
    )  # fmt: skip


def test_a_stream_has_the_row_of_its_first_frame() -> None:
    rows = rows_of(talk())
    assert rows.visible.tolist() == [0, 1, 2, 4, 6, 9]
    assert rows.chosen.tolist() == list(range(10))
    assert [rows.row_of(message) for message in (2, 3, 5, 4, 7, 8)] == [2, 2, 2, 3, 3, 3]
    assert rows.nearest_row(8) == 3
    assert rows.members(rows.visible[2:3]).tolist() == [2, 3, 5]
    assert rows.hidden_calls() == (0, 0)


def test_frames_one_by_one() -> None:
    rows = rows_of(talk())
    rows.set_folding(False)
    assert rows.visible.tolist() == list(range(10))
    rows.set_folding(True)
    assert rows.visible.tolist() == [0, 1, 2, 4, 6, 9]


@pytest.mark.parametrize("text", ['kind == "stream/frame"', 'from == mew && kind in {chat, "stream/frame"}'])
def test_a_filter_about_frames_shows_them_one_by_one(text: str) -> None:
    document = talk()
    rows = rows_of(document, text)
    assert not rows.is_folded
    assert rows.visible.tolist() == rows.chosen.tolist()
    rows.apply_filter(compile_filter('kind like "stream/*"'), None)
    assert rows.is_folded


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('text contains "directory"', [2]),
        ('text contains "direct"', [2, 6, 7]),
        ('"DIRECTORY"', [2]),
        ('text matches "dir.?ect"', [2, 6, 7]),
        ('text matches "^ory"', [5]),
        ('text == "rect"', [3]),
        ('text contains "the directory"', [2]),
        ('text contains "ory.x"', []),
    ],
)
def test_a_word_over_two_frames_is_found_where_it_begins(text: str, found: list[int]) -> None:
    rows = rows_of(talk(), text)
    assert rows.chosen.tolist() == found
    assert rows.is_folded


@example(["", "", "a", "a"], "aa", 2)  # as many at once as are looked at behind one
@given(st.lists(st.text("abé", max_size=3), max_size=12), st.text("abé", min_size=1, max_size=3), st.integers(1, 4))
def test_a_text_is_found_where_it_begins_however_frames_are_cut(pieces: list[str], wanted: str, few: int) -> None:
    """Each frame by itself: what it says, and so much of what a few behind it say."""
    with patch.multiple(joined_text, SEARCH_FRAMES=few, MAX_LOOKAHEAD=4, _BATCH_FRAMES=3):
        document = document_of(HEAD, opened("s"), *(chunk("s", piece) for piece in pieces))
        frames = np.flatnonzero(document.analysis.streams.columns["run"])
        found = begins_in_frame(document.analysis, frames, lambda text, own: 0 <= text.find(wanted) < own)
    texts = [pieces[n] + "".join(pieces[n + 1 : n + 1 + few])[:4] for n in range(len(pieces))]
    assert found.tolist() == [0 <= text.find(wanted) < len(piece) for text, piece in zip(texts, pieces, strict=True)]
    clean_up()


def test_a_word_is_found_once_its_end_is_there() -> None:
    log = GrowingLog()
    log.write(HEAD, opened("s"), chunk("s", "di"), chunk("s", "rect"))
    rows = rows_of(log.document, 'text contains "directory" || "directory"')
    assert rows.chosen.tolist() == []
    for changes in log.write(came(envelope("chat")), chunk("s", "ory")):
        rows.apply(rows.prepare(changes))
    assert rows.chosen.tolist() == rows.visible.tolist() == [1]


def finish(search: FindSearch) -> None:
    while not search.step():
        pass


@pytest.mark.parametrize("query", [FindQuery("Directory"), FindQuery("direc.ory", is_pattern=True)])
def test_find_leads_to_the_row_of_the_stream(query: FindQuery) -> None:
    rows = rows_of(talk())
    search = FindSearch(rows, query)
    finish(search)
    assert search.hits.tolist() == [2]
    assert search.is_hit(2)
    assert not search.is_hit(4)
    assert search.next_hit(None, 1) == (2, False)


def test_find_counts_rows() -> None:
    rows = rows_of(talk())
    search = FindSearch(rows, FindQuery("t"))
    finish(search)
    assert [message for message in search.hits.tolist() if message not in rows.visible] == []
    one = FindSearch(rows, FindQuery("ect"))
    finish(one)
    assert one.hits.tolist() == [2, 4, 6]
    assert [one.next_hit(message, 1) for message in (2, 4, 6)] == [(4, False), (6, False), (2, True)]


def test_find_follows_a_stream_that_flows() -> None:
    log = GrowingLog()
    log.write(HEAD, opened("s"), chunk("s", "nothing "), chunk("s", "dire"))
    rows = rows_of(log.document)
    search = FindSearch(rows, FindQuery("directory"))
    finish(search)
    assert not len(search.hits)
    for changes in log.write(chunk("s", "ctory")):
        rows.apply(rows.prepare(changes))
        search.note_changed(changes.changed)
        search.follow_rows(None)
    finish(search)
    assert search.hits.tolist() == [1]


def test_bytes_are_searched_across_a_character() -> None:
    word = "Übergröße".encode()
    lines = [HEAD, opened("s"), frame("s", word[:1]), frame("s", word[1:7]), frame("s", word[7:])]
    assert rows_of(document_of(*lines), 'text contains "größe"').chosen.tolist() == [2]


@st.composite
def traffic(draw: st.DrawFn) -> list[Line]:
    lines: list[Any] = [opened("s"), opened("t", None, owner="lead")]
    pieces = st.sampled_from(["a", "b", "ab", "ba ", ""])
    for _ in range(draw(st.integers(0, 12))):
        what = draw(st.integers(0, 5))
        stream = draw(st.sampled_from("st"))
        if what == 0:
            lines.append(came(envelope("chat", {"text": draw(pieces)})))
        elif what == 1:
            lines.append(opened(stream, None))
        else:
            lines.append(chunk(stream, draw(pieces), draw(st.sampled_from(["token", "token", "thought", "status"]))))
    return [HEAD, asked("r1"), *lines]


FILTERS = ("", "text contains abb", '"bab"', 'from == mew && !(text contains "ba")', 'kind == "stream/frame"')


@given(traffic(), st.integers(1, 4), st.sampled_from(FILTERS), st.booleans())
def test_any_batches_give_the_same_rows(lines: list[Line], size: int, text: str, fold: bool) -> None:
    log = GrowingLog()
    rows = rows_of(log.document, text)
    rows.set_folding(fold)
    for place in range(0, len(lines), size):
        for changes in log.write(*lines[place : place + size]):
            update = rows.prepare(changes)
            rows.apply(update)
    once = rows_of(document_of(*lines), text)
    once.set_folding(fold)
    assert rows.chosen.tolist() == once.chosen.tolist()
    assert rows.visible.tolist() == once.visible.tolist() == first_ones(once)
    for message in rows.chosen.tolist():
        row = rows.row_of(message)
        assert row is not None
        assert rows.row_at(row)[0] == rows.row_message(message)
    clean_up()


def first_ones(rows: VisibleRows) -> list[int]:
    """The rows by going through what is let through one by one."""
    runs, seen, found = rows.analysis.streams.columns["run"], set[int](), list[int]()
    for message in rows.chosen.tolist():
        run = int(runs[message])
        if not (rows.is_folded and run and run in seen):
            found.append(message)
        seen.add(run)
    return found


def test_without_frames_nothing_is_kept_twice() -> None:
    rows = rows_of(document_of(HEAD, came(envelope("chat")), came(envelope("chat"))))
    assert rows.chosen.base is rows.visible.base
    assert Folding(rows.analysis).unfolded_messages(rows.chosen) is not None


def test_speech_is_one_row() -> None:
    rows = rows_of(document_of(HEAD, opened("s"), *speech("s", "First I will look"), closed("s")))
    assert rows.visible.tolist() == [0, 1, 7]


def test_many_frames_fold_as_few_do() -> None:
    numbers = np.random.default_rng(7).integers(1, 40, 5_000)
    assert sorted(_first_of_each(numbers).tolist()) == sorted(np.unique(numbers, return_index=True)[1].tolist())


def test_streams_fold_whatever_their_number_is_held_in() -> None:
    log = GrowingLog()
    log.write(HEAD)
    rows = rows_of(log.document)
    for first in range(0, 240, 40):  # numbers of one byte, and room for more of them than a byte counts
        names = [f"s{number}" for number in range(first, first + 40)]
        for changes in log.write(*map(opened, names), *(chunk(name, piece) for piece in "ab" for name in names)):
            rows.apply(rows.prepare(changes))
    assert log.document.analysis.streams.columns["run"].dtype == np.uint8
    assert len(rows) == 480


def test_only_frames_are_asked_again() -> None:
    """Links that change later cost a search of texts nothing."""
    log = GrowingLog()
    call = tool_call("grep")
    log.write(HEAD, came(call), opened("s"), chunk("s", "a"))
    rows = rows_of(log.document, 'text contains "xyz" || "xyz"')
    answers = rows._answers
    assert (answers._by_term[1][:3] == 0).all()
    for changes in log.write(came(tool_result(call)), chunk("s", "b")):
        answers.invalidate(changes.changed)
    assert answers._by_term[1][:3].tolist() == [0, 0, -1]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-04T09:00:00.000Z", "type": kind, "payload": payload}


def told(words: str) -> list[dict[str, Any]]:
    """Words of a user, told as an item and as an event."""
    content = [{"type": "input_text", "text": words}]
    item = codex("response_item", type="message", role="user", content=content)
    return [item, codex("event_msg", type="user_message", message=words)]


def test_a_copy_is_folded_into_what_it_says_again() -> None:
    head = codex("session_meta", id="t", cli_version="0.100.0", cwd="/w", originator="cli")
    log = GrowingLog()
    log.write(head, *told("Begin."))
    rows = rows_of(log.document)
    assert rows.visible.tolist() == [0, 1]
    assert rows.chosen.tolist() == [0, 1, 2]
    assert (rows.row_of(2), rows.row_message(2), rows.position(1)) == (1, 1, 1)
    assert rows.members(rows.visible[1:]).tolist() == [1, 2]
    for changes in log.write(*told("Go on.")):
        update = rows.prepare(changes)
        rows.apply(update)
    assert rows.visible.tolist() == [0, 1, 3]
    rows.set_folding(False)
    assert rows.visible.tolist() == [0, 1, 2, 3, 4]
    rows.set_folding(True)
    rows.apply_filter(compile_filter("repeats"), None)
    assert rows.visible.tolist() == [2, 4]
    rows.apply_filter(compile_filter("no == 3"), None)  # what it says again is hidden
    assert rows.visible.tolist() == [2]
    assert rows.row_message(2) == 2
