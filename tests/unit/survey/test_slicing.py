"""Slices: the lines a filter chooses, wherever a log is cut; what a stretch cannot know is refused."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.fields import FIELD_BY_NAME
from inspector.survey.byte_ranges import RangeError, range_filter, ranges_of
from inspector.survey.slicing import find_lines, run_here
from tests.builders import envelope, lines_of, log_file, tool_call, tool_result
from tests.commands import asked, printed
from tests.samples import FORMAT_SAMPLES
from tests.unit.survey.test_one_run import ROOT

GATEWAY = ROOT / "mew/coding-agent/envelope-history.jsonl"
PROPOSALS, RUNE = (
    ROOT / "mew/scenario-3-proposals/envelope-history.jsonl",
    ROOT / "mcp-rune/01-loop-current-names.jsonl",
)
FILTERS = (
    'kind == "mcp/request"', 'from == "mew" || from == "test-client"', "payload.result", "size > 1kB",
    '"write_file" && !stream',
)  # fmt: skip


def read_at(path: str, offset: int, length: int) -> bytes:
    return Path(path).read_bytes()[offset : offset + length]


def cut(path: Path, text: str, step: int = 1 << 20, *, related: bool = False) -> list[bytes]:
    lines: list[bytes] = []
    ranges = ranges_of(str(path), path.stat().st_size, step)
    for _ in find_lines(ranges, text, run_here, lines.append, read=partial(read_at) if related else None):
        pass
    return lines


def opened(path: Path) -> CaptureDocument:
    document = CaptureDocument()
    document.load(path)
    return document


def told(document: CaptureDocument, text: str) -> list[tuple[Any, ...]]:
    """The messages a filter shows, by what they say themselves."""
    rows = compile_filter(text).mask(document.analysis, range(len(document.capture)))  # type: ignore[arg-type]
    return [
        (
            document.capture.string("kind", row),
            document.capture.string("sender", row),
            document.capture.records.envelope_bytes(row),
        )
        for row in rows.nonzero()[0].tolist()
    ]


@pytest.mark.parametrize("log", [GATEWAY, PROPOSALS, RUNE], ids=lambda log: log.parent.name)
@pytest.mark.parametrize("step", [1 << 20, 21_000, 3_333])
def test_a_slice_has_the_messages_that_list_has_wherever_it_is_cut(log: Path, step: int) -> None:
    whole = opened(log)
    for text in FILTERS if step > 9_000 else FILTERS[:1]:
        lines = cut(log, text, step)
        found = opened(log_file(b"".join(lines))) if lines else CaptureDocument()
        assert told(found, "") == told(whole, text), text
        data = log.read_bytes()
        for line in lines:
            where = json.loads(line)["slice"]
            assert (where["source"], where["line"]) == (log.name, data[: where["offset"]].count(b"\n") + 1)
        found.close()
    whole.close()


def test_where_a_line_was_is_a_field_and_the_log_that_was_cut_has_none() -> None:
    path = log_file(b"".join(cut(GATEWAY, 'kind == "chat"')))
    fields = "slice.source,slice.line,slice.offset"
    rows = [json.loads(line) for line in printed("list", path, "--format", "jsonl", "-e", fields).splitlines()]
    assert {row["slice.source"] for row in rows} == {GATEWAY.name}
    assert all(row["slice.offset"] > row["slice.line"] > 0 for row in rows)
    assert "slice" not in printed("list", GATEWAY, "-Y", "slice.line")


def test_what_belongs_to_a_message_comes_along() -> None:
    asked_ = envelope("chat", {"text": "why?"}, sender="human")
    start = envelope("reasoning/start", {"input": "x"}, id="r-1", correlation_id=[asked_["id"]])
    call = tool_call("grep", context="r-1")
    answer = tool_result(call, context="r-1")
    follow = envelope("chat", {"text": "so"}, correlation_id=[answer["id"]])
    other = envelope("chat", {"text": "else"})
    log = log_file(lines_of(other, asked_, start, call, answer, follow, envelope()))
    lines = cut(log, f'id == "{answer["id"]}"', 600, related=True)
    assert [json.loads(line)["message"]["id"] for line in lines] == [
        one["id"] for one in (asked_, start, call, answer, follow)
    ]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("tool == \"x\"", 0), ('kind == "chat" && context == "r"', 18), ("no > 3", 0), ("latency > 5", 0),
        ('kind like "mcp/request:tools/call:*"', 0), ("!(finding)", 2), ("state", 0), ("badge", 0), ("repeats", 0),
    ],
)  # fmt: skip
def test_what_only_the_whole_log_tells_is_refused_with_its_place(text: str, position: int) -> None:
    with pytest.raises(FilterError) as error:
        range_filter(text)
    assert error.value.position == position
    failed = asked("slice", GATEWAY, "-Y", text, "-o", "-")
    assert (failed.exit_code, "whole log" in failed.output) == (2, True)


def test_every_field_is_answered_or_refused() -> None:
    answered = set()
    for name in FIELD_BY_NAME:
        try:
            range_filter(name)
        except FilterError:
            continue
        answered.add(name)
    assert answered >= {"time", "id", "kind", "from", "to", "text", "payload", "correlation", "error", "size"} - {
        "payload"
    }
    assert not answered & {"tool", "latency", "context", "state", "tokens", "finding", "no", "delivered"}


def test_frames_and_logs_that_are_not_lines_are_refused(tmp_path: Path) -> None:
    log = log_file(lines_of(envelope()) + b"#stream-1#data\n")
    with pytest.raises(RangeError, match="frames of streams"):
        cut(log, 'from == "lead"')
    assert len(cut(log, 'from == "lead" && !stream')) == 1
    whole = tmp_path / "a.json"
    whole.write_text(json.dumps([envelope(), envelope()]))
    with pytest.raises(RangeError, match="no lines to cut"):
        cut(whole, "id")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude-code", "tool || model"), ("http-lines", "state"), ("otlp", ""),
        ("gemini-cli", 'kind == "mcp/request"'),
        ("messages", "no > 3"), ("gateway-log.gz", "delivered"), ("array.json", "!finding"),
    ],
)  # fmt: skip
def test_what_means_something_together_only_is_read_whole(name: str, text: str, tmp_path: Path) -> None:
    data = (FORMAT_SAMPLES[f"{name.partition('.')[0]}.jsonl"]).read_bytes() if name != "array.json" else b"[]"
    log = tmp_path / name
    log.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    if name == "array.json":
        log.write_text(json.dumps([envelope(), envelope()]))
    out, ways = tmp_path / "part.jsonl", ("-e", "kind,from,to,text,time,dir,delivered,space", "--format", "jsonl")
    done = asked("slice", log, "-Y", text, "-o", out)
    assert done.exit_code == 0, done.output
    assert printed("list", out, *ways) == printed("list", log, "-Y", text, *ways)
    rows = [
        json.loads(line)
        for line in printed("list", out, "-e", "slice.source,slice.line", "--format", "jsonl").splitlines()
    ]
    assert rows
    assert all(row["slice.source"] == name and row["slice.line"] >= 1 for row in rows)


def rpc(method: str, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {}}


def test_a_language_server_is_cut_by_its_own_kinds(tmp_path: Path) -> None:
    log, out = ROOT.parent / "json-rpc/language-server.jsonl", tmp_path / "part.jsonl"
    text = 'kind == "jsonrpc/request"'
    assert asked("slice", log, "-Y", text, "-o", out).exit_code == 0
    assert printed("list", out, "-e", "kind,method") == printed("list", log, "-Y", text, "-e", "kind,method") != ""


def test_a_kind_that_a_range_cannot_know_is_refused() -> None:
    # "shutdown" is no method of MCP, and a later range could hold one.
    log = log_file(lines_of(rpc("ping"), *(rpc("tasks/get", number) for number in range(50)), rpc("shutdown")))
    with pytest.raises(RangeError, match=r"payload\.method"):
        cut(log, 'kind == "mcp/request"', 500)
    assert len(cut(log, 'payload.method == "ping"', 500)) == 1
    both = log_file(lines_of(rpc("ping"), rpc("tools/list"), rpc("shutdown")))
    assert len(cut(both, 'kind == "mcp/request"')) == 3


def test_a_call_of_a_transcript_brings_its_answer(tmp_path: Path) -> None:
    out = tmp_path / "part.jsonl"
    sample = FORMAT_SAMPLES["claude-code.jsonl"]
    asked("slice", sample, "-Y", "tool && answered", "--with-related", "-o", out)
    calls = json.loads(printed("summary", sample, "--json"))["calls"]
    assert json.loads(printed("summary", out, "--json"))["calls"]["answered"] == calls["answered"] > 0


def test_the_command_cuts_by_time_and_writes_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "part.jsonl"
    done = asked(
        "slice",
        GATEWAY,
        "--since",
        "2026-11-21T20:39:40Z",
        "--until",
        "2026-11-21T20:39:50Z",
        "-o",
        out,
        "--workers",
        1,
    )
    assert done.exit_code == 0, done.output
    first = 'time >= "2026-11-21T20:39:40Z" && time < "2026-11-21T20:39:50Z"'
    assert printed("list", out, "-e", "id,kind") == printed("list", GATEWAY, "-Y", first, "-e", "id,kind")
    assert asked("slice", GATEWAY, "--since", "yesterday-ish", "-o", out).exit_code == 2
    assert asked("slice", tmp_path / "none", "-o", out).exit_code == 2
    assert asked("slice", GATEWAY, "-o", tmp_path / "no/where.jsonl", "--workers", 1).exit_code == 2
