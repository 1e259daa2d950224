"""Rows of steps: turns, sub-agents, joined calls, groups, order, filter, figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.step_tree import Bar, Grouping, RowKind, SortBy, StepTree, TreeFacts, step_tree
from tests.builders import document_at
from tests.transcribed import ClaudeSession

_S = 1_000_000_000


def session() -> ClaudeSession:
    """Two turns: a thought, three calls at once and an answer; a failed call and an answer."""
    made = ClaudeSession()
    made.prompt("read the three files")
    made.says({"type": "thinking", "thinking": "Look first", "signature": "c2ln"}, after_s=4)
    calls = [made.call("Read", {"file_path": f"/work/{name}"}) for name in "abc"]
    for number, call in enumerate(calls):
        made.result(call, "x" * (number + 1))
    made.text("All read.", after_s=2)
    made.prompt("run the tests", after_s=600)
    bash = made.call("Bash", {"command": "make test"})
    made.result(bash, "Exit code 1", failed=True)
    made.text("They fail.")
    return made


def analysis_of(tmp_path: Path, records: list[dict[str, Any]]) -> Analysis:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return document_at(path).analysis


def tree_of(
    analysis: Analysis, grouping: Grouping = "turn", sort_by: SortBy = "started", *, reverse: bool = False,
    shown: list[int] | None = None,
) -> tuple[StepTree, list[str]]:  # fmt: skip
    """The tree, and kind and depth of each row in words: "turn", "  model", "  Read x3"."""
    stop = len(analysis)
    mask = None
    if shown is not None:
        mask = np.zeros(stop, np.bool_)
        mask[shown] = True
    table = step_table(analysis)
    target = analysis.correlation.columns["target"][:stop].astype(np.int64)
    facts = TreeFacts(
        target, analysis.tokens.columns["tokens"][:stop].astype(np.int64),
        as_numpy(analysis.contexts.tree.parent).astype(np.int64), mask,
    )  # fmt: skip
    tree = step_tree(table, facts, grouping, sort_by, reverse=reverse)
    words: list[str] = []
    for kind, step, depth, count in zip(
        tree.kinds.tolist(), tree.steps.tolist(), tree.depths.tolist(), tree.counts.tolist(), strict=True
    ):
        name = StepKind(int(table.kinds[step])).name.lower()
        if name == "call":
            name = analysis.capture.strings[int(target[table.rows[step]])]
        if kind in (RowKind.TURN, RowKind.AGENT, RowKind.CONTEXT):
            name = RowKind(kind).name.lower()
        words.append(f"{'  ' * depth}{name}{f' x{count}' if kind in (RowKind.JOINED, RowKind.TOOL) else ''}")
    return tree, words


def test_neighbouring_calls_are_joined_below_their_turn(tmp_path: Path) -> None:
    tree, words = tree_of(analysis_of(tmp_path, session().records))
    assert words == [
        "turn", "  model", "  Read x3", "    Read", "    Read", "    Read", "  model", "turn", "  model", "  Bash",
        "  model",
    ]  # fmt: skip
    assert tree.ends.tolist() == [7, 2, 6, 4, 5, 6, 7, 11, 9, 10, 11]
    assert tree.at_once[2] == 3
    assert tree.failed.tolist() == [0] * 7 + [1, 0, 1, 0]


def test_a_turn_takes_the_time_in_which_its_steps_ran(tmp_path: Path) -> None:
    tree, _ = tree_of(analysis_of(tmp_path, session().records))
    first = (tree.stops_ns[0] - tree.starts_ns[0]) / _S
    assert tree.took_ns[0] / _S == first
    assert tree.took_ns[2] == tree.stops_ns[2] - tree.starts_ns[2]
    assert tree.bars.tolist()[:4] == [Bar.WHOLE, Bar.MODEL, Bar.WHOLE, Bar.TOOL]


def test_sorting_makes_one_list_of_all_steps(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, session().records)
    tree, words = tree_of(analysis, sort_by="took")
    assert len(words) == 8
    assert not tree.depths.any()
    assert tree.took_ns.tolist() == sorted(tree.took_ns.tolist(), reverse=True)
    tree, _ = tree_of(analysis, sort_by="took", reverse=True)
    assert tree.took_ns.tolist() == sorted(tree.took_ns.tolist())


def test_steps_are_grouped_by_tool(tmp_path: Path) -> None:
    tree, words = tree_of(analysis_of(tmp_path, session().records), "tool")
    assert words == [
        "model x4", "  model", "  model", "  model", "  model", "Read x3", "  Read", "  Read", "  Read", "Bash",
    ]  # fmt: skip
    assert tree.tokens[0] == 350


def test_a_filter_keeps_its_steps_and_the_rows_above_them(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, session().records)
    bash = next(
        row for row in range(len(analysis))
        if analysis.capture.strings[int(analysis.correlation.columns["target"][row])] == "Bash"
    )  # fmt: skip
    assert tree_of(analysis, shown=[bash])[1] == ["turn", "  model", "  Bash"]
    tree = tree_of(analysis, shown=[bash])[0]
    assert tree.starts_ns[0] == tree.starts_ns[1]  # the prompt is hidden
    assert tree_of(analysis, shown=[])[1] == []


def test_steps_of_a_sub_agent_are_joined_by_tool(tmp_path: Path) -> None:
    made = ClaudeSession()
    made.prompt("ask an agent")
    task = made.call("Task", {"description": "Look", "subagent_type": "Explore", "prompt": "look around"})
    folder = tmp_path / "session" / "subagents"
    folder.mkdir(parents=True)
    agent = ClaudeSession(made.session, agent="a1")
    agent.second = made.second
    agent.prompt("look around")
    for number in range(3):
        agent.runs("Grep", {"pattern": f"p{number}"}, "found")
    agent.text("It is there.")
    made.second = agent.second
    made.result(task, "It is there.", toolUseResult={"agentId": "a1", "status": "completed"})
    made.text("Done.")
    lines = [*made.records[:2], *agent.records, *made.records[2:]]
    tree, words = tree_of(analysis_of(tmp_path, lines))
    assert words[:3] == ["turn", "  model", "  Task"]
    assert {"    model x4", "    Grep x3"} <= set(words)
    assert tree.bars[2] == Bar.WHOLE


def test_an_empty_document_has_no_rows(tmp_path: Path) -> None:
    tree, words = tree_of(analysis_of(tmp_path, session().records[:0]))
    assert not words
    assert not len(tree)
