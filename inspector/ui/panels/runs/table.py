"""The table of runs: costs, calls, failures and waste. Enter opens a run at the message of a figure."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip
from inspector.survey.runs import SurveyRuns
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.figures_model import FiguresModel
from inspector.ui.panels.figures_table import FiguresTable


class Column(enum.IntEnum):
    """Columns, left to right."""

    PATH = 0
    STARTED = 1
    TOOK = 2
    MESSAGES = 3
    CALLS = 4
    FAILED = 5
    FINDINGS = 6
    TOKENS = 7
    WASTED = 8
    COST = 9
    P95 = 10
    MODELS = 11


TITLES = (
    "Run", "Began", "Took", "Messages", "Calls", "Failed", "Findings", "Tokens", "Avoidable", "Cost", "p95", "Models",
)  # fmt: skip
FIELDS = {
    Column.PATH: "path", Column.STARTED: "first", Column.TOOK: "duration", Column.MESSAGES: "messages",
    Column.CALLS: "tool_calls", Column.FAILED: "failed_calls", Column.FINDINGS: "findings", Column.TOKENS: "tokens",
    Column.WASTED: "wasted", Column.COST: "cost", Column.P95: "latency_p95", Column.MODELS: "models",
}  # fmt: skip
"""Field of each column."""
_TIPS = {
    Column.PATH: "Title of its session, else path of its log", Column.STARTED: "Time of its first message, UTC",
    Column.TOOK: "From the first message to the last", Column.MESSAGES: "Messages",
    Column.CALLS: "Tool calls", Column.FAILED: "Failed calls; Enter goes to the first",
    Column.FINDINGS: "Findings, errors and warnings first; Enter goes to the worst",
    Column.TOKENS: "Tokens reported by model calls, with caches; else an estimate of all messages",
    Column.WASTED: "Avoidable tokens; Enter goes to the greatest case",
    Column.COST: "Cost of model calls by the current prices; else as stated in the session",
    Column.P95: "95 of 100 calls were at least this fast; Enter goes to the slowest",
    Column.MODELS: "Models called",
}  # fmt: skip
_MESSAGE_FIELDS = {
    Column.FAILED: "first_failed", Column.FINDINGS: "worst_no", Column.WASTED: "wasted_no", Column.P95: "slowest_no",
}  # fmt: skip
"""Columns with a message for their figure, and the field of its number."""
_WIDEST = {
    Column.STARTED: "0000-00-00 00:00", Column.TOOK: "00 min 00 s", Column.MESSAGES: "8,888,888",
    Column.CALLS: "88,888",
    Column.FAILED: "88,888", Column.FINDINGS: "88,888", Column.TOKENS: "888.8M", Column.WASTED: "888.8M",
    Column.COST: "888.88", Column.P95: "88 min 8 s", Column.MODELS: 150,
}  # fmt: skip


class RunsModel(FiguresModel[int]):
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
        return column not in (Column.PATH, Column.MODELS)

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

    def message_behind(self, place: int, column: Column) -> int | None:
        """Returns the message number for a figure of a run, or None."""
        name = _MESSAGE_FIELDS.get(column)
        return None if name is None else self.runs.value(place, name)


def _count(value: int) -> str:
    return f"{value:,}"


_FORMATS: dict[Column, Callable[[Any], str]] = {
    Column.STARTED: lambda value: formats.day_and_time(value)[:16],
    Column.TOOK: lambda value: formats.duration(int(value * 1e9)),
    Column.TOKENS: formats.short_count,
    Column.WASTED: formats.short_count,
    Column.COST: formats.dollars,
    Column.P95: lambda value: formats.duration(int(value * 1e6)),
    Column.MODELS: lambda value: safe_line(", ".join(value)),
}


class RunsTable(FiguresTable):
    """The table of runs.

    Signals:
        run_requested(int, object): open a run by its index, at a message number or None.
    """

    run_requested = Signal(int, object)
    gives_way = (
        Column.MODELS, Column.P95, Column.WASTED, Column.TOOK, Column.CALLS, Column.TOKENS, Column.MESSAGES,
        Column.STARTED,
    )  # fmt: skip

    def __init__(self, model: RunsModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="runs", widths=_WIDEST)
        self._model = model
        costs = ("cost", "stated_cost")
        if not any(model.runs.value(place, name) is not None for place in range(len(model.runs)) for name in costs):
            self.absent.add(Column.COST)

    @override
    def paint_cell(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        column, place = Column(index.column()), self._model.rows[index.row()]
        linked = self._model.message_behind(place, column) is not None
        font = QFont(self.name_font(mono=False))
        font.setUnderline(linked and index.row() == self.hovered_row)
        side = Qt.AlignmentFlag.AlignRight if self._model.is_figure(column) else Qt.AlignmentFlag.AlignLeft
        how = Qt.TextElideMode.ElideMiddle if column is Column.PATH else Qt.TextElideMode.ElideRight
        painter.setFont(font)
        painter.setPen(self._themes.theme.color(self._token(place, column)))
        text = QFontMetrics(font).elidedText(str(index.data() or ""), how, box.width())
        painter.drawText(box, int(side | Qt.AlignmentFlag.AlignVCenter), text)

    def _token(self, place: int, column: Column) -> str:
        value = self._model.runs.value
        if column is Column.PATH:
            return "ink.primary"
        if column is Column.FAILED and value(place, "failed_calls"):
            return "severity.error"
        if column is Column.FINDINGS and value(place, "worst") in ("error", "warning"):
            return f"severity.{value(place, 'worst')}"
        return "ink.secondary" if self._model.text(place, column) not in ("", "0") else "ink.tertiary"

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
        folder = runs.value(place, "path").rpartition("/")[0]
        if folder:
            text = f"path contains {quote(folder + '/')}"
            menu.addAction("Filter by its folder").triggered.connect(
                lambda: self.filter_requested.emit(text, "replace")
            )


_GO_WORDS = {
    Column.FAILED: "the first call that failed", Column.FINDINGS: "the worst finding",
    Column.WASTED: "the greatest waste", Column.P95: "the slowest answer",
}  # fmt: skip
