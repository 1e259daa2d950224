"""What was told wrongly of traffic that real agents had through the released gateway, told rightly."""

from __future__ import annotations

from pathlib import Path

from inspector.analysis.findings import Severity
from inspector.analysis.views.account.unanswered import is_pending
from inspector.document.document import CaptureDocument
from inspector.document.summary import participant_stories
from inspector.present.message_row import row_content
from tests.builders import document_at

LIVE = Path(__file__).parents[1] / "data" / "recordings" / "live"


def opened(name: str) -> CaptureDocument:
    return document_at(LIVE / name)


def codes(document: CaptureDocument) -> dict[str, int]:
    """How many findings of each code."""
    return document.analysis.findings.found.counts()


def test_our_own_answers_that_come_back_are_no_deliveries_to_us() -> None:
    assert codes(opened("repro-echo-as-delivery.ctxcap")) == {}


def test_departures_in_one_millisecond() -> None:
    document = opened("repro-presence-same-ms.jsonl")
    assert len(document.capture) == 3
    assert not any(one.here for one in document.analysis.participants.all.values())
    assert codes(document) == {}


def test_a_welcome_for_somebody_else_is_not_believed() -> None:
    document = opened("repro-spoofed-welcome.ctxcap")
    capture, analysis = document.capture, document.analysis
    assert codes(document) == {"system-from-participant": 1}
    assert [found.row for found in analysis.findings.all()] == [len(capture) - 1]
    ((space, _), intern), *_ = [(key, one) for key, one in analysis.participants.all.items() if key[1] == "intern"]
    held = analysis.capabilities.capabilities_of(space, "intern") or []
    assert {"kind": "*"} not in [one.capability for one in held]
    assert [one.confirmed for one in held] == [True, True, True, False]
    assert intern.capabilities == ["chat", "mcp/request:tools/list", "mcp/response"]
    row = row_content(document, len(capture) - 1)
    assert (row.sender, row.aside, row.severity) == ("system:gateway", "forged", Severity.ERROR)


def test_waits_and_usage_end_with_the_process() -> None:
    document = opened("repro-waits-outlive-process.ctxcap")
    assert not [row for row in range(len(document.capture)) if is_pending(document.analysis, row)]
    assert codes(document) == {"context-window-full": 1}
    assert [one["usage"] for one in participant_stories(document)] == [None] * 3
    assert {one.tokens for one in document.analysis.participants.all.values()} == {None}


def test_a_slow_link_is_no_wrong_clock() -> None:
    document = opened("slow-link-20kB.ctxcap")
    assert [(found.code, found.row, found.text) for found in document.analysis.findings.all()] == [
        ("messages-late", 433, "Messages of bench-a arrive late, this one 24 s after it was sent.")
    ]


def test_agents_that_answer_each_other_are_a_loop() -> None:
    document = opened("rec-1-chat-loop-begins.ctxcap.gz")
    assert codes(document)["chat-loop"] == 1
    (found,) = [one for one in document.analysis.findings.all() if one.code == "chat-loop"]
    assert (found.row, found.other) == (112, 53)
    assert found.text.startswith("control-agent, echo-agent and coordinator-agent sent 290 chats, 210.0 kB in 1 s, ")
