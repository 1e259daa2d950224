"""Counting by other processes: the same counts, one death is made good, a second one is said, none outlives anybody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from inspector.analysis.passes.tokens.token_counting import TokenCounting
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.document.document import CaptureDocument
from tests.builders import document_of, envelope, lines_of, log_file, received, tool_call, tool_result
from tests.conftest import MS

# Processes are started one after the other, and stand back for all others.
pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

META = {"context": {"lifecycle": "transient", "summary": "12 records of a page"}}


def lines(count: int = 300) -> list[dict[str, Any] | str]:
    call = tool_call("search")
    said = [received(envelope("chat", {"text": f"message {n} of some"}, context=f"c{n % 5}")) for n in range(count)]
    return [*said, "{torn", received(call), received(tool_result(call, "word " * 50, meta=META)), "#s1#token"]


@pytest.fixture
def document() -> CaptureDocument:
    return document_of(*lines())


@pytest.fixture
def counting(document: CaptureDocument) -> Iterator[TokenCounting]:
    made = TokenCounting(document.capture, document.analysis.tokens)
    yield made
    made.end()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # it went between the two, or the system has no such files
        return not Path("/proc/self").exists()


def is_gone_soon(pid: int) -> bool:
    """Whether a process ends: it stands back for all others, so that even this may take it a while."""
    until = time.monotonic() + 60_000 * MS
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_alive(pid)


def finish(counting: TokenCounting) -> None:
    while not counting.go_on(10):
        pass


def test_the_same_as_counted_here(document: CaptureDocument, counting: TokenCounting) -> None:
    here = document_of(*lines())
    here.count_tokens()
    finish(counting)
    found = document.analysis.tokens
    assert found.columns["tokens"].tolist() == here.analysis.tokens.columns["tokens"].tolist()
    row = len(document.capture) - 2
    assert document.analysis.transients.summary(row) == "12 records of a page"
    assert found._summaries == {"12 records of a page": here.analysis.tokens.summary_tokens(row)}
    assert counting.failure_message is None


def test_it_is_started_when_it_is_needed_and_ends_when_told(document: CaptureDocument, counting: TokenCounting) -> None:
    assert counting.pids == []
    finish(counting)
    (pid,) = counting.pids
    assert is_alive(pid)
    counting.end()
    assert is_gone_soon(pid)


def kill(counting: TokenCounting) -> None:
    """Kill the process that counts at the first it is given: it is stopped before, or it would be done with it."""
    counting._pool.start()
    while not counting._pool.room:
        assert counting._pool.poll(10) == []
    (pid,) = counting.pids
    os.kill(pid, signal.SIGSTOP)
    counting._send_batches()
    assert counting._pool.pending
    os.kill(pid, signal.SIGKILL)


def test_a_death_is_made_good_and_a_third_one_ends_it(document: CaptureDocument, counting: TokenCounting) -> None:
    tokens = document.analysis.tokens
    for _ in range(2):
        kill(counting)
        finish(counting)
        assert tokens.done
        assert tokens.uncounted == 0  # also of what the process was at
        assert counting.failure_message is None
        tokens.reset()
        tokens.feed(0, len(document.capture))
    kill(counting)
    finish(counting)
    assert counting.failure_message is not None
    assert counting.failure_message.startswith(
        "Tokens are counted no further: the process that counts ended three times."
    )
    assert counting.pids == []
    assert counting.go_on()


def test_more_deaths_at_once_than_it_takes_to_give_up(counting: TokenCounting) -> None:
    counting._pool.size = 4
    counting._pool.start()
    for worker in counting._pool._workers:
        worker._process.kill()
    assert finish_within(counting, 10)
    assert counting.failure_message is not None
    assert counting.failure_message.startswith("Tokens are counted no further")
    assert counting.pids == []


def finish_within(counting: TokenCounting, steps: int) -> bool:
    return any(counting.go_on(10) for _ in range(steps))


def test_no_process_to_be_had_is_said(counting: TokenCounting) -> None:
    with mock.patch("inspector.base.workers.pool._Worker", side_effect=OSError(11, "no more processes")):
        assert counting.go_on()
    assert counting.failure_message == "Tokens are not counted: no process could be started for it, no more processes."


def test_half_of_what_kills_twice_is_left(document: CaptureDocument, counting: TokenCounting) -> None:
    count = len(document.capture)
    kill(counting)
    while not counting._again:
        counting.go_on(10)
    assert sum(map(len, counting._again)) == count
    kill(counting)
    finish(counting)
    tokens = document.analysis.tokens
    assert counting.failure_message is None
    assert tokens.done
    assert tokens.uncounted == count // 2
    assert (tokens.columns["tokens"][: count // 2] == NOT_COUNTED).all()


def test_another_file_of_that_name_is_not_read(document: CaptureDocument, counting: TokenCounting) -> None:
    path = document.path
    assert path is not None
    path.rename(path.with_suffix(".old"))
    path.write_bytes(b"x" * 100_000)
    finish(counting)
    assert (document.analysis.tokens.columns["tokens"] == NOT_COUNTED).all()
    assert document.analysis.tokens.done


_PARENT = """
import sys, time
from pathlib import Path
from inspector.document.document import CaptureDocument
if __name__ == "__main__":
    document = CaptureDocument()
    document.load(Path(sys.argv[1]))
    document.counting.go_on()
    print(document.counting.pids[0], flush=True)
    time.sleep(600)
"""


def test_it_does_not_outlive_the_program(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    path = log_file(lines_of(*lines()), "log.jsonl")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[5])}
    with subprocess.Popen(
        [sys.executable, str(script), str(path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    assert is_gone_soon(pid)


def test_a_document_ends_it_when_closed(document: CaptureDocument) -> None:
    document.counting.go_on()
    (pid,) = document.counting.pids
    document.close()
    assert is_gone_soon(pid)
    assert document.counting.go_on()


def test_many_processes_for_whoever_waits(document: CaptureDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.analysis.passes.tokens.token_counting._IN_PROCESS_BYTES", 1)
    document.count_tokens()
    assert document.analysis.tokens.done
    assert document.counting.pids == []
    assert document.analysis.tokens.counted == len(document.capture)
