"""The item model of the latency table: a row per tool or participant, sorted as the user chose."""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.latency_tally import Timed
from inspector.present import formats
from inspector.present.wire_text import plain, tool_tip
from inspector.ui.panels.figures_model import FiguresModel

_TENTHS_BELOW_MS = 10


class Column(enum.IntEnum):
    """The columns, left to right."""

    NAME = 0
    ANSWERS = 1
    P50 = 2
    P95 = 3
    P99 = 4
    LONGEST = 5
    SLOWEST = 6


TITLES = ("Tool", "Answers", "p50", "p95", "p99", "Slowest", "No.")
_TIPS = (
    "",
    "Answers whose request and times are known",
    "Half of the answers were at least this fast",
    "95 of 100 answers were at least this fast",
    "99 of 100 answers were at least this fast",
    "The answer that took longest",
    "The message that answered slowest; Enter or a click goes there",
)


def milliseconds(value: float) -> str:
    """A latency: "0.4 ms", "73 ms", "1.2 s"."""
    if abs(value) < _TENTHS_BELOW_MS:
        return f"{value:.1f} ms".replace("-", "\N{MINUS SIGN}")
    return formats.duration(round(value * 1_000_000))


_VALUES: dict[Column, Callable[[Timed], float | str]] = {
    Column.NAME: lambda one: one.name.casefold(),
    Column.ANSWERS: lambda one: one.latency.count,
    Column.P50: lambda one: one.latency.p50,
    Column.P95: lambda one: one.latency.p95,
    Column.P99: lambda one: one.latency.p99,
    Column.LONGEST: lambda one: one.latency.longest,
    Column.SLOWEST: lambda one: one.slowest,
}


class LatencyModel(FiguresModel[Timed]):
    """Rows of the latency table.

    Attributes:
        by: tool or participant.
    """

    columns = Column
    titles = TITLES

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.ANSWERS, parent)
        self.by = "tool"

    def show_rows(self, rows: list[Timed], by: str) -> None:
        """Show other figures, sorted as before."""
        self.by = by
        self.take_rows(rows)

    @override
    def key_of(self, one: Timed) -> int:
        return one.code

    @override
    def in_order(self, rows: list[Timed], column: Column, *, descending: bool) -> list[Timed]:
        named = sorted(rows, key=lambda one: one.name)
        return sorted(named, key=_VALUES[column], reverse=descending)  # pyright: ignore[reportArgumentType]  one type

    @override
    def tip(self, one: Timed) -> str:
        return tool_tip(plain(one.name, 600))

    @override
    def text(self, one: Timed, column: Column) -> str:
        if column is Column.NAME:
            return plain(one.name, 200)
        if column is Column.ANSWERS:
            return formats.number(one.latency.count)
        if column is Column.SLOWEST:
            return str(one.slowest + 1)
        figures = {
            Column.P50: one.latency.p50, Column.P95: one.latency.p95, Column.P99: one.latency.p99,
            Column.LONGEST: one.latency.longest,
        }  # fmt: skip
        return milliseconds(figures[column])

    @override
    def heading(self, column: int) -> str:
        return "Participant" if column == Column.NAME and self.by == "participant" else TITLES[column]

    @override
    def heading_tip(self, column: int) -> str:
        return _TIPS[column]
