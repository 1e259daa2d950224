"""Contexts as the drafts named them (ADR k9j, options 1 to 5; t8k), and their labels (p4m)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope, grown_log

Lines = list[dict[str, Any]]


def column(document: CaptureDocument, name: str) -> list[object]:
    field = FIELD_BY_NAME[name]
    return [field.value(document.analysis, message) for message in range(len(document.capture))]


def either_way(lines: Lines) -> CaptureDocument:
    """The document of a log, read at once; written line by line it has the same contexts."""
    log = grown_log(lines)
    at_once, grown = document_of(*lines), log.end()
    for name in ("context", "context.told", "context.type", "context.state", "labels"):
        assert column(at_once, name) == column(grown, name)
    return at_once


def marker(kind: str, **fields: Any) -> dict[str, Any]:
    return envelope(f"context/{kind}", fields.pop("payload", {}), **fields)


STEP = envelope("subcontext/reasoning/step", {"reasoning_id": "r-12ab3c", "content": "Analyzing input"})
START = marker("start", id="ctx-start-789", payload={"context_id": "ctx-789", "type": "reasoning"})
WITHIN = envelope("reflection", {"thought": "hm"}, correlation_id="ctx-789")
END = marker("end", correlation_id="ctx-789")
NESTED = marker("start", id="ctx-start-790", payload={"context_id": "ctx-790", "parent": "ctx-789"})


@pytest.mark.parametrize(
    ("line", "context", "told"),
    [
        (STEP, "r-12ab3c", "kind"),
        (envelope("subcontext/start"), None, None),
        (envelope(context={"id": "ctx-789", "type": "reasoning"}), "ctx-789", "envelope"),
        (envelope("mcp/request:tools/call", {"context": {"id": "ctx-789"}, "method": "tools/call"}), "ctx-789",
         "payload.context"),
        (envelope(payload={"text": "x", "context": "ctx-789/sub"}), "ctx-789/sub", "payload.context"),
        (envelope(payload={"text": "x", "context": "in my room"}), None, None),
        (envelope(payload={"text": "x", "context": {"window": 7}}), None, None),
        (envelope(payload={"text": "x", "context": 7}), None, None),
        (envelope(payload={"text": "x", "context": "ctx-789"}, context="why"), "why", "envelope"),
        (envelope("reflection", thread_id="thread-789"), "thread-789", "thread_id"),
        (envelope("chat", {"text": "x", "threadId": "thread-789"}), "thread-789", "thread_id"),
        (envelope("chat", thread_id=7), None, None),
        (envelope("reasoning/step", {"reasoning_id": "r-9", "text": "x"}), "r-9", "reasoning_id"),
        (envelope("chat", {"reasoning_id": "r-9", "text": "x"}), None, None),
    ],
)  # fmt: skip
def test_one_message(line: dict[str, Any], context: str | None, told: str | None) -> None:
    document = either_way([line])
    assert [column(document, name)[0] for name in ("context", "context.told")] == [context, told]


def test_option_1_is_the_kind_it_would_be_and_shows_its_text() -> None:
    document = either_way([STEP])
    assert [column(document, name)[0] for name in ("kind", "kind.raw", "text", "context.type")] == [
        "reasoning/thought", "subcontext/reasoning/step", "Analyzing input", "reasoning",
    ]  # fmt: skip
    assert [found.code for found in document.analysis.findings.all()] == ["context-kind"]


def test_a_drafted_start_begins_the_context_it_names_and_no_other() -> None:
    for kind in ("subcontext/reasoning/start", "reasoning/start"):
        start = envelope(kind, {"reasoning_id": "r-12ab3c", "message": "why"}, id="s1")
        document = either_way([start, STEP])
        tree = document.analysis.contexts.tree
        assert [tree.path(node) for node in tree.alive()] == ["r-12ab3c"]
        assert document.analysis.contexts.label(0) == "why"


def test_option_4_holds_what_correlates_to_it_until_it_ends() -> None:
    before, other = {**WITHIN, "id": "m0"}, envelope(correlation_id="ctx-788")
    after = envelope("mcp/response:tools/call", {"error": "denied"}, correlation_id="ctx-789")
    document = either_way([before, START, WITHIN, NESTED, other, END, after])
    assert column(document, "context") == [None, "ctx-789", "ctx-789", "ctx-789/ctx-790", None, "ctx-789", None]
    assert column(document, "context.told")[1:3] == ["context/start"] * 2
    assert column(document, "context.type")[2] == "reasoning"
    assert column(document, "context.state")[2] == "concluded"
    found = {(one.code, one.row) for one in document.analysis.findings.all()}
    assert {row for code, row in found if code == "correlation-dangling"} == {4}
    assert not {code for code, _ in found} & {"response-without-request"}


def test_a_message_in_a_context_of_its_own_stays_there() -> None:
    inside = envelope(correlation_id="ctx-789", context="why")
    assert column(either_way([START, inside]), "context") == ["ctx-789", "why"]


def test_labels_of_a_context_are_those_of_all_its_messages() -> None:
    lines = [
        envelope(context={"id": "a-x", "labels": ["security", "critical", 7, ""]}),
        envelope(context={"id": "a-x"}),
        envelope(context={"id": "b-x", "labels": "no list"}),
        envelope(context={"id": "a-x", "labels": ["late", "security"]}),
    ]
    document = either_way(lines)
    assert column(document, "labels") == [["security", "critical", "late"]] * 2 + [[]] + [
        ["security", "critical", "late"]
    ]
    rows = np.arange(len(document.capture))
    assert compile_filter('labels == "late"').mask(document.analysis, rows).tolist() == [True, True, False, True]
