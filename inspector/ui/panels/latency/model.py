"""Item model of the latency table: one row per tool, model or participant."""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.engine.requests.latency import HISTOGRAM_BOUNDS_MS, GroupLatency
from inspector.present import formats
from inspector.present.rows import SECONDARY, Cell, Spread, Text
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.widgets.rows.table_model import TableModel

_TENTHS_BELOW_MS = 10


class Column(enum.IntEnum):
    """Columns, left to right."""

    NAME = 0
    ANSWERS = 1
    P50 = 2
    P95 = 3
    P99 = 4
    LONGEST = 5
    SPREAD = 6
    SLOWEST = 7


TITLES = ("Tool", "Answers", "p50", "p95", "p99", "Slowest", "Spread", "No.")
_TIPS = (
    "",
    "Answers with a known request and known times",
    "Half of the answers were at least this fast",
    "95 of 100 answers were at least this fast; needs 20 or more",
    "99 of 100 answers were at least this fast; needs 100 or more",
    "Duration of the slowest answer",
    "Distribution of durations, from below 1 ms to above 100 s",
    "The slowest answer; Enter or a click goes there",
)


def milliseconds(value: float) -> str:
    """Formats a latency: "0.4 ms", "73 ms", "1.2 s"."""
    if abs(value) < _TENTHS_BELOW_MS:
        return f"{value:.1f} ms".replace("-", "\N{MINUS SIGN}")
    return formats.duration(round(value * 1_000_000))


def spread_words(spread: tuple[int, ...]) -> str:
    """Returns the distribution as text: "2 below 32 ms, 1 below 100 ms"."""
    words = [
        f"{formats.number(count)} below {milliseconds(end)}"
        for count, end in zip(spread, HISTOGRAM_BOUNDS_MS, strict=False)
    ]
    said = [word for word, count in zip(words, spread, strict=False) if count]
    more = (
        [f"{formats.number(spread[-1])} above {milliseconds(HISTOGRAM_BOUNDS_MS[-1])}"] if spread and spread[-1] else []
    )
    return ", ".join([*said, *more])


_VALUES: dict[Column, Callable[[GroupLatency], float | str]] = {
    Column.NAME: lambda one: one.name.casefold(),
    Column.ANSWERS: lambda one: one.latency.count,
    Column.P50: lambda one: one.latency.p50,
    Column.P95: lambda one: one.latency.p95,
    Column.P99: lambda one: one.latency.p99,
    Column.LONGEST: lambda one: one.latency.longest,
    Column.SPREAD: lambda one: one.latency.p50,
    Column.SLOWEST: lambda one: one.slowest,
}


class LatencyModel(TableModel[GroupLatency]):
    """Rows of the latency table.

    Attributes:
        by: tool, model or participant.
    """

    columns = Column
    titles = TITLES

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.ANSWERS, parent)
        self.by = "tool"

    def show_rows(self, rows: list[GroupLatency], by: str) -> None:
        self.by = by
        self.take_rows(rows)

    @override
    def key_of(self, one: GroupLatency) -> int:
        return one.code

    @override
    def in_order(self, rows: list[GroupLatency], column: Column, *, descending: bool) -> list[GroupLatency]:
        named = sorted(rows, key=lambda one: one.name)
        return sorted(named, key=_VALUES[column], reverse=descending)  # pyright: ignore[reportArgumentType] - one type

    @override
    def tip(self, one: GroupLatency) -> str:
        return tool_tip(safe_line(one.name, 600))

    @override
    def text(self, one: GroupLatency, column: Column) -> str:
        if column is Column.NAME:
            return safe_line(one.name, 200)
        if column is Column.ANSWERS:
            return formats.number(one.latency.count)
        if column is Column.SLOWEST:
            return str(one.slowest + 1)
        if column is Column.SPREAD:
            return spread_words(one.spread)
        if column is Column.LONGEST:
            return milliseconds(one.latency.longest)
        figure = one.latency.percentile(column.name.lower())
        return "" if figure is None else milliseconds(figure)

    @override
    def cell(self, one: GroupLatency, column: Column) -> Cell:
        if column is Column.SPREAD:
            return (Spread(one.spread),)
        if column is Column.NAME:
            return (Text(self.text(one, column), "mono-row" if self.by == "tool" else "body", elide="middle"),)
        slowest = column is Column.SLOWEST
        return (Text(self.text(one, column), "figure", "accent.text" if slowest else SECONDARY, link=slowest),)

    @override
    def heading(self, column: int) -> str:
        return self.by.capitalize() if column == Column.NAME else TITLES[column]

    @override
    def heading_tip(self, column: int) -> str:
        return _TIPS[column]
