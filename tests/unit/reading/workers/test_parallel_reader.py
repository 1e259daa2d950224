"""Large files read by several processes: the same messages as read by one, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.workers.pool import WorkerDiedError, WorkerPool
from inspector.document.document import CaptureDocument
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.workers import parallel_reader
from inspector.reading.workers.part_reader import part_pool, read_part
from inspector.store.columns.block import Block
from inspector.store.files.source_files import SourceFile
from tests.builders import delivered, envelope, lines_of, received
from tests.strategies import logs
from tests.unit.reading.decoder.test_fast_path import rows_of


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gateway log of some parts, with spoilt lines and some that are longer than a part."""
    lines: list[dict[str, Any] | str] = []
    for number in range(120):
        inner = envelope(id=f"m{number}", context=f"why-{number % 7}")
        lines += [received(inner), delivered(inner, "files"), delivered(inner, "human")]
        if number % 40 == 0:
            lines += ["{torn", envelope(payload={"text": "x" * 9_000})]
    path = tmp_path_factory.mktemp("parallel") / "log.jsonl"
    path.write_bytes(lines_of(*lines))
    return path


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_reader, "PART_BYTES", 4_000)
    monkeypatch.setattr(parallel_reader, "OWN_PART_BYTES", 2_000)
    monkeypatch.setattr("inspector.reading.files.source_reader.WORTHWHILE_BYTES", 1)


@pytest.fixture
def ready_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are ready at once: else a log as short as this one may be read before they are."""
    start = WorkerPool.start

    def start_and_wait(pool: WorkerPool[int], most: int | None = None) -> None:
        start(pool, most)
        for worker in pool._workers:
            while not worker.is_ready:
                assert pool._receive(worker) == []

    monkeypatch.setattr(WorkerPool, "start", start_and_wait)


def none_is_left() -> bool:
    """Whether the processes that read end: they stand back for all others, so that even this may take a while."""
    until = time.monotonic() + 50
    while (left := multiprocessing.active_children()) and time.monotonic() < until:
        left[0].join(1)
    return not left


def listed(document: CaptureDocument) -> list[tuple[object, ...]]:
    """What is in it; the document is closed."""
    capture = document.capture
    found: list[tuple[object, ...]] = [
        (
            capture.records.read_line_of(row),
            capture.records.envelope_id(row),
            capture.string("kind", row),
            len(capture.deliveries.recipients(row)),
        )
        for row in range(len(capture))
    ]
    document.close()
    return found


@pytest.fixture(scope="module")
def plain(log: Path) -> list[tuple[object, ...]]:
    """What is in it, read by this process alone."""
    document = CaptureDocument()
    document.load(log)
    return listed(document)


@pytest.mark.usefixtures("small_parts", "ready_readers")
@pytest.mark.parametrize("readers", [0, 2])
@pytest.mark.real
def test_the_same_messages(
    log: Path, plain: list[tuple[object, ...]], readers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_reader, "reader_count", lambda: readers)
    document = CaptureDocument()
    document.load(log)
    assert listed(document) == plain
    assert document.capture.sources[0].read_to == log.stat().st_size
    assert none_is_left()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.real
def test_without_waiting_it_says_that_it_waits(log: Path, plain: list[tuple[object, ...]]) -> None:
    document = CaptureDocument()
    document.sources.waits = False
    steps = list(document.open_log(log))
    assert [step.messages for step in steps] == sorted(step.messages for step in steps)
    assert not steps[-1].waiting
    assert listed(document) == plain


@pytest.mark.usefixtures("small_parts")
@pytest.mark.real
def test_stopped_half_way_what_was_read_stays(log: Path, plain: list[tuple[object, ...]]) -> None:
    document = CaptureDocument()
    steps = document.open_log(log)
    while next(steps).messages < 100:
        pass
    steps.close()
    assert none_is_left()
    found = len(document.capture)
    assert [row[:3] for row in listed(document)] == [row[:3] for row in plain[:found]]


@pytest.mark.usefixtures("small_parts", "ready_readers")
@pytest.mark.real
def test_a_process_that_dies_is_stood_in_for(log: Path, plain: list[tuple[object, ...]]) -> None:
    document = CaptureDocument()
    killed = 0
    for step in document.open_log(log):
        for child in multiprocessing.active_children() if step.messages > 50 else ():
            child.kill()
            killed += 1
    assert killed
    assert listed(document) == plain


@pytest.mark.usefixtures("small_parts", "ready_readers")
@pytest.mark.real
def test_processes_that_die_between_two_parts_are_stood_in_for(
    log: Path, plain: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is given to a process that has just died is refused by the pipe, not answered with its end."""
    give, given = WorkerPool.request, 0

    def kill_first(pool: WorkerPool[int], number: int, part: tuple[int, int]) -> None:
        nonlocal given
        given += 1
        if given > 3:
            for worker in pool._workers:
                worker._process.kill()
                worker._process.join()
        give(pool, number, part)

    monkeypatch.setattr(WorkerPool, "request", kill_first)
    document = CaptureDocument()
    document.load(log)
    assert given > 3
    assert listed(document) == plain


