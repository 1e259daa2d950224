"""In which order a connection's frames, marks and gaps reach the capture."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.sources import recorder as module
from inspector.sources.recorder import Recorder
from inspector.store.files.capture_writer import CaptureWriter


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[CaptureWriter]:
    writer = CaptureWriter(tmp_path / "a.ctxcap", origin={})
    yield writer
    writer.close()


@pytest.fixture
def recorder(writer: CaptureWriter) -> Recorder:
    ticks = itertools.count(1)
    return Recorder(writer, lambda: next(ticks))


def told(writer: CaptureWriter) -> list[str]:
    writer.flush()
    lines = [json.loads(line) for line in writer.path.read_bytes().splitlines()[1:]]
    return [line.get("mark") or line.get("text") or line["frame"]["n"] for line in lines]


def test_frames_and_marks_go_straight_to_the_capture(recorder: Recorder, writer: CaptureWriter) -> None:
    recorder.record_mark("opened")
    recorder.record_sent('{"n":"join"}')
    recorder.record_received('{"n":"one"}')
    recorder.record_received(b"#s#two")
    assert told(writer) == ["opened", "join", "one", "#s#two"]
    assert (recorder.recorded, recorder.gaps, recorder.last_in_ns) == (3, 0, 4)


def test_a_gap_stands_before_what_was_held_back(recorder: Recorder, writer: CaptureWriter) -> None:
    recorder.record_received('{"n":"one"}')
    recorder.begin_gap(1, lambda: "It was lost.")
    recorder.record_mark("opened")
    recorder.record_sent('{"n":"join"}')
    recorder.record_received('{"n":"two"}')
    assert told(writer) == ["one"]
    recorder.end_gap()
    recorder.end_gap()
    recorder.record_received('{"n":"three"}')
    assert told(writer) == ["one", "gap", "opened", "join", "two", "three"]
    assert (recorder.recorded, recorder.gaps) == (5, 1)


def test_an_attempt_nobody_answered_leaves_no_trace(recorder: Recorder, writer: CaptureWriter) -> None:
    recorder.begin_gap(1, lambda: "It was lost.")
    for _attempt in range(3):
        recorder.record_mark("opened")
        recorder.record_sent('{"n":"join"}')
        recorder.drop_held()
    recorder.end_gap()
    assert told(writer) == ["gap"]


def test_an_attempt_that_was_answered_is_kept_and_the_gap_goes_on(recorder: Recorder, writer: CaptureWriter) -> None:
    recorder.begin_gap(1, lambda: "It was lost.")
    recorder.record_received('{"n":"not ready"}')
    recorder.keep_held()
    recorder.record_mark("opened")
    recorder.drop_held()
    recorder.begin_gap(9, lambda: "It is another.")
    recorder.record_received('{"n":"welcome"}')
    assert told(writer) == []
    recorder.end_gap()
    assert told(writer) == ["gap", "not ready", "welcome"]
    assert b"It was lost." in writer.path.read_bytes()


def test_of_attempts_that_fail_for_hours_not_all_is_kept(
    recorder: Recorder, writer: CaptureWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_HELD_BYTES", 1000)
    recorder.begin_gap(1, lambda: "It was lost.")
    for number in range(1000):
        recorder.record_received(f'{{"n":"{number}"}}')
        recorder.keep_held()
    recorder.record_received('{"n":"welcome"}')
    recorder.end_gap()
    assert told(writer) == ["gap", "0", "1", "2", "3", "welcome"]


def test_an_attempt_that_brings_much_ends_the_gap(
    recorder: Recorder, writer: CaptureWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_HELD_BYTES", 1000)
    recorder.begin_gap(1, lambda: "It was lost.")
    for _frame in range(6):
        recorder.record_received('{"n":"much"}')
    assert told(writer) == ["gap", *["much"] * 6]
    recorder.end_gap()
    recorder.keep_held()
    recorder.begin_gap(9, lambda: "It was lost.")  # it was no way back all the same
    recorder.end_gap()
    assert told(writer)[-1] == "gap"
    assert recorder.gaps == 2


def test_a_frame_has_the_time_its_last_byte_came(writer: CaptureWriter) -> None:
    clock = iter((100, 110, 120, 50, 60))
    recorder = Recorder(writer, lambda: next(clock))
    recorder.record_received('{"n":"one"}', 90)
    recorder.record_received('{"n":"two"}', 85)  # they follow each other
    recorder.record_received('{"n":"three"}')
    recorder.record_received('{"n":"four"}', 119)  # the clock was set back
    recorder.record_received('{"n":"five"}', 55)
    writer.flush()
    lines = [json.loads(line) for line in writer.path.read_bytes().splitlines()[1:]]
    assert [line["t"] for line in lines] == [90, 90, 120, 50, 55]
