"""Messages that only a gateway may send."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import envelope
from tests.unit.analysis.findings.told import told_either_way


def presence(event: str, about: Any, kind: str = "presence") -> dict[str, Any]:
    return envelope(kind, {"event": event, "participant": about}, sender="calc", protocol="mcp-x/v0")


def test_clients_of_v0_0_say_that_they_are_still_there() -> None:
    beat = presence("heartbeat", {"id": "calc", "name": "Calc", "kind": "agent"})
    assert told_either_way(beat, presence("heartbeat", {"id": "calc"})) == []


@pytest.mark.parametrize(
    "line",
    [
        presence("heartbeat", {"id": "lead"}),
        presence("heartbeat", {"id": "calc"}, kind="system/presence"),
        presence("join", {"id": "calc"}),
        presence("heartbeat", "calc"),
        presence("heartbeat", None),
    ],
)
def test_nothing_else_of_a_gateway(line: dict[str, Any]) -> None:
    assert told_either_way(line) == [("system-from-participant", 1)]


def test_released_agents_answer_pings() -> None:
    ping = envelope("system/ping", {}, sender="system:gateway")
    assert told_either_way(ping, envelope("system/pong", {}, sender="echo", correlation_id=[ping["id"]])) == []
    assert told_either_way(envelope("system/ping", {}, sender="echo")) == [("system-from-participant", 1)]
