"""A document: opening, following and refusing logs; the verdicts beside one."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.document.openers import title_of
from inspector.document.sources import Progress
from inspector.filters.fields import FIELD_BY_NAME
from inspector.reading.files.format_detection import is_array
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.store.files.capture_writer import CaptureWriter
from tests.builders import GrowingLog, clean_up, document_at, document_of, envelope, lines_of, log_file, received
from tests.pictures import picture
from tests.strategies import logs

loaded = document_at


@given(logs, st.lists(st.integers(0, 2_000), max_size=5))
def test_a_file_that_grows_at_any_byte_gives_what_opening_it_gives(data: bytes, cuts: list[int]) -> None:
    assume(not is_array(data))  # what grows is read line by line
    log = GrowingLog()
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, stop in pairwise(places):
        log.write_bytes(data[start:stop])
    whole = CaptureDocument()
    grown = picture(log.end())
    with suppress(UnknownFormatError):  # a file that is no log is not opened at all
        whole.load(log_file(data))
        assert grown == picture(whole)
    whole.close()
    clean_up()


def test_a_torn_last_line_is_held_back_while_live_and_read_in_a_file() -> None:
    log = GrowingLog()
    log.write_bytes(lines_of(envelope()) + b'{"kind":"chat","id":"torn"')
    assert len(log.document.capture) == 1
    assert not log.document.poll()
    log.write_bytes(b"}\n")
    assert log.document.capture.records.envelope_id(1) == "torn"
    log.write_bytes(b'{"kind":"chat","id":"never ended"')
    document = log.end()
    assert (len(document.capture), document.unreadable, document.live) == (3, 1, False)
    assert len(document_of(envelope(), b'{"kind":"chat"').capture) == 2


def test_a_byte_order_mark_that_arrives_in_pieces() -> None:
    log = GrowingLog()
    for piece in (b"\xef", b"\xbb", b'\xbf{"kind":', b'"chat"}\n'):
        log.write_bytes(piece)
    assert log.document.kind_counts() == {"chat": 1}


def test_observers_are_told_of_changes_and_only_of_those() -> None:
    log = GrowingLog()
    assert [len(log.write(line)) for line in (envelope(), b"", {"ctxcap": 1}, envelope())] == [1, 0, 0, 1]


def test_what_a_writer_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "live.ctxcap"
    writer = CaptureWriter(path, origin={"space": "demo"})
    document = CaptureDocument()
    document.follow_capture(path, name="demo")
    writer.add_frame('{"kind":"chat","id":"a","from":"lead"}', direction="in", time_ns=10**18)
    writer.add_frame(b"#s#\xff", direction="out", time_ns=10**18 + 1)
    writer.add_mark("gap", time_ns=10**18 + 2)
    writer.flush()
    assert document.poll(until=0.0)
    assert (len(document.capture), document.has_backlog) == (0, False), "so late nothing is begun"
    assert document.poll(more=True)
    assert document.analysis.findings.unchecked_count == 3, "while more comes the checks wait"
    assert not document.poll(more=True)
    assert not document.analysis.findings.unchecked_count, "for as long as it does"
    assert [FIELD_BY_NAME["space"].value(document.analysis, message) for message in range(3)] == ["demo"] * 3
    assert document.kind_counts() == {"chat": 1, "stream/frame": 1, "": 1}
    assert (document.name, document.path, document.live, document.format) == ("demo", path, True, "capture")
    writer.close()
    document.end_live()
    document.close()


# Opening


def test_progress() -> None:
    path = log_file(lines_of(*({"kind": "chat", "id": str(n)} for n in range(20))))
    document = CaptureDocument()
    steps = list(document.open_log(path, block_bytes=200))
    assert steps[0] == Progress(0, path.stat().st_size, 0)
    assert steps[-1] == Progress(path.stat().st_size, path.stat().st_size, 20)
    assert len(steps) > 3
    document.close()


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_a_line_longer_than_a_block(size: int) -> None:
    lines = [envelope(), envelope(payload={"text": "x" * 5_000}), envelope()]
    document = CaptureDocument()
    for _ in document.open_log(log_file(lines_of(*lines)), block_bytes=size):
        pass
    assert [document.capture.records.envelope(message) for message in range(3)] == lines
    document.close()


@pytest.mark.parametrize("last", [b"{}\n", b"{}"], ids=["ended", "torn"])
def test_a_step_brings_only_some_lines_however_short_they_are(last: bytes) -> None:
    document = CaptureDocument()
    path = log_file(lines_of(envelope()) + b"{}\n" * 500 + last)
    counts = [step.messages for step in document.open_log(path, block_bytes=6_400)]
    assert counts[-1] == 502
    assert max(after - before for before, after in pairwise(counts)) <= 50
    document.close()


def test_the_title_tells_logs_apart() -> None:
    assert title_of(Path("/srv/run-7/envelope-history.jsonl")) == "run-7/envelope-history.jsonl"
    assert title_of(Path("/srv/run-7/other.jsonl")) == "other.jsonl"
    assert document_of(envelope(), name="mine.jsonl").name == "mine.jsonl"


@pytest.mark.parametrize("data", [b"", b"\n\n \r\n", b"\xef\xbb\xbf"], ids=["empty", "blank lines", "byte order mark"])
def test_a_file_with_nothing_in_it_is_no_reason_to_refuse(data: bytes) -> None:
    document = loaded(log_file(data))
    assert (len(document.capture), document.format) == (0, None)
    document.close()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"hello\nworld\n", "Its first line is plain text."),
        (b'{"level":"info"}\n', "It is an object with the key `level`."),
        (b"\x7fELF\x02\x01\x01", "It is binary data."),
        (b"[7]\n", "Its first element is a number, where an object was expected."),
    ],
)
def test_a_file_of_nothing_known_is_refused_in_a_sentence(data: bytes, found: str) -> None:
    path = log_file(data, "notes.txt")
    document = CaptureDocument()
    with pytest.raises(UnknownFormatError) as refused:
        document.load(path)
    assert str(refused.value).startswith(f"notes.txt is no log that can be read. {found} ")
    document.close()


def test_a_thousand_unknown_lines_are_enough_to_refuse() -> None:
    document = CaptureDocument()
    with pytest.raises(UnknownFormatError):
        for _ in document.open_log(log_file(b"x\n" * 1_200 + lines_of(envelope())), block_bytes=1_000):
            pass
    document.close()


def test_one_known_line_is_enough_to_read_everything() -> None:
    document = loaded(log_file(b"x\n" * 999 + lines_of(envelope()) + b"y\n"))
    assert (len(document.capture), document.unreadable) == (1_001, 1_000)
    document.close()


def test_a_missing_file() -> None:
    with pytest.raises(OSError, match="No such file"):
        loaded(Path("/nowhere/at/all.jsonl"))


# Decisions


def with_decisions(tmp_path: Path, decisions: bytes | None, log: str = "envelope-history.jsonl") -> CaptureDocument:
    (tmp_path / log).write_bytes(lines_of(received({"kind": "chat", "id": "a"}), received({"kind": "chat"})))
    if decisions is not None:
        (tmp_path / "capability-decisions.jsonl").write_bytes(decisions)
    return loaded(tmp_path / log)


DECISION: dict[str, Any] = {
    "timestamp": "2026-01-05T09:00:00Z", "event": "capability_check", "envelope_id": "a", "result": "allowed",
}  # fmt: skip


def test_verdicts_beside_a_log_are_no_messages(tmp_path: Path) -> None:
    document = with_decisions(tmp_path, lines_of(DECISION))
    assert (len(document.capture), document.capture.record_count) == (2, 2)
    assert [document.decisions.decisions_on(message) for message in range(2)] == [[DECISION], []]
    document.close()


def test_a_log_without_verdicts(tmp_path: Path) -> None:
    document = with_decisions(tmp_path, None)
    assert (document.decisions.found, document.decisions.decisions_on(0)) == (None, [])
    document.close()


def test_verdicts_opened_alone_are_messages(tmp_path: Path) -> None:
    with_decisions(tmp_path, lines_of(DECISION)).close()
    document = loaded(tmp_path / "capability-decisions.jsonl")
    assert (len(document.capture), document.decisions.found) == (1, None)
    assert document.kind_counts() == {"": 1}
    document.close()


def test_verdicts_do_not_belong_to_other_logs(tmp_path: Path) -> None:
    (tmp_path / "capability-decisions.jsonl").write_bytes(lines_of(DECISION))
    (tmp_path / "bare.jsonl").write_bytes(lines_of(envelope(id="a")))
    document = loaded(tmp_path / "bare.jsonl")
    assert document.decisions.found is None
    document.close()


def test_counts_by_kind_come_most_frequent_first() -> None:
    document = document_of(*(envelope(kind) for kind in ("b", "a", "c", "a", "c", "c")), "{torn")
    assert list(document.kind_counts().items()) == [("c", 3), ("a", 2), ("b", 1), ("", 1)]


# What may go on

TAP = {"ctxcap": 1, "origin": {"source": "tap", "command": ["serve"]}}
OPENED, ENDED = ({"t": 1, "src": 0, "mark": name} for name in ("opened", "closed"))


@pytest.mark.parametrize(
    ("lines", "goes_on"),
    [
        ([TAP, OPENED], True),
        ([TAP, OPENED, ENDED | {"reason": "it ended", "exit": 0}], False),
        ([TAP, OPENED, ENDED | {"reason": "it crashed", "exit": 1}], False),
        ([TAP, OPENED, ENDED | {"reason": "it crashed", "exit": 1}, OPENED], True),
        ([{"ctxcap": 1, "origin": {"source": "gateway"}}, OPENED], False),
        ([{"ctxcap": 1, "origin": ["tap"]}, OPENED], False),
    ],
)
def test_the_capture_of_a_tap_may_go_on_until_its_server_has_ended(lines: list[Any], goes_on: bool) -> None:
    request = {"t": 1, "dir": "client->server", "src": 0, "frame": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
    path = log_file(lines_of(lines[0], request, *lines[1:]))
    os.utime(path, (0, 0))  # nobody has written to it lately
    with closing(CaptureDocument()) as document:
        for _ in document.open_log(path, follow=True):
            pass
        assert (document.is_arriving, document.may_grow) == (False, goes_on)
    with closing(CaptureDocument()) as document:
        document.load(path)
        assert not document.may_grow, "nobody reads on"


def test_where_somebody_waits_few_short_lines_are_read_at_once() -> None:
    """Each takes its time, however few bytes it has: 10,000 of no known form are no single step."""
    document, seen = CaptureDocument(), [0]
    document.sources.waits = False
    for progress in document.open_log(log_file(lines_of(envelope()) + b"{}\n" * 10_000)):
        seen += [progress.messages] if progress.messages > seen[-1] else []
    document.close()
    at_once = [after - before for before, after in pairwise(seen)]
    assert (sum(at_once), at_once[0], max(at_once) <= 3_000) == (10_001, 375, True)
