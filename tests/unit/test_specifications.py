"""The examples of the specifications, and what commands must answer to them (tests/data/specifications)."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.builders import log_file
from tests.commands import printed, reading_once

TABLE = Path(__file__).parents[1] / "data" / "specifications" / "examples.toml"
EXAMPLES: list[dict[str, Any]] = tomllib.loads(TABLE.read_text("utf-8"))["example"]
_KNOWN = {
    "name", "source", "log", "list", "paths", "contexts", "found", "present", "absent", "shown", "summary", "show",
    "merged",
}  # fmt: skip


def answered(*arguments: str) -> Any:
    """What a command prints as JSON."""
    return json.loads(printed(*arguments, "--json", codes=(0, 1)))


def listed(path: str, *arguments: str, field: str) -> list[Any]:
    """One field of the messages, empty texts for what is absent."""
    lines = printed("list", path, "-e", field, "--format", "jsonl", *arguments).splitlines()
    values = [json.loads(line)[field] for line in lines]
    return ["" if value is None else value for value in values]


def part_of(whole: Any, part: Any) -> Any:
    """What a whole has where the part has something."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return {key: part_of(whole.get(key), value) for key, value in part.items()}
    return whole


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_commands_answer_what_the_text_says(example: dict[str, Any]) -> None:
    example = {**example, "path": str(log_file(example["log"].lstrip().encode()))}
    with reading_once():
        assert_listed(example)
        assert_contexts(example)
        assert_findings(example)
        assert_merged(example)


def assert_listed(example: dict[str, Any]) -> None:
    path = example["path"]
    for field, values in example.get("list", {}).items():
        assert (field, listed(path, field=field)) == (field, values)
    for written, numbers in example.get("shown", {}).items():
        assert (written, listed(path, "-Y", written, field="no")) == (written, numbers)
    if "summary" in example:
        assert part_of(answered("summary", path), example["summary"]) == example["summary"]
    for number, expected in example.get("show", {}).items():
        assert part_of(answered("show", path, number), expected) == expected


def assert_contexts(example: dict[str, Any]) -> None:
    if "paths" in example or "contexts" in example:
        nodes = {node["path"]: node for node in answered("contexts", example["path"])}
        assert sorted(nodes) == sorted(example.get("paths", nodes))
        expected = example.get("contexts", {})
        assert part_of(nodes, expected) == expected


def assert_findings(example: dict[str, Any]) -> None:
    if "merged" in example:
        return
    found = [[one["code"], one["no"]] for one in answered("check", example["path"])]
    if "found" in example:
        assert sorted(found) == sorted(example["found"])
    assert not [one for one in example.get("present", ()) if one not in found]
    assert not [code for code, _ in found if code in example.get("absent", ())]


def assert_merged(example: dict[str, Any]) -> None:
    if "merged" not in example:
        return
    meant = example["merged"]
    told = answered("merged-context", example["path"], "-s", meant["subsession"])
    assert [layer["name"] for layer in told["layers"]] == ["sub_context", "snapshots", "recent", "own"]
    layers = {layer["name"]: [entry["id"] for entry in layer["entries"]] for layer in told["layers"]}
    assert {name: layers[name] for name in ("snapshots", "recent", "own")} == {
        name: meant[name] for name in ("snapshots", "recent", "own")
    }
    assert [one["id"] for one in told["withheld"]] == meant["withheld"]


def test_each_example_says_what_must_come_out() -> None:
    assert not [example["name"] for example in EXAMPLES if not set(example) <= _KNOWN or len(example) < 4]
