"""Logs of declared formats are read like others: rows, detection, payloads, worker processes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.formats.declared.folder import declarations_folder
from inspector.formats.declared.format_maker import register_declaration
from inspector.reading.workers.parallel_reader import WORTHWHILE_BYTES
from inspector.reading.workers.part_reader import part_pool, read_part
from inspector.store.files.source_files import SourceFile
from tests.builders import block_of
from tests.commands import asked, printed
from tests.unit.formats.declared.samples import (
    DIALOGS,
    DIALOGS_FILE,
    ROBOT,
    ROBOT_LOG,
    STEPS,
    STEPS_FILE,
    TEXT,
    TEXT_LOG,
)

FIELDS = "no,time,id,correlation,from,to,kind,target,context,text,space,protocol,error"


def written(folder: Path, declaration: str, log: bytes) -> tuple[Path, Path]:
    """Writes a declaration and a log; returns their paths."""
    folder.mkdir(exist_ok=True)
    toml, path = folder / "declared.toml", folder / "sample.log"
    toml.write_text(declaration, "utf-8")
    path.write_bytes(log)
    return toml, path


def rows(*words: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed("list", *words, "--format", "jsonl", "--field", FIELDS).splitlines()]


def facts(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["from"], row["kind"], row["target"], row["text"]


def test_each_kind_becomes_its_event(tmp_path: Path) -> None:
    toml, log = written(tmp_path, ROBOT, ROBOT_LOG)
    found = rows(log, "--format-file", toml)
    assert [facts(row) for row in found] == [
        ("user", "chat", None, "Clean the kitchen"),
        ("robot", "reasoning/thought", None, "The sink first"),
        ("robot", "mcp/request", "wipe", "surface=sink"),
        ("tools", "mcp/response", "wipe", "done"),
        ("robot", "chat", None, "Next the oven"),
        ("robot", "mcp/request", "scrub", None),
        ("tools", "mcp/response", "scrub", "the oven is hot"),
        ("robot", "mcp/request", "agent", "label=Floor"),
        ("robot", "chat", None, "Floor is wet"),
        ("robot", "robot/battery", None, "battery: level 80"),
    ]
    assert found[0]["time"] == "2026-09-21T14:13:20.000Z"
    assert {row["space"] for row in found} == {"r1"}
    assert {row["protocol"] for row in found} == {"robot"}
    assert found[3]["correlation"] == ["c1"]
    assert found[6]["error"] is True
    assert found[8]["context"] == "a7"
    (context,) = json.loads(printed("contexts", log, "--format-file", toml, "--json"))
    assert (context["path"], context["label"]) == ("a7", "Floor")


def test_tokens_are_those_that_the_log_states(tmp_path: Path) -> None:
    toml, log = written(tmp_path, ROBOT, ROBOT_LOG)
    fields = "model,usage.input,usage.output,usage.cache_read,cost.stated"
    line = printed("list", log, "--format-file", toml, "--format", "jsonl", "--field", fields).splitlines()[2]
    assert list(json.loads(line).values()) == ["m-1", 60, 12, 40, 0.01]


def test_an_array_inside_a_document_is_read_by_its_path(tmp_path: Path) -> None:
    toml, log = written(tmp_path, STEPS, STEPS_FILE)
    assert [facts(row) for row in rows(log, "--format-file", toml)] == [
        ("user", "chat", None, 'hi "there" ]'), ("assistant", "chat", None, "hello"), ("judge", "chat", None, "3"),
    ]  # fmt: skip


def test_an_array_in_each_line_gives_a_row_for_each_element(tmp_path: Path) -> None:
    toml, log = written(tmp_path, DIALOGS, DIALOGS_FILE)
    found = rows(log, "--format-file", toml)
    assert [(row["space"], *facts(row)) for row in found] == [
        ("d1", "user", "chat", None, "hi"), ("d1", "assistant", "chat", None, "I look"),
        ("d1", "assistant", "mcp/request", "search", "q=x"),
        ("d1", "dialogs", "dialogs/record", None, "record: value odd"),
        ("d1", "assistant", "chat", None, "bye"), ("d2", "dialogs", "dialogs/record", None, "record"),
        ("d3", "user", "chat", None, "again"), ("d3", "assistant", "chat", None, "yes"),
    ]  # fmt: skip
    assert len({row["id"] for row in found}) == len(found)


def test_lines_of_text_are_read_by_an_expression(tmp_path: Path) -> None:
    toml, log = written(tmp_path, TEXT, TEXT_LOG + b"  a continued line\n")
    found = rows(log, "--format-file", toml)
    assert [facts(row)[:3] for row in found[:3]] == [
        ("user", "chat", None), ("bot", "mcp/request", "search"), ("bot", "chat", None),
    ]  # fmt: skip
    assert found[0]["time"] == "2026-01-05T09:00:00.123Z"
    assert found[3]["kind"] == ""  # an unreadable row: nothing is lost


@pytest.mark.parametrize(
    ("text", "log", "count"), [(ROBOT, ROBOT_LOG, 10), (STEPS, STEPS_FILE, 3), (TEXT, TEXT_LOG, 3)]
)
def test_a_declaration_in_the_settings_folder_is_detected(
    user_folders: Path, tmp_path: Path, text: str, log: bytes, count: int
) -> None:
    toml, path = written(tmp_path, text, log)
    assert asked("list", path).exit_code == 2
    declarations_folder().mkdir(parents=True)
    (declarations_folder() / "one.toml").write_text(text, "utf-8")
    by_detection = rows(path)
    assert len(by_detection) == count
    assert by_detection == rows(path, "--format-file", toml)
    assert by_detection == rows(path, "--read-as", toml.read_text().split('"')[1])


def test_without_a_match_a_format_is_used_only_by_choice(tmp_path: Path) -> None:
    text = ROBOT.replace('keys = ["ev", "at"]', "")
    toml, log = written(tmp_path, text, ROBOT_LOG)
    register_declaration(text)
    assert asked("list", log).exit_code == 2
    assert len(rows(log, "--format-file", toml)) == 10


def test_a_broken_declaration_is_reported_and_others_are_used(user_folders: Path, tmp_path: Path) -> None:
    _, log = written(tmp_path, ROBOT, ROBOT_LOG)
    declarations_folder().mkdir(parents=True)
    (declarations_folder() / "a.toml").write_text("nme = 1", "utf-8")
    (declarations_folder() / "b.toml").write_text(ROBOT, "utf-8")
    found = asked("list", log)
    assert found.exit_code == 0
    assert "a.toml declares no format: line 1, column 1: name is missing." in found.stderr


@pytest.mark.parametrize(
    ("text", "log", "sentence"),
    [
        (STEPS, b"[1, 2]\n", "has no array at run.steps in its first 4 MB, so it is not read as Step file."),
        (STEPS, b'{"run": {"steps": {"a": []}}}', "has no array at run.steps"),
        (ROBOT, b"hello\n", "Its first record is plain text, and is not read as Robot log. Open it without"),
        ("nme = 1", b"{}", "line 1, column 1: name is missing"),
    ],
)
def test_a_file_that_is_not_read_has_a_sentence(tmp_path: Path, text: str, log: bytes, sentence: str) -> None:
    toml, path = written(tmp_path, text, log)
    found = asked("list", path, "--format-file", toml)
    assert found.exit_code == 2
    assert sentence in found.stderr


def test_a_missing_declaration_and_two_choices_are_refused(tmp_path: Path) -> None:
    toml, log = written(tmp_path, ROBOT, ROBOT_LOG)
    missing = asked("list", log, "--format-file", tmp_path / "none.toml")
    assert missing.exit_code == 2
    assert "none.toml cannot be read: No such file or directory." in missing.stderr
    both = asked("list", log, "--format-file", toml, "--read-as", "codex")
    assert both.exit_code == 2
    assert "cannot be combined" in both.stderr


def test_built_in_formats_come_first(tmp_path: Path) -> None:
    greedy = ROBOT.replace('["ev", "at"]', '["jsonrpc"]')
    register_declaration(greedy)
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"ev":"ask","at":1}\n'
    log = tmp_path / "rpc.log"
    log.write_bytes(line)
    assert rows(log)[0]["protocol"] is None


@pytest.mark.real
def test_worker_processes_know_declared_formats(tmp_path: Path) -> None:
    _, log = written(tmp_path, ROBOT, ROBOT_LOG)
    register_declaration(ROBOT)
    source = SourceFile(log)
    pool = part_pool(source, 0)
    try:
        pool.start()
        while not pool.room:
            pool.poll(1)
        register_declaration(ROBOT.replace('think = "thought"', 'think = "answer"'))  # while it runs
        block, here = block_of(pool, len(ROBOT_LOG)), read_part(source, 0, 0, len(ROBOT_LOG))
        assert dict(block.formats) == {"robot": 9}
        assert block.columns["kind"].tolist() == here.columns["kind"].tolist()
        assert block.strings.find("reasoning/thought") is None
    finally:
        pool.end()
        source.close()


@pytest.mark.real
def test_a_log_long_enough_for_workers_is_read_in_the_same_way(tmp_path: Path) -> None:
    lines = ROBOT_LOG.replace(b"The sink first", b"The sink first " * 10_000) * 180
    assert len(lines) > WORTHWHILE_BYTES
    _, log = written(tmp_path, ROBOT, lines)
    register_declaration(ROBOT)
    with_workers, alone = CaptureDocument(), CaptureDocument()
    try:
        with_workers.load(log)
        for _ in alone.open_log(log, reading="robot", block_bytes=1 << 30):
            pass
        assert len(with_workers.capture) == len(alone.capture) == 1_800
        assert dict(with_workers.capture.sources[0].formats) == {"robot": 1_620}
    finally:
        with_workers.close()
        alone.close()


_GUIDE = Path(__file__).parents[4] / "docs/declared-formats.md"


def test_the_examples_of_the_guide_are_true(tmp_path: Path) -> None:
    blocks = re.findall(r"```(?:toml)?\n(.*?)```", _GUIDE.read_text("utf-8"), re.DOTALL)[1:]
    (toml, log), (text_toml, text_log) = (
        written(folder, declaration, sample.encode())
        for folder, sample, declaration in ((tmp_path, *blocks[:2]), (tmp_path / "b", *blocks[2:4]))
    )
    assert [row["kind"] for row in rows(log, "--format-file", toml)] == ["chat", "mcp/request", "mcp/response", "chat"]
    assert [row["kind"] for row in rows(text_log, "--format-file", text_toml)] == ["chat", "mcp/request", "chat"]
