"""Small logs of each format and dialect: columns of some, read to their end."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.analysis.views.account.tool_calls import calls_of
from inspector.filters.fields import FIELD_BY_NAME
from inspector.store.columns.hashes import NO_ROW
from tests.builders import document_at
from tests.pictures import picture
from tests.samples import DATA, FORMAT_FOLDERS, FORMAT_SAMPLES


def columns(name: str, *fields: str) -> list[tuple[Any, ...]]:
    document = document_at(FORMAT_SAMPLES[name])
    chosen = [FIELD_BY_NAME[field] for field in fields]
    return [tuple(field.value(document.analysis, m) for field in chosen) for m in range(len(document.capture))]


@pytest.mark.parametrize(
    ("name", "format_", "records", "unreadable"), [("damaged.jsonl", None, 11, 8), ("joined.jsonl", "envelopes", 4, 1)]
)
def test_is_read(name: str, format_: str | None, records: int, unreadable: int) -> None:
    document = document_at(FORMAT_SAMPLES[name])
    assert (document.format, document.capture.record_count, document.unreadable) == (format_, records, unreadable)


@pytest.mark.parametrize("name", FORMAT_SAMPLES)
def test_calls_are_counted_as_each_says(name: str) -> None:
    document = document_at(FORMAT_SAMPLES[name])
    assert picture(document)["totals"]["messages"] == len(document.capture)
    calls, state = calls_of(document.analysis), FIELD_BY_NAME["state"]
    states = [state.value(document.analysis, row) for row in calls.rows.tolist()]
    # The answer of a stopped agent may be missing.
    pairs = [pair for pair in zip(states, calls.answers.tolist(), strict=True) if pair[0] != "cancelled"]
    answered = [state in ("answered", "failed", "rejected") for state, _ in pairs]
    assert [answer != NO_ROW for _, answer in pairs] == answered, "what is counted is what each call says"
    assert calls.failed.tolist() == [one == "failed" for one in states]


def test_names_of_samples_are_unique() -> None:
    paths = [*(DATA / "formats").iterdir(), *FORMAT_FOLDERS.glob("[!_]*/samples/*")]
    logs = [path for path in paths if path.suffix != ".md" and not path.name.endswith(".expected.json")]
    assert len(logs) == len(FORMAT_SAMPLES)


def test_v0_0_kinds_need_their_payload() -> None:
    assert columns("mcp-x-v0.0.jsonl", "kind", "kind.raw", "tool", "text") == [
        ("system/welcome", "system", None, "0 others present"),
        ("system/presence", "presence", None, "calc join"),
        ("chat", "mcp", None, "2+2?"),
        ("mcp/request", "mcp", "add", "a=2  b=2"),
        ("mcp/response", "mcp", "add", "4"),
    ]


def test_v0_1_kinds_have_suffixes() -> None:
    assert columns("mcpx-v0.1.jsonl", "kind", "method", "target", "tool.rule") == [
        ("chat", None, None, None),
        ("mcp/request", "tools/call", "grep", None),
        ("mcp/response", "tools/call", "grep", "kind"),
        ("mcp/request", "resources/read", "file:///a:b", None),
        ("mcp/proposal", "tools/call", "write_file", None),
    ]


def test_drafts_have_dots_and_object_contexts() -> None:
    assert columns("drafts.jsonl", "kind", "tool", "context", "context.type") == [
        ("mcp/request", "grep", None, None),
        ("mcp/response", "grep", None, None),
        ("reasoning/thought", None, "job/why/scan", "reasoning"),
        ("reasoning/thought", None, "job/why", "reasoning"),
        ("reasoning/conclusion", None, "job/why", "reasoning"),
    ]


def test_v0_3_sub_contexts_hang_below_the_start() -> None:
    assert columns("mew-v0.3.jsonl", "kind", "context", "proposal.state") == [
        ("mcp/proposal", None, "rejected"),
        ("mcp/reject", None, None),
        ("reasoning/start", None, None),
        ("reasoning/thought", "e3", None),
        ("reasoning/thought", "e3/paths", None),
    ]


def test_v0_4_answers_and_states() -> None:
    assert columns("mew-v0.4.jsonl", "kind", "latency", "context.state", "error") == [
        ("chat", None, None, None),
        ("reasoning/start", None, None, None),
        ("mcp/request", None, "cancelled", None),
        ("mcp/response", 412.0, "cancelled", None),
        ("reasoning/cancel", None, "cancelled", None),
        ("participant/status", None, None, None),
        ("system/error", None, None, True),
        ("stream/frame", None, "cancelled", None),  # its chunk names the context
    ]


def test_a_gateway_log_folds() -> None:
    assert columns("gateway-log.jsonl", "kind", "from", "delivered", "dir") == [
        ("system/join", "lead", [], "inbound"),
        ("chat", "lead", ["lead", "files"], "inbound"),
        ("system/presence", "system:gateway", ["lead"], "outbound"),
        ("mcp/request", "files", [], "inbound"),
        ("", None, [], None),
    ]


def test_damage_stays_where_it_is() -> None:
    assert columns("damaged.jsonl", "kind", "id", "text")[:1] == [("chat", "g1", "first")]
    found = columns("damaged.jsonl", "kind", "id", "text")
    assert [row for row in found if row[1]] == [
        ("chat", "g1", "first"), ("chat", "g3", "k\udce4se"), ("chat", "g4", "\ud800"),
    ]  # fmt: skip
    assert found[-1] == ("", None, '{"kind":"chat","id":"g5","payload":{"text":"last"}')
