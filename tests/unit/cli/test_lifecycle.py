"""What scripts are told of the life of results: `show`, `summary`, `list`, and tool aliases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from inspector.cli import app
from tests.builders import lines_of, log_file
from tests.unit.analysis.transient_traffic import fetch, in_turn, stdio, store, workflow

RULE = "mcp__rune__* = *"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def path() -> Path:
    """A log in which a proxy prefixes the names of calls; a consumer fails before the one that consumes."""
    calls = [
        workflow(), fetch(tool="mcp__rune__search_records"),
        store("mcp__rune__analysis_store", result={"isError": True}), store("mcp__rune__analysis_store"),
    ]  # fmt: skip
    return log_file(lines_of(*(line for _, line in stdio(in_turn(*calls)))))


def badges(path: Path, *options: str) -> list[dict[str, Any]]:
    found = run(
        "list", path, "-Y", "badge", "-e", "no,badge,collapsed.by,consumes,summary", "--format", "jsonl", *options
    )
    assert found.exit_code == 0
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_list_and_summary_with_an_alias_and_without(path: Path) -> None:
    assert [line["collapsed.by"] for line in badges(path)] == [None, None]
    fetched, stored = badges(path, "--tool-alias", RULE)
    assert (fetched["badge"], fetched["collapsed.by"]) == (["transient", "collapsed"], stored["no"])
    assert (stored["badge"], stored["consumes"], stored["summary"]) == (["consumed"], fetched["no"], None)
    told = json.loads(run("summary", path, "--json", "--no-tokens", "--tool-alias", RULE).stdout)
    assert told["badges"] == {"transient": 1, "consumed": 1, "collapsed": 1, "pending": 0}


def test_show_tells_the_whole_life(path: Path) -> None:
    fetched, stored = badges(path, "--tool-alias", RULE)
    life = json.loads(run("show", path, str(fetched["no"]), "--json", "--tool-alias", RULE).stdout)["lifecycle"]
    assert (life["badges"], life["collapsed_by"], life["summary"]) == (
        ["transient", "collapsed"], stored["no"], "15 records",
    )  # fmt: skip
    assert (life["hint"]["step"], life["hint"]["tool"], life["hint"]["consumer"]) == (
        2,
        "search_records",
        "analysis_store",
    )
    assert [one["why"] for one in life["attempts"]] == ["It failed, so it consumed nothing."]
    assert life["tokens"]["estimate"] == "cl100k_base"
    said = run("show", path, str(fetched["no"]), "--tool-alias", RULE).stdout
    assert f"No. {stored['no']} consumed it, so that only its summary is left" in said
    assert "an estimate by cl100k_base" in said


def test_what_is_no_alias_ends_the_command(path: Path) -> None:
    found = run("list", path, "--tool-alias", "nonsense")
    assert found.exit_code == 2
    assert "--tool-alias: Write a rule as name = other name" in found.output


def test_which_result_collapses_first_can_be_said() -> None:
    calls = [workflow(), fetch("first"), fetch("second"), store()]
    path = log_file(lines_of(*(line for _, line in stdio(in_turn(*calls)))))
    first, second, stored = (line["no"] for line in badges(path))
    for options, taken, rule in (((), first, "oldest"), (("--collapses", "newest"), second, "newest")):
        assert badges(path, *options)[-1]["consumes"] == taken
        life = json.loads(run("show", path, str(first), "--json", *options).stdout)["lifecycle"]
        assert (life["collapsed_by"], life["rule"]) == (stored if taken == first else None, rule)
    assert life["attempts"][0]["why"] == f"It consumed No. {second}, which came later."


def test_when_contexts_are_idle_can_be_said() -> None:
    said = [{"kind": "chat", "from": "a", "context": name, "ts": f"2026-01-05T09:00:{second}Z", "payload": {}}
            for name, second in (("early", "00"), ("late", "20"))]  # fmt: skip
    path = log_file(lines_of(*said))
    states = [node["state"] for node in json.loads(run("contexts", path, "--json", "--idle-after", "10").stdout)]
    assert states == ["idle", "active"]
    found = run("list", path, "-Y", 'context.state == "idle"', "-e", "no", "--format", "jsonl", "--idle-after", "10")
    assert found.stdout == '{"no": 1}\n'
    assert run("list", path, "-Y", 'context.state == "idle"', "-e", "no", "--format", "jsonl").stdout == ""
