"""Logs in tests/data, for tests that go through all of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
RECORDINGS = DATA / "recordings"
FORMAT_FOLDERS = Path(__file__).parents[1] / "inspector" / "formats"
FORMAT_SAMPLES = {
    path.name: path
    for path in sorted([*(DATA / "formats").iterdir(), *FORMAT_FOLDERS.glob("[!_]*/samples/*")])
    if path.suffix != ".md" and not path.name.endswith(".expected.json")
}
"""Small logs of each format and dialect by name: in the folder of the format, or in tests/data/formats."""

LINE_SAMPLES = [path for path in FORMAT_SAMPLES.values() if path.suffix == ".jsonl"]


def sample(name: str) -> Path:
    """Returns the log with a path below tests/data, or with a name of FORMAT_SAMPLES behind `formats/`."""
    return FORMAT_SAMPLES.get(name.removeprefix("formats/"), DATA / name)


def first_of(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Parameters of which the first few are tried each time, all others as a `sweep`."""
    return [pytest.param(value, marks=pytest.mark.sweep) if at >= count else value for at, value in enumerate(values)]


def folders_swept(paths: Iterable[Path]) -> list[Any]:
    """Logs as parameters: one of each folder each time, all others as a `sweep`.

    For what a test asks of a way out of the program, which no dialect changes.
    """
    chosen = {path.parent: path for path in sorted(paths, reverse=True) if RECORDINGS not in path.parents}
    return [path if chosen.get(path.parent) == path else pytest.param(path, marks=pytest.mark.sweep) for path in paths]


def recordings_swept(paths: Iterable[Path]) -> list[Any]:
    """Logs as parameters: small samples of each format and dialect each time, recordings of real traffic as a `sweep`.

    What a test asks of a recording that no sample has is a test of its own, of that recording by its name.
    """
    return [pytest.param(path, marks=pytest.mark.sweep) if RECORDINGS in path.parents else path for path in paths]
