"""The pass as a whole: any batches give the same, and real traffic gives what is true of it and no more."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector import analysis
from inspector.analysis.findings import finding_pass
from inspector.analysis.findings.kinds_and_lines import KindsAndLines
from inspector.base.slices import run_step, run_to_end
from inspector.document.document import CaptureDocument
from tests.builders import (
    GrowingLog,
    clean_up,
    delivered,
    document_at,
    document_of,
    envelope,
    lines_of,
    log_file,
    received,
    tool_call,
    tool_result,
)
from tests.findings import CASES
from tests.strategies import context_conversations, conversations, gateway_logs, rpc_conversations
from tests.strategies import traffic as late_traffic

DATA = Path(__file__).parents[3] / "data"


def told(document: CaptureDocument) -> list[tuple[Any, ...]]:
    findings = document.analysis.findings
    return sorted((found.code, found.row, found.other or -1, found.text) for found in findings.all())


@st.composite
def cases(draw: st.DrawFn) -> list[Any]:
    """Captures of some checks, what mends them included, one after the other or mixed up."""
    chosen = [CASES[code] for code in draw(st.lists(st.sampled_from(SMALL), min_size=1, max_size=4))]
    lines = [line for case in chosen for line in (*case.wrong, *case.mended)]
    return draw(st.permutations(lines)) if draw(st.booleans()) else lines


SMALL = [code for code, case in CASES.items() if len(case.wrong) < 20 and not code.startswith("msp-")]
"""Documents of sessions do not come in batches."""
traffic = st.one_of(
    cases(), cases(), conversations, context_conversations, rpc_conversations, gateway_logs(), late_traffic()
)


_AGAIN = CASES["tool-fails-again"].wrong
_REFUSED = tool_call("grep", id="f", sender="files", correlation_id=["p"])
_PROPOSED = envelope("mcp/proposal", {"method": "tools/call", "params": {"name": "grep"}}, id="p")


_ANNOUNCED = envelope("chat", {"message": "why"}, id="a", sender="system:gateway")


@given(traffic, st.integers(1, 5))
@example([delivered(_ANNOUNCED, "lead")] * 2 + [received(_ANNOUNCED), envelope(context=7)], 1)
@example([*_AGAIN[:9], _AGAIN[10], _AGAIN[9]], 1)  # the fifth result stands before its call
@example(
    [received(tool_result(tool_call("grep", id="q"), id="r"), event="rejected"), received(tool_call("grep", id="q"))], 1
)
@example([received(_REFUSED, event="rejected"), received(_PROPOSED), received(_REFUSED)], 1)
def test_any_batches_give_the_same(lines: list[Any], size: int) -> None:
    log = GrowingLog()
    for place in range(0, len(lines), size):
        log.write(*lines[place : place + size])
    assert told(log.end()) == told(document_of(*lines))
    clean_up()


@given(traffic)
def test_what_was_left_for_later_is_looked_at_in_the_end(lines: list[Any]) -> None:
    document = CaptureDocument()
    for _ in document.open_log(log_file(lines_of(envelope(), *lines)), block_bytes=300):
        pass
    run_to_end(document.postponed_checks())
    assert told(document) == told(document_of(envelope(), *lines))
    document.close()
    clean_up()


@given(st.one_of(cases(), conversations, context_conversations), st.lists(st.booleans(), min_size=1, max_size=5))
def test_in_slices_the_checks_find_the_same(lines: list[Any], looks: list[bool]) -> None:
    document = CaptureDocument()
    with (
        mock.patch.object(analysis, "_SLICE_S", 0.0),
        mock.patch.object(finding_pass, "_ROUND_MESSAGES", 3),
        mock.patch.object(finding_pass, "_MIN_STEPPED_ROUND", 1),
    ):
        for step, _ in enumerate(document.open_log(log_file(lines_of(*lines)), block_bytes=300)):
            if looks[step % len(looks)]:  # as a window does where it has a moment
                run_step(document.postponed_checks())
    run_to_end(document.postponed_checks())
    assert told(document) == told(document_of(*lines))
    document.close()
    clean_up()


def test_of_many_messages_a_step_is_one_topic() -> None:
    document, most = CaptureDocument(), 0
    fed: list[int] = []
    with (
        mock.patch.object(finding_pass, "_MIN_STEPPED_ROUND", 100),
        mock.patch.object(finding_pass, "_ROUND_MESSAGES", 200),
    ):
        for topic in document.analysis.findings._topics.values():
            topic.feed = fed.append  # type: ignore[method-assign]
        for _ in document.open_log(log_file(lines_of(*[envelope()] * 500)), block_bytes=1_000):
            most = max(most, len(fed))
            fed.clear()
    assert most == 1
    document.close()


def test_live_a_turn_is_one_topic_and_nothing_is_left_out() -> None:
    log = GrowingLog()
    with mock.patch.object(finding_pass, "_MIN_STEPPED_ROUND", 10):
        with log.path.open("ab") as file:
            file.write(
                lines_of(*[tool_call("grep", ts="2026-01-05T09:00:00.000Z")] * 40, tool_call("rm", ts="nonsense"))
            )
        polls = 0
        while log.document.poll():
            polls += 1
            assert log.document.has_backlog or not log.document.analysis.findings.is_round_open
    assert polls > len(log.document.analysis.findings._topics)
    assert told(log.end()) == told(document_of(log.path.read_bytes()))


@given(traffic)
def test_columns_and_findings_agree(lines: list[Any]) -> None:
    found = document_of(*lines).analysis.findings.found
    of_rows = [code for number in found.columns["set"].tolist() for code in found.sets[number]]
    assert {code: of_rows.count(code) for code in of_rows} == found.counts()
    assert len(of_rows) == len(found)
    clean_up()


def test_time_passes_without_traffic() -> None:
    log = GrowingLog()
    log.write(tool_call("grep", ts="2026-01-05T09:00:00.000Z"))
    analysis = log.document.analysis
    sent = int(log.document.capture.columns["time_ns"][0])
    for seconds, expected in ((15, []), (16, [0])):
        analysis.now_ns = sent + seconds * 1_000_000_000
        assert analysis.catch_up().changed.tolist() == expected
    assert analysis.findings.found.counts() == {"request-unanswered": 1}


def test_time_alone_leaves_nothing_to_be_done_later() -> None:
    document = document_of(tool_call("grep"))
    for topic in document.analysis.findings._deferred_topics.values():
        topic.deferred_checks = mock.Mock(side_effect=AssertionError)  # type: ignore[method-assign]
    document.analysis.now_ns = 10**18
    document.catch_up()
    assert run_step(document.postponed_checks())
    assert not document.failed_checks


def codes_at(path: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for finding in document_at(DATA / path).analysis.findings.all():
        found.setdefault(finding.code, []).append(finding.row + 1)
    return found


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("captures/demo-round.ctxcap", {"context-window-full": [97]}),
        ("recordings/mcp-rune/01-loop-current-names.jsonl", {"consumed-nothing": [25]}),
        ("recordings/mcp-rune/04-three-pending.jsonl", {"consumed-nothing": [21]}),
        ("recordings/mcp-rune/05-consumer-errors.jsonl", {"mcp-arguments-invalid": [10, 16]}),
        # The agent asks everybody for tools/list, and two never answer; cancelled, it concludes twice outside.
        ("recordings/mew/coding-agent/envelope-history.jsonl",
         {"request-unanswered": [22, 34], "reasoning-without-context": [48, 50]}),
        ("recordings/mew/coding-agent/capability-decisions.jsonl", {}),
        ("recordings/mew/scenario-1-basic/envelope-history.jsonl", {"correlation-wrong-type": [6]}),
        (
            "recordings/mew/scenario-2-mcp/envelope-history.jsonl",
            {"correlation-wrong-type": [6], "mcp-tool-unlisted": [15]},
        ),
        ("recordings/mew/scenario-2-mcp/logs/test-client-output.log", {"mcp-tool-unlisted": [12]}),
        ("recordings/mew/scenario-3-proposals/envelope-history.jsonl", {"correlation-wrong-type": [10]}),
        ("recordings/mew/scenario-5-reasoning/envelope-history.jsonl", {"correlation-wrong-type": [9]}),
        ("recordings/mew/scenario-12-stream-controls/envelope-history.jsonl", {"stream-close-without-id": [11]}),
    ],
)  # fmt: skip
def test_real_traffic(path: str, expected: dict[str, list[int]]) -> None:
    assert codes_at(path) == expected


def test_a_topic_that_fails_ends_alone(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise TypeError("unhashable type: 'list'")

    monkeypatch.setattr(KindsAndLines, "feed", fail)
    with caplog.at_level(logging.CRITICAL):
        log = GrowingLog()
        log.write(envelope("nobody/knows", id="a"), "{")
        log.write(envelope("chat", id="b", context="a b"))
        document = log.end()
    findings = document.analysis.findings
    assert [*findings.failed] == ["kinds and lines"]
    assert findings.found.counts() == {"context-characters": 1}
    assert len(document.analysis.correlation.columns["method"]) == len(document.capture) == 3
    assert document.read_errors == [
        "The checks of kinds and lines ended at No. 2 by an error in this program, which its log file describes. "
        "Later messages were not checked by them."
    ]


HOSTILE = [
    [
        envelope("mcp/request", {"method": "tools/list"}, id="q"),
        envelope(
            "mcp/response", {"result": {"tools": [{"name": ["x"]}, 7, {"name": {"a": 1}}]}},
            sender="files", correlation_id=["q"],
        ),
    ],
    [envelope("system/presence", {"event": "leave", "participant": {"id": ["x"]}})],
    [envelope("participant/status", {"tokens": 10**400, "max_tokens": 1})],
]  # fmt: skip


@pytest.mark.parametrize("lines", HOSTILE)
def test_values_of_any_type_end_no_topic(lines: list[Any]) -> None:
    assert document_of(*lines).analysis.findings.failed == {}
