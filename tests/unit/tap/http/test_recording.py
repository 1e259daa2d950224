"""Handing over what passes to a process that stands still: nobody waits for it longer than said, and it is told."""

from __future__ import annotations

from multiprocessing import Pipe
from typing import Any

import pytest

from inspector.tap.hold import FileHold
from inspector.tap.http import recording
from inspector.tap.http.recording import ProcessRecording
from tests.conftest import MS

MUCH = 4 << 20
"""More than a pipe holds that nobody reads."""


class StandsStill:
    """A process that takes nothing in until it is ended."""

    def __init__(self, *_serve: Any, name: str) -> None:
        self.connection, self._other = Pipe()

    def end(self) -> None:
        self._other.close()


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> tuple[ProcessRecording, list[str]]:
    monkeypatch.setattr(recording, "ChildProcess", StandsStill)
    monkeypatch.setattr(recording, "WRITE_S", 0.0)
    monkeypatch.setattr(recording, "_POLL_S", 5 * MS)
    monkeypatch.setattr(recording, "_STUCK_S", 50 * MS)
    said: list[str] = []
    made = ProcessRecording("a.ctxcap", FileHold(), origin={}, secrets_in=[], say=said.append)
    exchange = made.begin("GET", "/mcp", [])
    made.answered(exchange, bytes(MUCH))
    return made, said


def test_the_end_of_a_tap_waits_a_while_and_says_what_is_missing(stuck: tuple[ProcessRecording, list[str]]) -> None:
    made, said = stuck
    made.close("the tap ended")
    made._thread.join(10_000 * MS)
    assert not made._thread.is_alive()
    assert said == ["The capture is incomplete: the last messages are missing."]
