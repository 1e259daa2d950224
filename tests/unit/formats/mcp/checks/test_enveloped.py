"""What a participant lists as its tools holds for calls in envelopes, whoever asked for the list."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.formats.mcp.checks import topic
from inspector.formats.mcp.checks.enveloped import EnvelopedMcp
from tests.builders import document_of
from tests.findings import answer, ask, at
from tests.mcp_lines import tool

OUTPUT = {"type": "object", "properties": {"kg": {"type": "number"}}, "required": ["kg"]}
SCALES = tool(outputSchema=OUTPUT)


def listed(*tools: dict[str, Any], by: str = "files", number: int = 0) -> list[dict[str, Any]]:
    asked = ask(id=f"lq{number}", to=[by], payload={"method": "tools/list"}, ts=at(number))
    result = {"result": {"tools": [*tools]}}
    return [
        asked,
        answer(id=f"la{number}", sender=by, correlation_id=[f"lq{number}"], payload=result, ts=at(number + 0.1)),
    ]


def called(number: int, name: str = "weigh", kg: Any = 1, to: tuple[str, ...] = ("files",), **told: Any) -> list[Any]:
    call = {"method": "tools/call", "params": {"name": name, "arguments": {"kg": kg}}}
    result = {"structuredContent": {"kg": 1}, **told}
    return [
        ask(id=f"q{number}", payload=call, to=[*to], ts=at(number)),
        answer(
            id=f"a{number}",
            sender=to[0],
            correlation_id=[f"q{number}"],
            payload={"result": result},
            ts=at(number + 0.1),
        ),
    ]


def found(*lines: Any) -> list[tuple[str, int]]:
    findings = document_of(*lines).analysis.findings.all()
    return [(one.code, one.row) for one in findings if one.code.startswith("mcp-")]


def test_calls_and_results_are_held_against_what_was_listed() -> None:
    lines = (*listed(SCALES), *called(2, kg="two"), *called(4, structuredContent={}), *called(6, "no_such_tool"))
    assert sorted(found(*lines, *listed(tool(description="Tells all."), number=8)), key=lambda one: one[1]) == [
        ("mcp-arguments-invalid", 2),
        ("mcp-structured-invalid", 5),
        ("mcp-tool-unlisted", 6),
        ("mcp-tool-changed", 9),
    ]
    assert found(*listed(tool(description="Weighs." + "\U000e0041" * 12))) == [("mcp-description-hidden", 1)]


def test_what_is_nearly_so_is_silent() -> None:
    assert found(
        *called(1, kg="two"), *listed(SCALES, number=2), *listed(tool("other"), by="mail", number=3),
        *called(5), *called(7, "other", to=("mail",)), *called(9, "third", to=("nobody",)),
        *called(11, "third", to=("files", "mail")), *called(13, isError=True, structuredContent={}),
        ask(id="p", kind="mcp/proposal", payload={"method": "tools/call", "params": {"name": "x"}}, ts=at(15)),
        *listed({"name": "bare"}, by="mail", number=17),
    ) == []  # fmt: skip


def test_the_queue_keeps_no_record_that_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[EnvelopedMcp] = []
    monkeypatch.setattr(topic, "EnvelopedMcp", lambda: made.append(EnvelopedMcp()) or made[-1])
    assert found(*listed(SCALES), *called(2, kg="two")) == [("mcp-arguments-invalid", 2)]
    assert [len(vars(one)["_rows"]) for one in made] == [0]
