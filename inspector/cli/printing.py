"""How answers are printed: as JSON every reader takes, or for people, with nothing that would act on a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

import typer

from inspector.protocol.escaped_text import text_cell, visible

__all__ = [
    "LONGEST_NAMES",
    "MOST_LISTED",
    "csv_cell",
    "dump",
    "echo",
    "plain",
    "print_array",
    "printable",
    "say",
    "visible",
]

LONGEST_NAMES = 1_000
"""Characters of the names of what was asked about."""
MOST_LISTED = 200
"""So many of anything are printed for people; JSON has them all."""


def plain(value: object) -> str:
    """A value in one cell: nothing for None, a list with commas."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def csv_cell(value: object, cell: Callable[[object], str]) -> str:
    """A value in one cell of CSV, as `cell` has it; what is no number is no formula for a spreadsheet either."""
    return cell(value) if isinstance(value, bool | int | float) else text_cell(cell(value))


def printable(text: str, width: int) -> str:
    """One line without control characters, cut to a width."""
    line = visible(" ".join(text[: 20 * width].split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def dump(value: Any, *, indent: int | None = None) -> str:
    """JSON that every reader takes: NaN and infinities, which are no JSON, as strings."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    return visible(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def echo(text: str) -> None:
    """Print text; what comes from the wire went through `visible` or `dump` before."""
    typer.echo(text)


def say(text: str) -> None:
    """Print a line for people."""
    echo(visible(text))


def print_array(values: Iterable[Any]) -> None:
    """A JSON array on one line, item by item."""
    typer.echo("[", nl=False)
    for place, value in enumerate(values):
        typer.echo((", " if place else "") + dump(value), nl=False)
    typer.echo("]")
