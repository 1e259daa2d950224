"""What waits of live traffic is read by another process: in order, once, and whatever happens to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from unittest import mock

import pytest

from inspector.document.document import CaptureDocument
from inspector.reading.files import source_reader
from inspector.reading.workers import offload
from tests.builders import GrowingLog, envelope, lines_of

LINES = [lines_of(envelope("chat", {"text": "x" * 400}, id=f"m{number}")) for number in range(3_000)]
LONG = {**envelope("chat", {"text": "x" * 200_000}, id="long")}


@pytest.fixture(autouse=True)
def little_is_a_backlog(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (offload, source_reader):
        monkeypatch.setattr(module, "BACKLOG_BYTES", 1 << 19)
    monkeypatch.setattr(offload, "WORTHWHILE_BYTES", 1 << 15)


def ids(log: GrowingLog) -> list[str | None]:
    return [log.document.capture.records.envelope_id(message) for message in range(len(log.document.capture))]


def polled(log: GrowingLog, enough: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not enough():
        assert time.monotonic() < until, len(log.document.capture)
        if not log.document.poll():
            time.sleep(0.002)


def with_a_process(log: GrowingLog) -> offload.OffloadedReader:
    """Write so much that a process is asked for, and wait until it is ready and has been given parts."""
    with log.path.open("ab") as file:
        file.write(b"".join(LINES))
    log.document.poll()
    backlog = log.document.sources._readers[0]._offloaded
    assert backlog is not None
    while not backlog._pool.room:
        backlog._pool.poll(60)
    polled(log, lambda: backlog.is_pending)
    return backlog


@pytest.mark.real
def test_what_waits_is_read_by_another_process_in_order_and_once() -> None:
    log = GrowingLog()
    backlog = with_a_process(log)
    with mock.patch.object(
        source_reader.BlockReader, "read_lines", autospec=True, side_effect=source_reader.BlockReader.read_lines
    ) as read:
        with log.path.open("ab") as file:
            file.write(lines_of(LONG, envelope(id="after")) + LINES[0][:-20])
        polled(log, lambda: len(log.document.capture) == len(LINES) + 2)
    assert ids(log) == [*(f"m{number}" for number in range(len(LINES))), "long", "after"]
    assert sum(len(call.args[1]) for call in read.call_args_list) < sum(map(len, LINES)) / 2
    assert not backlog.is_pending
    log.write_bytes(LINES[0][-20:])
    assert log.end().capture.record_count == len(LINES) + 3
    assert backlog.is_idle


@pytest.mark.real
@pytest.mark.parametrize("what", ["dies", "saved elsewhere", "session ends"])
def test_what_it_was_given_is_not_lost_with_it(what: str) -> None:
    log = GrowingLog()
    backlog = with_a_process(log)
    if what == "dies":
        backlog._pool._workers[0]._process.kill()
    elif what == "saved elsewhere":
        elsewhere = log.path.with_suffix(".saved")
        elsewhere.write_bytes(log.path.read_bytes() + lines_of(envelope(id="after")))
        log.document.sources._readers[0].source.move_to(elsewhere)
    else:
        log.end()
    wanted = [f"m{number}" for number in range(len(LINES))] + ["after"] * (what == "saved elsewhere")
    polled(log, lambda: len(log.document.capture) == len(wanted))
    assert ids(log) == wanted


@pytest.mark.real
def test_a_process_without_work_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    log = GrowingLog()
    backlog = with_a_process(log)
    monkeypatch.setattr(backlog._pool, "_idle_s", 0.0)
    polled(log, lambda: backlog.is_idle)
    assert len(log.document.capture) == len(LINES)


def said(piece: str) -> dict[str, object]:
    """A piece of what an agent says, which is one row with those before and behind it."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": piece}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}


@pytest.mark.real
def test_lines_that_mean_something_by_those_before_them_are_read_in_order() -> None:
    log = GrowingLog()
    with_a_process(log)
    pieces = [lines_of(said(f"piece {number} ")) for number in range(600)]
    rest = b"".join(LINES).replace(b'"id":"m', b'"id":"n')
    with log.path.open("ab") as file:
        file.write(rest[: len(rest) // 2].rpartition(b"\n")[0] + b"\n" + b"".join(pieces))
        file.write(rest[len(rest) // 2 :].partition(b"\n")[2])
    polled(log, lambda: log.document.sources._readers[0].source.read_to == log.path.stat().st_size)
    log.end()
    whole = CaptureDocument()
    whole.load(log.path)
    assert len(log.document.capture) == len(whole.capture)
    assert ids(log) == [whole.capture.records.envelope_id(message) for message in range(len(whole.capture))]
    whole.close()


def test_lines_that_mean_something_by_those_before_them_are_read_here() -> None:
    log = GrowingLog()
    log.write({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {}}})
    log.write_bytes(b"".join(LINES))
    assert log.document.sources._readers[0]._offloaded is None
    assert len(log.document.capture) == len(LINES) + 1
