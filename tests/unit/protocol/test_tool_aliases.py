"""Tool aliases: what rules mean, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.tool_aliases import AliasError, ToolAlias, ToolAliases, alias_for, parse_alias


@pytest.mark.parametrize(
    ("rule", "name", "meant"),
    [
        ("store = analysis_store", "store", "analysis_store"),
        ("store = analysis_store", "store2", "store2"),
        ("mcp__rune__* = *", "mcp__rune__search", "search"),
        ("mcp__rune__*=*", "mcp__rune__", "mcp__rune__"),
        ("mcp__*__* = *", "mcp__rune__get__page", "get__page"),
        ("*.v2 = *", "search.v2", "search"),
        ("old_* = new_*", "old_search", "new_search"),
        ("a*a = x", "a", "a"),
        ("a*a = x", "aa", "x"),
        ("a*b*c = *", "a1c", "a1c"),
        ("tmp_* = scratch", "tmp_9", "scratch"),
    ],
)
def test_rules(rule: str, name: str, meant: str) -> None:
    assert ToolAliases([parse_alias(rule)]).resolve(name) == meant


def test_the_first_rule_that_fits_counts_and_is_applied_once() -> None:
    aliases = ToolAliases.from_texts(["p__x = y", "p__* = *", "y = z"])
    assert [aliases.resolve(name) for name in ("p__x", "p__y", "y")] == ["y", "y", "z"]


@pytest.mark.parametrize(
    "text", ["", "a", "a =", "= b", "a = a", "a = *", "a* = * *", "a** = *", "a = b = c", "a = " + "b" * 300]
)
def test_what_is_no_rule_says_why_and_is_left_out(text: str) -> None:
    with pytest.raises(AliasError, match=r"\.$"):
        parse_alias(text)
    assert ToolAliases.from_texts([text, "b = c"]).rules == (ToolAlias("b", "c"),)


@pytest.mark.parametrize(
    ("missing", "tools", "rule"),
    [
        ("search", ["mcp__rune__search"], "mcp__rune__* = *"),
        ("mcp__rune__search", ["other", "search"], "mcp__rune__* = *"),
        ("search", ["research"], None),
        ("search", ["server.search"], "server.* = *"),
        ("search", ["a*__search"], None),
        ("", ["x_"], None),
        ("search", [], None),
    ],
)
def test_a_suggestion(missing: str, tools: list[str], rule: str | None) -> None:
    found = alias_for(missing, tools)
    assert (found.text if found is not None else None) == rule
    if found is not None:
        aliases = ToolAliases([found])
        assert aliases.resolve(missing) in {aliases.resolve(tool) for tool in tools}


@given(st.text("ab*_=", max_size=8), st.text("ab_", max_size=8))
def test_never_raises_for_a_name(rule: str, name: str) -> None:
    aliases = ToolAliases.from_texts([rule])
    assert aliases.resolve(name) == aliases.resolve(name)
