"""Contexts as objects and as operations on a stack (docs/protocols.md 7)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes
from inspector.filters.fields import FIELD_BY_NAME
from inspector.protocol.secrets.masking import mask_secrets
from tests.builders import GrowingLog, document_of, envelope


def said(context: Any, kind: str = "chat", **fields: Any) -> dict[str, Any]:
    return envelope(kind, {"text": "x"}, context=context, **fields)


def marker(operation: str, *, sender: str = "lead", **context: Any) -> dict[str, Any]:
    return envelope("meup/context", {}, sender=sender, context={"operation": operation, **context})


def paths(document: CaptureDocument) -> list[object]:
    field = FIELD_BY_NAME["context"]
    return [field.value(document.analysis, message) for message in range(len(document.capture))]


def odd(document: CaptureDocument) -> list[tuple[int, NamingOddity]]:
    return [(note.row + 1, note.what) for note in document.analysis.contexts.notes]


def test_the_example_of_the_drafts() -> None:
    scan, why = said({"id": "scan", "parent": "why"}), said({"id": "why", "type": "reasoning", "parent": "job"})
    log = GrowingLog()
    log.write(scan)
    assert paths(log.document) == ["why/scan"]
    log.write(why)
    assert paths(log.document) == ["job/why/scan", "job/why"]
    log.write(said({"id": "job", "parent": "scan"}))
    assert paths(log.document) == ["job/why/scan", "job/why", "job"]
    assert odd(log.document) == [(3, NamingOddity.PARENT_CYCLE)]


@pytest.mark.parametrize(
    ("lines", "noted"),
    [
        ([{"id": "a", "parent": "a"}], [(1, NamingOddity.PARENT_CYCLE)]),
        ([{"id": "a", "parent": "b"}, {"id": "a"}], []),
        ([{"id": "a", "parent": "b"}, {"id": "a", "parent": "c"}], [(2, NamingOddity.PARENT_CONFLICT)]),
        ([{"id": "a", "type": "x"}, {"id": "a", "type": "y"}], [(2, NamingOddity.TYPE_CONFLICT)]),
        ([*[{"id": "a", "parent": "b"}] * 2, {"id": "a", "parent": "c"}], [(3, NamingOddity.PARENT_CONFLICT)]),
        ([{"type": "x"}], [(1, NamingOddity.WITHOUT_ID)]),
        ([{"id": "", "parent": "b"}] * 2, [(1, NamingOddity.WITHOUT_ID), (2, NamingOddity.WITHOUT_ID)]),
        (["/a//b/", "a/b"], [(1, NamingOddity.MALFORMED)]),
        (["/", "/"], [(1, NamingOddity.MALFORMED)]),
        (["a b"], [(1, NamingOddity.CHARACTERS)]),
        (["a/b/c/d/e", "a/b/c/d/e/f"], [(2, NamingOddity.TOO_DEEP)]),
        (["x" * 256], [(1, NamingOddity.TOO_LONG)]),
        ([7, None], []),
    ],
    ids=str,
)
def test_oddities_are_noted(lines: list[Any], noted: list[Any]) -> None:
    assert odd(document_of(*map(said, lines))) == noted


def test_a_parent_that_comes_too_late_is_not_made() -> None:
    document = document_of(said({"id": "a", "parent": "b"}), said({"id": "a", "parent": "c"}))
    tree = document.analysis.contexts.tree
    assert sorted(tree.path(n) for n in tree.alive()) == ["b", "b/a"]
    assert [note.what for note in document.analysis.contexts.notes] == [NamingOddity.PARENT_CONFLICT]


def test_of_one_message_the_outermost_parent_speaks_first() -> None:
    document = document_of(said({"id": "a", "parent": {"id": "a", "type": "y"}, "type": "x"}))
    assert document.analysis.contexts.type(0) == "y"


def test_an_object_without_an_id_has_a_node_of_its_own() -> None:
    assert paths(document_of(said({"type": "x"}), said({}))) == ["(no id)", "(no id)"]


def test_objects_without_an_id_contradict_each_other_in_nothing() -> None:
    document = document_of(said({"parent": "why", "type": "plan"}), said({"parent": "how", "type": "review"}))
    assert paths(document) == ["why/(no id)", "why/(no id)"]
    assert odd(document) == [(1, NamingOddity.WITHOUT_ID), (2, NamingOddity.WITHOUT_ID)]


def test_metadata_is_merged_and_the_latest_wins() -> None:
    document = document_of(
        said({"id": "a", "metadata": {"trigger": "m1", "confidence": 0.5, "token": "secret"}}),
        said({"id": "a"}),
        said({"id": "a", "metadata": {"confidence": 0.9, "ended": "now", "long": "x" * 1_000}}),
        said({"id": "a", "metadata": 7}),
    )
    (node,) = context_nodes(document)
    found = mask_secrets(node)["metadata"]
    assert {key: found[key] for key in ("trigger", "confidence", "ended")} == {
        "trigger": "m1", "confidence": 0.9, "ended": "now",
    }  # fmt: skip
    assert (len(found["long"]), found["token"] == "secret") == (400, False)


def test_metadata_keeps_the_latest_keys_only() -> None:
    lines = [said({"id": "a", "metadata": {f"k{n}": n}}) for n in range(70)]
    assert list(next(context_nodes(document_of(*lines)))["metadata"]) == [f"k{n}" for n in range(6, 70)]


def test_metadata_follows_a_merge() -> None:
    document = document_of(said("p/a"), said({"id": "a", "metadata": {"k": 1}}), said({"id": "a", "parent": "p"}))
    assert [(node["path"], node["metadata"]) for node in context_nodes(document)] == [("p", {}), ("p/a", {"k": 1})]


def test_a_stack_for_each_sender() -> None:
    document = document_of(
        marker("push", topic="plan"), marker("push", topic="step"), said(None),
        marker("push", sender="coder", topic="c"), marker("pop"), marker("pop"), marker("pop"),
        marker("resume", topic="step"), marker("push", topic="more"),
    )  # fmt: skip
    assert paths(document) == ["plan", "plan/step", None, "c", "plan/step", "plan", None, "plan/step", "plan/step/more"]


def test_a_pop_that_names_a_context_pops_down_to_it() -> None:
    document = document_of(
        marker("push", topic="a"), marker("push", topic="b"), marker("push", topic="c"),
        marker("pop", correlation_id="b"), marker("push", topic="d"), marker("pop", correlation_id="never"),
        marker("push", topic="e"),
    )  # fmt: skip
    assert paths(document) == ["a", "a/b", "a/b/c", "a/b", "a/d", "never", "a/d/e"]


def test_the_topic_is_the_label_of_what_a_correlation_id_names() -> None:
    document = document_of(marker("push", topic="Plan it", correlation_id="c-1"), said("c-1"))
    assert [(node["path"], node["label"], node["messages"]) for node in context_nodes(document)] == [
        ("c-1", "Plan it", 2),
    ]  # fmt: skip


def test_other_kinds_only_belong_where_an_operation_says() -> None:
    document = document_of(
        marker("push", topic="a"), said({"operation": "push", "topic": "b"}), said({"operation": "pop"}),
        marker("push", topic="c"),
    )  # fmt: skip
    assert paths(document) == ["a", "a/b", "a", "a/c"]


def test_operations_that_name_nothing() -> None:
    document = document_of(marker("resume"), marker("push"), marker("push", topic="a"), marker("resume"))
    assert paths(document) == [None, None, "a", "a"]
    assert odd(document) == [(row, NamingOddity.WITHOUT_ID) for row in (1, 2, 4)]
    values = FIELD_BY_NAME["finding"].column(document.analysis)
    found = [cast("list[str]", values.value(row)) for row in range(4)]
    assert ["context-without-id" in codes for codes in found] == [True, True, False, True]


@pytest.mark.parametrize("kind", ["chat", "meup/context"])
def test_an_operation_that_names_nothing_in_the_main_context_is_reported(kind: str) -> None:
    document = document_of(envelope(kind, context={"operation": "push"}))
    found = cast("list[str]", FIELD_BY_NAME["finding"].value(document.analysis, 0))
    assert set(found) == {"context-without-id", "context-object"}


def test_an_unknown_operation_is_an_object() -> None:
    assert paths(document_of(said({"operation": "swap", "topic": "a"}))) == ["a"]
