"""What is found in real traffic is true, and every check is silent on some that comes near (data/specifications)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from tests.commands import ReadOnce, opening_only, printed

DATA = Path(__file__).parents[1] / "data"
TABLE = tomllib.loads((DATA / "specifications" / "recordings.toml").read_text("utf-8"))


_documents: dict[str, ReadOnce] = {}


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    yield
    while _documents:
        _documents.popitem()[1].end()


def printed_of(name: str, command: str, *arguments: str) -> str:
    """What a command prints about a recording."""
    with opening_only(_documents.setdefault(name, ReadOnce())):
        return printed(command, DATA / "recordings" / name, *arguments)


@cache
def found_in(name: str) -> list[tuple[str, int]]:
    """Codes and messages of the findings in a recording, by message."""
    found = json.loads(printed_of(name, "check", "--json"))
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
    assert printed_of(name, "list", "-Y", written, "-e", "no", "--format", "jsonl")


def test_every_check_has_a_near_miss_or_is_known_to_have_none() -> None:
    assert sorted([*TABLE["near"], *TABLE["unseen"]["codes"]]) == sorted(CHECK_BY_CODE)
