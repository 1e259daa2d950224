"""Limits of ADR p4m hold however a context is named (docs/protocols.md 6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope, grown_log

DATA = Path(__file__).parents[4] / "data" / "contexts"
CODES = {"context-too-deep", "context-too-long", "context-characters"}


def found(*lines: dict[str, Any]) -> list[tuple[str, int]]:
    log = grown_log(lines)
    at_once, bit_by_bit = (
        sorted((one.code, one.row + 1) for one in document.analysis.findings.all() if one.code in CODES)
        for document in (document_of(*lines), log.end())
    )
    assert at_once == bit_by_bit
    return at_once


def lines_in(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def chain(count: int) -> list[dict[str, Any]]:
    return [envelope(context={"id": f"n{n}", "parent": f"n{n - 1}"}) for n in range(1, count)]


def test_chains_of_objects_and_of_starts() -> None:
    assert found(*lines_in("g10-depth-object-6")) == [("context-too-deep", 6), ("context-too-deep", 7)]
    assert {code for code, _ in found(*lines_in("g11-depth-starts"))} == {"context-too-deep"}
    assert found(*chain(5)) == []
    assert found(*chain(6)) == [("context-too-deep", 5)]


def test_slashes_alone_are_reported_where_no_context_is_and_beside_others() -> None:
    empty, slash, named = (envelope(context=context) for context in ("", "/", "review"))
    for lines in ([empty, slash], [named, empty, slash], [empty, named, slash]):
        findings = document_of(*lines).analysis.findings
        texts = [one.text.split(";")[0] for one in findings.all() if one.code == "context-malformed"]
        assert texts == ["lead wrote the context “”", "lead wrote the context “/”"]
        assert not findings.failed


def test_a_chain_told_from_below_is_as_deep() -> None:
    document = document_of(*reversed(chain(7)))
    notes = {document.analysis.contexts.tree.name[note.node] for note in document.analysis.contexts.notes}
    assert notes == {"n5", "n6"}
    assert found(*reversed(chain(7))) == [("context-too-deep", 5), ("context-too-deep", 6)]


def test_a_path_below_an_object_that_lies_deep() -> None:
    assert found(*chain(5), envelope(context="n4/x")) == [("context-too-deep", 5)]


@pytest.mark.parametrize("line", [
    envelope(context={"id": "x" * 256}),
    envelope("context/start", {"context_id": "x" * 255}, context={"id": "x" * 256}),
])  # fmt: skip
def test_long_ids(line: dict[str, Any]) -> None:
    assert found(line) == [("context-too-long", 1)]
    assert found(*lines_in("g12-long-object-id")) == [("context-too-long", 1)]


@pytest.mark.parametrize("line", [
    envelope(context={"id": "why is that"}), envelope("context/start", {"context_id": "why?"}),
    envelope(context={"id": "a", "parent": {"id": "why?"}}),
])  # fmt: skip
def test_unusual_characters(line: dict[str, Any]) -> None:
    assert found(line, line) == [("context-characters", 1)]


def test_more_levels_than_are_told_apart_are_counted_and_reported() -> None:
    document = document_of(*lines_in("b12-many-segments"))
    values = {
        name: FIELD_BY_NAME[f"context{name}"].value(document.analysis, 0) for name in ("", ".depth", ".leaf", ".id")
    }
    assert values == {"": "s0/…9996…/s9997/s9998/s9999", ".depth": 10_000, ".leaf": "s9999", ".id": "s9999"}
    texts = [one.text for one in document.analysis.findings.all() if one.code == "context-too-deep"]
    assert "(10,000 levels, 1,000 told apart)" in texts[0]
