"""One sample per protocol version (tests/data/dialects): kind, call, sender, recipients, links, contexts, text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_at
from tests.pictures import picture

SAMPLES = Path(__file__).parents[2] / "data" / "dialects"


def values(document: CaptureDocument, *fields: str) -> dict[str, Any]:
    """Of each message by its id; the one field alone, else a tuple."""
    chosen = [FIELD_BY_NAME[field] for field in fields]
    found: dict[str, Any] = {}
    for message in range(len(document.capture)):
        row = tuple(field.value(document.analysis, message) for field in chosen)
        found[document.capture.records.envelope_id(message) or ""] = row[0] if len(row) == 1 else row
    return found


def present(of: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in of.items() if value not in (None, [], (None,) * 9)}


def here(document: CaptureDocument) -> dict[str, bool | None]:
    return {p.name: p.here for p in document.analysis.participants.all.values()}


def sample(name: str) -> CaptureDocument:
    return document_at(SAMPLES / name)


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.json*")))
def test_every_sample_is_read_whole(name: str) -> None:
    document = sample(name)
    assert document.unreadable == 0
    assert picture(document)["totals"]["messages"] == len(document.capture) > 0


def test_v0_0_kinds_and_calls() -> None:
    document = sample("mcp-x-v0.0.jsonl")
    assert values(document, "kind", "kind.raw") == {
        "w1": ("system/welcome", "system"), "w2": ("system/welcome", "system"), "p1": ("system/presence", "presence"),
        "c1": ("chat", "mcp"), "r1": ("mcp/request", "mcp"), "r2": ("mcp/response", "mcp"),
        "r3": ("mcp/request", "mcp"), "r4": ("mcp/response", "mcp"), "n1": ("mcp/request", "mcp"),
        "": ("", None), "p2": ("system/presence", "presence"),
    }  # fmt: skip
    assert present(values(document, "method")) == {
        "c1": "notifications/chat/message", "r1": "tools/call", "r2": "tools/call", "r3": "resources/read",
        "r4": "resources/read", "n1": "notifications/tools/list_changed",
    }  # fmt: skip
    assert present(values(document, "target")) == {"r1": "add", "r2": "add", "r3": "sums://log", "r4": "sums://log"}
    assert present(values(document, "tool.rule")) == {"r2": "correlation", "r4": "rpc id"}
    assert present(values(document, "answers")) == {"r2": 5, "r4": 7}
    assert present(values(document, "error")) == {"r4": True, "": True}
    assert values(document, "text")["c1"] == "How much is 2+2?"


def test_v0_0_welcomes_in_both_forms_and_presence() -> None:
    assert here(sample("mcp-x-v0.0.jsonl")) == {"alice": True, "calc": True, "bob": False}


def test_v0_0_history_is_turned_round() -> None:
    document = sample("mcp-x-v0.0-history.json")
    assert list(values(document, "id")) == ["h1", "h2", "h3", "h4"]
    assert present(values(document, "answers")) == {"h3": 2}
    assert values(document, "correlation.names")["h3"] == "message"
    assert here(document) == {"bob": False, "calc": None}


def test_v0_1_suffixes_and_rules() -> None:
    document = sample("mcpx-v0.1.jsonl")
    assert present(values(document, "method", "target")) == {
        "w1": (None, None), "c1": (None, None), "a1": ("tools/call", "grep"), "a2": ("tools/call", "grep"),
        "a3": ("resources/read", "file:///a:b"), "a4": ("resources/read", "file:///a:b"),
        "a5": ("tools/call", "write_file"), "a6": ("tools/call", "write_file"), "a7": ("tools/call", "write_file"),
        "a8": ("tools/call", "stat"), "a9": ("tools/call", "grep"), "x1": (None, None),
    }  # fmt: skip
    assert present(values(document, "tool.rule")) == {
        "a2": "kind", "a4": "correlation", "a7": "correlation", "a8": "kind",
    }  # fmt: skip
    assert present(values(document, "correlation.names")) == {
        "a2": "message", "a4": "message", "a6": "message", "a7": "message", "a8": "nothing seen", "x1": "message",
    }  # fmt: skip
    assert present(values(document, "proposal.state")) == {"a5": "answered"}
    assert present(values(document, "error")) == {"a7": True, "x1": True}
    assert present(values(document, "to"))["a7"] == ["lead", "coder"]


def test_drafts_dots_and_object_contexts() -> None:
    document = sample("mcpp-drafts.jsonl")
    assert list(values(document, "kind").values()) == [
        "mcp/request", "mcp/response", "reasoning/thought", "reasoning/thought", "chat", "reasoning/thought",
        "reasoning/conclusion", "mcp/request", "mcp/response", "chat",
    ]  # fmt: skip
    assert values(document, "correlation", "to", "answers")["d2"] == (["d1"], ["lead"], 1)
    assert present(values(document, "context")) == {
        "d3": "job/why/scan", "d4": "job/why", "d5": "job", "d6": "job/why/scan", "d7": "job/why",
        "d10": "job/why/nested/look%2Fout",
    }  # fmt: skip
    contexts = document.analysis.contexts
    why = contexts.tree.find(0, "why")
    assert contexts.metadata(why) == {"trigger": "d2", "confidence": 0.9, "ended": "2025-09-01T09:00:06Z"}
    assert (contexts.type(why), contexts.type(contexts.tree.find(0, "scan"))) == ("reasoning", "analysis")
    assert [(note.what, note.row + 1) for note in contexts.notes] == [
        (NamingOddity.PARENT_CYCLE, 5), (NamingOddity.PARENT_CONFLICT, 6),
    ]  # fmt: skip


def test_drafts_correlation_ids_that_name_a_context() -> None:
    document = sample("mcpp-drafts.jsonl")
    assert values(document, "correlation.names")["d8"] == "context"
    chain = [(step.message + 1, step.after and step.after + 1) for step in document.chain(8)]
    assert chain == [(4, None), (7, None), (8, 7), (9, 8)]


def test_v0_2_operations_are_a_stack_for_each_sender() -> None:
    document = sample("meup-v0.2.jsonl")
    assert present(values(document, "context")) == {
        "k1": "ctx-1", "k2": "ctx-1/changelog", "m1": "ctx-1", "k3": "ctx-1/changelog", "k4": "tests", "k5": "ctx-1",
        "k6": "ctx-1/changelog", "r1": "ctx-1", "r2": "ctx-1",
    }  # fmt: skip
    contexts = document.analysis.contexts
    assert contexts.label(contexts.tree.find(0, "ctx-1")) == "Plan the release"


def test_v0_2_drafted_kinds() -> None:
    document = sample("meup-v0.2.jsonl")
    assert present(values(document, "kind", "tool")) == {
        "w1": ("system/welcome", None), **dict.fromkeys(("k1", "k2", "k3", "k4", "k5", "k6"), ("meup/context", None)),
        "m1": ("chat", None), "m2": ("chat", None), "g1": ("mcp/proposal", "write_file"),
        "g2": ("mcp/request", "write_file"), "g3": ("mcp/proposal", "rm"), "g4": ("mcp/reject", None),
        "g5": ("capability/grant", None), "g6": ("capability/grant-ack", None), "r1": ("mcp/request", "write_file"),
        "r2": ("mcp/response", "write_file"),
    }  # fmt: skip
    assert present(values(document, "proposal.state")) == {"g1": "fulfilled", "g3": "rejected"}
    assert here(document) == {"lead": True, "coder": True, "files": None}


def test_v0_2_history_stays_as_it_is() -> None:
    document = sample("meup-v0.2-history.json")
    assert list(values(document, "id")) == ["h1", "h2", "h3"]
    assert values(document, "target", "tool", "tool.rule")["h3"] == ("review", None, "correlation")


def test_v0_3_paths_and_proposals() -> None:
    document = sample("mew-v0.3.jsonl")
    assert present(values(document, "context")) == {
        "e4": "e3/paths", "e5": "e3/paths", "e6": "e3/paths", "e7": "e3",
    }  # fmt: skip
    assert present(values(document, "proposal.state")) == {"e1": "answered"}
    assert present(values(document, "error")) == {"e6": True}
    assert values(document, "text")["e4"] == "Look at the path"
    assert values(document, "from")[""] == "coder"
    assert here(document) == {"coder": False, "reviewer": True, "files": None}


def test_v0_3_chain_of_a_proposal_both_ways() -> None:
    document = sample("mew-v0.3.jsonl")
    # proposed, rejected, why (a request in a context below the reasoning), fulfilled, answered
    assert [step.message + 1 for step in document.chain(2)] == [3, 4, 5, 7, 8, 10, 11]
    assert [step.message + 1 for step in document.chain(7)] == [3, 4, 5, 7, 8, 10]


def test_v0_4_links_and_streams() -> None:
    document = sample("mew-v0.4.jsonl")
    assert present(values(document, "correlation.names")) == {
        "f2": "message", "f4": "message", "f5": "later message", "f9": "message", "f10": "message",
        "s1": "nothing seen", "s2": "stream", "f11": "nothing seen",
    }  # fmt: skip
    assert values(document, "target", "tool.rule", "answers")["f5"] == ("review", "correlation", 8)
    assert values(document, "tool.rule", "answers")["f11"] == ("unknown", None)
    assert present(values(document, "stream")) == {"s1": "stream-1", "": "stream-1"}
    assert values(document, "kind")["f8"] == "participant/request-status"
    assert values(document, "kind")["f12"] == "someone/new"
    assert [step.message + 1 for step in document.chain(14)] == [13, 15]
    assert [step.message + 1 for step in document.chain(12)] == [13, 15]
