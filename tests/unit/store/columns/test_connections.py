"""Connections are numbered in the order of their messages, however a source was cut into blocks."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture
from tests.builders import clean_up, document_of, lines_of, log_file


def said(src: Any = 0, kind: str | None = None) -> dict[str, Any]:
    frame = {"kind": kind} if kind else {"jsonrpc": "2.0", "method": "ping"}
    return {"t": 1_767_603_600_000_000_000, "dir": "in", "src": src, "frame": frame}


def opened(src: Any = 0) -> dict[str, Any]:
    return {"t": 1_767_603_600_000_000_000, "src": src, "mark": "opened"}


def numbers(*lines: dict[str, Any]) -> list[int]:
    return document_of(*lines).capture.columns["connection"].tolist()


def test_a_connection_that_is_opened_again_is_another() -> None:
    assert numbers(opened(), said(), said(), opened(), said(), opened(), opened(), said()) == [0, 0, 1, 2]


def test_several_at_a_time() -> None:
    assert numbers(opened(7), said(7), said(2), opened(7), said(2), said(7), said(2), said(0)) == [0, 1, 1, 2, 1, 3]


def test_envelopes_and_calls_of_one_connection() -> None:
    assert numbers(said(3, "chat"), said(3), said(4, "chat"), said(4), said(3, "chat")) == [0, 0, 1, 1, 0]


def test_what_is_no_number_of_a_connection() -> None:
    assert numbers(said(), *(said(src) for src in (-1, 1 << 16, 1 << 70, True, "1", None, 1.5, [1])), said(1)) == [
        *[0] * 9, 1,
    ]  # fmt: skip
    assert numbers(said(0, "chat"), said(-1, "chat"), said(1 << 16, "chat"), said(1, "chat")) == [0, 0, 0, 1]


def test_a_batch_came_over_the_connection_of_its_line() -> None:
    batch = {**said(5), "frame": [{"jsonrpc": "2.0", "method": "ping"}] * 2}
    assert numbers(said(), batch, said(5)) == [0, 1, 1, 1]


def test_one_connection_takes_no_memory() -> None:
    capture = document_of(opened(), *[said()] * 50).capture
    assert capture.columns["connection"].strides == (0,)


_lines = st.one_of(
    st.builds(said, st.integers(0, 3), st.sampled_from((None, "chat"))), st.builds(opened, st.integers(0, 3))
)


@given(st.lists(_lines, max_size=14), st.sets(st.integers(0, 14)))
def test_blocks_make_no_difference(lines: list[dict[str, Any]], cuts: set[int]) -> None:
    data = lines_of(*(json.dumps(line, separators=(",", ":")) for line in lines))
    places = [0]
    for line in data.splitlines(keepends=True):
        places.append(places[-1] + len(line))
    edges = sorted({0, len(data), *(places[min(cut, len(lines))] for cut in cuts)})
    capture = Capture()
    capture.add_source(SourceFile(log_file(data)))
    for start, stop in pairwise(edges):
        capture.append(BlockReader(0).read_lines(data[start:stop], start))
    known: dict[int, int] = {}
    expected: list[int] = []
    count = 0
    for line in lines:
        if "mark" in line:
            known.pop(line["src"], None)
            continue
        if line["src"] not in known:
            known[line["src"]], count = count, count + 1
        expected.append(known[line["src"]])
    assert capture.columns["connection"].tolist() == expected
    capture.close()
    clean_up()
