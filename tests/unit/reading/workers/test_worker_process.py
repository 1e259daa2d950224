"""A process aside ends when it is told to, also one that does not listen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from inspector.reading.workers import worker_process
from inspector.reading.workers.worker_process import WorkerProcess

pytestmark = pytest.mark.real


def _deaf(connection: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(600)  # it outlives no test that is killed by much
    connection.send_bytes(b"")
    while True:
        signal.pause()


@pytest.mark.skipif(os.name == "nt", reason="there a process cannot refuse to end")
def test_a_process_that_does_not_end_when_asked_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_ENDING_S", 20.0)
    process = WorkerProcess(_deaf, name="deaf")
    assert process.receive() is None
    assert process.pid is not None
    joined: list[float | None] = []
    real = process._process.join

    def join(timeout: float | None = None) -> None:
        joined.append(timeout)
        real(0 if len(joined) == 1 else timeout)  # the test need not wait for what will not come

    monkeypatch.setattr(process._process, "join", join)
    process.end_process()
    assert process.end_thread is not None
    process.end_thread.join(60)
    assert joined == [20.0, 20.0]
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


_PROGRAM = """
import os, signal
import numpy as np
from inspector.tokens.worker import CountingProcess, LineBatch
if __name__ == "__main__":
    process = CountingProcess()  # the first one of its program
    assert process.receive_counts() is None
    os.kill(process.pid, signal.SIGINT)
    none = np.zeros(0, np.int64)
    process.request_counts(LineBatch("", (0, 0), none, none, none, (), none, texts=("word",)))
    print(len(process.receive_counts().texts))
    process.end_process()
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="there a process has no signals to block")
def test_the_first_process_of_a_program_hears_no_ctrl_c(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(_PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=200, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def _quiet(connection: Connection) -> None:
    connection.send_bytes(b"")
    connection.recv()


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="there processes have no such priority")
def test_a_process_stands_back_from_its_first_step() -> None:
    process = WorkerProcess(_quiet, name="quiet", nice=2)
    try:
        assert process.pid is not None
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(os.getpriority(os.PRIO_PROCESS, 0) + 2, 19)
    finally:
        process.end_process()
