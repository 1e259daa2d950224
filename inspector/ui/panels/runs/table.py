"""The table of runs: costs, calls, failures and waste. Enter opens a run at the message of a figure."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import quote
from inspector.present import formats
from inspector.present.rows import Cell, Elide, Text
from inspector.present.wire_text import safe_line, tool_tip
from inspector.survey.runs import SurveyRuns
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel


class Column(enum.IntEnum):
    """Columns, left to right."""

    PATH = 0
    TASK = 1
    STARTED = 2
    TOOK = 3
    SCORE = 4
    ERROR = 5
    MESSAGES = 6
    CALLS = 7
    FAILED = 8
    FINDINGS = 9
    TOKENS = 10
    WASTED = 11
    COST = 12
    P95 = 13
    MODELS = 14


TITLES = (
    "Run", "Task", "Began", "Took", "Score", "Error", "Messages", "Calls", "Failed", "Findings", "Tokens", "Avoidable",
    "Cost", "p95", "Models",
)  # fmt: skip
FIELDS = {
    Column.PATH: "path", Column.TASK: "task", Column.STARTED: "first", Column.TOOK: "duration",
    Column.SCORE: "score", Column.ERROR: "error", Column.MESSAGES: "messages",
    Column.CALLS: "tool_calls", Column.FAILED: "failed_calls", Column.FINDINGS: "findings", Column.TOKENS: "tokens",
    Column.WASTED: "wasted", Column.COST: "cost", Column.P95: "latency_p95", Column.MODELS: "models",
}  # fmt: skip
"""Field of each column."""
_TIPS = {
    Column.PATH: "Title of its session, else path of its log", Column.TASK: "Task that the evaluation names",
    Column.STARTED: "Time of its first message, UTC",
    Column.TOOK: "From the first message to the last", Column.SCORE: "Score that the evaluation states",
    Column.ERROR: "Reason for which the run failed", Column.MESSAGES: "Messages",
    Column.CALLS: "Tool calls", Column.FAILED: "Failed calls; Enter goes to the first",
    Column.FINDINGS: "Findings, errors and warnings first; Enter goes to the worst",
    Column.TOKENS: "Tokens reported by model calls, with caches; else an estimate of all messages",
    Column.WASTED: "Avoidable tokens; Enter goes to the greatest case",
    Column.COST: "Cost of model calls by the current prices; as stated in the run without them, and until it is read",
    Column.P95: "95 of 100 calls were at least this fast; Enter goes to the slowest",
    Column.MODELS: "Models called",
}  # fmt: skip
_MESSAGE_FIELDS = {
    Column.FAILED: "first_failed", Column.FINDINGS: "worst_no", Column.WASTED: "wasted_no", Column.P95: "slowest_no",
}  # fmt: skip
"""Columns with a message for their figure, and the field of its number."""
_WIDEST = {
    Column.TASK: 180, Column.STARTED: "0000-00-00 00:00", Column.TOOK: "00 min 00 s", Column.SCORE: "88.888",
    Column.ERROR: 150, Column.MESSAGES: "8,888,888",
    Column.CALLS: "88,888",
    Column.FAILED: "88,888", Column.FINDINGS: "88,888", Column.TOKENS: "888.8M", Column.WASTED: "888.8M",
    Column.COST: "$0.00888", Column.P95: "88 min 8 s", Column.MODELS: 150,
}  # fmt: skip


class RunsModel(TableModel[int]):
    """Rows of the table as indices of runs."""

    columns = Column
    titles = TITLES

    def __init__(self, runs: SurveyRuns, parent: QObject | None = None) -> None:
        super().__init__(Column.STARTED, parent)
        self.runs = runs
        self._tokens = runs.tokens()
        paths = [str(runs.value(place, "path")) for place in range(len(runs))]
        common = os.path.commonprefix(paths) if len(paths) > 1 else ""  # noqa: RUF071 - to its last "/"
        self._above = common.rfind("/") + 1  # the common folder of all paths is omitted in each

    def update_figures(self) -> None:
        """Takes over figures that the runs gained; `take_rows` shows them."""
        self._tokens = self.runs.tokens()

    @override
    def key_of(self, one: int) -> int:
        return one

    @override
    def in_order(self, rows: list[int], column: Column, *, descending: bool) -> list[int]:
        values = {place: self._sort_value(place, column) for place in rows}
        # Missing values come last in both orders.
        known = [place for place in rows if values[place] not in (None, "")]
        missing = [place for place in rows if values[place] in (None, "")]
        return [*sorted(known, key=values.__getitem__, reverse=descending), *missing]

    @override
    def is_figure(self, column: int) -> bool:
        return column not in (Column.PATH, Column.TASK, Column.ERROR, Column.MODELS)

    @override
    def tip(self, one: int) -> str:
        return tool_tip(self.runs.value(one, "path"))

    @override
    def heading_tip(self, column: int) -> str:
        return _TIPS[Column(column)]

    @override
    def text(self, one: int, column: Column) -> str:
        value = self.runs.value(one, FIELDS[column])
        if column is Column.PATH:
            return safe_line(self.runs.value(one, "title") or value[self._above :])
        if column is Column.TOKENS and not np.isnan(tokens := self._tokens[one]):
            return formats.short_count(float(tokens))
        if column is Column.COST and value is None:
            value = self.runs.value(one, "stated_cost")
        if value is None:
            return ""
        return _FORMATS.get(column, _count)(value)

    def _sort_value(self, place: int, column: Column) -> Any:
        """Returns the sort value of a cell."""
        value = self.runs.value(place, FIELDS[column])
        if column is Column.TOKENS and not np.isnan(tokens := self._tokens[place]):
            return float(tokens)
        if column is Column.PATH:
            return self.text(place, column).casefold()
        if column is Column.COST and value is None:
            return self.runs.value(place, "stated_cost")
        return ", ".join(value) if isinstance(value, list) else value

    @override
    def cell(self, one: int, column: Column) -> Cell:
        elide: Elide = "middle" if column is Column.PATH else "right"
        font = "figure" if self.is_figure(column) else "body"
        linked = self.message_behind(one, column) is not None
        return (Text(self.text(one, column), font, self._token(one, column), elide, link=linked),)

    def _token(self, place: int, column: Column) -> str:
        value = self.runs.value
        if column is Column.PATH:
            return "ink.primary"
        if column is Column.ERROR or (column is Column.FAILED and value(place, "failed_calls")):
            return "severity.error"
        if column is Column.FINDINGS and value(place, "worst") in ("error", "warning"):
            return f"severity.{value(place, 'worst')}"
        return "ink.secondary" if self.text(place, column) not in ("", "0") else "ink.tertiary"

    def message_behind(self, place: int, column: Column) -> int | None:
        """Returns the message number for a figure of a run, or None."""
        name = _MESSAGE_FIELDS.get(column)
        return None if name is None else self.runs.value(place, name)


def _count(value: int) -> str:
    return f"{value:,}"


_FORMATS: dict[Column, Callable[[Any], str]] = {
    Column.STARTED: lambda value: formats.day_and_time(value)[:16],
    Column.TOOK: lambda value: formats.duration(int(value * 1e9)),
    Column.SCORE: "{:.5g}".format,
    Column.TASK: safe_line,
    Column.ERROR: safe_line,
    Column.TOKENS: formats.short_count,
    Column.WASTED: formats.short_count,
    Column.COST: formats.dollars,
    Column.P95: lambda value: formats.duration(int(value * 1e6)),
    Column.MODELS: lambda value: safe_line(", ".join(value)),
}


class RunsTable(TableView):
    """The table of runs.

    Signals:
        run_requested(int, object): open a run by its index, at a message number or None.
        compare_requested(int, int): compare two runs by their indices; -1 asks for the second.
    """

    run_requested = Signal(int, object)
    compare_requested = Signal(int, int)
    gives_way = (
        Column.P95, Column.WASTED, Column.TASK, Column.MODELS, Column.TOOK, Column.CALLS, Column.TOKENS,
        Column.MESSAGES, Column.STARTED,
    )  # fmt: skip

    def __init__(self, model: RunsModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="runs", widths=_WIDEST)
        self._model = model
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.leave_out_absent()

    def leave_out_absent(self) -> None:
        """Hides the columns that no run has a value for."""
        places = range(len(self._model.runs))
        stated = {column for column in Column if any(self._model.text(place, column) for place in places)}
        self.leave_out({int(column) for column in Column if column is not Column.PATH} - stated)

    def open_row(self, row: int, column: Column | None = None) -> None:
        """Opens a run at the message of a column's figure; without one, of the sort column's."""
        place = self._model.rows[row]
        behind = self._model.message_behind(place, column) if column is not None else None
        if behind is None:
            behind = self._model.message_behind(place, Column(self._model.sorted_by))
        self.run_requested.emit(place, behind)

    @override
    def enter_row(self, row: int) -> None:
        self.open_row(row, Column(max(0, self.currentIndex().column())))

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self.open_row(index.row(), Column(index.column()))

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        place, runs = self._model.rows[row], self._model.runs
        menu.addAction("Open").triggered.connect(lambda: self.run_requested.emit(place, None))
        for column, name in _MESSAGE_FIELDS.items():
            number = runs.value(place, name)
            if number is not None:
                go = menu.addAction(f"Open at {_GO_WORDS[column]}, No. {number:,}")
                go.triggered.connect(lambda _on=False, number=number: self.run_requested.emit(place, number))
        menu.addSeparator()
        self._add_comparing(menu, place)
        folder = runs.value(place, "path").rpartition("/")[0]
        if folder:
            text = f"path contains {quote(folder + '/')}"
            menu.addAction("Filter by its folder").triggered.connect(
                lambda: self.filter_requested.emit(text, "replace")
            )

    def _add_comparing(self, menu: QMenu, place: int) -> None:
        """Adds the comparison of two selected runs, else of one with a run to choose."""
        chosen = sorted({index.row() for index in self.selectedIndexes()})
        places = [self._model.rows[row] for row in chosen]
        if len(places) == 2 and place in places:
            compare = menu.addAction("Compare the two runs")
            compare.triggered.connect(lambda: self.compare_requested.emit(places[0], places[1]))
        else:
            menu.addAction("Compare with...").triggered.connect(lambda: self.compare_requested.emit(place, -1))


_GO_WORDS = {
    Column.FAILED: "the first call that failed", Column.FINDINGS: "the worst finding",
    Column.WASTED: "the greatest waste", Column.P95: "the slowest answer",
}  # fmt: skip
