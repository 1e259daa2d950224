"""Prints results for people or as JSON, with control characters of captured text escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

import typer

from inspector.protocol.escaped_text import escape_formula, escape_hostile, printable

__all__ = [
    "LONGEST_NAMES",
    "MOST_LISTED",
    "csv_cell",
    "dump",
    "echo",
    "escape_hostile",
    "plain",
    "print_array",
    "print_line",
    "printable",
]

LONGEST_NAMES = 1_000
"""Characters of a list of file names."""
MOST_LISTED = 200
"""Items of any list printed for people; JSON has all of them."""


def plain(value: object) -> str:
    """Formats a value for one table cell: an empty string for None, commas between the items of a list."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def csv_cell(value: object, cell: Callable[[object], str]) -> str:
    """Formats a value for one CSV cell; texts are escaped so that no spreadsheet runs them as formulas."""
    return cell(value) if isinstance(value, bool | int | float) else escape_formula(cell(value))


def dump(value: Any, *, indent: int | None = None) -> str:
    """Dumps JSON that every reader accepts: NaN and infinities, which are not JSON, become strings."""
    try:
        # Try the fast path first: values with NaN are rare, and replacing them copies everything.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    return escape_hostile(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def echo(text: str) -> None:
    """Prints text that is safe already: captured text must have gone through `visible` or `dump`."""
    typer.echo(text)


def print_line(text: str) -> None:
    """Prints a line for people, with control characters escaped."""
    echo(escape_hostile(text))


def print_array(values: Iterable[Any]) -> None:
    """Prints a JSON array on one line, item by item, so that it need not fit in memory."""
    typer.echo("[", nl=False)
    for place, value in enumerate(values):
        typer.echo((", " if place else "") + dump(value), nl=False)
    typer.echo("]")
