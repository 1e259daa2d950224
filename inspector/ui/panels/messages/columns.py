"""Columns of the message table: titles, alignment, and how wide they are in a table of a given width (look.md 6)."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Column(enum.IntEnum):
    """Columns from left to right."""

    GUTTER = 0
    NUMBER = 1
    TIME = 2
    FROM_TO = 3
    KIND = 4
    CONTEXT = 5
    MESSAGE = 6
    LATENCY = 7
    SIZE = 8


TITLES: tuple[str, ...] = ("", "No.", "Time", "From → To", "Kind", "Context", "Message", "Latency", "Size")
"""Column heads."""

NAMES: tuple[str, ...] = ("Marks", "Number", "Time", "From and to", "Kind", "Context", "Message", "Latency", "Size")
"""Column heads in words, for tooltips and screen readers."""

RIGHT_ALIGNED = frozenset({Column.NUMBER, Column.TIME, Column.LATENCY, Column.SIZE})

_NARROW = {Column.NUMBER: 40, Column.TIME: 60, Column.FROM_TO: 148, Column.KIND: 91, Column.CONTEXT: 72}
_WIDE = {Column.NUMBER: 52, Column.TIME: 68, Column.FROM_TO: 184, Column.KIND: 132, Column.CONTEXT: 150}
_FIGURES = {Column.LATENCY: 68, Column.SIZE: 60}
_GUTTER = 32
_MESSAGE_LEAST = 240
_MESSAGE_ENOUGH = 120
"""Below this, a narrow table gives up columns."""
_GIVEN_UP = (Column.CONTEXT, Column.TIME, Column.KIND)
"""Columns a narrow table gives up, the first one first; the details have them all."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of the columns but Message, which takes the rest; columns that are not named are hidden.

    Attributes:
        widths: logical pixels.
    """

    widths: dict[Column, int]

    def shows(self, column: Column) -> bool:
        """Whether a column is shown."""
        return column is Column.MESSAGE or column in self.widths


def layout_for(width: int, zoom: float = 1.0, *, number: int = 0, time: int = 0) -> Layout:
    """How a table of a width lays out its columns.

    Wide columns with Latency and Size come where they leave Message its 240 px, in a 1920 px window and some below;
    the two figures alone come somewhat earlier, which is from 1700 up.

    Args:
        width: of the viewport, in logical pixels.
        zoom: scales every width.
        number: least width of the column No., which is never elided.
        time: least width of the column Time.
    """

    def scaled(widths: dict[Column, int]) -> dict[Column, int]:
        made = {column: round(value * zoom) for column, value in widths.items()}
        made[Column.NUMBER] = max(made[Column.NUMBER], number)
        made[Column.TIME] = max(made[Column.TIME], time)
        return {Column.GUTTER: round(_GUTTER * zoom), **made}

    least = round(_MESSAGE_LEAST * zoom)
    wide, narrow = scaled({**_WIDE, **_FIGURES}), scaled({**_NARROW, **_FIGURES})
    for widths in (wide, narrow):
        if sum(widths.values()) + least <= width:
            return Layout(widths)
    widths = scaled(_NARROW)
    for column in _GIVEN_UP:
        if sum(widths.values()) + round(_MESSAGE_ENOUGH * zoom) > width:
            del widths[column]
    return Layout(widths)
