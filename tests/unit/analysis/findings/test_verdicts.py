"""The gateway's verdicts beside a log, held against what the capabilities say as specified (docs/protocols.md 12)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.findings import Finding
from inspector.document.document import CaptureDocument
from tests.builders import delivered, lines_of, received, tool_call
from tests.findings import at, decision, gateway

CALLS = {"kind": "mcp/request", "payload": {"method": "tools/call"}}


def only(**payload: Any) -> dict[str, Any]:
    return {"kind": "mcp/request", "payload": payload}


def found_in(tmp_path: Path, lines: list[Any], verdicts: list[Any]) -> list[Finding]:
    log = tmp_path / "envelope-history.jsonl"
    log.write_bytes(lines_of(*lines))
    (tmp_path / "capability-decisions.jsonl").write_bytes(lines_of(*verdicts))
    document = CaptureDocument()
    document.load(log)
    found = list(document.analysis.findings.all())
    document.close()
    return found


def sent(tool: str = "delete_file", **fields: Any) -> dict[str, Any]:
    return received(tool_call(tool, **{"id": "m1", "sender": "coder", "ts": at(0), **fields}))


def told(tmp_path: Path, lines: list[Any], verdicts: list[Any]) -> dict[str, str]:
    return {found.code: found.text for found in found_in(tmp_path, lines, verdicts)}


def rows(document: CaptureDocument) -> list[int]:
    return [found.row for found in document.analysis.findings.all() if found.code == "allowed-without-capability"]


@pytest.mark.parametrize(
    ("result", "held", "code"),
    [
        ("allowed", only(params={"name": "!delete_*"}), "allowed-without-capability"),
        ("allowed", only(params={"name": "!read_*"}), None),
        ("allowed", only(params={"name": "delete_*"}), None),
        ("allowed", only(params={"limit": 3}), "allowed-without-capability"),
        ("denied", only(method="*/call"), "denied-despite-capability"),
        ("denied", only(params={"name": ["delete_file", "rm"]}), "denied-despite-capability"),
        ("denied", only(params={"name": "read_*"}), None),
        ("denied", {"kind": "chat"}, None),
    ],
    ids=str,
)
def test_payload_patterns(tmp_path: Path, result: str, held: Any, code: str | None) -> None:
    found = told(tmp_path, [sent()], [decision(result, {"kind": "chat"}, held)])
    assert (code in found) if code else not {"allowed-without-capability", "denied-despite-capability"} & found.keys()


def test_the_sentences_say_who_and_by_what(tmp_path: Path) -> None:
    held = only(params={"name": "!delete_*"})
    found = told(tmp_path, [sent()], [decision("allowed", held, matched_capability=held)])
    assert found["allowed-without-capability"] == (
        "The gateway allowed mcp/request from coder by "
        '{"kind":"mcp/request","payload":{"params":{"name":"!delete_*"}}},'
        " but by the specification no capability of the sender covers it."
    )


def test_refused_over_a_socket_only_the_kind_is_known(tmp_path: Path) -> None:
    error = delivered(
        gateway("system/error", {"error": "capability_violation", "attempted_kind": "mcp/request"},
                id="e1", to=["coder"], correlation_id=["m1"]), "coder",
    )  # fmt: skip
    for held, expected in (({"kind": "mcp/*"}, True), (CALLS, False), ({"kind": "chat"}, False)):
        found = told(tmp_path, [error], [decision("denied", held)])
        assert ("denied-despite-capability" in found) is expected


@pytest.mark.parametrize(
    "fields",
    [
        {"matched_source": "implicit"},
        {"granted_capabilities": None},
        {"participant": "somebody-else"},
        {"required_capability": "mcp/proposal"},
        {"result": "unknown"},
        {"envelope_id": "m2"},
        {"envelope_id": None},
    ],
    ids=str,
)
def test_what_cannot_be_judged_is_no_finding(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert "allowed-without-capability" in told(tmp_path, [sent()], [decision("allowed")])
    assert "allowed-without-capability" not in told(tmp_path, [sent()], [{**decision("allowed"), **fields}])


def test_the_same_verdict_counts_for_each_message(tmp_path: Path) -> None:
    numbers = range(300)
    lines = [sent(id=f"m{n}") for n in numbers]
    verdicts = [decision("allowed", {"kind": "chat"}, envelope_id=f"m{n}", metadata={"n": n}) for n in numbers]
    codes = [found.code for found in found_in(tmp_path, lines, verdicts)]
    assert codes.count("allowed-without-capability") == 300


def read_until(document: CaptureDocument, condition: Callable[[], bool]) -> None:
    """A followed log is looked at a few times a second."""
    deadline = time.monotonic() + 50
    while not condition() and time.monotonic() < deadline:
        document.poll()
        time.sleep(0.005)


def test_a_verdict_may_come_before_its_message_or_after(tmp_path: Path) -> None:
    log, beside = tmp_path / "envelope-history.jsonl", tmp_path / "capability-decisions.jsonl"
    log.write_bytes(lines_of(sent(id="m0")))
    beside.write_bytes(lines_of(decision("allowed", {"kind": "chat"})))
    document = CaptureDocument()
    for _ in document.open_log(log, follow=True):
        pass
    assert rows(document) == []
    with log.open("ab") as file:
        file.write(lines_of(sent(), sent(id="m3")))
    read_until(document, lambda: len(document.capture) == 3)
    document.analysis.catch_up()
    assert rows(document) == [1]
    with beside.open("ab") as file:
        file.write(lines_of(decision("allowed", {"kind": "chat"}, envelope_id="m3")))
    document.decisions._due = 0.0
    read_until(document, lambda: len(rows(document)) == 2)
    assert rows(document) == [1, 2]
    document.close()
