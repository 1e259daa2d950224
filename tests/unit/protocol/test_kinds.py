"""The kind grammar and every alias of the table in docs/protocols.md 3."""

from __future__ import annotations

import pytest

from inspector.protocol.kinds import ALIASES, Kind, one_word_kind, split_kind


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("chat", Kind("chat", None, None)),
        ("mcp/request", Kind("mcp/request", None, None)),
        ("mcp/request:tools/list", Kind("mcp/request", "tools/list", None)),
        ("mcp/request:tools/call:read_file", Kind("mcp/request", "tools/call", "read_file")),
        ("mcp/request:resources/read:file:///a:b", Kind("mcp/request", "resources/read", "file:///a:b")),
        ("mcp/response:tools/call:", Kind("mcp/response", "tools/call", None)),
        ("mcp/response:", Kind("mcp/response", None, None)),
        ("mcp/request::x", Kind("mcp/request", None, "x")),
        ("", Kind("", None, None)),
        (":", Kind("", None, None)),
        ("mcp.request", Kind("mcp/request", None, None)),
        ("reasoning.thought", Kind("reasoning/thought", None, None)),
        ("a.b.c", Kind("a/b.c", None, None)),
        ("a/b.c", Kind("a/b.c", None, None)),
        ("never/heard-of", Kind("never/heard-of", None, None)),
        ("x" * 500 + ":m", Kind("x" * 500, "m", None)),
    ],
)
def test_takes_apart(raw: str, kind: Kind) -> None:
    assert split_kind(raw) == kind


@pytest.mark.parametrize(
    ("seen", "canonical"),
    [
        ("presence", "system/presence"),
        ("reflection", "reasoning/thought"),
        ("reasoning/step", "reasoning/thought"),
        ("conclusion", "reasoning/conclusion"),
        ("reasoning/end", "reasoning/conclusion"),
        ("meup/grant", "capability/grant"),
        ("meup/revoke", "capability/revoke"),
        ("meup/grant-ack", "capability/grant-ack"),
        ("meup/capability/grant", "capability/grant"),
        ("meup/capability/revoke", "capability/revoke"),
        ("meup/invite", "space/invite"),
        ("meup/kick", "space/kick"),
        ("meup/proposal", "mcp/proposal"),
        ("meup/accept", "mcp/request"),
        ("meup/reject", "mcp/reject"),
        ("meup/proposal/accept", "mcp/request"),
        ("meup/proposal/reject", "mcp/reject"),
        ("participant/requestStatus", "participant/request-status"),
    ],
)
def test_folds_aliases(seen: str, canonical: str) -> None:
    assert split_kind(seen).name == canonical
    assert ALIASES[seen] == canonical


def test_dots_fold_before_aliases_and_the_context_marker_stays() -> None:
    found = [split_kind(seen).name for seen in ("meup.proposal", "mcp.request", "meup/context")]
    assert found == ["mcp/proposal", "mcp/request", "meup/context"]


def test_an_alias_keeps_its_suffix() -> None:
    assert split_kind("reasoning.step:x/y:z") == Kind("reasoning/thought", "x/y", "z")


@pytest.mark.parametrize(
    ("name", "method", "has_outcome", "event", "canonical"),
    [
        ("mcp", "tools/call", False, None, "mcp/request"),
        ("mcp", "notifications/initialized", False, None, "mcp/request"),
        ("mcp", "notifications/chat/message", False, None, "chat"),
        ("mcp", None, True, None, "mcp/response"),
        ("mcp", 7, True, None, "mcp/response"),
        ("mcp", None, False, None, "mcp"),
        ("system", None, False, "welcome", "system/welcome"),
        ("system", None, False, "", "system"),
        ("system", None, False, 7, "system"),
        ("system", None, False, None, "system"),
        ("presence", None, False, "join", "presence"),
    ],
)
def test_one_word_kinds_need_their_payload(
    name: str, method: object, has_outcome: bool, event: object, canonical: str
) -> None:
    assert one_word_kind(name, method=method, has_outcome=has_outcome, event=event) == canonical
