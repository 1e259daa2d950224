"""Display families of kinds (docs/design.md 11), and the formats' own kinds."""

from __future__ import annotations

import pytest

from inspector.formats import registry
from inspector.formats.kind_families import family_of
from inspector.formats.line_reading import read_line
from inspector.formats.table import FORMATS
from inspector.protocol.kinds import Family
from tests.builders import lines_of


@pytest.mark.parametrize(
    ("kind", "shown_under"),
    [
        ("chat", Family.CHAT),
        ("chat/acknowledge", Family.CHAT),
        ("mcp/request", Family.TOOLS),
        ("mcp/response", Family.TOOLS),
        ("mcp/never-heard-of", Family.TOOLS),
        ("mcp/proposal", Family.PROPOSALS),
        ("mcp/reject", Family.PROPOSALS),
        ("mcp/withdraw", Family.PROPOSALS),
        ("reasoning/thought", Family.REASONING),
        ("stream/frame", Family.STREAMS),
        ("capability/grant", Family.CONTROL),
        ("participant/pause", Family.CONTROL),
        ("space/kick", Family.CONTROL),
        ("system/welcome", Family.GATEWAY),
        ("never/heard-of", Family.UNKNOWN),
        ("", Family.UNKNOWN),
    ],
)
def test_families(kind: str, shown_under: Family) -> None:
    assert family_of(kind) is shown_under


def test_kinds_of_formats_are_control() -> None:
    namespaces = [namespace for one in FORMATS for namespace in one.namespaces]
    assert len(set(namespaces)) == len(namespaces) > 10
    assert {family_of(f"{namespace}anything") for namespace in namespaces} == {Family.CONTROL}


@pytest.mark.parametrize(
    "sort", ["http-request", "http-response", "sse-event", "http-end", "http-error", "websocket-frame", "line"]
)
def test_records_around_messages_are_control(sort: str) -> None:
    record = read_line(lines_of({"t": 1, "dir": "client->server", "kind": sort, "x": 1, "text": "hello"}).strip())
    assert record.name is not None
    assert family_of(record.name) is Family.CONTROL


def test_bookkeeping_has_kinds_of_its_format() -> None:
    for one in FORMATS:
        assert all(kind.startswith(one.namespaces) for kind in one.bookkeeping), one.name
    assert {
        "claude/mode",
        "codex/turn_context",
        "gemini/set",
        "http/end",
        "recorder/start",
    } <= registry.groups().bookkeeping
