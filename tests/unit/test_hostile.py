"""Hostile logs through every command: an exit code, output of bounded size, and nothing for a terminal to act on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import hostile
from tests.builders import envelope, lines_of, log_file
from tests.commands import asked, reading_once

COMMANDS: dict[str, list[str]] = {
    "summary": ["summary", "FILE"],
    "list": ["list", "FILE", "--limit", "20"],
    "list with every text": [
        "list",
        "FILE",
        "--limit",
        "20",
        "--format",
        "jsonl",
        "-e",
        "no,id,to,kind,correlation,text",
    ],
    "filtered": ["list", "FILE", "-Y", 'text contains "before" || payload.n == 1', "--limit", "3"],
    "contexts": ["contexts", "FILE"],
    "show": ["show", "FILE", "2"],
    "show as JSON": ["show", "FILE", "2", "--json"],
}


@pytest.mark.sweep
@pytest.mark.parametrize("case", hostile.CASES)
def test_every_command_takes_every_hostile_log(case: str, tmp_path: Path) -> None:
    path = hostile.write(case, tmp_path)
    with reading_once():
        results = {
            name: asked(*(path if part == "FILE" else part for part in command)) for name, command in COMMANDS.items()
        }
    for name, found in results.items():
        assert found.exit_code == 0, (name, found.output[:500], found.exception)
        assert len(found.output) < 2_500_000, name
        assert "\x1b" not in found.output
        assert "\u202e" not in found.output


def test_contexts_below_one_another_by_the_thousand_are_printed_in_bounded_room(tmp_path: Path) -> None:
    path = hostile.write("contexts deep", tmp_path)
    found = asked("contexts", path, "--json")
    assert found.exit_code == 0
    assert len(found.output) < 10_000_000


def test_a_big_message_is_shown_by_its_beginning_and_saved_whole(tmp_path: Path) -> None:
    path = hostile.write("message of text", tmp_path)
    shown = asked("show", path, "2").output
    assert "The quick brown fox" in shown
    assert "--save PATH" in shown
    assert len(shown) < 200_000
    target = tmp_path / "saved.json"
    saved = asked("show", path, "2", "--save", target)
    assert saved.exit_code == 0
    assert target.read_bytes() == path.read_bytes().split(b"\n")[1]


def test_saving_to_nowhere_is_a_sentence(tmp_path: Path) -> None:
    path = log_file(lines_of(envelope()))
    found = asked("show", path, "1", "--save", tmp_path / "no" / "x")
    assert found.exit_code == 2
    assert "cannot be written: No such file" in found.output


def test_a_limit_ends_the_filter_too() -> None:
    path = log_file(lines_of(*(envelope("chat", {"text": f"line {n}"}) for n in range(3_000))))
    found = asked("list", path, "-Y", "payload.text matches 'line'", "--limit", "2", "-e", "no")
    assert [line.strip() for line in found.output.splitlines()] == ["no", "1", "2"]
    last = asked("list", path, "-Y", 'text == "line 2999"', "-e", "no")
    assert last.output.split() == ["no", "3000"]
