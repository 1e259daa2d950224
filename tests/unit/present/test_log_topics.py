"""Tests of `inspector.present.log_topics` and of the presets offered by it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.filters import compile_filter
from inspector.present.log_topics import LogTopics, spoken_kinds
from inspector.protocol import kinds
from inspector.settings.model import DEFAULT_PRESETS, Topic
from tests.builders import closed_at_end, document_at, document_of, envelope, lines_of, log_file, received, tool_call
from tests.samples import sample

DATA = Path(__file__).parents[2] / "data"
SAMPLES = (
    "captures/demo-round.ctxcap", "msp/weekly-report.json", "formats/claude-code.jsonl", "formats/opencode.jsonl",
    "formats/gemini-cli.jsonl", "recordings/mcp-rune/01-loop-current-names.jsonl", "formats/otlp.jsonl",
    "otlp/pydantic-ai-1.0.18-v1-events-attribute.jsonl", "otlp/langgraph-traceloop-0.40.14-old-names.jsonl",
    "recordings/mcp/hand-stdio-fragile-server.jsonl", "formats/model-calls.jsonl", "formats/messages.jsonl",
    "captures/model-wire.jsonl", "formats/a2a.jsonl", "formats/acp.jsonl", "transcripts/claude", "formats/codex.jsonl",
    "json-rpc/language-server.jsonl",
)  # fmt: skip


def topics(document: CaptureDocument) -> tuple[Topic, ...]:
    found = LogTopics()
    found.update(document)
    return found.order


def shown(document: CaptureDocument, text: str) -> int:
    everything = np.arange(len(document.analysis))
    return int(np.count_nonzero(compile_filter(text, selected_context="sub/x").mask(document.analysis, everything)))


def test_every_preset_shows_rows_of_every_topic_it_is_offered_for() -> None:
    empty = {(preset.name, topic) for preset in DEFAULT_PRESETS for topic in preset.topics if "$" not in preset.filter}
    met: set[Topic] = set()
    for name in SAMPLES:
        if not sample(name).is_file():
            continue
        document = document_at(sample(name))
        for topic in topics(document):
            met.add(topic)
            for preset in DEFAULT_PRESETS:
                if (preset.name, topic) in empty and shown(document, preset.filter):
                    empty.discard((preset.name, topic))
    assert met == set(get_args(Topic))
    assert empty == set()


@pytest.mark.parametrize(("name", "expected"), [
    ("formats/claude-code.jsonl", ("agent", "sub-agents")),
    ("formats/acp.jsonl", ("agent",)),
    ("formats/a2a.jsonl", ("a2a",)),
    ("otlp/openai-agents-openinference-2.6.0.jsonl", ("trace",)),
    ("recordings/mcp/ts2-http-modern-mill.jsonl", ("mcp",)),
    ("recordings/mew/coding-agent/capability-decisions.jsonl", ()),
    ("recordings/mew/coding-agent/envelope-history.jsonl", ("mew",)),
    ("msp/weekly-report.json", ("msp",)),
])  # fmt: skip
def test_topics_of_logs(name: str, expected: tuple[Topic, ...]) -> None:
    assert topics(document_at(sample(name))) == expected


def test_lines_that_cannot_be_read_are_about_nothing() -> None:
    assert topics(document_of("{broken", "also", received(envelope()))) == ("mew",)


def test_any_batching_gives_the_same() -> None:
    mixed = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} if n % 5 else tool_call("a") for n in range(60)]
    path = log_file(b"")
    document = document_at(path)
    stepwise = LogTopics()
    for line in mixed:
        with path.open("ab") as file:
            file.write(lines_of(line))
        document.poll()
        stepwise.update(document)
    assert stepwise.order == topics(document_of(*mixed)) == ("mcp", "mew")


MEW, TRACE, SESSION, RPC, MCP = (
    "captures/demo-round.ctxcap", "formats/otlp.jsonl", "formats/codex.jsonl", "json-rpc/language-server.jsonl",
    "recordings/mcp/hand-stdio-fragile-server.jsonl",
)  # fmt: skip


@pytest.mark.parametrize(
    ("names", "found", "words"),
    [
        ((MEW, TRACE), {"mew", "trace"}, {"otlp/agent": "agent"}),
        ((MEW, RPC), {"mew", "json-rpc"}, {"jsonrpc/request": "JSON-RPC request"}),
        ((SESSION, RPC), {"agent", "json-rpc"}, {"mcp/request": "call", "jsonrpc/request": "JSON-RPC request"}),
        ((MCP, RPC), {"mcp", "json-rpc"}, {"mcp/request": "MCP request", "jsonrpc/request": "JSON-RPC request"}),
        ((TRACE, SESSION), {"trace", "agent"}, {"mcp/request": "call", "otlp/agent": "agent"}),
    ],
)
def test_presets_and_words_of_a_mixed_log_fit_every_family_in_it(
    names: tuple[str, ...], found: set[Topic], words: dict[str, str]
) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_together([SourceChoice(sample(name)) for name in names]):
        pass
    order = topics(document)
    assert found <= set(order)
    for topic in found:  # the presets of each family find something, whatever else is in the log
        own = [preset for preset in DEFAULT_PRESETS if topic in preset.topics and "$" not in preset.filter]
        assert sum(shown(document, preset.filter) > 0 for preset in own) >= len(own) // 2
    spoken = spoken_kinds(document)
    assert {kind: spoken.get(kind) for kind in words} == words
    if "mew" in found:
        assert kinds.REQUEST not in spoken


@pytest.mark.parametrize("name", ["vscode-mcp.log", "cd-inspect.log"])
def test_lines_of_a_program_beside_mcp_are_no_calls_of_models(name: str) -> None:
    assert topics(document_at(DATA / "mcp_logs" / name)) == ("mcp",)
