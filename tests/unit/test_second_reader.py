"""The program against a second reader, that shares no code with it, on random traffic (`tests.second_reader`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts import context_builder
from tests import second_traffic as traffic
from tests.builders import lines_of, log_file
from tests.commands import printed, reading_once
from tests.samples import first_of
from tests.second_reader.calls import calls
from tests.second_reader.capabilities import held
from tests.second_reader.contexts import Space, contexts, went_on
from tests.second_reader.messages import Message, read
from tests.second_reader.results import results
from tests.second_reader.sessions import Sessions

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
_FIELDS = (
    "no", "space", "from", "to", "kind", "correlation", "delivered", "answers", "answered", "proposal.state", "badge",
    "collapsed.by", "consumes", "context", "method", "target", "tool", "tool.rule",
)  # fmt: skip
_CALLS = ("mcp/request", "mcp/response", "mcp/proposal")


def rows_by_program(path: str, collapses: str) -> list[dict[str, Any]]:
    options = ("--format", "jsonl", "-e", ",".join(_FIELDS), "--collapses", collapses)
    lines = printed("list", path, *options).splitlines()
    return [_sorted({**json.loads(line)}) for line in lines]


def rows_by_reader(messages: list[Message], spaces: dict[str | None, Space], collapses: str) -> list[dict[str, Any]]:
    found = calls(messages)
    lives = results(messages, found, newest=collapses == "newest")
    rows: list[dict[str, Any]] = []
    for one in messages:
        space, no = spaces[one.space], one.no
        row = {
            "no": no, "space": one.space, "from": one.sender, "to": one.to, "kind": one.kind,
            "correlation": one.correlation, "delivered": one.delivered, "answers": found.answers.get(no),
            "answered": found.answered.get(no), "proposal.state": found.state.get(no),
            "badge": lives.badges.get(no, []), "collapsed.by": lives.collapsed_by.get(no),
            "consumes": lives.consumes.get(no),
            "context": space.path(space.of[no]) if no in space.of else None, "method": found.method.get(no),
            "target": found.target.get(no), "tool": found.tool(no), "tool.rule": found.rule.get(no),
        }  # fmt: skip
        rows.append(_sorted(row))
    return rows


def _sorted(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose sets have an order, and with nothing about calls where it is none."""
    about = ("method", "target", "tool", "tool.rule") if row["kind"] not in _CALLS else ()
    row = {name: value for name, value in row.items() if name not in about}
    return {**row, "badge": sorted(row["badge"]), "delivered": sorted(row["delivered"])}


def tree_by_program(path: str) -> dict[Any, Any]:
    ended = ("concluded", "cancelled")
    return {
        (one["space"], one["path"]): (
            one["messages"], one["subtree_messages"], one["implicit"], one["type"],
            one["state"] if one["state"] in ended else None, one["started_by"], one["ended_by"],
        )
        for one in json.loads(printed("contexts", path, "--json"))
    }  # fmt: skip


