"""What is found in real traffic is true, and every check is silent on some that comes near (data/specifications)."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.analysis.findings import CHECKS
from inspector.cli.commands import app

DATA = Path(__file__).parents[1] / "data"
TABLE = tomllib.loads((DATA / "specifications" / "recordings.toml").read_text("utf-8"))


def printed(*arguments: str) -> str:
    """What a command prints."""
    found = CliRunner().invoke(app, list(arguments))
    assert found.exit_code == 0, found.output
    return found.stdout


@cache
def found_in(name: str) -> list[tuple[str, int]]:
    """Codes and messages of the findings in a recording, by message."""
    found = json.loads(printed("check", str(DATA / "recordings" / name), "--json"))
    return sorted(((one["code"], one["no"]) for one in found), key=lambda one: (one[1], one[0]))


@pytest.mark.parametrize("name", TABLE["found"])
def test_nothing_is_found_in_a_recording_but_what_is_true_of_it(name: str) -> None:
    assert found_in(name) == [(code, number) for code, number, _ in TABLE["found"][name]]


def test_every_recording_is_in_the_table() -> None:
    folder = DATA / "recordings"
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    assert sorted(TABLE["found"]) == sorted(path.relative_to(folder).as_posix() for path in files)


@pytest.mark.parametrize("code", TABLE["near"])
def test_a_check_is_silent_where_real_traffic_comes_near(code: str) -> None:
    name, written = TABLE["near"][code]
    assert code not in [one for one, _ in found_in(name)]
    assert printed("list", str(DATA / "recordings" / name), "-Y", written, "-e", "no", "--format", "jsonl")


def test_every_check_has_a_near_miss_or_is_known_to_have_none() -> None:
    assert sorted([*TABLE["near"], *TABLE["unseen"]["codes"]]) == sorted(check.code for check in CHECKS)
