"""Capabilities as the specifications mean them: the tables of docs/protocols.md 12, row by row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.capabilities import MatchedMessage, covers_by_kind, covers_message, first_covering, matches_glob


@pytest.mark.parametrize(
    ("capability", "kind", "match"),
    [
        ("mcp/*", "mcp/request:tools/call:grep", True),
        ("mcp/request:tools/call:read_*", "mcp/request:tools/call:read_file", True),
        ("mcp/request:tools/call:read_*", "mcp/request:tools/call:write_file", False),
        ("mcp/request:tools/call", "mcp/request:tools/call:read_file", True),
        ("mcp/request:*/list", "mcp/request:tools/list", True),
        ("chat", "chat/acknowledge", False),
        ("chat", "chat", True),
        ("*", "anything/at:all", True),
        ("mcp.proposal", "mcp/proposal", True),
        ("mcp.proposal", "mcp/request", False),
        ("mcp.*", "mcp/request", True),
        ("mcp.request", "mcp/request:tools/call:grep", True),
        ("mcp.request", "mcp/response", False),
        ("reflection", "reasoning/thought", True),
    ],
)
def test_strings(capability: str, kind: str, match: bool) -> None:
    assert covers_message(capability, MatchedMessage(kind)) is match


def _call(name: Any, **more: Any) -> Any:
    return {"method": "tools/call", "params": {"name": name, **more}}


def _named(pattern: Any) -> Any:
    return {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": pattern}}}


@pytest.mark.parametrize(
    ("capability", "kind", "payload", "match"),
    [
        ({"kind": "*"}, "mcp/request", _call("x"), True),
        ({"kind": "mcp/*"}, "mcp/request", _call("x"), True),
        ({"kind": "mcp/*"}, "chat", {}, False),
        ({"kind": ["chat", "mcp/re*"]}, "mcp/request", {}, True),
        ({"kind": "!system/*"}, "chat", {}, True),
        ({"kind": "!system/*"}, "system/presence", {}, False),
        ({}, "chat", {}, False),
        (_named("read_*"), "mcp/request", _call("read_file"), True),
        (_named("read_*"), "mcp/request", _call("write_file"), False),
        (_named("read_*"), "mcp/request", {"method": "tools/call"}, False),
        ({"kind": "mcp/request", "payload": {"method": "*/list"}}, "mcp/request", {"method": "tools/list"}, True),
        (_named("!delete_*"), "mcp/request", _call("delete_x"), False),
        (_named("!delete_*"), "mcp/request", _call("read_x"), True),
        (_named("!delete_*"), "mcp/request", {"method": "tools/call", "params": {}}, False),
        (_named(["a", "b"]), "mcp/request", _call("b"), True),
        (_named(["a", "b"]), "mcp/request", _call("c"), False),
        (_named("/^read_(file|dir)$/"), "mcp/request", _call("read_dir"), True),
        (_named("/^read_(file|dir)$/"), "mcp/request", _call("read_all"), False),
        ({"kind": "mcp/request", "payload": {"$.params.name": "x"}}, "mcp/request", _call("x"), True),
        ({"kind": "mcp/request", "payload": {"$.params.list[1].name": "x"}}, "mcp/request",
         _call("y", list=[{}, {"name": "x"}]), True),
        ({"kind": "mcp/request", "payload": {"**": {"name": "deep"}}}, "mcp/request", _call("x", a=[{"name": "deep"}]),
         True),
        ({"kind": "mcp/request", "payload": {"par*": {"name": "x"}}}, "mcp/request", _call("x"), True),
        ({"kind": "a", "payload": {"n": 1}}, "a", {"n": 1, "more": 2}, True),
        ({"kind": "a", "payload": {"n": 1}}, "a", {"n": True}, False),
        ({"kind": "a", "payload": {"n": "1"}}, "a", {"n": 1}, False),
        ({"kind": "a", "payload": {"n": None}}, "a", {"n": None}, True),
        (7, "a", {}, False),
    ],
)  # fmt: skip
def test_patterns(capability: Any, kind: str, payload: Any, match: bool) -> None:
    assert covers_message(capability, MatchedMessage(kind, payload)) is match


def test_addressees_count_only_where_there_are_some() -> None:
    capability = {"kind": "chat", "to": ["files", "lead*"]}
    found = [
        covers_message(capability, MatchedMessage("chat", {}, to)) for to in ((), ("leader",), ("x", "files"), ("x",))
    ]
    assert found == [True, True, True, False]


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("review", {"review", "review/lint"}),
        ("review/", {"review", "review/lint"}),
        ("review/lint", {"review/lint"}),
        ("*/lint", {"review/lint"}),
        ("rev*", {"review", "review/lint", "reviewer"}),
        (["review", "reviewer"], {"review", "review/lint", "reviewer"}),
        ("!review", {"", "reviewer"}),
        ("", set()),
        (7, set()),
        (None, {"", "review", "review/lint", "reviewer"}),
    ],
)
def test_a_rule_bound_to_a_context_is_about_messages_in_it(pattern: Any, covered: set[str]) -> None:
    capability = {"kind": "chat", "context": pattern}
    names = ("", "review", "review/lint", "reviewer")
    assert {
        name for name in names if covers_message(capability, MatchedMessage("chat", {}, (), (name,) if name else ()))
    } == covered
    assert covers_by_kind([{"kind": "chat", "context": "review"}], "chat") is None
    assert covers_by_kind([{"kind": "chat", "context": "review"}], "stream/open") is False


def test_what_cannot_be_judged() -> None:
    refused = _named(r"/(a)\1/")
    asked = MatchedMessage("mcp/request", _call("aa"))
    assert covers_message(refused, asked) is None
    assert first_covering([refused, {"kind": "chat"}], asked) == (None, None)
    assert first_covering([refused, {"kind": "mcp/*"}], asked) == (True, {"kind": "mcp/*"})
    assert first_covering([], asked) == (False, None)


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_globs_are_what_expressions_say(pattern: str, text: str) -> None:
    import re

    expected = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None
    assert matches_glob(pattern, text) is expected


_json = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(("a", "*", "!a", "/a/", "/(/", "**")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("a", "**", "$.a", "a*", "$.a[*].b")), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_json, _json)
def test_any_pattern_meets_any_payload(pattern: Any, payload: Any) -> None:
    assert covers_message({"kind": "*", "payload": pattern}, MatchedMessage("chat", payload)) in (True, False, None)
