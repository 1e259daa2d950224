"""Cards of the overview: figures equal to the summary's, repairs by rule, and updates that move nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from inspector.analysis.passes.tokens.listed_prices import prices_in_force
from inspector.analysis.views.steps.call_facts import CallFacts, KeptCalls, Outcome, plain_command
from inspector.analysis.views.steps.step_table import step_table
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.document.working_folder import WorkingFolder
from inspector.engine.engine import Engine
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.requests.account import WhatHappened
from inspector.engine.requests.exports import ExportMessages, Format
from inspector.engine.requests.overview import ShowOverview
from inspector.engine.requests.steps import DescribeSteps, ListSteps, StepQuestion
from inspector.engine.requests.waste import ListWaste
from inspector.filters.compile import compile_filter
from inspector.present.conversation.page_head import page_head
from inspector.present.overview.cards import Card, Link, Overview, Row, Section, Words, line_text
from inspector.present.overview.facts import OverviewFacts
from inspector.present.overview.merging import update_in_place
from inspector.present.overview.overview import overview_of
from inspector.present.overview.run_cards import _outliers
from inspector.present.step_texts import AT_MOST
from inspector.present.usage_sentences import UsageSentences
from tests.builders import account_tally, document_at, document_of, envelope, tool_call, tool_result
from tests.commands import printed
from tests.samples import FORMAT_SAMPLES, first_of, sample
from tests.transcribed import ClaudeSession
from tests.unit.formats.conformance import FORMATS_FOLDER


def calls_in(document: CaptureDocument) -> CallFacts:
    return run_to_end(KeptCalls(document.analysis).facts())


def overview_in(document: CaptureDocument) -> Overview:
    tally = account_tally(document)
    return overview_of(OverviewFacts(document, tally, step_table(document.analysis), calls_in(document)))


def card_of(overview: Overview, name: str) -> Card | None:
    return next((card for card in overview.cards if card.id == name), None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Exit code 1\nno oven", "no oven"),
        ("Error: Command failed (exit code: 1)", "Error: Command failed (exit code: 1)"),
        ("Command: bake\nDirectory: (root)\nOutput: no flour\nError: (none)\nExit Code: 3\nSignal: 0", "no flour"),
        ("Command: cat error.log\nOutput: (empty)\nError: (none)\nExit Code: 3", "exit code 3"),
        ("Command: bake\nOutput: ready\nError: no such oven\nExit Code: 1", "no such oven"),
        ("<untrusted_context>\nOutput: mixing\nno oven\nExit Code: 3\n</untrusted_context>", "no oven"),
    ],
)
def test_a_reason_is_a_line_of_the_output_without_its_exit_code_and_labels(text: str, reason: str) -> None:
    call = tool_call("bake")
    card = card_of(overview_in(document_of(call, tool_result(call, text, result={"isError": True}))), "problems")
    assert card is not None
    assert any(line.partition("  No. ")[0].endswith(f"bake {reason}") for line in card.texts), card.texts


# Figures of a document


@pytest.mark.parametrize("name", ["captures/demo-round.ctxcap", "captures/loop-mcp.jsonl", "captures/model-wire.jsonl",
                                  "claude-code.jsonl", "codex.jsonl"])  # fmt: skip
def test_figures_equal_the_summary(name: str) -> None:
    check_figures(sample(name))


@pytest.mark.parametrize("name", first_of(FORMAT_SAMPLES))
def test_figures_of_every_sample_equal_the_summary(name: str) -> None:
    check_figures(FORMAT_SAMPLES[name])


def check_figures(path: Path) -> None:
    document = document_at(path)
    lines, dated = prices_in_force([], "", listed=True)
    document.analysis.use_prices(lines, dated)
    figures, facts = summary(document, path.name), calls_in(document)
    calls: dict[str, Any] = figures["calls"]
    outcomes = [call.outcome for call in facts.calls]
    assert len(outcomes) == calls["tools"]
    assert outcomes.count(Outcome.FAILED) == calls["failed"]
    assert outcomes.count(Outcome.REJECTED) == calls["rejected"]
    overview = overview_in(document)
    tools, cost, problems = (card_of(overview, name) for name in ("tools", "cost", "problems"))
    if tools is not None:
        assert tools.figure == f"{calls['tools']:,}"
    rows = [row for section in problems.sections for row in section.rows] if problems is not None else []
    named = sum(row.key.startswith("failed ") and row.key != "failed more" for row in rows)
    more = next((int(row.words[0].text.split()[0].replace(",", "")) for row in rows if row.key == "failed more"), 0)
    assert named + more == calls["failed"]
    if figures["usage"] is not None:
        assert cost is not None
        told = {row.key: row.end[0].text for section in cost.sections for row in section.rows if row.end}
        assert told == {kind: f"{tokens:,}" for kind, tokens in figures["usage"].items() if tokens}
    assert not [text for text in overview.texts if text.startswith(("0 ", "$0 ", "None"))]


@pytest.mark.parametrize("name", first_of(FORMAT_SAMPLES))
def test_calls_read_by_their_format_alone_have_equal_arguments(name: str) -> None:
    document = document_at(FORMAT_SAMPLES[name])
    records = document.capture.records
    for call in calls_in(document).calls:
        found = records.derived_payload(call.row)
        assert found is None or "params" not in found or found == records.payload(call.row)


def test_hundreds_of_failures_are_counted() -> None:
    lines = [line for _ in range(400) for call in [tool_call("Bash", arguments={"command": "make"})]
             for line in (call, tool_result(call, "no", result={"isError": True}))]  # fmt: skip
    problems = card_of(overview_in(document_of(*lines)), "problems")
    assert problems is not None
    assert "394 more failed calls" in "\n".join(problems.texts)


# Repairs


def test_a_command_is_the_same_without_the_parts_that_do_not_matter() -> None:
    assert plain_command("cd /work/app && make  test 2>&1 | tail -20") == "make test"
    assert plain_command("make test") == "make test"
    assert plain_command("make test && make lint") == "make test && make lint"


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"file_path": path, "old_string": old, "new_string": new}


def test_a_failure_is_fixed_by_the_same_command_or_a_later_edit_of_the_file() -> None:
    asked = [
        tool_call("Bash", arguments={"command": "make test"}), tool_call("Edit", arguments=edit("/a.py", "x", "y")),
        tool_call("Edit", arguments=edit("/a.py", "x", "z")),
        tool_call("Bash", arguments={"command": "cd /work && make test 2>&1 | tail -5"}),
        tool_call("Bash", arguments={"command": "make lint"}),
    ]  # fmt: skip
    failing = {0, 1, 4}
    lines = [
        line for place, call in enumerate(asked)
        for line in (call, tool_result(call, "no", result={"isError": place in failing}))
    ]  # fmt: skip
    facts = calls_in(document_of(*lines))
    assert [call.outcome for call in facts.calls] == [Outcome.FAILED] * 2 + [Outcome.OK] * 2 + [Outcome.FAILED]
    assert facts.repairs == {0: (3, 1, ""), 1: (2, 0, "")}
    file = facts.files()[0]
    assert (file.edits, file.failed, file.added, file.removed) == (1, 1, 1, 1)
    assert facts.calls[file.test].row == 6
    assert [len(command.calls) for command in facts.commands()] == [2, 1]


def test_the_name_of_a_file_leads_to_its_last_change() -> None:
    asked = [("Read", {"file_path": "/a.py"}), ("Edit", edit("/a.py", "x", "y")), ("Edit", edit("/a.py", "y", "z")),
             ("Read", {"file_path": "/a.py"})]  # fmt: skip
    calls = [tool_call(tool, arguments=arguments) for tool, arguments in asked]
    lines = [line for call in calls for line in (call, tool_result(call, "ok"))]
    changes = card_of(overview_in(document_of(*lines)), "changes")
    assert changes is not None
    assert changes.sections[0].rows[0].label[0].link == Link("conversation", message=4)


def test_a_session_is_described_by_its_prompts_and_its_answer() -> None:
    session = ClaudeSession()
    session.prompt("Make it strict")
    session.text("Done.")
    session.prompt("And the tests?")
    session.text("They pass.")
    overview = overview_in(document_of(*session.records))
    assert overview.title == "Make it strict"
    below = "".join(one.text for one in overview.below)
    assert "And the tests?" in below
    assert "They pass." in below
    assert "Done." not in below


def test_the_head_names_the_working_folder_and_its_branch() -> None:
    session = ClaudeSession()
    session.prompt("Look into the folder `cwd` of /etc")
    assert "/work/app, branch main" in overview_in(document_of(*session.records)).above
    assert "branch" not in overview_in(document_of(tool_call("run", arguments={"cwd": "/etc"}))).above


def test_a_trace_lasts_as_long_as_its_steps_and_names_its_spans() -> None:
    document = document_at(sample("otlp/openai-agents-openinference-2.6.0.jsonl"))
    overview = overview_in(document)
    time, slow = card_of(overview, "time"), card_of(overview, "slowest")
    assert time is not None
    assert slow is not None
    assert time.figure == "14 ms"
    assert "14 ms long" in overview.above
    names = [row.label[0].text for row in slow.sections[0].rows]
    assert not {"span", "agent"} & set(names), names


def test_time_between_sessions_is_not_counted() -> None:
    document = document_at(FORMAT_SAMPLES["ropes.json"])
    time = card_of(overview_in(document), "time")
    assert time is not None
    # 22 s of one conversation, and 74 s of another one that began 8 s later
    assert (OverviewFacts(document, account_tally(document), step_table(document.analysis), calls_in(document)).span_ns,
            time.figure) == (104_000_000_000, "1 min 36 s")  # fmt: skip


def beside_an_agent(*, lint_after_s: float, outputs: bool) -> CaptureDocument:
    """Returns a session with a command of unknown duration beside an agent that works a minute."""
    session, inside = ClaudeSession(), ClaudeSession(agent="a1")
    session.prompt("Look")
    session.runs("Bash", {"command": "make fast"})
    inside.second = session.second
    agent = session.call("Task", {"description": "Review", "prompt": "Review it", "subagent_type": "general-purpose"})
    lint = session.call("Bash", {"command": "make lint"})
    for record in (inside.prompt("Review it"), inside.text("Fine", after_s=50)) if outputs else ():
        session.records.append(record)
    report = {"agentId": "a1", "totalDurationMs": 60_000, "content": [{"type": "text", "text": "Fine"}]}
    session.result(agent, "Fine", after_s=60, toolUseResult=report)
    session.result(lint, "0 issues", after_s=lint_after_s)
    session.text("Done.")
    return document_of(*session.records)


def slowest_tool(*, lint_after_s: float, outputs: bool) -> str:
    """Returns the time card of such a session."""
    time = card_of(overview_in(beside_an_agent(lint_after_s=lint_after_s, outputs=outputs)), "time")
    assert time is not None
    return "\n".join(time.texts)


def test_a_result_logged_at_the_end_of_an_agent_does_not_make_a_tool_slow() -> None:
    assert "Slowest tool with a time of its own make fast 1.0 s" in slowest_tool(lint_after_s=1, outputs=True)
    assert "Slowest tool Task 1 min" in slowest_tool(lint_after_s=1, outputs=False)


def test_steps_and_latency_tell_that_such_a_duration_is_an_upper_bound() -> None:
    for lint_after_s, is_bounded in ((1, True), (30, False)):
        document = beside_an_agent(lint_after_s=lint_after_s, outputs=True)
        bash = summary(document, "")["latency"]["tools"]["Bash"]
        assert bash["count"] == 2
        assert bash.get("at_most", 0) == is_bounded
        engine, question = Engine(), StepQuestion()
        number = engine.adopt(document)
        rows = engine.answer_request(number, ListSteps(question))
        asked = DescribeSteps(question, rows.revision, list(range(len(rows.kinds))))
        texts = [one for one in engine.answer_request(number, asked) if one.tool == "Bash"]
        assert [AT_MOST in one.note for one in texts] == [False, is_bounded]
        engine.close()


def test_a_tool_that_ends_long_after_an_agent_beside_it_has_its_own_time() -> None:
    assert "Slowest tool make lint 1 min 30 s" in slowest_tool(lint_after_s=30, outputs=True)


def test_runs_of_tests_stand_in_order_with_the_changes_between_them() -> None:
    asked = [("Bash", {"command": "make test"}), ("Edit", edit("/a.py", "x", "y")), ("Edit", edit("/b.py", "x", "y")),
             ("Bash", {"command": "pytest -q"}), ("Edit", edit("/a.py", "y", "z"))]  # fmt: skip
    calls = [tool_call(tool, arguments=arguments) for tool, arguments in asked]
    lines = [line for place, call in enumerate(calls)
             for line in (call, tool_result(call, "no", result={"isError": place == 0}))]  # fmt: skip
    changes = card_of(overview_in(document_of(*lines)), "changes")
    assert changes is not None
    heading, row = changes.sections[-1].heading, changes.sections[-1].rows[0]
    assert heading == "Did the tests pass?"
    assert row.text == "failed 2 changes passed then 1 change, not tested"


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("?   \tapp/settings\t[no test files]", ""),
        ("testing: warning: no tests to run\nPASS\nok  \tapp/cli\t0.601s [no tests to run]\n", ""),
        ("?   \tapp\t[no test files]\nok  \tapp/cli\t0.2s", "tests passed after"),
        ("PASS", "tests passed after"),
        ("", "tests passed after"),
        ("--- FAIL: TestRound (0.01s)\nFAIL\nFAIL\tapp/cli\t0.7s\nFAIL", "tests failed after"),
        ("test result: FAILED. 3 passed; 1 failed; 0 ignored", "tests failed after"),
        ("=== 1 failed, 3 passed in 0.12s ===", "tests failed after"),
        ("=== 3 passed, 2 warnings, 1 error in 0.12s ===", "tests failed after"),
        ("FAILED (failures=1)", "tests failed after"),
        ("Tests:       1 failed, 2 passed, 3 total", "tests failed after"),
        ("warning: login failed, as expected\nok  \tapp/cli\t0.2s", "tests passed after"),
        ("=== 3 passed, 0 failed in 0.12s ===", "tests passed after"),
    ],
)  # fmt: skip
def test_the_output_of_a_run_tells_its_result_whatever_the_end_of_a_pipe(output: str, told: str) -> None:
    change = tool_call("Edit", arguments=edit("/a.go", "x", "y"))
    run = tool_call("Bash", arguments={"command": "go test ./... 2>&1 | tail -30"})
    changes = card_of(
        overview_in(document_of(change, tool_result(change, "ok"), run, tool_result(run, output))), "changes"
    )
    assert changes is not None
    assert line_text(changes.sections[0].rows[0].end) == told


def test_a_run_with_failed_tests_does_not_put_an_earlier_failure_right() -> None:
    run = {"command": "go test ./... | tail -30"}
    calls = [tool_call("Bash", arguments=run) for _ in range(2)]
    failed = [tool_result(calls[0], "no", result={"isError": True}), tool_result(calls[1], "--- FAIL: TestRound (0s)")]
    changes = card_of(overview_in(document_of(calls[0], failed[0], calls[1], failed[1])), "changes")
    assert changes is not None
    assert changes.sections[0].rows[0].text.endswith("still fails")
    assert changes.sections[-1].rows[0].text == "failed failed"


def test_runs_of_an_evaluation_are_counted_and_failed_ones_come_first() -> None:
    card = card_of(overview_in(document_at(FORMAT_SAMPLES["bakery_UPLOAD.json"])), "runs")
    assert card is not None
    assert card.texts[0] == "2 runs, 1 solved, 1 failed"
    assert [row.key for row in card.sections[0].rows] == ["run wheat", "run rye"]
    assert "mean 0.5" in card.texts[-1]


def test_each_outcome_of_runs_leads_to_exactly_its_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    outcomes = ('"passed":true', '"passed":false', '"passed":false', '"score":1', '"passed":false,"error":"no flour"')
    lines = (
        f'{{"of":"atif","run":"r{place}","outcome":{{"task":"bake",{one}}}}}' for place, one in enumerate(outcomes)
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    document = document_at(path)
    card = card_of(overview_in(document), "runs")
    assert card is not None
    assert card.texts[0] == "5 runs, 1 solved, 2 not solved, 1 failed, 1 not graded"
    every, spaces = np.arange(len(document.capture)), document.capture.columns["space"][:]
    led = {
        words.text.lstrip(", "): [document.capture.strings[space] for space in spaces[
            compile_filter(words.link.filter or "").mask(document.analysis, every)]]
        for words in card.unit if words.link is not None
    }  # fmt: skip
    assert led == {
        "runs": ["r0", "r1", "r2", "r3", "r4"], "1 solved": ["r0"], "2 not solved": ["r1", "r2"],
        "1 failed": ["r4"], "1 not graded": ["r3"],
    }  # fmt: skip


def test_a_score_beyond_all_numbers_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    line = '{{"of":"atif","run":"r{0}","outcome":{{"task":"bake","score":{1},"passed":true}}}}\n'
    path.write_text("".join(line.format(place, score) for place, score in enumerate((f"1{'0' * 400}", "0.5", "true"))))
    document = document_at(path)
    card = card_of(overview_in(document), "runs")
    assert card is not None
    assert "Scores: mean 0.5, median 0.5, lowest 0.5, highest 0.5" in card.texts
    every = np.arange(len(document.capture))
    masks = [compile_filter(text).mask(document.analysis, every) for text in ("run.score > 0", "run.passed")]
    assert [int(mask.sum()) for mask in masks] == [1, 3]


def test_a_run_above_three_times_the_median_is_an_outlier() -> None:
    assert _outliers([1.0, 2.0, 2.0, 3.0, 7.0]) == {4: "4\N{MULTIPLICATION SIGN}"}
    assert _outliers([1.0, 2.0, 2.0, 9.0]) == {}


def test_counted_tokens_add_no_line_to_the_context() -> None:
    document = sample("claude-code.jsonl")
    engine = Engine()
    number, steps = engine.open([Target(document)])
    engine.read(steps)
    before = card_of(engine.answer_request(number, ShowOverview()), "context")
    engine.answer_request(number, ListWaste())
    after = card_of(engine.answer_request(number, ShowOverview()), "context")
    assert before is not None
    assert after is not None
    assert before != after
    rows = [[(row.key, row.lines) for section in card.sections for row in section.rows] for card in (before, after)]
    assert rows[0] == rows[1]
    engine.close()


def test_the_context_links_to_the_report_it_tells_about_and_has_no_zeros() -> None:
    session = ClaudeSession()
    session.prompt("count")
    for read in (1_000, 0, 2_000):
        session.text("Two.", usage={"input_tokens": 0, "output_tokens": 5, "cache_read_input_tokens": read})
    engine = Engine()
    number = engine.adopt(document_of(*session.records))
    engine.answer_request(number, ListWaste())
    card = card_of(engine.answer_request(number, ShowOverview()), "context")
    engine.close()
    assert card is not None
    assert card.curve is not None
    assert card.curve.tokens == (1_000, 2_000)
    last = next(word.link for word in card.unit if word.link is not None)
    outside = next(row for section in card.sections for row in section.rows if row.key == "outside")
    links = [word.link for word in (*outside.words, card.corner) if word is not None and word.link is not None]
    assert {link.message for link in links} == {last.message}
    assert str(card).count("not in the log") == 1
    assert line_text(outside.words).endswith("of the 2,000 are not in the log, such as system prompt and tools")


def test_a_cost_names_sub_agents_whose_files_are_not_open() -> None:
    main, agent = ClaudeSession(), ClaudeSession(agent="a1")
    main.prompt("count the files")
    called = main.call("Agent", {"description": "count them", "prompt": "count", "subagent_type": "Explore"})
    agent.prompt("count")
    agent.text("Two.")
    main.result(called, "Two.", toolUseResult={"agentId": "a1"})
    inner = {"type": "assistant", "message": agent.records[-1]["message"]}
    data = {"type": "agent_progress", "agentId": "a1", "message": inner}
    progress = {**main.records[-1], "type": "progress", "uuid": "p1", "parentToolUseID": called, "data": data}
    del progress["message"], progress["toolUseResult"]
    documents = [
        document_of(*records) for records in (main.records, [*main.records, *agent.records], [*main.records, progress])
    ]
    for document in documents:
        document.analysis.use_prices(*prices_in_force([], "", listed=True))
    alone, together, told = (card_of(overview_in(document), "cost") for document in documents)
    assert alone is not None
    assert told is not None
    assert together is not None
    assert line_text(alone.unit) == "1 call of models without 1 sub-agent"
    assert line_text(told.unit) == "1 call of models without 1 sub-agent", "progress has no usage"
    assert line_text(together.unit) == "2 calls of models"
    assert [summary(one, "").get("uncounted_sub_agents") for one in documents] == [1, None, 1]
    lines = [UsageSentences(one, None, None).cost_lines()[0].text for one in documents]
    assert ["call of models without 1 sub-agent, prices" in one for one in lines] == [True, False, True]
    heads = [page_head(one, step_table(one.analysis), WorkingFolder(), shown=None, records=0) for one in documents]
    assert [head.about[-1].endswith("at list prices without 1 sub-agent") for head in heads] == [True, False, True]


def test_markdown_of_all_messages_begins_with_the_overview(tmp_path: Path) -> None:
    engine = Engine()
    number, steps = engine.open([Target(sample("bakery_UPLOAD.json"))])
    engine.read(steps)
    whole, some = tmp_path / "whole.md", tmp_path / "some.md"
    engine.answer_request(number, ExportMessages(whole, Format.MARKDOWN))
    engine.answer_request(number, ExportMessages(some, Format.MARKDOWN, filter="no == 1"))
    engine.close()
    assert "## How did the runs go?\n\n- 2 runs, 1 solved, 1 failed\n" in whole.read_text("utf-8")
    assert "runs go" not in some.read_text("utf-8")


def test_repeated_samples_and_many_spaces_are_named_apart_and_in_one_short_line(tmp_path: Path) -> None:
    log = json.loads((FORMATS_FOLDER / "inspect_ai" / "samples" / "bread.json").read_text())
    first = log["samples"][0]
    log["samples"] = [{**first, "epoch": epoch} for epoch in range(1, 16)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    told = printed("summary", path)
    assert f"{first['id']} ({first['id']}-1)" in told
    assert f"{first['id']} ({first['id']}-2)" in told
    assert f"{first['id']}-12, and 3 more" in told


def test_a_document_without_figures_shows_no_cards_with_zeros() -> None:
    overview = overview_in(document_of())
    assert overview.cards == ()


# Updates in place


def shown(*rows: Row) -> Overview:
    return Overview("", "t", cards=(Card("a", "A", (Section("", rows),)),))


def row_of(key: str, text: str, message: int) -> Row:
    return Row(key, words=(Words(text, link=Link(message=message)),))


def test_an_update_in_place_moves_no_line() -> None:
    before = shown(row_of("1", "one", 1), row_of("2", "two", 2))
    after = shown(row_of("0", "new", 0), row_of("2", "two, longer", 2))
    kept = update_in_place(before, after)
    assert [row.key for row in kept.cards[0].sections[0].rows] == ["1", "2"]
    assert kept.cards[0].sections[0].rows[1].words[0].text == "two, longer"


def test_a_line_keeps_its_target_while_the_pointer_rests() -> None:
    before = shown(row_of("1", "one", 1))
    kept = update_in_place(before, shown(row_of("1", "one", 9)))
    assert kept.cards == before.cards


def test_a_card_that_goes_stays_while_the_pointer_rests() -> None:
    before = shown(row_of("1", "one", 1))
    after = msgspec.structs.replace(before, cards=())
    assert update_in_place(before, after).cards == before.cards


def test_the_account_and_the_overview_tell_one_duration_of_a_trace() -> None:
    engine = Engine()
    number, steps = engine.open([Target(sample("formats/otlp.jsonl"))], OpenOptions())
    for _ in steps:
        pass
    head = engine.answer_request(number, WhatHappened()).account.head
    above = engine.answer_request(number, ShowOverview()).above
    assert head.endswith(" in 45 ms")
    assert ", 45 ms long" in above
    engine.close()


def test_a_gateway_is_titled_by_what_was_asked() -> None:
    overview = overview_in(document_at(sample("captures/demo-round.ctxcap")))
    assert overview.title.startswith("human to lead: ")
    assert "demo-round.ctxcap" in overview.above
    assert [one.link.view for one in overview.below if one.link is not None] == ["conversation"] * 2
    assert overview.cards[0].id == "people"


def test_every_sender_has_a_bar_and_a_former_name_counts_for_the_present_one() -> None:
    document = document_at(sample("captures/demo-round.ctxcap"))
    card = card_of(overview_in(document), "people")
    assert card is not None
    assert card.figure == "6"
    rows = {row.key.removeprefix("who "): row for row in card.sections[0].rows}
    senders = Counter(document.capture.string("sender", row) for row in range(len(document.analysis)))
    assert {name: line_text(row.end).split()[0] for name, row in rows.items()} == {
        name: f"{count:,}" for name, count in senders.items() if name is not None
    }
    assert line_text(rows["gateway"].label) == "gateway, not a participant"
    own = next(space for space in document.analysis.trust.own)
    document.analysis.trust.own[own] = {"gateway": None, "inspector-7f3a": None}
    card = card_of(overview_in(document), "people")
    assert card is not None
    row = next(row for row in card.sections[0].rows if row.key == "who inspector-7f3a")
    assert line_text(row.end) == f"{senders['inspector-7f3a'] + senders['gateway']} messages"
    link = row.label[0].link
    assert link is not None
    assert link.filter == 'from == "inspector-7f3a" || from == "gateway"'


def test_those_who_left_are_told_from_those_who_are_here() -> None:
    left = envelope("system/presence", {"event": "leave", "participant": {"id": "bob"}}, sender="system:gateway")
    card = card_of(overview_in(document_of(envelope(), envelope(sender="bob"), envelope(sender="ann"), left)), "people")
    assert card is not None
    assert line_text(card.unit) == "participants, 1 left, 4 messages"
    assert {line_text(row.label) for row in card.sections[0].rows} == {
        "lead", "ann", "bob, left", "system:gateway, not a participant",
    }  # fmt: skip


def test_proposals_tell_who_decided_and_how_many_are_not_shown() -> None:
    call = {"method": "tools/call", "params": {"name": "run"}}
    asked = [envelope("mcp/proposal", call, id=f"p{number}", sender="bob") for number in range(9)]
    rejected = envelope("mcp/reject", {"reason": "unsafe"}, correlation_id=["p7"], sender="ann")
    card = card_of(overview_in(document_of(*asked, tool_call("run", correlation_id=["p8"]), rejected)), "proposals")
    assert card is not None
    told = [line_text(row.words) for row in card.sections[0].rows]
    assert told[1:8] == ["run proposed by bob"] * 7
    assert told[8:] == ["run proposed by bob, rejected by ann: unsafe", "1 more"]
    few = card_of(overview_in(document_of(asked[8], tool_call("run", correlation_id=["p8"]))), "proposals")
    assert few is not None
    assert [line_text(row.words) for row in few.sections[0].rows][1:] == ["run proposed by bob, fulfilled by lead"]


def test_a_failure_names_the_spelling_of_the_command_that_succeeded() -> None:
    lines = [line for command, failed in (("python app.py", True), ("python app.py", True), ("python3 app.py", False))
             for call in [tool_call("Bash", arguments={"command": command})]
             for line in (call, tool_result(call, "x", result={"isError": failed}))]  # fmt: skip
    overview = overview_in(document_of(*lines))
    problems, changes = card_of(overview, "problems"), card_of(overview, "changes")
    assert problems is not None
    assert changes is not None
    assert "Succeeded as python3 app.py" in "\n".join(problems.texts)
    told = "\n".join(changes.texts)
    assert "succeeds as python3 app.py" in told
    assert "still fails" not in told
