"""Threads of Codex, read to their end: told once, counted once, without what was copied from another thread."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.reconstruction import ModelContext
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.filters import compile_filter
from inspector.present.findings import failed_filter
from inspector.store.messages.thread_files import Thread
from tests.builders import document_at, log_file
from tests.samples import FORMAT_SAMPLES

ROOT = Path(__file__).parents[3]
OWN = FORMAT_SAMPLES["codex.jsonl"]
FAMILY = ROOT / "tests" / "data" / "transcripts" / "codex"
THREAD, CHILD = "019cb813-5280-7000-8000-000000000001", "019cb813-a0a0-7000-8000-000000000002"
SAMPLES = Path(os.environ.get("TRANSCRIPT_SAMPLES") or ROOT.parent / "shared" / "recordings" / "transcripts")


def file_of(thread: str, folder: Path = FAMILY) -> Path:
    [found] = folder.rglob(f"*{thread}.jsonl")
    return found


def expected() -> dict[str, Any]:
    try:
        found = json.loads((SAMPLES / "EXPECTED.json").read_text(encoding="utf-8"))
    except OSError:
        return {}
    return {name: counts for name, counts in found.items() if counts["format"] == "codex"}


@pytest.mark.parametrize("name", expected() or [pytest.param("", marks=pytest.mark.skip("no samples here"))])
def test_a_sample_counts_as_an_independent_script_counts_it(name: str) -> None:
    counts = expected()[name]
    found = summary(document_at(SAMPLES / name), name)
    assert (found["format"], found["records"], found["unreadable"]) == ("codex", counts["records"], 0)
    if "catalogue" in name:  # one record of each type: ids and numbers are placeholders
        return
    total = counts["tokens_total_last"]
    if total is not None:
        cached = total["cached_input_tokens"]
        usage = {"input": total["input_tokens"] - cached, "output": total["output_tokens"], "cache_read": cached}
        assert found["usage"] == {**usage, "cache_write": 0}
    assert found["calls"]["tools"] == counts["tool_calls"]
    assert found["calls"]["answered"] == counts["paired"]
    assert found["calls"]["unanswered"] == counts["unanswered"]
    assert set(found["findings"]) <= {"request-unanswered"}


@pytest.fixture
def document() -> Iterator[CaptureDocument]:
    made = CaptureDocument()
    yield made
    made.close()


def rows(document: CaptureDocument, text: str) -> list[int]:
    found = compile_filter(text).mask(document.analysis, np.arange(len(document.capture)))
    return (found.nonzero()[0] + 1).tolist()


def test_what_is_told_in_two_ways_counts_once() -> None:
    document = document_at(OWN)
    found = summary(document, "")
    assert found["usage"] == {"input": 2_500, "output": 260, "cache_read": 12_500, "cache_write": 0}
    assert found["models"] == {"gpt-5.2-codex": 3}
    assert found["calls"] == {"tools": 5, "answered": 5, "failed": 1, "unanswered": 0, "rejected": 0}
    assert (found["records"], found["unreadable"], found["sub_agents"], found["findings"]) == (39, 0, 1, {})
    assert rows(document, "repeats") == [7, 12, 13, 16, 19, 31, 38]
    assert rows(document, 'state == "failed"') == [14]


def test_the_same_words_said_twice_are_no_copies() -> None:
    lines = OWN.read_bytes().splitlines(keepends=True)
    document = document_at(log_file(b"".join(lines[:5] + lines[4:6] + lines[5:6])))
    assert rows(document, "repeats") == [8, 9]
    assert rows(document, '"Make the totals"') == [6, 7, 8, 9]


def test_what_a_spawned_thread_copied_from_its_parent_does_not_count() -> None:
    document = document_at(file_of(CHILD))
    found = summary(document, "")
    assert found["usage"] == {"input": 3_000, "output": 40, "cache_read": 0, "cache_write": 0}
    assert found["models"] == {"gpt-5.2-mini": 1}
    assert found["calls"]["tools"] == 1
    assert rows(document, "repeats == 2") == list(range(3, 24))


def test_what_was_copied_ends_nothing(tmp_path: Path) -> None:
    lines = file_of(CHILD).read_bytes().splitlines(keepends=True)
    stopped = b'{"timestamp":"2026-03-04T09:00:20.010Z","type":"event_msg","payload":{"type":"turn_aborted"}}\n'
    (tmp_path / "child.jsonl").write_bytes(b"".join([*lines[:4], stopped, *lines[4:]]))
    contexts = document_at(tmp_path / "child.jsonl").analysis.contexts
    (node,) = contexts.tree.alive()
    assert contexts.state(node, None) == "concluded"


def test_an_ordinal_says_where_what_was_copied_ends() -> None:
    written: list[dict[str, Any]] = [json.loads(line) for line in file_of(CHILD).read_text().splitlines()]
    records: list[dict[str, Any]] = [{**one, "ordinal": number} for number, one in enumerate(written) if number != 1]
    records[0]["payload"]["subagent_history_start_ordinal"] = 21
    for one in records:  # nothing else tells
        one["payload"].pop("turn_id", None)
    document = document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in records)))
    assert summary(document, "")["models"] == {"gpt-5.2-mini": 1}


def test_threads_of_a_family_are_one_document(document: CaptureDocument) -> None:
    for _ in document.open_log(file_of(THREAD), together=True):
        pass
    found = summary(document, "")
    assert found["usage"] == {"input": 5_500, "output": 300, "cache_read": 12_500, "cache_write": 0}
    assert found["calls"]["tools"] == 6
    assert (found["records"], found["sub_agents"], found["spaces"]) == (70, 1, [THREAD])
    assert document.capture.failed_count == len(rows(document, failed_filter(document.capture))) == 1
    assert found["latency"]["tools"]["shell_command"]["count"] == 2
    contexts = document.analysis.contexts
    (node,) = contexts.tree.alive()
    assert (contexts.label(node), contexts.type(node), contexts.state(node, None)) == (
        "Run the tests and say what fails.", "sub-agent", "concluded",
    )  # fmt: skip
    assert rows(document, 'from == "tester#00000002" && kind == "mcp/request" && !repeats')


def test_the_family_is_found_on_other_days_and_not_by_its_name(tmp_path: Path, document: CaptureDocument) -> None:
    home = shutil.copytree(FAMILY, tmp_path / "codex")
    child = file_of(CHILD, home)
    later = home / "sessions" / "2026" / "03" / "05" / child.name.replace("03-04T09-00-20", "03-05T01-00-00")
    later.parent.mkdir()
    child.rename(later)
    stranger = later.with_name(later.name.replace(CHILD, CHILD[:-1] + "9"))
    stranger.write_text(json.dumps({"timestamp": "x", "type": "session_meta", "payload": {"id": "9"}}) + "\n")
    for _ in document.open_log(file_of(THREAD, home), together=True):
        pass
    assert [source.name for source in document.capture.sources] == [file_of(THREAD).name, later.name]


def sees(document: CaptureDocument, at: int) -> list[int]:
    space = int(document.capture.columns["space"][0])
    moment = ModelContext(document.analysis, Reader(space, "codex")).moment_at(at - 1)
    return [entry.message + 1 for entry in moment.entries()]


def test_what_a_child_was_made_with_stands_in_its_context_and_counts_nowhere(document: CaptureDocument) -> None:
    for _ in document.open_log(file_of(THREAD), together=True):
        pass
    document.count_tokens()
    total, space = document.analysis.tokens.total, int(document.capture.columns["space"][0])
    moment = ModelContext(document.analysis, Reader(space, "tester#00000002")).moment_at(len(document.capture) - 1)
    run_to_end(moment.context.count_summaries())
    entries = [*moment.entries()]
    assert [entry.message + 1 for entry in entries] == [30, 31, 33, 39, 40, 41, 44, 47, 48, 51, 54, 55, 57]
    assert [entry.role.word for entry in entries[5:9]] == ["assistant", "tool", "assistant", "tool"]
    assert all(entry.tokens for entry in entries)
    assert document.analysis.tokens.columns["tokens"][29:48].sum() == 0
    assert document.analysis.tokens.total == total


def test_a_compaction_is_the_context_from_there_and_a_turn_can_be_taken_back() -> None:
    document = document_at(OWN)
    assert sees(document, 33) == [2, 3, 4, 6, 10, 11, 14, 17, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30]
    assert sees(document, 35) == [34]
    assert sees(document, 39) == [34, 37]
    assert sees(document, 42) == [34]
    assert document.capture.records.payload(33)["text"].endswith("Summary: ledger.py rounds once, all tests pass.")


def test_words_are_one_in_each_way_and_forgotten_after_so_many_others() -> None:
    thread = Thread(0, {})
    first, second = thread.shared_text_hash(1, "item"), thread.shared_text_hash(1, "item")
    assert len({first, second}) == 2
    assert [thread.shared_text_hash(1, way) for way in ("event", "event")] == [first, second]
    ways = [thread.repeated_text_hash(1, f"end{number}") for number in range(20)]
    assert ways[:13] == [first] * 13
    assert set(ways) <= {first, second, 0}
    for number in range(2, 600):
        assert thread.repeated_text_hash(number, "event") == 0
        thread.shared_text_hash(number, "item")
    assert thread.repeated_text_hash(1, "completed") == 0
    assert thread.repeated_text_hash(500, "completed") != 0


def test_what_exec_prints_tells_each_item_once() -> None:
    document = document_at(OWN.with_name("codex-exec.jsonl"))
    found = summary(document, "")
    assert found["usage"] == {"input": 315, "output": 122, "cache_read": 24_448, "cache_write": 0}
    assert found["calls"] == {"tools": 5, "answered": 5, "failed": 1, "unanswered": 0, "rejected": 0}
    assert (found["spaces"], found["findings"]) == (["019cb813-5280-7000-8000-0000000000e1"], {"model-call-failed": 1})
    assert rows(document, "repeats") == [5, 12, 15, 18, 21, 25]
    assert rows(document, 'from == "mcp:files"') == [16]
    assert rows(document, 'state == "failed"') == [11, 12]


FORKS = ROOT / "tests" / "data" / "transcripts" / "codex-forks"


@pytest.mark.parametrize("name", sorted(one.name for one in FORKS.iterdir()))
def test_a_fork_counts_once_whatever_its_version_wrote(name: str) -> None:
    def reported(path: Path) -> tuple[int, int]:
        usage = summary(document_at(path), "")["usage"]
        return usage["input"], usage["output"]

    assert reported(FORKS / name) == (3_500, 350)
    assert reported(FORKS / name / "rollout-fork.jsonl") == (500, 50)
    assert reported(FORKS / name / "rollout-parent.jsonl") == (3_000, 300)


def test_a_copy_of_the_call_that_spawned_a_thread_takes_no_answer(tmp_path: Path) -> None:
    top, child = "01a05c32-5e80-7000-8000-000000000001", "01a05c33-48e0-7000-8000-000000000002"

    def line(second: int, sort: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": f"2026-09-01T09:00:{second:02}.000Z", "type": sort, "payload": payload}

    call = {"type": "function_call", "name": "spawn_agent", "call_id": "call_3_0", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_3_0"}
    parent = [line(0, "session_meta", id=top, source="cli"), line(1, "response_item", **call),
              line(9, "response_item", **output, output="spawned")]  # fmt: skip
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": top, "depth": 1}}}
    own = {"type": "function_call", "name": "exec", "call_id": "call_5_0", "arguments": "{}"}
    copy = [line(2, "session_meta", id=child, source=spawned, parent_thread_id=top), line(2, "response_item", **call),
            line(3, "response_item", **own),
            line(4, "response_item", type="function_call_output", call_id="call_5_0", output="done")]  # fmt: skip
    for name, lines in ((f"rollout-1-{top}.jsonl", parent), (f"rollout-2-{child}.jsonl", copy)):
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    found = summary(document_at(tmp_path), "")["calls"]
    assert (found["tools"], found["answered"], found["unanswered"]) == (2, 2, 0)
