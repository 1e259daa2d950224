"""Long lines of live traffic are read by another process, in their place, once, and whatever happens to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from unittest import mock

import pytest

from inspector.document.document import CaptureDocument
from inspector.reading.files import source_reader
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES
from inspector.reading.workers.offload import LONG_LINE_BYTES
from tests.builders import GrowingLog, envelope, lines_of, log_file

LONG = {**envelope("chat", {"text": "x" * (LONG_LINE_BYTES + 1_000_000)}, id="long")}


def polled(log: GrowingLog, enough: Callable[[], object], seconds: float = 150) -> float:
    """Poll until enough was read, and give the longest time one poll took, in seconds."""
    longest, until = 0.0, time.monotonic() + seconds
    while not enough():
        assert time.monotonic() < until, len(log.document.capture)
        started = time.perf_counter()
        log.document.poll()
        longest = max(longest, time.perf_counter() - started)
        time.sleep(0.005)
    return longest


def ids(log: GrowingLog) -> list[str | None]:
    return [log.document.capture.records.envelope_id(message) for message in range(len(log.document.capture))]


@pytest.mark.real
def test_a_long_line_comes_in_its_place_and_nothing_overtakes_it() -> None:
    log = GrowingLog()
    log.write(envelope(id="before"), LONG, envelope(id="after"), LONG, envelope(id="last"))
    polled(log, lambda: len(log.document.capture) == 5)
    assert ids(log) == ["before", "long", "after", "long", "last"]
    assert not log.document.poll()


@pytest.mark.real
def test_a_long_line_without_an_end_waits_for_it() -> None:
    log = GrowingLog()
    whole = lines_of(LONG)
    log.write_bytes(lines_of(envelope(id="before")) + whole[:-100])
    for _ in range(20):
        log.document.poll()
        time.sleep(0.02)
    assert ids(log) == ["before"]
    log.write_bytes(whole[-100:] + lines_of(envelope(id="after")))
    polled(log, lambda: len(log.document.capture) == 3)
    assert ids(log) == ["before", "long", "after"]


@pytest.mark.parametrize("torn", [False, True])
def test_the_end_of_a_session_reads_what_is_left(torn: bool) -> None:
    log = GrowingLog()
    log.write(envelope(id="before"), LONG, envelope(id="after"))
    if torn:
        log.write_bytes(b'{"kind":"chat","id":"torn')
    log.end()
    assert ids(log)[:3] == ["before", "long", "after"]
    assert len(log.document.capture) == (4 if torn else 3)


@pytest.mark.real
@pytest.mark.parametrize("torn", [False, True])
def test_while_a_window_opens_a_log_another_process_reads_a_long_line(torn: bool) -> None:
    lines = lines_of(envelope(id="before"), LONG, envelope(id="after"), LONG)
    path = log_file(lines[:-100] if torn else lines)
    document = CaptureDocument()
    with mock.patch.object(
        source_reader.BlockReader, "read_lines", autospec=True, side_effect=source_reader.BlockReader.read_lines
    ) as read:
        document.sources.waits = False
        for progress in document.open_log(path, block_bytes=LIVE_BLOCK_BYTES):
            if progress.waiting:
                time.sleep(0.01)
    found = [document.capture.records.envelope_id(message) for message in range(len(document.capture))]
    assert found == (["before", "long", "after", None] if torn else ["before", "long", "after", "long"])
    longest = max(len(call.args[1]) for call in read.call_args_list)
    assert (longest > LONG_LINE_BYTES) == torn  # what ends without an end is all that is left
    document.close()


def test_where_no_process_can_be_had_the_line_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **_options: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("inspector.base.workers.pool._Worker", refuse)
    log = GrowingLog()
    log.write(LONG, envelope(id="after"), LONG)
    polled(log, lambda: len(log.document.capture) == 3)
    assert ids(log) == ["long", "after", "long"]


def test_a_process_that_dies_does_not_lose_the_line() -> None:
    log = GrowingLog()
    log.write(LONG, envelope(id="after"))
    source_reader = log.document.sources._readers[0]._offloaded
    assert source_reader is not None
    source_reader._pool._workers[0]._process.terminate()
    polled(log, lambda: len(log.document.capture) == 2)
    assert ids(log) == ["long", "after"]
