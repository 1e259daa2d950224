"""Real traffic gives what recordings/README.md says it gives."""

from __future__ import annotations

import gzip
import json

import pytest

from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_at
from tests.pictures import picture
from tests.samples import RECORDINGS


def opened(name: str) -> CaptureDocument:
    return document_at(RECORDINGS / name)


@pytest.mark.parametrize(
    ("name", "records", "messages"),
    [
        ("mew/scenario-1-basic", 71, 27),
        ("mew/scenario-2-mcp", 41, 17),
        ("mew/scenario-3-proposals", 59, 21),
        ("mew/scenario-5-reasoning", 44, 18),
        ("mew/scenario-12-stream-controls", 28, 13),
        ("mew/coding-agent", 328, 77),
    ],
)
def test_folding(name: str, records: int, messages: int) -> None:
    document = opened(f"{name}/envelope-history.jsonl")
    found = summary(document, name)
    assert (found["records"], found["messages"], found["unreadable"]) == (records, messages, 0)
    assert found["format"] == "gateway-log"
    assert document.decisions.found is not None


@pytest.mark.parametrize(
    ("name", "consumed", "pending"),
    [
        ("01-loop-current-names", {17: 15, 21: 19}, 0),
        ("04-three-pending", {15: 9, 17: 11, 19: 13}, 0),
        ("05-consumer-errors", {15: 9}, 0),
    ],
)
def test_collapses(name: str, consumed: dict[int, int], pending: int) -> None:
    document = opened(f"mcp-rune/{name}.jsonl")
    field = FIELD_BY_NAME["consumes"]
    rows = range(len(document.capture))
    assert {m + 1: field.value(document.analysis, m) for m in rows if field.value(document.analysis, m)} == consumed
    totals = document.analysis.transients.totals()
    assert totals == {
        "transient": len(consumed), "consumed": len(consumed), "collapsed": len(consumed), "pending": pending,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "message"), [("01-loop-current-names", 25), ("04-three-pending", 21)])
def test_a_consumption_that_collapses_nothing_says_so(name: str, message: int) -> None:
    document = opened(f"mcp-rune/{name}.jsonl")
    story = document.analysis.transients.lifecycle(message - 1)
    assert (story.badges, story.consumes) == (("consumed",), None)
    assert story.note == "No result was waiting to be consumed by it."


def test_consumers_that_fail_have_no_badge() -> None:
    document = opened("mcp-rune/05-consumer-errors.jsonl")
    error, tool = FIELD_BY_NAME["error"], FIELD_BY_NAME["tool"]
    for number in (11, 13):
        assert (tool.value(document.analysis, number - 1), error.value(document.analysis, number - 1)) == (
            "analysis_store", True,
        )  # fmt: skip
        assert document.analysis.transients.badges(number - 1) == ()


@pytest.mark.parametrize(
    ("name", "states"),
    [
        # Its fulfiller never names the proposals, so nothing shows that they were fulfilled.
        ("scenario-3-proposals", ["open", "open", "open"]),
        ("coding-agent", ["answered", "rejected"]),
    ],
)
def test_proposals(name: str, states: list[str]) -> None:
    document = opened(f"mew/{name}/envelope-history.jsonl")
    field = FIELD_BY_NAME["proposal.state"]
    found = [field.value(document.analysis, message) for message in range(len(document.capture))]
    assert [state for state in found if state] == states


def test_a_cancelled_sequence_stays_cancelled() -> None:
    document = opened("mew/coding-agent/envelope-history.jsonl")
    contexts = document.analysis.contexts
    assert [contexts.state(node) for node in contexts.tree.alive()] == ["concluded", "cancelled", "concluded"]


def test_every_response_of_the_gateway_logs_finds_its_request() -> None:
    for name in ("scenario-2-mcp", "scenario-3-proposals", "scenario-5-reasoning", "coding-agent"):
        document = opened(f"mew/{name}/envelope-history.jsonl")
        rule = FIELD_BY_NAME["tool.rule"]
        rules = [rule.value(document.analysis, message) for message in range(len(document.capture))]
        assert {found for found in rules if found} == {"correlation"}


@pytest.mark.sweep
@pytest.mark.parametrize(
    "path", sorted(p.relative_to(RECORDINGS).as_posix() for p in RECORDINGS.rglob("*.*") if p.suffix != ".md")
)
def test_every_file_is_read_to_its_end(path: str) -> None:
    document = opened(path)
    data = (RECORDINGS / path).read_bytes()
    data = gzip.decompress(data) if path.endswith(".gz") else data
    lines = [line for line in data.split(b"\n") if line.strip()]
    lines = [line for line in lines if not line.startswith(b'{"ctxcap"') and b'"mark"' not in line]
    batches = [json.loads(line)["message"] for line in lines if b'"message":[' in line]
    records = len(lines) + sum(max(len(batch), 1) - 1 for batch in batches)
    assert (document.capture.record_count, document.unreadable) == (records, 0)
    assert len(picture(document)["messages"]) == len(document.capture) > 0


def test_a_decisions_file_alone_has_messages_without_kind() -> None:
    document = opened("mew/coding-agent/capability-decisions.jsonl")
    assert (document.format, document.decisions.found) == ("capability-decisions", None)
    assert document.kind_counts() == {"": len(document.capture)}
