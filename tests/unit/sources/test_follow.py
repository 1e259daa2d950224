"""A log that grows and is rotated in every way: each line once, each rotation a row, old rows readable."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.sources import follow as follow_module
from inspector.sources.follow import LOST_ROWS, ROTATED_REASON, TRUNCATED_REASON
from inspector.store.files import spool as spool_module
from inspector.store.files.spool import Spool
from tests.builders import document_at, log_file
from tests.conftest import MS
from tests.samples import FORMAT_SAMPLES

TRACES = FORMAT_SAMPLES["otlp.jsonl"]
"""Children before their parents, calls of two agents."""


class Log:
    """A log under a writer's hands, and the document that follows it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "agent.jsonl"
        self.document = CaptureDocument()
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._number = 0

    def open(self) -> None:
        for _ in self.document.open_log(self.path, follow=True):
            pass

    def write(self, data: bytes) -> None:
        os.write(self._file, data)

    def say(self, *names: str) -> None:
        self.write(b"".join(line(name) for name in names))

    def rename(self) -> None:
        self._number += 1
        self.path.rename(self.path.with_suffix(f".{self._number}"))

    def create(self) -> int:
        """Make it anew and write there from now on; returns the file written to until now."""
        before, self._file = self._file, os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return before

    def truncate(self) -> None:
        """Empty it, as soon as the file system's clock, which may be coarse, tells that from what was written last."""
        written, clock = os.fstat(self._file).st_mtime_ns, self.path.with_name("clock")
        clock.touch()
        while clock.stat().st_mtime_ns <= written:
            time.sleep(0.001)
            clock.touch()
        os.ftruncate(self._file, 0)

    def said(self) -> list[str | None]:
        """Ids of what was read; of marks and unreadable lines why they are none."""
        capture = self.document.capture
        return [capture.records.envelope_id(m) or capture.records.reason(m) for m in range(len(capture))]

    def wait_for(self, *expected: str) -> None:
        """Let the document read until there are as many messages, and compare."""
        self.wait_until(lambda: len(self.document.capture) >= len(expected))
        assert self.said() == list(expected)

    def wait(self, seconds: float) -> None:
        """Let time pass, and the document read."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.document.poll()
            time.sleep(0.002)

    def wait_until(self, is_so: Callable[[], object]) -> None:
        """Let the document read until something is so, or very long."""
        until = time.monotonic() + 30_000 * MS
        while not is_so() and time.monotonic() < until:
            self.document.poll()
            time.sleep(0.002)

    def wait_for_trouble(self) -> None:
        """Let the document read until it says why it cannot."""
        self.wait_until(lambda: self.document.read_errors)

    def wait_until_copied(self) -> None:
        """From then on nobody can take what was read away."""
        self.wait_until(lambda: self.document.capture.sources[0].data_path != self.path)

    def wait_until_seen(self) -> None:
        """The file that took its place has been seen, and waits for its turn."""
        assert self.document.sources.followed is not None
        waiting = self.document.sources.followed._waiting
        self.wait_until(lambda: waiting)
        assert waiting

    def close(self) -> None:
        self.document.close()
        os.close(self._file)


def line(name: str) -> bytes:
    return json.dumps({"kind": "chat", "id": name, "from": "lead", "payload": {"text": "x" * 30}}).encode() + b"\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, twenty times as fast."""
    for name in ("POLL_S", "STILL_S", "GRACE_S", "OVERLAP_S"):
        monkeypatch.setattr(follow_module, name, getattr(follow_module, name) / 20 * (MS / 0.001))


