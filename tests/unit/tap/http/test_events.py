"""Server-sent events out of bytes cut anywhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.tap.http.events import EventMaker, ServerSentEvent

STREAM = (
    b": hello\n\nid: 1\nevent: message\ndata: {}\n\nretry: 100\nid: 2\ndata:\n\n"
    b"data: one\ndata: two\n\nodd line\n\n: a\n: b\n\ndata: \xc3\xa9\xff\n\n"
)
EVENTS = [
    ServerSentEvent(None, comment="hello"),
    ServerSentEvent(b"{}", "message", "1"),
    ServerSentEvent(b"", id="2", retry="100"),
    ServerSentEvent(b"one\ntwo"),
    ServerSentEvent(None, comment="a\nb"),
    ServerSentEvent(b"\xc3\xa9\xff"),
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@given(cuts=st.lists(st.integers(0, len(STREAM) * 2), max_size=30))
@example(cuts=[1, 36, 36])  # nothing comes between the halves of a line end, and of a mark
def test_events_come_whole_however_they_are_cut(end: bytes, cuts: list[int]) -> None:
    stream, maker = b"\xef\xbb\xbf" + STREAM.replace(b"\n", end), EventMaker()
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    found = [event for start, stop in pairwise(places) for event in maker.feed(stream[start:stop])]
    assert found == EVENTS
    assert maker.rest() is None


def test_the_last_event_of_a_stream_that_broke_is_not_lost() -> None:
    maker = EventMaker()
    assert maker.feed(b"\xef\xbb\xbfdata: {}\n\ndata: half") == [ServerSentEvent(b"{}")]
    assert maker.rest() == ServerSentEvent(b"half")
    assert maker.rest() is None


def test_an_event_too_long_is_counted_and_the_next_one_is_whole() -> None:
    maker = EventMaker(longest_bytes=20)
    assert maker.feed(b"data: " + b"x" * 30) == []
    assert maker.feed(b"xxx\n") == []
    assert maker.feed(b"\ndata: y\n\n") == [ServerSentEvent(b"y")]
    assert maker.lost_bytes >= 36


def test_what_follows_a_loss_begins_with_the_next_event() -> None:
    maker = EventMaker()
    maker.feed(b"data: lost")
    maker.lose()
    assert maker.feed(b"tail\n\ndata: next\n\n") == [ServerSentEvent(b"next")]


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_are_taken(pieces: list[bytes]) -> None:
    maker = EventMaker(longest_bytes=50)
    for piece in pieces:
        maker.feed(piece)
    maker.rest()
