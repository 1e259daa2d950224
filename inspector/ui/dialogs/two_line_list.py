"""Rows of dialog lists with two lines: title and details."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path

from inspector.present.rows import AUTO, EMPTY, SECONDARY, TERTIARY, Column, Layout, Row, Text
from inspector.present.wire_text import safe_line

_COLUMNS = (Column(gap=14), Column(width=AUTO, right=True))
LAYOUT = Layout((_COLUMNS, _COLUMNS), height="control", rise=1.6, edge=4)


def two_line_spec(
    key: Hashable, title: str, aside: str, detail: str, state: str = "", *, spoken: str, tip: str
) -> Row:  # fmt: skip
    """Returns a row.

    Args:
        key: identifies the row.
        title: a long one is cut before `aside`.
        aside: at the right of the title.
        detail: the second line.
        state: at the right of the second line, in green.
        spoken: for screen readers.
        tip: tooltip as plain text.
    """
    lines = (
        ((Text(title),), (Text(aside, "small", SECONDARY, "never"),) if aside else EMPTY),
        ((Text(detail, "small", TERTIARY),), (Text(state, "small", "badge.consumed", "never"),) if state else EMPTY),
    )
    return Row(key, lines, title, spoken=spoken, tip=tip)


def looked_in(none: str, places: Iterable[Path]) -> str:
    """Returns the text of an empty list: a sentence and the searched places, one a line, home as ~."""
    home = Path.home()
    shown = (Path("~", place.relative_to(home)) if place.is_relative_to(home) else place for place in places)
    return "\n".join((none, "", "Searched places", *(safe_line(str(place), 300) for place in shown)))