NEVER = 1_000.0
"""In place of a time that is to be over only when the test says so, however busy the machine is."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path)
    yield log
    log.close()


def age(log: Log, seconds: float) -> None:
    """Make a log look as if nobody had written to it for some time."""
    then = time.time() - seconds
    os.utime(log.path, (then, then))


# Growth


def rows_of(document: CaptureDocument) -> list[str]:
    """What rows say of spans and calls, in no order."""
    fields = [FIELD_BY_NAME[name] for name in ("kind", "correlation", "context", "text", "tool", "state")]
    rows = range(len(document.capture))
    return sorted(repr([one.value(document.analysis, row) for one in fields]) for row in rows)


def test_spans_that_a_file_of_traces_gains_are_rows_as_if_all_had_lain_there(log: Log) -> None:
    data = TRACES.read_bytes()
    lines = data.splitlines(keepends=True)
    log.write(b"".join(lines[:4]) + lines[4][:40])
    log.open()
    assert len(log.document.capture) == len(document_at(log_file(b"".join(lines[:4]))).capture) + 1, "a torn line"
    rest = data[sum(map(len, lines[:4])) + 40 :].rstrip(b"\n")
    for start in range(0, len(rest), 5_000):
        log.write(rest[start : start + 5_000])
        log.wait(0.01)
    whole = document_at(TRACES)
    log.wait_until(lambda: len(log.document.capture) > len(whole.capture))
    torn = [text for text in rows_of(log.document) if text not in rows_of(whole)]
    assert len(torn) == 1
    assert sorted([*rows_of(whole), *torn]) == rows_of(log.document)
    assert tool_calls(log.document.analysis) == tool_calls(whole.analysis)
    log.rename()
    os.close(log.create())
    log.write(lines[0])
    log.wait_until(
        lambda: ROTATED_REASON in log.said() and log.said()[-1] is not None and log.said()[-1] != ROTATED_REASON
    )
    assert log.said().count(ROTATED_REASON) == 1


def test_what_a_log_gains_is_read(log: Log) -> None:
    log.say("a")
    log.open()
    assert log.said() == ["a"]
    log.say("b", "c")
    log.wait_for("a", "b", "c")
    assert log.document.is_arriving
    assert not log.document.live


def test_an_old_log_is_not_copied_until_it_grows(log: Log) -> None:
    log.say("a")
    age(log, 100)
    log.open()
    source = log.document.capture.sources[0]
    log.wait(0.05)
    assert (source.data_path, log.document.is_arriving) == (log.path, False)
    log.say("b")
    log.wait_for("a", "b")
    assert source.data_path != log.path
    assert log.document.capture.records.read_line_of(0) + b"\n" == line("a")


def test_a_torn_last_line_waits_until_it_has_stood_still(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    still_s = follow_module.STILL_S
    monkeypatch.setattr(follow_module, "STILL_S", NEVER)
    whole = line("b")
    log.write(line("a") + whole[:20])
    log.open()
    assert log.said() == ["a"]
    log.write(whole[20:] + whole[:8])
    log.wait_for("a", "b")
    monkeypatch.setattr(follow_module, "STILL_S", still_s)
    log.wait_for("a", "b", "JSON that is cut after 8 B")
    log.write(whole[8:] + line("c"))
    log.wait_for("a", "b", "JSON that is cut after 8 B", "b", "c")  # the row stays, and the line is read whole


def test_a_line_that_an_old_log_broke_off_in_is_read_whole_when_it_goes_on(log: Log) -> None:
    whole = line("b")
    log.write(line("a") + whole[:8])
    age(log, 100)
    log.open()
    assert log.said() == ["a", "JSON that is cut after 8 B"]
    log.write(whole[8:16])
    log.wait_for("a", "JSON that is cut after 8 B", "JSON that is cut after 16 B")
    log.write(whole[16:])
    log.wait_for("a", "JSON that is cut after 8 B", "JSON that is cut after 16 B", "b")
    assert log.document.capture.records.read_line_of(3) + b"\n" == whole


def test_an_old_log_without_a_last_line_end_is_read_to_its_end(log: Log) -> None:
    log.write(line("a") + line("b")[:-1])
    age(log, 100)
    log.open()
    assert log.said() == ["a", "b"]
    log.write(b"\n" + line("c"))
    log.wait_for("a", "b", "c")


def test_objects_that_share_a_line_which_goes_on_are_messages_once(log: Log) -> None:
    a, b, c = (line(name)[:-1] for name in "abc")
    log.write(a + b[:8])
    age(log, 100)
    log.open()
    assert log.said() == ["a", "JSON that is cut after 8 B"]
    log.write(b[8:])
    log.wait_for("a", "JSON that is cut after 8 B", "b")
    log.write(c)
    log.wait_for("a", "JSON that is cut after 8 B", "b", "c")
    assert log.document.capture.records.read_line_of(3) == c


def test_an_empty_log_is_followed_from_its_first_line(log: Log) -> None:
    log.open()
    log.say("a")
    log.wait_for("a")


def test_a_line_of_many_blocks_that_is_written_slowly(log: Log) -> None:
    log.say("a")
    log.open()
    long = line("b" * 300_000)
    for start in range(0, len(long), 100_000):
        log.write(long[start : start + 100_000])
        log.wait(0.01)
    log.wait_for("a", "b" * 300_000)


# Rotation


def test_renamed_and_made_anew_the_old_file_is_read_to_its_end_first(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    grace_s = follow_module.GRACE_S
    monkeypatch.setattr(follow_module, "GRACE_S", NEVER)
    monkeypatch.setattr(follow_module, "OVERLAP_S", NEVER)
    log.say("a")
    log.open()
    log.rename()
    log.say("b")
    before = log.create()
    log.say("new")
    log.wait_until_seen()
    os.write(before, line("late"))
    log.wait_for("a", "b", "late")
    monkeypatch.setattr(follow_module, "GRACE_S", grace_s)
    log.wait_for("a", "b", "late", ROTATED_REASON, "new")
    os.write(before, line("very late"))
    log.wait_for("a", "b", "late", ROTATED_REASON, "new", "very late")
    log.say("newer")
    log.wait_for("a", "b", "late", ROTATED_REASON, "new", "very late", "newer")
    os.close(before)
    assert log.document.capture.records.read_line_of(0) + b"\n" == line("a")
    assert log.document.sources.followed is not None
    assert log.document.sources.followed.rotations == 1


def test_truncated_in_place(log: Log) -> None:
    log.say("a", "b")
    log.open()
    log.wait_until_copied()
    log.truncate()
    log.wait_for("a", "b", TRUNCATED_REASON)
    log.say("c")
    log.wait_for("a", "b", TRUNCATED_REASON, "c")
    assert log.document.capture.records.read_line_of(1) + b"\n" == line("b")


def test_truncated_and_longer_again_before_anybody_looked(log: Log) -> None:
    log.say("a")
    log.open()
    log.wait_until_copied()
    log.truncate()
    log.say("b", "c", "d")
    log.wait_for("a", TRUNCATED_REASON, "b", "c", "d")


def test_truncated_before_it_could_be_copied_says_what_is_gone(log: Log) -> None:
    log.say("a", "b")
    age(log, 100)
    log.open()
    log.truncate()
    log.say("c")
    gone = "its file has become shorter since it was opened"
    log.wait_for(gone, gone, TRUNCATED_REASON + LOST_ROWS, "c")
    capture = log.document.capture
    assert capture.records.reason(1) == "its file has become shorter since it was opened"
    assert capture.strings[int(capture.columns["sender"][1])] == "lead"


def test_truncated_while_it_is_copied(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.say("a", "b")
    age(log, 100)
    log.open()
    fill_from = Spool.fill_from

    def half(spool: Spool, file: int, count: int, stopped: threading.Event) -> int:
        copied = fill_from(spool, file, count // 2, stopped)
        log.truncate()
        log.say("d")
        return copied

    monkeypatch.setattr(Spool, "fill_from", half)
    log.say("c")  # what makes it copy
    gone = "its file has become shorter since it was opened"
    log.wait_for(gone, gone, TRUNCATED_REASON + LOST_ROWS, "d")


def test_truncated_while_it_is_opened_reading_goes_on_with_what_is_new(log: Log) -> None:
    log.say(*(f"m{n}" for n in range(20)))
    age(log, 100)
    steps = log.document.open_log(log.path, follow=True, block_bytes=300)
    while not len(log.document.capture):
        next(steps)
    log.truncate()
    for _ in steps:
        pass
    log.say("new")
    read = len(log.document.capture)
    log.wait_for(*["its file has become shorter since it was opened"] * read, TRUNCATED_REASON + LOST_ROWS, "new")


def test_a_writer_that_does_not_append_leaves_a_hole(tmp_path: Path) -> None:
    log = Log(tmp_path)
    os.close(log.create())
    file = os.open(log.path, os.O_WRONLY)
    os.write(file, line("a"))
    log.open()
    log.wait_until_copied()
    os.ftruncate(file, 0)
    os.write(file, line("b"))
    log.wait_for("a", TRUNCATED_REASON, "b")
    os.close(file)
    log.close()


def test_deleted_and_made_anew(log: Log) -> None:
    log.say("a")
    log.open()
    log.path.unlink()
    log.say("b")
    log.wait_for("a", "b")
    os.close(log.create())
    log.say("c")
    log.wait_for("a", "b", ROTATED_REASON, "c")


def test_a_torn_line_before_a_rotation_stays_a_row_of_its_own(log: Log) -> None:
    log.say("a")
    log.open()
    log.write(b'{"torn":')
    log.rename()
    os.close(log.create())
    log.say("b")
    log.wait_for("a", "JSON that is cut after 8 B", ROTATED_REASON, "b")


def test_two_rotations_at_once(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    grace_s = follow_module.GRACE_S
    monkeypatch.setattr(follow_module, "GRACE_S", NEVER)
    monkeypatch.setattr(follow_module, "OVERLAP_S", NEVER)
    log.say("a")
    log.open()
    log.rename()
    os.close(log.create())
    log.say("b")
    log.wait_until_seen()  # the first has not had its turn when the second comes
    log.rename()
    os.close(log.create())
    log.say("c")
    log.wait_for("a", ROTATED_REASON, "b")
    monkeypatch.setattr(follow_module, "GRACE_S", grace_s)
    log.wait_for("a", ROTATED_REASON, "b", ROTATED_REASON, "c")


def test_a_rename_that_is_taken_back_is_no_rotation(log: Log) -> None:
    log.say("a")
    log.open()
    log.path.rename(log.path.with_suffix(".away"))
    log.wait(0.02)
    log.path.with_suffix(".away").rename(log.path)
    log.say("b")
    log.wait_for("a", "b")


steps = st.lists(
    st.one_of(
        st.integers(1, 4).map(lambda n: ("say", n)),
        st.integers(1, 60).map(lambda n: ("cut", n)),
        st.just(("rotate", 0)),
        st.just(("truncate", 0)),
    ),
    max_size=8,
)


@given(steps)
def test_any_writing_with_rotations_anywhere_gives_the_rows_of_its_pieces(steps: list[tuple[str, int]]) -> None:
    follow_module.STILL_S = NEVER  # `quick` puts it back
    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder))
        log.say("first")
        log.open()
        log.wait_until_copied()
        expected, number = ["first"], 0
        for step, count in steps:
            if step == "say":
                names = [f"m{number + n}" for n in range(count)]
                log.say(*names)
                number += count
                expected += names
            elif step == "cut":  # a line in two writes, with a look between them
                log.write(line(f"m{number}")[:count])
                log.wait(0.002)
                log.write(line(f"m{number}")[count:])
                expected.append(f"m{number}")
                number += 1
            elif step == "rotate" or log.path.stat().st_size:  # nobody sees that an empty file was emptied
                log.wait_for(*expected)
                if step == "rotate":
                    log.rename()
                    os.close(log.create())
                else:
                    log.truncate()
                expected.append(ROTATED_REASON if step == "rotate" else TRUNCATED_REASON)
        log.wait_for(*expected)
        log.wait(0.02)
        assert log.said() == expected
        log.close()


def test_verdicts_beside_a_followed_log_come_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.document.decision_log._EVERY_S", 0.0)
    log, beside = Log(tmp_path), tmp_path / "capability-decisions.jsonl"
    event = {"timestamp": "2026-01-05T09:00:00Z", "event": "received", "envelope": {"id": "a", "kind": "chat"}}
    log.write(json.dumps(event).encode() + b"\n")
    decision = {"event": "capability_check", "envelope_id": "a", "result": "allowed"}
    beside.write_bytes(json.dumps(decision).encode()[:40])
    log.open()
    assert log.document.decisions.decisions_on(0) == []
    with beside.open("ab") as file:
        file.write(json.dumps(decision).encode()[40:] + b"\n")
    log.wait_until(lambda: log.document.decisions.decisions_on(0))
    assert log.document.decisions.decisions_on(0) == [decision]
    log.close()


# Its end


def test_closing_ends_the_thread_and_removes_the_spool(log: Log) -> None:
    log.say("a")
    log.open()
    log.say("b")
    log.wait_for("a", "b")
    spool = log.document.capture.sources[0].data_path
    assert spool.exists()
    log.document.close()
    assert not spool.parent.exists()
    assert log.document.sources.followed is not None
    assert not log.document.sources.followed.is_following


def test_a_spool_that_is_taken_away_is_said_and_what_was_read_stays(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.say("a")
    age(log, 100)
    log.open()
    fill_from = Spool.fill_from

    def and_away(spool: Spool, *arguments: Any) -> int:
        copied = fill_from(spool, *arguments)
        shutil.rmtree(spool.path.parent)
        return copied

    monkeypatch.setattr(Spool, "fill_from", and_away)
    log.say("b")
    log.wait_for_trouble()
    assert log.document.read_errors == [
        "agent.jsonl is not followed any more: No such file or directory. Open it again to go on."
    ]
    assert log.said() == ["a"]


def test_a_full_disk_is_said_and_what_was_read_stays(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.say("a")
    age(log, 100)
    log.open()
    monkeypatch.setattr(spool_module, "free_bytes", lambda _folder: 1_000)
    log.say("b")
    log.wait_for_trouble()
    assert log.said() == ["a"]
    (trouble,) = log.document.read_errors
    assert trouble.startswith("agent.jsonl is not followed any more: the disk that holds ")
    assert not log.document.is_arriving