@pytest.mark.usefixtures("small_parts")
@pytest.mark.real
def test_blocks_do_not_pile_up_behind_one_that_takes_long(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = SourceFile(log)
    reading = parallel_reader._PartScheduler(source, 0, source.size, 2)
    reading.pool.start()
    while reading.pool.room < 2 * parallel_reader._PARTS_PER_WORKER:
        reading.pool.poll(None)
    monkeypatch.setattr(reading, "_receive", lambda _timeout: None)  # the first of them never comes
    assert [reading.next_block(wait=False) for _ in range(50)] == [None] * 50
    assert 0 < len(reading._order) <= 2 * parallel_reader._PARTS_AHEAD
    reading.pool.end()
    source.close()


@pytest.mark.real
def test_a_line_too_long_for_a_window_waits_for_the_process_that_is_being_started(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(envelope(), envelope(payload={"text": "x" * (2 << 20)}), envelope()))
    source = SourceFile(log)
    reading = parallel_reader._PartScheduler(source, 0, source.size, 1)
    assert reading.next_block(wait=False) is None, "read here, though the window stands still meanwhile"
    counts = [len(block) for block in iter_blocks(reading)]
    assert sum(counts) == 3
    reading.pool.end()
    source.close()


def test_such_a_line_is_read_here_when_no_process_ever_gets_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(envelope(payload={"text": "x" * (2 << 20)})))
    source = SourceFile(log)
    monkeypatch.setattr(parallel_reader, "_START_TIMEOUT_S", -1)
    monkeypatch.setattr(parallel_reader._PartScheduler, "_receive", lambda self, timeout: None)
    reading = parallel_reader._PartScheduler(source, 0, source.size, 1)
    block = reading.next_block(wait=False)
    assert block is not None
    assert len(block) == 1
    reading.pool.end()
    source.close()


def iter_blocks(reading: parallel_reader._PartScheduler) -> Iterator[Block]:
    """Blocks until all is read, as a window asks for them."""
    while reading.is_unfinished:
        block = reading.next_block(wait=False)
        if block is None:
            reading._receive(0.05)
        else:
            yield block


def test_blank_lines_do_not_make_parts_of_a_few_bytes(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(envelope()) + b"\n" * (1 << 20))
    source = SourceFile(log)
    assert len(list(parallel_reader.read_blocks(source, 0, source.size, readers=0))) < 20
    source.close()


def test_parts_of_short_lines_are_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_reader, "_MAX_LINES", 50)
    monkeypatch.setattr(parallel_reader, "_MIN_PART_BYTES", 1)
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(envelope(payload={"text": "x" * 90})) + b"{}\n" * 1_000)
    source = SourceFile(log)
    blocks = parallel_reader.read_blocks(source, 0, source.size, readers=0)
    counts = [len(block) for block in blocks if block is not None]
    assert sum(counts) == 1_001
    assert max(counts) <= 100
    source.close()


def test_parts_are_smaller_where_what_they_hold_takes_long_to_be_taken_in() -> None:
    pace = parallel_reader.Pace()
    begun = pace.line_limit
    for _ in range(10):
        pace.record_part(pace.line_limit, 1e-6 * pace.line_limit)
    cheap = pace.line_limit
    pace.record_part(pace.line_limit, 100e-6 * pace.line_limit)
    assert begun == pace.line_limit < cheap
    pace.record_part(0, 1.0)  # a part without a line says nothing
    assert pace.line_limit == begun


@pytest.mark.usefixtures("small_parts")
def test_without_processes_to_be_had_it_reads_alone(log: Path, plain: list[tuple[object, ...]]) -> None:
    with mock.patch("inspector.base.workers.pool._Worker", side_effect=OSError):
        document = CaptureDocument()
        document.load(log)
    assert listed(document) == plain


@pytest.mark.real
def test_a_process_that_finds_another_file_reads_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(envelope()))
    source = SourceFile(log)
    log.rename(log.with_suffix(".1"))
    log.write_bytes(b"")
    pool = part_pool(source, 0)
    with pytest.raises(WorkerDiedError, match="the file was replaced"):
        list(pool.stream((0, 1), 1))
    pool.end()
    source.close()


@given(logs, st.lists(st.integers(0, 400), max_size=5))
def test_parts_cut_anywhere_hold_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("parts") / "log"
    path.write_bytes(data)
    source = SourceFile(path)
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    with mock.patch.multiple("inspector.reading.workers.part_reader", RUN_LINES=1, _PROBE_BYTES=16):
        blocks = [read_part(source, 0, a, b) for a, b in pairwise(edges)]
    source.close()
    whole = BlockReader(0).read_lines(data[: data.rfind(b"\n") + 1], 0)
    assert [row for block in blocks for row in rows_of(block)] == rows_of(whole)
    assert max((block.stop for block in blocks), default=0) == data.rfind(b"\n") + 1
    path.unlink()
