"""One small log per format and dialect (tests/data/formats), read to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.views.account.tool_calls import calls_of
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.format import Stage
from inspector.formats.table import FORMAT_TITLES, FORMATS, formats_of
from inspector.store.columns.hashes import NO_ROW
from tests.builders import document_at
from tests.pictures import picture

SAMPLES = Path(__file__).parents[2] / "data" / "formats"


def columns(name: str, *fields: str) -> list[tuple[Any, ...]]:
    document = document_at(SAMPLES / name)
    chosen = [FIELD_BY_NAME[field] for field in fields]
    return [tuple(field.value(document.analysis, m) for field in chosen) for m in range(len(document.capture))]


@pytest.mark.parametrize(
    ("name", "format_", "records", "unreadable"),
    [
        ("mcp-x-v0.0.jsonl", "envelopes", 5, 0),
        ("mcpx-v0.1.jsonl", "envelopes", 5, 0),
        ("drafts.jsonl", "envelopes", 5, 0),
        ("mew-v0.3.jsonl", "envelopes", 5, 0),
        ("mew-v0.4.jsonl", "envelopes", 8, 0),
        ("gateway-log.jsonl", "gateway-log", 7, 0),
        ("decisions.jsonl", "capability-decisions", 2, 0),
        ("json-rpc.jsonl", "json-rpc", 5, 0),
        ("http-lines.jsonl", "http-lines", 13, 0),
        ("model-calls.jsonl", "http-lines", 59, 0),
        ("acp.jsonl", "acp", 32, 0),
        ("a2a.jsonl", "a2a", 18, 0),
        ("messages.jsonl", "messages", 9, 0),
        ("opencode.jsonl", "opencode", 11, 0),
        ("vscode-chat.jsonl", "vscode-chat", 3, 0),
        ("gemini-cli.jsonl", "gemini-cli", 9, 0),
        ("copilot-cli.jsonl", "copilot-cli", 14, 0),
        ("wrapped.jsonl", "wrapped", 5, 0),
        ("capture.ctxcap", "capture", 6, 1),
        ("damaged.jsonl", None, 11, 8),
        ("prefixed.log", "prefixed", 6, 0),
        ("joined.jsonl", "envelopes", 4, 1),
        ("claude-code.jsonl", "claude-code", 27, 0),
        ("codex.jsonl", "codex", 39, 0),
        ("codex-exec.jsonl", "codex", 20, 0),
        ("otlp.jsonl", "otlp", 11, 0),
    ],
)
def test_is_read(name: str, format_: str | None, records: int, unreadable: int) -> None:
    document = document_at(SAMPLES / name)
    assert (document.format, document.capture.record_count, document.unreadable) == (format_, records, unreadable)
    assert picture(document)["totals"]["messages"] == len(document.capture)
    calls, state = calls_of(document.analysis), FIELD_BY_NAME["state"]
    states = [state.value(document.analysis, row) for row in calls.rows.tolist()]
    answered = [one in ("answered", "failed", "cancelled") for one in states]
    assert (calls.answers != NO_ROW).tolist() == answered, "what is counted is what each call says"
    assert calls.failed.tolist() == [one == "failed" for one in states]


def cases() -> list[tuple[str, str, int, int]]:
    return [case for mark in test_is_read.pytestmark for case in mark.args[1]]  # type: ignore[attr-defined]


def test_every_sample_is_tested_and_described() -> None:
    files = {path.name for path in SAMPLES.iterdir()} - {"README.md"}
    assert files == {case[0] for case in cases()}, "one line in test_is_read for each sample"
    described = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in sorted(files) if f"`{name}`" not in described] == [], "one line in README.md beside them"


def test_every_format_has_a_sample_and_words() -> None:
    documents = {one.name for one in formats_of(Stage.DOCUMENT)}
    of_lines = FORMAT_TITLES.keys() - documents
    assert of_lines == {case[1] for case in cases()} - {None}, "one sample in tests/data/formats for each"
    assert all(one.reads for one in FORMATS)


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
