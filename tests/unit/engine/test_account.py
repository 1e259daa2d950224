"""Requests about the account and about waits."""

from __future__ import annotations

import pytest

from inspector.analysis.views.waste import WasteTotals
from inspector.engine.engine import Engine
from inspector.engine.request import RequestError
from inspector.engine.requests.account import WaitFilter, Waits, WaitsNow, WhatHappened
from inspector.engine.requests.waste import AvoidableTokens
from tests.builders import document_of, envelope, tool_call
from tests.findings import at
from tests.waste import asked, records, wasteful


def test_the_account_names_avoidable_tokens_if_they_are_known() -> None:
    document = document_of(*wasteful())
    document.count_tokens()
    engine = Engine()
    number = engine.adopt(document)

    def lines(waste: WasteTotals | None) -> list[str]:
        return [line.text for line in engine.answer_request(number, WhatHappened(waste)).account.lines]

    assert not any("avoidable" in line for line in lines(None))
    found = engine.answer_request(number, AvoidableTokens()).totals
    assert any("avoidable" in line for line in lines(found))


def test_tokens_by_tool_are_named_once_all_are_counted() -> None:
    document = document_of(*asked("grep", records(1)))
    engine = Engine()
    number = engine.adopt(document)

    def token_lines() -> list[str]:
        lines = engine.answer_request(number, WhatHappened()).account.lines
        return [line.text for line in lines if line.panel == "Tokens"]

    assert token_lines() == []
    document.count_tokens()
    document.notify_counted()
    assert [line.rpartition(" ")[2] for line in token_lines()] == ["grep"]


def test_waits_by_length_and_the_longest_of_live_traffic() -> None:
    document = document_of(
        envelope("mcp/request", {"method": "tools/list"}, to=["files"], ts=at(0)), tool_call("grep", ts=at(2)),
        tool_call("stat", ts=at(1)), envelope(ts=at(10)),
    )  # fmt: skip
    engine = Engine()
    number = engine.adopt(document)
    found = engine.answer_request(number, Waits())
    assert [(one.what, one.discovery) for one in found.waits] == [
        ("stat", False), ("grep", False), ("tools/list", True),
    ]  # fmt: skip
    assert engine.answer_request(number, WaitsNow()).longest is None
    document.live = True
    now = engine.answer_request(number, WaitsNow())
    assert now.longest is not None
    assert (now.count, now.longest.what, now.messages.tolist()) == (2, "stat", [1, 2])
    assert engine.answer_request(number, WaitFilter(1)) == 'waiting && from == "lead"'
    with pytest.raises(RequestError):
        engine.answer_request(number, WaitFilter(99))
