"""Smallest logs of tracers, servers and clients, each with its right figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspector.document.summary import summary
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at

DATA = Path(__file__).parents[2] / "data"


class Right(NamedTuple):
    """The right figures of a log.

    Attributes:
        format: name of its format.
        tokens: input with caches, and output; None if it reports none.
        tools: calls by tool.
        participants: senders and recipients.
    """

    format: str
    tokens: tuple[int, int] | None
    tools: dict[str, int]
    participants: set[str]


LOGS = {
    "otlp/strange/noargs.json": Right("otlp", (10, 2), {"stir": 3}, {"cook", "tools"}),
    "otlp/strange/vercel.json": Right("otlp", (60, 9), {"oven": 1}, {"kitchen", "tools", "user"}),
    "otlp/strange/langfuse-otel.json": Right("otlp", (30, 3), {"kettle": 1}, {"cook", "tools", "user"}),
    "otlp/strange/mlflow-otel.json": Right("otlp", (30, 3), {"kettle": 1}, {"kitchen", "tools", "user"}),
    "otlp/strange/langsmith-otel.json": Right("otlp", (30, 3), {}, {"kitchen", "user"}),
    "otlp/strange/call-llm.json": Right("otlp", (30, 3), {}, {"kitchen", "user"}),
    "otlp/strange/agent-only-usage.json": Right("otlp", (900, 40), {"stir": 1}, {"cook", "tools"}),
    "otlp/strange/nested-inner-no-usage.json": Right("otlp", (30, 3), {}, {"kitchen"}),
    "model-apis/gemini-partial-args.jsonl": Right("messages", (26, 7), {"set_oven": 1}, {"assistant"}),
    "model-apis/iterations.json": Right("messages", (9_050, 127), {}, {"assistant"}),
    "model-apis/xai.json": Right("messages", (40, 105), {}, {"assistant"}),
    "model-apis/mcp-list-tools.json": Right("messages", (9, 3), {"heat": 1}, {"assistant", "tools"}),
    "model-apis/sse-openai.txt": Right("messages", (9, 3), {}, {"assistant"}),
    "traces/ollama-chat.jsonl": Right("messages", (9, 3), {}, {"assistant"}),
    "traces/polly.har": Right("har", (9, 3), {}, {"assistant", "client", "user"}),
    "traces/user-is-no-model.json": Right("messages", None, {}, {"assistant", "system-prompt", "user"}),
    "traces/ft.jsonl": Right(
        "messages", None, {"oven_state": 1, "mill_state": 1}, {"assistant", "system-prompt", "tools", "user"}
    ),
    "traces/lsp.jsonl": Right("json-rpc", None, {}, set()),
    "mcp_logs/cd-inspect.log": Right("prefixed", None, {}, {"client", "pantry"}),
    "mcp_logs/cd-two-servers.log": Right(
        "prefixed", None, {"count_jars": 1, "count_beds": 1}, {"client", "garden", "pantry"}
    ),
    "mcp_logs/vscode-mcp.log": Right("prefixed", None, {"count_jars": 1}, {"client", "server"}),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_figures(name: str) -> None:
    found: dict[str, Any] = summary(document_at(DATA / name), "")
    usage = found["usage"]
    tokens = usage and (usage["input"] + usage["cache_read"] + usage["cache_write"], usage["output"])
    told = Right(found["format"], tokens, dict(found["tool_counts"]), set(found["participants"]))
    assert (told, found["unreadable"]) == (LOGS[name], 0)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("traces/evalrow.txt", "an object with the keys `instance_id`, `history`, `metrics`, `error`"),
        ("traces/content-length.log", "messages framed by Content-Length"),
        ("mcp_logs/cd-redacted.log", "a log of Claude Desktop that has no messages in it"),
    ],
)
def test_refusals(name: str, reason: str) -> None:
    with pytest.raises(UnknownFormatError, match=reason):
        document_at(DATA / name)
