"""`context-inspector formats`, and declarations that it guesses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb
import pytest

from inspector.formats.declared.declaration import parse_declaration
from inspector.formats.declared.folder import declarations_folder
from inspector.formats.declared.guessing import guess_declaration
from inspector.formats.table import FORMATS
from inspector.reading.files import format_trial
from tests.commands import asked, printed
from tests.unit.formats.declared.samples import DIALOGS_FILE, ROBOT, ROBOT_LOG, STEPS, STEPS_FILE, TEXT, TEXT_LOG

FOLDER_FILE = "robot.toml"


def install(text: str) -> Path:
    """Writes a declaration into the settings folder."""
    declarations_folder().mkdir(parents=True, exist_ok=True)
    path = declarations_folder() / FOLDER_FILE
    path.write_text(text, "utf-8")
    return path


def test_list_names_every_format_with_its_origin(user_folders: Path) -> None:
    install(ROBOT)
    found = json.loads(printed("formats", "list", "--json"))
    assert [row["name"] for row in found] == [*(one.name for one in FORMATS), "robot"]
    assert {"name": "codex", "title": "Codex session", "origin": "built-in", "kind": "transcript"} in found
    assert found[-1] == {"name": "robot", "title": "Robot log", "origin": "declared", "kind": "log"}
    assert {row["kind"] for row in found} <= {"transcript", "trace", "evaluation", "wire", "log"}
    assert [line.split()[0] for line in printed("formats", "list").splitlines()] == [row["name"] for row in found]


def test_show_prints_the_declaration_and_its_file(user_folders: Path) -> None:
    path = install(ROBOT)
    shown = printed("formats", "show", "robot")
    assert f"file    {path}" in shown
    assert 'keys = ["ev", "at"]' in shown
    assert "built-in" in printed("formats", "show", "codex")
    refused = asked("formats", "show", "nope")
    assert refused.exit_code == 2
    assert "nope is not a format. Formats: claude-code" in refused.stderr


def test_try_shows_events_and_the_records_that_do_not_match(tmp_path: Path) -> None:
    log, toml = tmp_path / "robot.log", tmp_path / "robot.toml"
    log.write_bytes(ROBOT_LOG + b"garbage\n" + b'{"ev": "ask"}\n')
    toml.write_text(ROBOT, "utf-8")
    shown = printed("formats", "try", log, "--format-file", toml)
    head, *rows = shown.split("\n\n")[0].splitlines()
    assert head.split() == ["record", "event", "time", "from", "to", "kind", "text"]
    assert [row.split()[:2] for row in rows] == [
        ["1", "prompt"], ["2", "thought"], ["3", "call"], ["4", "result"], ["5", "answer"], ["5", "call"],
        ["6", "result"], ["7", "agent_started"], ["8", "answer"], ["9", "bookkeeping"],
    ]  # fmt: skip
    assert "9 of 11 records matched as Robot log (81 %)." in shown
    assert "record 10: garbage (nothing that is read as Robot log)" in shown
    assert 'record 11: {"ev": "ask"}' in shown


def test_try_without_a_declaration_detects_the_format(user_folders: Path, tmp_path: Path) -> None:
    install(STEPS)
    log = tmp_path / "steps.json"
    log.write_bytes(STEPS_FILE)
    assert "3 of 3 records matched as Step file (100 %)." in printed("formats", "try", log)
    log.write_bytes(ROBOT_LOG)
    unknown = asked("formats", "try", log)
    assert unknown.exit_code == 2
    assert "0 of 9 records matched (0 %)." in unknown.stdout


def test_try_says_why_a_file_has_no_rows(tmp_path: Path) -> None:
    log, toml = tmp_path / "a.log", tmp_path / "steps.toml"
    toml.write_text(STEPS, "utf-8")
    for data, sentence in ((b"{}", "The file has no array at run.steps"), (b'{"run":{"steps":[]}}', "has no records")):
        log.write_bytes(data)
        found = asked("formats", "try", log, "--format-file", toml)
        assert found.exit_code == 2
        assert sentence in found.stderr
    gone = asked("formats", "try", tmp_path / "gone.log")
    assert gone.exit_code == 2
    assert "cannot be read: No such file" in gone.stderr


def test_a_compressed_log_is_unpacked(tmp_path: Path) -> None:
    log, toml = tmp_path / "robot.log.gz", tmp_path / "robot.toml"
    log.write_bytes(gzip.compress(ROBOT_LOG))
    toml.write_text(ROBOT, "utf-8")
    assert "9 of 9 records matched" in printed("formats", "try", log, "--format-file", toml)
    assert 'time = "at"' in printed("formats", "new", log)


def test_a_slow_expression_ends_a_trial_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_trial, "_MAX_TRIED_S", 0.0)
    log, toml = tmp_path / "bot.log", tmp_path / "bot.toml"
    log.write_bytes(TEXT_LOG)
    toml.write_text(TEXT, "utf-8")
    shown = printed("formats", "try", log, "--format-file", toml)
    assert "1 of 1 record of its beginning matched as Bot text log (100 %)." in shown


def test_no_secret_is_printed(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "A1b2C3d4" * 8
    log, toml = tmp_path / "robot.log", tmp_path / "robot.toml"
    log.write_bytes(
        ROBOT_LOG.replace(b"The sink first", secret.encode()).replace(b"Clean the kitchen", secret.encode())
    )
    toml.write_text(ROBOT, "utf-8")
    assert secret not in printed("formats", "try", log, "--format-file", toml)
    assert secret not in printed("formats", "new", log)


@pytest.mark.parametrize(
    ("log", "count"),
    [
        (ROBOT_LOG, 9),
        (STEPS_FILE, 3),
        (TEXT_LOG, 3),
        (DIALOGS_FILE, 3),
        (b"[" + b",".join(ROBOT_LOG.splitlines()) + b"]", 9),
    ],
)
def test_a_new_declaration_reads_its_sample(tmp_path: Path, log: bytes, count: int) -> None:
    path, toml = tmp_path / "walnut.log", tmp_path / "walnut.toml"
    path.write_bytes(log)
    printed("formats", "new", path, "-o", toml)
    assert f"{count} of {count} records matched as Walnut (100 %)." in printed(
        "formats", "try", path, "--format-file", toml
    )
    again = asked("formats", "new", path, "-o", toml)
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_guesses_have_reasons() -> None:
    text = guess_declaration(ROBOT_LOG, "robot-1.jsonl", is_whole=True)
    declared = parse_declaration(text)
    assert declared.name == "robot-1"
    assert declared.fields.time == (("at",),)
    assert declared.fields.time_unit == "ms"
    assert declared.kind.values["ask"] == ("prompt",)
    assert declared.kind.values["back"] == ("result",)
    assert declared.participants.agent == "robot"
    assert 'time = "at"  # in all 9 sampled records, such as "1790000000000"' in text


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"{", b"[1]", b"\xff\xfe", b"plain words\n", b"{}", b'{"a":' * 5_000, b"[[]]"]
)
def test_any_sample_gives_a_declaration(data: bytes) -> None:
    for name in ("", "codex.log", "1.2", "\N{SNOWMAN}", 'a\n"b'):
        parse_declaration(guess_declaration(data, name, is_whole=True))


@pytest.mark.parametrize(("text", "log"), [(ROBOT, ROBOT_LOG), (STEPS, STEPS_FILE), (TEXT, TEXT_LOG)])
def test_a_sample_that_is_cut_anywhere_gives_a_declaration(text: str, log: bytes) -> None:
    for end in range(0, len(log), 7):
        parse_declaration(guess_declaration(log[:end], "a.log", is_whole=False))


def test_a_slice_of_a_declared_log(tmp_path: Path) -> None:
    log, toml, out = tmp_path / "robot.log", tmp_path / "robot.toml", tmp_path / "out.log"
    log.write_bytes(ROBOT_LOG)
    toml.write_text(ROBOT, "utf-8")
    asked("slice", log, "-o", out, "-Y", 'tool == "wipe"', "--format-file", toml)
    assert [json.loads(line)["slice"]["line"] for line in out.read_bytes().splitlines()] == [3, 4]


@pytest.mark.real
def test_a_survey_of_declared_logs(tmp_path: Path) -> None:
    folder, toml, out = tmp_path / "logs", tmp_path / "robot.toml", tmp_path / "out"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.log").write_bytes(ROBOT_LOG.replace(b"r1", b"r%d" % number))
    toml.write_text(ROBOT, "utf-8")
    found = asked("survey", folder, "-o", out, "--workers", 2, "--format-file", toml, "--no-tokens")
    assert found.exit_code == 0, found.output
    assert "3 runs" in found.output
    with duckdb.connect() as database:
        (row,) = database.execute(f"SELECT count(*), sum(messages) FROM '{out}/runs.parquet'").fetchall()
    assert row == (3, 30)
