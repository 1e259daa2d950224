"""The address that a stream of MCP 2024-11-05 begins with, however its bytes come."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.tap.http.endpoint import EndpointAddress

HOST = b"http://server/post?session_id=one"
OWN = b"http://tap/post?session_id=one"
BEFORE = (b"", b": hello\n\n", b"id: 1\n", b"retry: 1000\n\n", b"\xef\xbb\xbf", b"\n")
AFTER = b"event: message\ndata: http://server/post\n\nevent: endpoint\ndata: http://server/2\n\n"


def passed(pieces: list[bytes]) -> tuple[list[bytes], bytes]:
    made = EndpointAddress(lambda text: text.replace("//server/", "//tap/"))
    return [made.feed(piece) for piece in pieces], made.rest()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({0, len(data), *(place % len(data) for place in places)})
    return [data[a:b] for a, b in pairwise(ends)]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("space", [b"", b" "])
def test_the_address_is_replaced_wherever_the_stream_is_cut(before: bytes, end: bytes, space: bytes) -> None:
    stream = before + b"event:" + space + b"endpoint\ndata:" + space + HOST + b"\n\n" + AFTER
    stream = stream.replace(b"\n", end)
    for place in range(1, len(stream)):
        pieces, rest = passed([stream[:place], stream[place:]])
        assert b"".join(pieces) + rest == stream.replace(HOST, OWN, 1), place
    pieces, rest = passed([bytes([one]) for one in stream])
    assert b"".join(pieces) + rest == stream.replace(HOST, OWN, 1)


@given(st.lists(st.sampled_from([b"event: endpoint", b"data: x", b"\n", b"\r", b":", b"id:1", b"\xff", b"e", HOST])),
       st.lists(st.integers(0, 400)))  # fmt: skip
def test_only_the_address_ever_changes(parts: list[bytes], places: list[int]) -> None:
    stream = b"".join(parts) or b"\n"
    pieces, rest = passed(cut(stream, places))
    assert (b"".join(pieces) + rest).replace(b"//tap/", b"//server/") == stream


@pytest.mark.parametrize(
    "begun", [b"data: half", b"event: mess", b"\x1f\x8b", b"event: endpoint\ndata: x\n\nhalf", b"x" * 70_000]
)
def test_other_bytes_do_not_wait(begun: bytes) -> None:
    assert passed([begun]) == ([begun], b"")


def test_an_unfinished_line_waits_no_longer_than_its_limit() -> None:
    assert passed([b": " + b"x" * 70_000]) == ([b": " + b"x" * 70_000], b"")
