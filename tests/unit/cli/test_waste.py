"""`waste`, and what `summary` says of each model's context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from inspector.cli.commands import app
from inspector.document.summary import summary
from tests.builders import document_of, lines_of, log_file
from tests.waste import asked, records, wasteful

CAPTURES = Path(__file__).parents[2] / "data" / "captures"


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def answered(*arguments: str) -> dict[str, Any]:
    return json.loads(said(*arguments, "--json"))


def wasteful_log() -> str:
    return str(log_file(lines_of(*wasteful())))


def test_nobody_of_that_name_is_said() -> None:
    log = wasteful_log()
    result = CliRunner().invoke(app, ["waste", log, "--participant", "nobdy"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has no participant nobdy. It has: " in result.stderr
    known = result.stderr.partition("It has: ")[2].rstrip(".\n").split(", ")
    assert known
    for name in known:
        said("waste", log, "--participant", name)


def test_what_costs_most_comes_first_with_advice() -> None:
    found = answered("waste", wasteful_log())
    assert (found["count"], found["estimate"], found["notes"]) == (6, "cl100k_base", [])
    assert [one["kind"] for one in found["wastes"]] == [
        "better by reference", "fetched twice", "never referred to", "never consumed", "tools listed again",
        "tools never called",
    ]  # fmt: skip
    assert found["tokens"] == sum(one["tokens"] for one in found["wastes"])
    assert found["sure"] == sum(one["tokens"] for one in found["wastes"] if one["sure"])
    twice = found["wastes"][1]
    assert (twice["no"], twice["messages"], twice["tool"], twice["sure"]) == (7, [4, 6, 7], "read_file", True)
    assert twice["advice"] == "Use the first answer again."


def test_for_people_it_says_the_sum_and_how_many_are_left() -> None:
    lines = said("waste", wasteful_log(), "--limit", "2").splitlines()
    assert "tokens might be avoidable, " in lines[0]
    assert lines[0].endswith("of them likely. Estimate (cl100k_base).")
    assert "? No. 16" in lines[1]
    assert "better by reference" in lines[1]
    assert "  No. 7 " in lines[3]
    assert lines[-1] == "and 4 more; --limit 0 prints all."
    assert len(lines) == 6


def test_one_participant_alone() -> None:
    log = wasteful_log()
    assert answered("waste", log, "-p", "lead")["count"] == 6
    assert said("waste", log, "-p", "human") == "No waste found.\n"


def test_secrets_in_names_are_masked() -> None:
    name = "read_sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    log = str(log_file(lines_of(*(line for _ in range(2) for line in asked(name, records(1), {"path": "/a"})))))
    assert "abcdefghijklmnopqrstuvwxyz" not in said("waste", log) + said("waste", log, "--json")


def test_the_loop_keeps_little_of_its_132_records_in_context() -> None:
    """The protocol's own example: 9 pages, 132 records, each page consumed by a store."""
    log = str(CAPTURES / "loop-mcp.jsonl")
    found = answered("summary", log)
    assert found["badges"] == {"transient": 9, "consumed": 9, "collapsed": 9, "pending": 0}
    (context,) = found["context"]
    assert (context["participant"], context["space"], context["uncounted"]) == ("client", None, 0)
    figures = {name: context[name] for name in ("tokens", "peak", "without_collapsing", "saved", "collapsed")}
    assert figures == {
        "tokens": 1_576, "peak": 2_365, "without_collapsing": 10_364, "saved": 8_788, "collapsed": 9,
    }  # fmt: skip
    sentence = (
        "client: 1,576 tokens in context at the end; 10,364 without collapsing; 8,788 saved by 9 collapsed results. "
        "Estimate (cl100k_base)."
    )
    assert context["sentence"] == sentence
    assert f"      {sentence}\n" in said("summary", log)
    assert answered("waste", log)["count"] == 0


def test_the_demo_keeps_as_little() -> None:
    found = answered("summary", str(CAPTURES / "demo-round.ctxcap"))
    analyst, lead, human = found["context"]
    assert [one["participant"] for one in (analyst, lead, human)] == ["analyst", "lead", "human"]
    assert analyst["sentence"] == (
        "analyst: 2,301 tokens in context at the end; 11,089 without collapsing; 8,788 saved by 9 collapsed results. "
        "Estimate (cl100k_base)."
    )
    assert lead["sentence"] == ("lead: 636 tokens in context at the end. Estimate (cl100k_base).")


def test_context_is_said_only_when_tokens_are_counted() -> None:
    log = str(CAPTURES / "loop-mcp.jsonl")
    assert answered("summary", log, "--no-tokens")["context"] is None
    assert "in context at the end" not in said("summary", log, "--no-tokens")
    assert summary(document_of(*wasteful()), "x")["context"] is None


def test_the_end_of_growth_is_the_moment_at_the_end() -> None:
    from inspector.analysis.views.model_context import ModelContext, readers
    from inspector.analysis.views.model_context.outcome import outcome

    document = document_of(*wasteful())
    document.count_tokens()
    for reader in readers(document.analysis):
        found, moment = outcome(document.analysis, reader), ModelContext(document.analysis, reader).moment_at(20)
        assert (found.tokens, found.uncollapsed) == (moment.total, moment.uncollapsed_total)
