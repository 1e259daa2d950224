"""Files with many runs: archives, and runs that share ids."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from inspector.document.summary import summary
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.pi.reader import READER
from inspector.formats.run_files import documents_in, placed_documents
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, log_file
from tests.unit.formats.conformance import FORMATS_FOLDER, figures

LOG = FORMATS_FOLDER / "inspect_ai" / "samples" / "bread.json"
ZSTANDARD = 93


def archive(path: Path, *, complete: bool = True, packed: bool = False) -> Path:
    """Writes the sample log as Inspect's archive."""
    log = json.loads(LOG.read_text())
    samples = log.pop("samples")
    brief = [{key: one for key, one in sample.items() if key not in ("messages", "events")} for sample in samples]
    members = {"_journal/start.json": log, "_journal/summaries/1.json": brief}
    members |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    members |= {"summaries.json": brief, "header.json": log} if complete else {}
    with zipfile.ZipFile(path, "w") as file:
        for name, value in members.items():
            data = json.dumps(value).encode()
            file.writestr(name, zstandard.compress(data) if packed else data)
            if packed:  # as written by a library that knows this method
                file.getinfo(name).compress_type = ZSTANDARD
                file.getinfo(name).file_size = len(data)
    return path


def test_an_archive_has_the_figures_of_the_json_log(tmp_path: Path) -> None:
    expected = figures(LOG)
    assert figures(archive(tmp_path / "bread.eval")) == expected
    assert figures(archive(tmp_path / "running.eval", complete=False)) == expected
    assert figures(archive(tmp_path / "packed.eval", packed=True)) == expected


def test_an_encrypted_archive_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path / "bread.eval")
    data = bytearray(path.read_bytes())
    for start in [at for at in range(len(data)) if data.startswith(b"PK\x01\x02", at)]:
        data[start + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(UnknownFormatError, match=r"its member .*header\.json is encrypted"):
        document_at(path)


def test_trials_with_equal_call_ids_are_counted_apart(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "sell", "arguments": "{}"}}
    traj = [{"role": "user", "content": "rye"}, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "sell", "content": "sold"}]  # fmt: skip
    runs = [{"task_id": 0, "reward": 1.0, "info": {}, "traj": [*traj, *traj[1:]], "trial": trial} for trial in (0, 1)]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    assert figures(tmp_path / "runs.json")["calls"] == {"tools": 4, "answered": 4}


def test_half_a_character_in_a_text_leaves_its_line_readable(tmp_path: Path) -> None:
    traj = [{"role": "user", "content": "rye \ud83d"}, {"role": "assistant", "content": 10**400}]
    (tmp_path / "runs.json").write_text(json.dumps([{"task_id": 0, "reward": 1.0, "info": {}, "traj": traj}]))
    found = figures(tmp_path / "runs.json")
    assert (found["unreadable"], found["kinds"]["chat"]) == (0, 2)


def test_no_depth_of_nesting_raises() -> None:
    for depth in range(800, 1000):
        nested = b"[" * depth + b"]" * depth
        line = b'{"type":"message","id":"a","message":{"role":"assistant","content":[{"type":"toolCall","id":"c",'
        line += b'"name":"f","arguments":' + nested + b"}]}}"
        if (record := READER.read(line)) is not None:
            assert len(record.derived_messages) == 1
        READER.payload(line, 0)


def test_a_call_of_a_grader_shows_its_answer() -> None:
    document = document_at(LOG)
    payloads = [document.capture.records.payload(row) for row in range(len(document.capture))]
    assert [one["text"] for one in payloads if one.get("event") == "model"] == ["bakery/judge: GRADE: I"]


def test_tasks_without_a_trajectory_are_no_runs() -> None:
    with pytest.raises(UnknownFormatError, match=r"tasks\.json cannot be read: it holds no run\."):
        document_at(log_file(b'[{"task_id": 0, "reward": 1.0, "info": {}}]', "tasks.json"))


LONG = {"runs": ["x" * 1_000] * 3_000}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (json.dumps(LONG), 1), (json.dumps(LONG, indent=1), 1), ("\ufeff\n " + json.dumps(LONG) + "\n\n", 1),
        (json.dumps(LONG) + "\n" + json.dumps(LONG) + "\n", 2), (json.dumps(LONG, indent=1) * 2, 2),
        (json.dumps([LONG, {}]), 2), (json.dumps(LONG)[:-9], 1), ('{"a": 1}\n{"b": 2}', 2), ("{} nonsense", 1),
    ],
    ids=["line", "indented", "blanks", "lines", "documents", "array", "cut", "short", "rest"],
)  # fmt: skip
def test_documents_are_found_where_they_lie(tmp_path: Path, text: str, count: int) -> None:
    path = tmp_path / "runs.json"
    path.write_text(text, encoding="utf-8")
    data, found = path.read_bytes(), list(placed_documents(path))
    assert len(found) == count
    for start, document in found:
        assert data[start : start + len(document)] == document
        assert text.endswith("x") or json.loads(document) is not None
    assert list(documents_in(path)) == [document for _, document in found]


