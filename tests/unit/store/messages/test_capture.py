"""Folding of a gateway log's records into messages, and the way back from a message to its bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture
from tests.builders import delivered, document_of, envelope, lines_of, received
from tests.strategies import gateway_logs

A = envelope("chat", id="a", ts="2026-01-05T09:00:00.000Z")
B = envelope("chat", id="b", ts="2026-01-05T09:00:01.000Z")


def capture_of(*lines: Any) -> Capture:
    return document_of(*lines).capture


def folded(*lines: Any) -> list[list[str | None]]:
    """Per message the participants of its deliveries."""
    capture = capture_of(*lines)
    assert capture.record_count == len(lines)
    return [[d.participant for d in capture.deliveries.deliveries_of(message)] for message in range(len(capture))]


def rejected(inner: dict[str, Any], participant: str) -> dict[str, Any]:
    return delivered(inner, participant, event="rejected", direction="inbound")


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        ([received(A)], [[]]),
        ([received(A), delivered(A, "x"), delivered(A, "y")], [["x", "y"]]),
        ([received(A), received(B), delivered(A, "x"), delivered(B, "y")], [["x"], ["y"]]),
        ([delivered(A, "x"), delivered(A, "y")], [["x", "y"]]),
        ([delivered(A, "x"), received(A), delivered(A, "y")], [["x"], ["y"]]),
        ([received(A), delivered(A, "x"), received(A), delivered(A, "y")], [["x"], ["y"]]),
        ([received(A), received(A), delivered(A, "x")], [[], ["x"]]),
        ([received(A), rejected(A, "lead")], [["lead"]]),
        ([rejected(A, "lead")], [["lead"]]),
        ([received(A), delivered(A, "x", event="failed")], [[], []]),
        ([received({**A, "id": None}), delivered({**A, "id": None}, "x")], [[], ["x"]]),
        ([received({**A, "id": 7}), delivered({**A, "id": 7}, "x")], [["x"]]),
        ([received({**A, "id": 7}), delivered({**A, "id": "7"}, "x")], [[], ["x"]]),
        ([received({**A, "id": ""}), delivered({**A, "id": ""}, "x")], [["x"]]),
        ([received(A), delivered({**A, "ts": "2026-01-05T09:00:00.001Z"}, "x")], [[], ["x"]]),
        ([received(A), delivered(A, "x", space_id="other")], [[], ["x"]]),
        ([received(A), delivered({**A, "payload": {}}, "x")], [["x"]]),
        ([A, A], [[], []]),
        ([received(A), A, delivered(A, "x")], [["x"], []]),
        ([received({"type": "join", "id": "j"}), received({"type": "join", "id": "j"})], [[], []]),
        ([received(A), "{torn", delivered(A, "x")], [["x"], []]),
        ([received(A), delivered(A, "x"), delivered(A, "x")], [["x", "x"]]),
    ],
    ids=[
        "received only", "delivered twice", "interleaved", "delivered only", "late received", "same id twice",
        "the latest with the id", "rejected", "rejected only", "failed", "no id never folds", "a number is an id",
        "a number is no text", "an empty id is one", "other time", "other space", "copies differ", "bare envelopes",
        "a bare envelope between", "joins", "a torn line between", "delivered twice to one",
    ],
)  # fmt: skip
def test_folding(lines: list[Any], messages: list[list[str | None]]) -> None:
    assert folded(*lines) == messages


@pytest.mark.parametrize("width", [1, 2, 3, 100])
def test_folding_does_not_depend_on_blocks(tmp_path: Path, width: int) -> None:
    lines = [received(A), received(B), delivered(A, "x"), delivered(B, "y"), received(A), delivered(A, "z")]
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*lines))
    capture = Capture()
    capture.add_source(SourceFile(path))
    offset = 0
    touched: list[list[int]] = []
    for place in range(0, len(lines), width):
        data = lines_of(*lines[place : place + width])
        touched.append(capture.append(BlockReader(0).read_lines(data, offset)).touched.tolist())
        offset += len(data)
    assert [capture.deliveries.recipients(message) for message in range(len(capture))] == [["x"], ["y"], ["z"]]
    assert touched == {
        1: [[], [], [0], [1], [], [2]], 2: [[], [0, 1], []], 3: [[], [1]], 100: [[]],
    }[width]  # fmt: skip
    capture.close()


def test_recipients_are_named_once_and_rejections_are_none() -> None:
    capture = capture_of(received(A), delivered(A, "x"), delivered(A, "y"), delivered(A, "x"), rejected(A, "lead"))
    assert capture.deliveries.recipients(0) == ["x", "y"]
    assert [d.event for d in capture.deliveries.deliveries_of(0)] == ["delivered", "delivered", "delivered", "rejected"]
    assert Flag.REJECTED in capture.flags_of(0)


def test_copies_that_differ_are_marked_and_change_nothing() -> None:
    stringly = {**A, "correlation_id": "q"}
    listed = {**A, "correlation_id": ["q"], "to": ["elsewhere"]}
    capture = capture_of(
        received(stringly), delivered(stringly, "x"), received(B), delivered(B, "y"), delivered(listed, "z")
    )
    assert Flag.COPIES_DIFFER in capture.flags_of(0)
    assert Flag.COPIES_DIFFER not in capture.flags_of(1)
    assert (capture.recipients(0), capture.records.correlation_ids(0)) == ((), ["q"])
    assert capture.records.envelope(0) == stringly


def test_a_delivery_knows_its_own_line() -> None:
    lines = [received(A), delivered(A, "x")]
    capture = capture_of(*lines)
    (delivery,) = capture.deliveries.deliveries_of(0)
    assert json.loads(capture.sources[0].read(delivery.offset, delivery.length)) == lines[1]


def test_back_to_the_bytes() -> None:
    line = b'{"event":"received", "envelope": {"kind":"chat",  "id":"x","payload":{"n":1.0}}, "timestamp":7}'
    capture = capture_of(line)
    assert capture.records.read_line_of(0) == line
    assert capture.records.envelope_bytes(0) == b'{"kind":"chat",  "id":"x","payload":{"n":1.0}}'
    assert capture.records.envelope(0) == {"kind": "chat", "id": "x", "payload": {"n": 1.0}}
    assert capture.records.payload(0) == {"n": 1.0}


@pytest.mark.parametrize(
    ("line", "envelope_", "payload"),
    [
        ({"kind": "chat"}, {"kind": "chat"}, {}),
        ({"kind": "chat", "payload": "text"}, {"kind": "chat", "payload": "text"}, {}),
        ({"from": "a", "payload": {"x": 1}}, {"from": "a", "payload": {"x": 1}}, {"x": 1}),
        ({"id": 1, "result": {}}, {"id": 1, "result": {}}, {"id": 1, "result": {}}),
        ({"error": "x"}, {"error": "x"}, {"error": "x"}),
        ({"type": "join"}, {"type": "join"}, {"type": "join"}),
        (b"#s#x", None, {}),
        (b"{torn", None, {}),
        (b'{"kind":"chat","payload":{"x":"\\ud800"}}', {"kind": "chat", "payload": {"x": "\ud800"}}, {"x": "\ud800"}),
    ],
)  # fmt: skip
def test_decoded(line: Any, envelope_: Any, payload: dict[str, Any]) -> None:
    capture = capture_of({"kind": "chat"}, line)
    assert (capture.records.envelope(1), capture.records.payload(1)) == (envelope_, payload)


@pytest.mark.parametrize(
    ("line", "identifier"),
    [
        ({"kind": "chat", "id": "x"}, "x"),
        ({"kind": "chat", "id": ""}, ""),
        ({"kind": "chat", "id": 7}, "7"),
        ({"kind": "chat", "id": {"a": True}}, '{"a":true}'),
        ({"kind": "chat"}, "local-2"),
        ({"kind": "chat", "id": None}, "local-2"),
        ({"id": 1, "result": {}}, None),
        (b"#s#x", None),
        (b"{torn", None),
        ({"type": "join", "id": "j"}, None),
    ],
)
def test_ids(line: Any, identifier: str | None) -> None:
    assert capture_of({"kind": "chat", "id": "first"}, line).records.envelope_id(1) == identifier


def test_an_id_leads_to_all_who_bear_it() -> None:
    capture = capture_of(*({"kind": "chat", "id": i} for i in ("a", "b", "a", "c", "a")))
    assert capture.records.find_id("a") == [0, 2, 4]
    assert capture.records.find_id("z") == []


def test_a_nul_in_an_id_makes_no_two_envelopes_one() -> None:
    first, second = envelope(id="a", sender="b\0c", ts=None), envelope(id="a\0b", sender="c", ts=None)
    assert len(capture_of(received(first), delivered(second, "x"))) == 2


def test_a_live_capture_s_space_is_the_one_that_was_joined() -> None:
    capture = capture_of(
        {"ctxcap": 1, "origin": {"space": "demo"}},
        {"t": 1, "dir": "in", "frame": {"kind": "chat"}},
        {"t": 1, "dir": "in", "frame": received({"kind": "chat"}, space_id="its-own")},
    )
    assert [capture.string("space", message) for message in range(2)] == ["demo", "demo"]
    assert (len(capture), capture.record_count) == (2, 2)


def test_unreadable_messages_are_counted_and_say_why() -> None:
    capture = capture_of({"kind": "chat"}, "{torn", {"t": 1, "dir": "in", "text": "hi"}, received({"kind": "chat"}))
    assert capture.unreadable_count == 2
    assert [capture.records.reason(message) for message in range(4)] == [
        None, "no JSON at byte 1: Expecting property name enclosed in double quotes",
        "no JSON at byte 0: Expecting value", None,
    ]  # fmt: skip


def test_a_file_that_became_shorter() -> None:
    capture = capture_of({"kind": "chat", "id": "a"}, {"kind": "chat", "id": "b"})
    path = capture.sources[0].path
    path.write_bytes(path.read_bytes()[:20])
    assert capture.records.reason(1) == "its file has become shorter since it was opened"
    assert (capture.records.envelope(1), capture.records.payload(1), capture.records.envelope_id(1)) == (None, {}, None)


def test_records_read_again_are_kept_up_to_a_number() -> None:
    capture = capture_of(*({"kind": "chat", "id": str(n)} for n in range(600)))
    assert [capture.records.envelope_id(message) for message in range(600)] == [str(n) for n in range(600)]
    assert capture.records.read_record(599) is capture.records.read_record(599)
    assert len(capture.records._cache) == 512


@given(gateway_logs())
def test_every_record_is_a_message_or_a_delivery(lines: list[dict[str, Any]]) -> None:
    capture = capture_of(*lines)
    starts = sum(1 for line in lines if line["event"] == "received")
    copies = sum(len(list(capture.deliveries.deliveries_of(message))) for message in range(len(capture)))
    assert copies == len(lines) - starts
    assert starts <= len(capture) <= len(lines)


RECORDS = st.lists(st.tuples(st.sampled_from([NO_HASH, 11, 12, 13]), st.booleans()), max_size=12)


@given(st.lists(RECORDS, max_size=4))
def test_folding_is_that_of_one_record_after_the_other(blocks: list[list[tuple[int, bool]]]) -> None:
    capture, latest, count = Capture(), dict[int, int](), 0
    for records in blocks:
        expected: list[int] = []
        start = count
        for fold, joins in records:
            if not (joins and fold in latest):
                if fold:
                    latest[fold] = count
                expected.append(count)
                count += 1
            else:
                expected.append(latest[fold])
        folds = np.array([fold for fold, _ in records], np.uint64)
        message_of, starts = capture._fold(folds, np.array([joins for _, joins in records], np.bool_), start)
        assert message_of.tolist() == expected
        assert len(starts) == count - start
        assert [expected[record] for record in starts.tolist()] == list(range(start, count))
        capture._folds.add(folds[starts], np.arange(start, count, dtype=np.uint32))