def tree_by_reader(spaces: dict[str | None, Space]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for space, contexts_of in spaces.items():
        nodes = contexts_of.nodes()
        for path, node in nodes.items():
            below = [one for other, one in nodes.items() if other == path or other.startswith(f"{path}/")]
            kind = node.declared or ("reasoning" if node.reasoning or path.startswith("reason") else None)
            found[space, path] = (
                len(node.messages), sum(len(one.messages) for one in below), not (node.messages or node.started_by),
                kind, node.state, node.started_by, node.ended_by,
            )  # fmt: skip
    return found


def held_by_program(path: str) -> dict[Any, list[Any] | None]:
    """Of everybody who was seen; None of whom nothing was told."""
    found: dict[Any, list[Any] | None] = {}
    for one in json.loads(printed("participants", path, "--json")):
        told = one["capabilities"]
        found[one["space"], one["name"]] = told and [(item["capability"], item["grant_id"]) for item in told]
    return found


def compare(path: Path, collapses: str = "oldest") -> None:
    """Both say the same of every message, every context and every participant of a log."""
    messages = read(path.read_bytes())
    spaces = contexts(messages)
    with reading_once():
        by_program = rows_by_program(str(path), collapses)
        tree, capabilities = tree_by_program(str(path)), held_by_program(str(path))
    for program, reader in zip(by_program, rows_by_reader(messages, spaces, collapses), strict=True):
        assert program == reader
    assert tree == tree_by_reader(spaces)
    by_reader = {key: one.patterns for key, one in held(messages).items()}
    assert capabilities == {key: by_reader.get(key) for key in capabilities}


_collapses = st.sampled_from(("oldest", "newest"))


_few = st.sampled_from((0, context_builder._FEW_EVENTS))
"""Number of starts and ends from which on they are applied together."""


@given(traffic.mixed(), _collapses, _few)
def test_random_traffic_reads_alike(lines: list[dict[str, Any]], collapses: str, few: int) -> None:
    with patch.object(context_builder, "_FEW_EVENTS", few):
        compare(log_file(lines_of(*lines)), collapses)


def ends_by_program(path: str) -> dict[int, tuple[str | None, list[str]]]:
    lines = printed("list", path, "--format", "jsonl", "-e", "no,kind,state,finding").splitlines()
    told = ("message-after-conclusion", "message-after-cancel")
    return {
        row["no"]: (
            row["state"] if row["kind"] in ("reasoning/start", "context/start") else None,
            sorted(code for code in row["finding"] if code in told),
        )
        for row in map(json.loads, lines)
    }  # fmt: skip


def ends_by_reader(messages: list[Message], spaces: dict[str | None, Space]) -> dict[int, tuple[str | None, list[str]]]:
    found: dict[int, tuple[str | None, list[str]]] = {}
    late = {no: state for space in spaces.values() for no, (state, _) in went_on(space).items()}
    codes = {"concluded": "message-after-conclusion", "cancelled": "message-after-cancel"}
    for one in messages:
        begins = one.kind in ("reasoning/start", "context/start")
        state = spaces[one.space].states.get(one.no, "running") if begins else None
        found[one.no] = (state, [codes[late[one.no]]] if one.no in late else [])
    return found


@given(traffic.sequences(), _few)
def test_random_sequences_read_alike(lines: list[dict[str, Any]], few: int) -> None:
    path = log_file(lines_of(*lines))
    messages = read(path.read_bytes())
    spaces = contexts(messages)
    with patch.object(context_builder, "_FEW_EVENTS", few), reading_once():
        tree, ends = tree_by_program(str(path)), ends_by_program(str(path))
    assert tree == tree_by_reader(spaces)
    assert ends == ends_by_reader(messages, spaces)


@given(traffic.pipes(), _collapses)
def test_random_stdio_traffic_reads_alike(lines: list[dict[str, Any]], collapses: str) -> None:
    compare(log_file(lines_of(*lines)), collapses)


@pytest.mark.parametrize(
    "name",
    first_of((
        "mcp-rune/01-loop-current-names.jsonl",
        *(f"mew/{name}/envelope-history.jsonl" for name in (
            "scenario-3-proposals", "scenario-1-basic", "scenario-2-mcp", "scenario-5-reasoning", "coding-agent",
        )),
        *(f"mcp-rune/{name}.jsonl" for name in ("04-three-pending", "05-consumer-errors")),
    ), 2),
)  # fmt: skip
def test_real_traffic_reads_alike(name: str) -> None:
    compare(RECORDINGS / name)


@given(traffic.sessions(), st.data())
def test_merged_contexts_are_alike(objects: list[dict[str, Any]], data: st.DataObject) -> None:
    path = log_file(lines_of(*objects))
    name = data.draw(st.sampled_from([one["subsession_id"] for one in objects if "subsession_id" in one]))
    told = json.loads(printed("merged-context", str(path), "-s", name, "--json"))
    layers = {layer["name"]: [entry["id"] for entry in layer["entries"]] for layer in told["layers"]}
    meant = Sessions(path.read_bytes()).merged(name)
    assert told["layers"][0]["included"] == meant.sub_context
    assert (layers["snapshots"], layers["recent"], layers["own"]) == (meant.snapshots, meant.recent, meant.own)
    assert sorted(one["id"] for one in told["withheld"]) == sorted(meant.withheld)