def test_ticks_of_a_spoken_simulation_are_messages(tmp_path: Path) -> None:
    def tick(second: int, **members: Any) -> dict[str, Any]:
        return {"tick_id": second, "timestamp": f"2026-05-01T10:00:{second:02}", **members}

    def said(role: str, text: str, utterance: str) -> dict[str, Any]:
        return {"role": role, "content": text, "is_audio": False, "utterance_ids": [utterance], "chunk_id": 0}

    call = {"id": "c1", "name": "look_up", "arguments": {"id": 7}, "requestor": "assistant"}
    ticks = [
        tick(0, agent_chunk={"role": "assistant", "content": "", "usage": {"prompt_tokens": 5}}),
        tick(1, agent_chunk={**said("assistant", "How can ", "a"), "usage": {"prompt_tokens": 9}}),
        tick(2, agent_chunk=said("assistant", "I help?", "a"), user_chunk=said("user", "My ", "u")),
        tick(3, user_chunk=said("user", "order is late.", "u"), agent_chunk={"role": "assistant", "content": ""}),
        tick(4, agent_tool_calls=[call],
             agent_tool_results=[{"id": "c1", "role": "tool", "content": "sent", "ids": 1, "requestor": "assistant"}]),
        tick(5, agent_chunk={**said("assistant", "It was sent.", "b"), "cost": 0.5}),
        tick(6, agent_chunk={**said("assistant", "", "b"), "cost": 10**400}),
    ]  # fmt: skip
    run = {"id": "s", "task_id": "7", "trial": 0, "reward_info": {"reward": 1.0}, "messages": [], "ticks": ticks,
           "mode": "full_duplex"}  # fmt: skip
    log = tmp_path / "results.json"
    log.write_text(json.dumps({"info": {"agent_info": {}, "user_info": {}}, "tasks": [], "simulations": [run]}))
    document = document_at(log)
    found = summary(document, "x")
    texts = [FIELD_BY_NAME["text"].value(document.analysis, row) for row in range(len(document.capture))]
    assert [text for text in texts if text in ("How can I help?", "My order is late.", "It was sent.")] == [
        "How can I help?", "My order is late.", "It was sent.",
    ]  # fmt: skip
    assert found["calls"] == {"tools": 1, "answered": 1, "failed": 0, "unanswered": 0, "rejected": 0}
    assert found["kinds"]["chat"] == 3
    assert found["usage"]["input"] == 14


def test_answers_without_ids_take_the_tokens_of_their_calls(tmp_path: Path) -> None:
    used = {"input_tokens": 40, "output_tokens": 6, "total_tokens": 46}
    asks = {"role": "assistant", "source": "generate", "tool_calls": [{"id": "c1", "function": "look"}]}
    ends = {"role": "assistant", "source": "generate", "content": "At noon."}
    said = [
        asks,
        {"role": "tool", "tool_call_id": "c1", "content": "ebb"},
        ends,
        {"role": "user", "content": "?"},
        ends,
    ]
    events = [
        {"event": "model", "timestamp": "2025-03-05T10:00:00Z", "model": "m/1", "input": [],
         "output": {"model": "m/1", "choices": [{"message": message}], "usage": used}}
        for message in (asks, ends, ends)
    ]  # fmt: skip
    sample = {"id": 1, "epoch": 1, "messages": said, "events": events, "model_usage": {"m/1": used}}
    log = {"version": 2, "status": "success", "eval": {"task": "tides", "model": "m/1"}, "samples": [sample]}
    (path := tmp_path / "log.json").write_text(json.dumps(log))
    told = summary(document_at(path), "x")
    assert (told["models"], told["usage"]["input"], told["kinds"].get("inspect/model")) == ({"m/1": 3}, 120, None)


def test_an_answer_of_a_tool_that_begins_with_error_failed(tmp_path: Path) -> None:
    calls = [{"id": name, "function": {"name": "book", "arguments": "{}"}} for name in ("c1", "c2")]
    told = (("c1", "Error: no seats"), ("c2", "Errors of the past: 2"))
    traj = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": name, "name": "book", "content": text} for name, text in told),
    ]
    run = {"task_id": 1, "reward": 0.0, "info": {}, "traj": traj}
    (path := tmp_path / "runs.json").write_text(json.dumps([run]))
    assert summary(document_at(path), "x")["calls"]["failed"] == 1
