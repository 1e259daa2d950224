"""A process aside ends when it is told to, also one that does not listen."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection

import pytest

from inspector.capture import helper
from inspector.capture.helper import HelperProcess


def _deaf(connection: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(600)  # it outlives no test that is killed by much
    connection.send_bytes(b"")
    while True:
        signal.pause()


@pytest.mark.skipif(os.name == "nt", reason="there a process cannot refuse to end")
def test_a_process_that_does_not_end_when_asked_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "_ENDING_S", 20.0)
    process = HelperProcess(_deaf, name="deaf")
    assert process.receive() is None
    assert process.pid is not None
    joined: list[float | None] = []
    real = process._process.join

    def join(timeout: float | None = None) -> None:
        joined.append(timeout)
        real(0 if len(joined) == 1 else timeout)  # the test need not wait for what will not come

    monkeypatch.setattr(process._process, "join", join)
    process.end()
    assert joined == [20.0, 20.0]
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
