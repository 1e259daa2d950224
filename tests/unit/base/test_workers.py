"""Worker processes: answers in order, cancelled and failed requests, ends of either side, and processes left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from inspector.base.workers import child_process, pool, serving
from inspector.base.workers.child_process import ChildProcess
from inspector.base.workers.pool import Answer, WorkerDiedError, WorkerPool
from inspector.base.workers.serving import CarriedState
from tests.conftest import MS
from tests.unit.base.worker_functions import collecting, deaf, failing_setup, odd, restore_state, working

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

LONG_S = 60.0
HUGE = 50 << 20


Pools = Callable[..., WorkerPool[Any]]


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> Generator[Pools]:
    """Makes pools, and ends them."""
    # A process that is spawned imports the main module again, pytest otherwise.
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", find_spec("inspector.__main__"))
    made: list[WorkerPool[Any]] = []

    def make(setup: Any = working, *args: Any, **options: Any) -> WorkerPool[Any]:
        made.append(WorkerPool(setup, *args, name="work", **options))
        return made[-1]

    yield make
    for one in made:
        one.end()
    assert none_is_left()


def none_is_left() -> bool:
    until = time.monotonic() + LONG_S
    while (left := multiprocessing.active_children()) and time.monotonic() < until:
        left[0].join(1)
    return not left


def answers_of(workers: WorkerPool[Any], count: int) -> list[Answer[Any]]:
    """Answers until some requests are done."""
    found: list[Answer[Any]] = []
    until = time.monotonic() + LONG_S
    while sum(one.is_last for one in found) < count:
        assert time.monotonic() < until, found
        found += workers.poll(1)
    return found


def make_ready(workers: WorkerPool[Any], room: int = 1) -> None:
    until = time.monotonic() + LONG_S
    workers.start()
    while workers.room < room:
        assert time.monotonic() < until
        assert workers.poll(1) == []


def is_gone(pid: int) -> bool:
    until = time.monotonic() + LONG_S
    while time.monotonic() < until:
        multiprocessing.active_children()  # reaps those that ended
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_answers_come_in_order_and_pieces_before_the_end(pools: Pools) -> None:
    workers = pools(working, 3)
    for key, request in enumerate([("times", 2), ("count down", 2), ("times", "ab"), ("raw", 4), ("raw", 0)]):
        workers.request(key, request)
    assert workers.pending == 5
    assert [tuple(one)[:3] for one in answers_of(workers, 5)] == [
        (0, 6, True), (1, 2, False), (1, 1, False), (1, None, True), (2, "ababab", True), (3, bytes(4), True),
        (4, b"", True),
    ]  # fmt: skip
    assert workers.pending == 0
    assert workers.poll(0) == []


def test_a_process_keeps_its_state_and_several_share_the_requests(pools: Pools) -> None:
    workers = pools(size=2, in_flight=2)
    make_ready(workers, room=4)
    assert len(workers.pids) == 2
    for key in range(4):
        workers.request(key, ("answered", None))
    assert workers.room == 0
    assert sorted(one.value for one in answers_of(workers, 4)) == [1, 1, 2, 2]
    assert workers.room == 4


def test_it_is_polled_without_waiting(pools: Pools) -> None:
    workers = pools()
    assert workers.poll() == []
    assert workers.poll(None) == []  # without a process there is no answer to wait for
    make_ready(workers)
    workers.request("slow", ("sleep", 0.5))
    began = time.monotonic()
    assert workers.poll() == []
    assert time.monotonic() - began < 0.4
    assert workers.poll(None) == [Answer("slow")]


@pytest.mark.parametrize("subject", ["raw", "raw pieces", "times"])
def test_huge_values_arrive_whole(pools: Pools, subject: str) -> None:
    workers = pools()
    workers.request("huge", (subject, bytes(HUGE) if subject == "times" else HUGE))
    found = answers_of(workers, 1)
    assert [len(one.value) for one in found if one.value is not None] == [HUGE] * (3 if subject == "raw pieces" else 1)


def test_large_requests_and_answers_do_not_wait_for_each_other(pools: Pools) -> None:
    """Without a thread that receives, both sides would wait for room in the pipe for ever."""
    workers = pools()
    make_ready(workers)
    for key in range(8):
        workers.request(key, ("times", bytes(4 << 20)))
    assert [len(one.value) for one in answers_of(workers, 8)] == [4 << 20] * 8


def test_few_answers_are_prepared_ahead(pools: Pools) -> None:
    workers = pools()
    workers.request(0, ("endless", bytes(1 << 20)))
    deadline = time.monotonic() + LONG_S
    while not workers.poll(1):
        assert time.monotonic() < deadline
    (pid,) = workers.pids
    if not Path("/proc").exists():
        pytest.skip("no list of memory")
    time.sleep(0.3)
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    assert pages * os.sysconf("SC_PAGE_SIZE") < 200 << 20


def test_a_function_that_raises_ends_its_request_alone(pools: Pools) -> None:
    workers = pools()
    workers.request(0, ("fail", KeyError("gone")))
    workers.request(1, ("fail after", 1))
    workers.request(2, ("unpicklable", None))
    workers.request(3, ("times", 1))
    failed, piece, later, unsent, good = answers_of(workers, 4)
    assert isinstance(failed.error, KeyError)
    assert failed.error.args == ("gone",)
    assert "in fail" in failed.error.__notes__[0]
    assert (piece.value, piece.is_last) == (b"piece", False)
    assert isinstance(later.error, ValueError)
    assert isinstance(unsent.error, TypeError)
    assert good == Answer(3, 1)
    assert (workers.deaths, workers.failure) == (0, None)


def test_an_error_that_cannot_be_sent_is_described(pools: Pools) -> None:
    workers = pools(odd)
    workers.request(0, None)
    (found,) = answers_of(workers, 1)
    assert type(found.error) is RuntimeError
    assert str(found.error) == "OddError: an error"


def test_a_cancelled_request_is_skipped_or_stops_at_the_next_piece(pools: Pools) -> None:
    workers = pools()
    workers.request("running", ("endless", b"piece"))
    workers.request("waiting", ("sleep", 10_000))
    while not (found := workers.poll(1)):
        pass
    assert found == [Answer("running", b"piece", is_last=False)]
    workers.cancel()
    workers.request("next", ("times", 1))
    assert answers_of(workers, 1) == [Answer("next", 1)]
    assert workers.pending == 0
    workers.request("last", ("answered", None))
    assert answers_of(workers, 1) == [Answer("last", 3)]
    assert workers.deaths == 0


def test_a_stream_has_pauses_and_is_cancelled_when_it_is_closed(pools: Pools) -> None:
    workers = pools()
    steps = workers.stream(("sleep", 0.2), 0.01)
    assert next(steps) is None
    assert set(steps) == {None}
    endless = workers.stream(("endless", b"piece"), 0.01)
    assert next(one for one in endless if one is not None) == b"piece"
    endless.close()
    assert [one for one in workers.stream(("count down", 3), 0.01) if one is not None] == [3, 2, 1]
    with pytest.raises(ValueError, match="no more pieces"):
        list(workers.stream(("fail after", 2), 0.01))
    assert [one for one in workers.stream(("answered", None), 1) if one is not None] == [5]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_process_answers_its_requests_with_one_error(pools: Pools) -> None:
    workers = pools(in_flight=2)
    make_ready(workers)
    workers.request("at it", ("sleep", 10_000))
    workers.request("behind", ("times", 1))
    (pid,) = workers.pids
    os.kill(pid, signal.SIGKILL)
    found = answers_of(workers, 2)
    assert [(one.key, one.was_running) for one in found] == [("at it", True), ("behind", False)]
    (error,) = {one.error for one in found}
    assert isinstance(error, WorkerDiedError)
    assert error.strerror == "the process to work has ended (killed by signal 9)"
    assert error.was_ready
    assert workers.failure is error
    assert workers.pids == []
    workers.start()
    workers.request("later", ("times", 1))
    assert answers_of(workers, 1) == [Answer("later", error=error)]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_request_to_a_process_that_has_died_is_answered_too(pools: Pools) -> None:
    workers = pools()
    make_ready(workers)
    process = workers._workers[0]._process
    process.kill()
    process.join()
    workers.request("late", ("times", 1))
    workers.request("later", ("times", 1))
    found = answers_of(workers, 2)
    assert [one.key for one in found] == ["late", "later"]
    assert all(isinstance(one.error, WorkerDiedError) for one in found)
    with pytest.raises(WorkerDiedError, match="has ended"):
        list(workers.stream(("times", 1), 0.01))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_one_death_leaves_the_others(pools: Pools) -> None:
    workers = pools(size=2, in_flight=1)
    make_ready(workers, room=2)
    os.kill(workers.pids[0], signal.SIGKILL)
    while workers.deaths == 0:
        workers.poll(1)
    assert workers.failure is not None
    workers.start()
    assert len(workers.pids) == 1
    workers.request(0, ("times", 7))
    assert answers_of(workers, 1) == [Answer(0, 7)]


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of descriptors")
def test_a_hundred_deaths_leave_no_process_descriptor_or_thread(pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = pools(size=3, restarts=100)
    threads, files = threading.active_count(), descriptors()
    sent = answered = 0
    while workers.deaths < 100:
        workers.start()
        workers.request(sent, ("sleep", 10_000))
        sent += 1
        os.kill(workers.pids[sent % len(workers.pids)], signal.SIGKILL)
        deaths = workers.deaths
        while workers.deaths == deaths:
            answered += len(workers.poll(1))
    assert workers.failure is None
    answered += len(workers.end())
    assert answered == sent
    assert none_is_left()
    until = time.monotonic() + LONG_S
    while (threading.active_count() > threads or descriptors() > files + 2) and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= threads
    assert descriptors() <= files + 2, "the resource tracker's own"
    workers.request("good", ("times", 1))
    assert answers_of(workers, 1) == [Answer("good", 1)]


def test_a_process_that_cannot_start_is_an_answer(pools: Pools) -> None:
    workers = pools(size=2)
    with mock.patch.object(pool, "_Worker", side_effect=OSError(11, "no more processes")):
        workers.start()
        assert workers.failure is not None
        with pytest.raises(WorkerDiedError, match="no more processes") as caught:
            list(workers.stream(("times", 1), 0))
        workers.request(0, ("times", 1))
    assert caught.value.errno == 11
    assert not caught.value.was_ready
    assert workers.end() == [0]


def test_fewer_processes_than_wanted_are_no_failure(pools: Pools) -> None:
    workers = pools(size=3)
    workers.start(1)
    with mock.patch.object(pool, "_Worker", side_effect=OSError(11, "no more processes")):
        workers.start()
    assert workers.failure is None
    workers.start()
    assert len(workers.pids) == 1


def test_a_setup_that_fails_is_the_reason(pools: Pools) -> None:
    workers = pools(failing_setup)
    workers.request(0, None)
    (found,) = answers_of(workers, 1)
    assert isinstance(found.error, WorkerDiedError)
    assert found.error.strerror == "the process to work has ended: no table"
    assert not found.error.was_ready
    assert isinstance(found.error.__cause__, LookupError)


def test_a_process_of_many_that_share_a_machine_starts_no_others(pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "_children_disabled", False)
    child_process.disable_children()
    assert child_process.are_children_disabled()
    workers = pools()
    workers.start()
    assert workers.failure is not None
    assert workers.failure.strerror == "this process starts no others"


def test_idle_processes_end_and_start_anew(pools: Pools) -> None:
    workers = pools(idle_s=0.0)
    workers.request(0, ("times", 1))
    assert answers_of(workers, 1) == [Answer(0, 1)]
    (pid,) = workers.pids
    assert workers.poll() == []
    assert not workers.pids
    assert is_gone(pid)
    workers.request(1, ("answered", None))
    assert answers_of(workers, 1) == [Answer(1, 1)]
    assert workers.deaths == 0


def test_the_end_returns_what_has_no_answer(pools: Pools) -> None:
    workers = pools(size=2)
    workers.start()
    for key in range(3):
        workers.request(key, ("sleep", 10_000))
    pids = workers.pids
    assert sorted(workers.end()) == [0, 1, 2]
    assert workers.end() == []
    assert all(map(is_gone, pids))
    assert workers.poll() == []


def test_the_collector_is_off_unless_the_setup_wants_it(pools: Pools) -> None:
    for setup, expected in ((working, False), (collecting, True)):
        assert [one for one in pools(setup).stream(("collects", None), 1) if one is not None] == [expected]


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="there processes have no such priority")
def test_a_process_stands_back_from_its_first_step(pools: Pools) -> None:
    workers = pools(nice=2)
    workers.start()
    here = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, workers.pids[0]) == min(here + 2, 19)
    assert [one for one in workers.stream(("nice", None), 1) if one is not None] == [min(here + 2, 19)]


def test_each_request_carries_the_present_state(pools: Pools) -> None:
    states = iter("abc")
    workers = pools(carried=CarriedState(lambda: next(states), restore_state))
    for key in "bc":
        workers.request(key, ("state", None))
    assert [one.value for one in answers_of(workers, 2)] == ["b", "c"]


_PARENT = """
import sys, time
from inspector.base.workers.pool import WorkerPool
from tests.unit.base.worker_functions import working
if __name__ == "__main__":
    pool = WorkerPool(working, name="work", size=2)
    pool.start()
    while pool.room < 2:
        pool.poll(1)
    pool.request(0, ("sleep", 10_000))
    print(*pool.pids, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no list of processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    """One of them is idle, the other one at work that does not look at the pipe."""
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pids = list(map(int, parent.stdout.readline().split()))
        parent.send_signal(number)
    assert len(pids) == 2
    until = time.monotonic() + LONG_S
    while any(map(is_alive, pids)) and time.monotonic() < until:
        time.sleep(10 * MS)
    assert not any(map(is_alive, pids))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


_PROGRAM = """
import os, signal
from inspector.base.workers.pool import WorkerPool
from tests.unit.base.worker_functions import working
if __name__ == "__main__":
    pool = WorkerPool(working, name="work")  # the first one of its program
    pool.start()
    while not pool.room:
        pool.poll(1)
    os.kill(pool.pids[0], signal.SIGINT)
    print(*(one for one in pool.stream(("times", 5), 1) if one is not None))
    pool.end()
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="there a process has no signals to block")
def test_the_first_process_of_a_program_hears_no_ctrl_c(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(_PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=200, check=False
    )
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="there a process cannot refuse to end")
def test_a_process_that_does_not_end_when_asked_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "_ENDING_S", 20.0)
    process = ChildProcess(deaf, name="deaf")
    assert process.connection.recv_bytes() == b""
    assert process.pid is not None
    joined: list[float | None] = []
    real = process._process.join

    def join(timeout: float | None = None) -> None:
        joined.append(timeout)
        real(0 if len(joined) == 1 else timeout)  # the test need not wait for what will not come

    monkeypatch.setattr(process._process, "join", join)
    process.end()
    assert process.end_thread is not None
    process.end_thread.join(60)
    assert joined == [20.0, 20.0]
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_values_of_one_message_and_of_two_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = multiprocessing.Pipe()
    for value in (None, b"", b"x", b"x" * 100, "text", list(range(50))):
        for limit in (0, 1 << 14):
            monkeypatch.setattr(serving, "_TOGETHER_BYTES", limit)
            messages = serving._encode(serving.PIECE, 1 << 40, value)
            assert len(messages) == (1 if limit else 2)
            for message in messages:
                theirs.send_bytes(message)
            assert serving.receive_message(ours.recv_bytes) == (serving.PIECE, 1 << 40, value)
            assert not ours.poll()
