"""Tokens on the command line: always said to be an estimate, nothing left out, names that can be told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from inspector.cli.commands import app
from tests.builders import envelope, lines_of, log_file, received
from tests.waste import HINT, TRANSIENT, asked, listed, records

ESTIMATE = "estimate (cl100k_base)"
CONSUMED = {"context": {"consumed": True}}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result


def log(*lines: dict[str, Any]) -> str:
    return str(log_file(lines_of(*lines)))


def rows(output: str, title: str) -> dict[str, int]:
    """What stands under a title of `summary`."""
    lines = output.splitlines()
    found: dict[str, int] = {}
    for line in lines[lines.index(f"    {title}") + 1 :]:
        if not line.startswith("      "):
            break
        name, _, number = line.strip().rpartition(" ")
        found[name.strip()] = int(number.replace(",", ""))
    return found


def test_what_is_no_tool_and_what_defines_tools_stand_among_the_tools() -> None:
    told = run("summary", log(*listed("grep", "stat"), *asked("grep", "a b c"), envelope("chat", {"text": "Hello"})))
    by_tool, sent = rows(told.stdout, "by tool"), rows(told.stdout, "sent by")
    assert list(by_tool) == ["(tool definitions)", "grep", "(everything else)"]
    assert sum(by_tool.values()) == sum(sent.values())


def test_senders_of_several_spaces_are_listed_by_all_their_tokens() -> None:
    said = (("one", "ann", 5), ("two", "bob", 4), ("three", "bob", 4))
    chats = [(space, envelope("chat", {"text": "word " * count}, sender=name)) for space, name, count in said]
    told = run("summary", log(*(received(chat, space_id=space) for space, chat in chats)))
    assert list(rows(told.stdout, "sent by")) == ["bob", "ann"]


def test_one_collapsed_result_is_told_in_one_sentence() -> None:
    page = asked("search", records(1), meta=TRANSIENT)
    told = run("summary", log(*asked("get_step", "Go", meta=HINT), *page, *asked("store", "Stored.", meta=CONSUMED)))
    (line,) = (line for line in told.stdout.splitlines() if "with collapsing" in line)
    assert "saved: 1 result of 1," in line
    assert "tokens became a summary of 2)" in line


def test_contexts_are_called_by_their_labels() -> None:
    root = "reason-1795302320211-b8bcc7/reason-1795302320211-000001"
    told = run("summary", log(*(envelope("chat", {"text": "Hello"}, context=f"{root}/{end}") for end in "abc")))
    names = list(rows(told.stdout, "by context, its own"))
    assert len(names) == 3
    assert [name.partition(",")[0] for name in names] == ["a", "b", "c"]


def test_contexts_say_that_tokens_are_an_estimate_and_name_main() -> None:
    told = run("contexts", "--tokens", log(envelope("chat", {"text": "Hello"}), envelope("chat", {}, context="a")))
    assert told.stdout.splitlines()[:2] == [f"Tokens are an {ESTIMATE}.", "main  1 token of its own"]
    told = run("contexts", "--tokens", log(envelope("chat", {"text": "Hello world"})))
    assert told.stdout.splitlines()[1:] == ["main  2 tokens of its own", "All messages are in the main context."]


def test_contexts_of_an_empty_log_name_main_too() -> None:
    told = run("contexts", "--tokens", log())
    assert told.stdout.splitlines()[1:] == ["main  0 tokens of its own", "There are no messages."]
    (main,) = json.loads(run("contexts", "--tokens", "--json", log()).stdout)
    assert (main["type"], main["messages"], main["tokens"], main["space"]) == ("main", 0, 0, None)
    assert run("contexts", log()).stdout == "There are no messages.\n"


def test_a_list_with_tokens_says_so_apart_from_its_rows() -> None:
    file = log(envelope("chat", {"text": "Hello"}))
    told = run("list", file, "-e", "no,tokens")
    assert told.stdout.splitlines() == ["no  tokens", "1   1"]
    assert ESTIMATE in told.stderr
    assert run("list", file, "-e", "no").stderr == ""
    assert run("list", file, "-e", "no,tokens", "--format", "csv").stderr == ""


def test_a_folder_names_the_log_in_its_hidden_folder(tmp_path: Path) -> None:
    file = tmp_path / ".mew/logs/envelope-history.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    result = CliRunner().invoke(app, ["summary", str(tmp_path)])
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path} cannot be read: it is a folder; open {file}.\n")
