"""Messages that only a gateway may send, and lines that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import document_at, envelope, grown_log, log_file
from tests.unit.analysis.findings.checked_logs import told_either_way


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


_CALL = '2026-01-05T09:00:00Z [files] [info] Message from client: {"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["2026-01-05T09:00:00Z [files] [info] Starting", _CALL, "npm error 404", "  event: {", "  code: -1"], []),
        (["Starting", _CALL, '2026-01-05T09:00:01Z [files] [info] Message from server: {"jsonrpc":"2.0","id'], [3]),
        (["Starting", '{"jsonrpc":"2.0","id":1,"method":"ping"}'], [1]),
    ],
)
def test_text_is_usual_in_a_log_with_prefixes_alone(lines: list[str], found: list[int]) -> None:
    document = document_at(log_file("\n".join(lines).encode(), "mcp.log"))
    assert [one.row + 1 for one in document.analysis.findings.all() if one.code == "unreadable"] == found
    log = grown_log(lines)
    assert [one.row + 1 for one in log.end().analysis.findings.all() if one.code == "unreadable"] == found
