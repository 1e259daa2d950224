"""The page of a survey: filter bar, table of runs, lists of findings and tools, trends, history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from inspector.base.network_shares import share_of
from inspector.engine.requests.filters import Completion, FilterError, FilterProblem, SqlCondition, problem_of
from inspector.present import formats
from inspector.survey.file_runs import file_of_run
from inspector.survey.log_figures import Tables
from inspector.survey.run_places import is_address
from inspector.survey.runs import SurveyRuns
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.runs.lists import CountedModel, CountedTable, FindingColumn, ToolColumn
from inspector.ui.panels.runs.table import FIELDS, Column, RunsModel, RunsTable
from inspector.ui.panels.runs.trends import Trends
from inspector.ui.panels.trail import Trail
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.filter_bar import FilterBar

_PLACEHOLDER = 'Filter runs, for example  failed_calls > 0 && tool == "write_file"'
READ_ALL = "Read all runs"
_LISTS_WIDTH = 300
"""Width of the lists beside the runs, pixels at 100 %."""
_MAX_LISTS_SHARE = 0.33
"""Their maximum share of the window's width."""


@dataclass(frozen=True, slots=True)
class RunsStop:
    """A place in the history.

    Attributes:
        filter: the filter.
        run: index of the current run, or None.
    """

    filter: str
    run: int | None


class RunsPage(QWidget):
    """A survey in a window.

    Signals:
        filter_requested(str): show the runs of a valid filter.
        run_requested(str, object): open the log of a run at a message number, or None.
        compare_requested(str, str): compare the logs of two runs; "" asks for the second.
        together_requested(): open all runs of the file as one document.
        figures_requested(): read the figures of all runs of the file.
        refused(str): a run cannot be opened, with the reason.

    Attributes:
        runs: the survey.
        filter: the active one.
        bar, table, findings, tools, trends: its parts.
        read: the button that reads the runs of a file.
    """

    filter_requested = Signal(str)
    run_requested = Signal(str, object)
    compare_requested = Signal(str, str)
    together_requested = Signal()
    figures_requested = Signal()
    refused = Signal(str)

    def __init__(self, runs: SurveyRuns, themes: ThemeController, parent: QWidget) -> None:
        """Shows all runs.

        Args:
            runs: the survey.
            themes: gives the look.
            parent: owner.
        """
        super().__init__(parent)
        self.runs = runs
        self._unread = 0
        self._themes = themes
        self.setObjectName("runsPage")
        self.setAccessibleName("Runs")
        self.setProperty("variant", "base")
        # Without this attribute a plain QWidget ignores the background of the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.bar = FilterBar(
            themes, self._check, self, complete=self._complete, preview=self._preview,
            placeholder=_PLACEHOLDER, noun="runs", alone=True, to_sql=self._to_sql,
        )  # fmt: skip
        self.bar.applied.connect(self.filter_requested)
        self.bar.left.connect(self.setFocus)
        self.head = PaneHead(themes, "Runs", name="runsHead", parent=self)
        self.read = LinkButton(READ_ALL, name="runsRead", parent=self)
        self.read.setToolTip("Reads calls, failures, tokens, costs and findings of each run")
        self.read.clicked.connect(self._read_all)
        self.read.setVisible(runs.reads_on_request)
        if runs.reads_on_request:
            self.head.add_widget(self.read)
        if runs.path.is_file():
            together = LinkButton("Compare all runs", name="runsTogether", parent=self)
            together.setToolTip("Opens all runs as one document")
            together.clicked.connect(self.together_requested)
            self.head.add_widget(together)
        self.model = RunsModel(runs, self)
        self.table = RunsTable(self.model, themes, self)
        self.table.run_requested.connect(self._open)
        self.table.compare_requested.connect(self._compare)
        self.findings_head = PaneHead(themes, "Findings", name="runsFindingsHead", parent=self)
        self._found = CountedModel(FindingColumn, ("Finding", "Count", "Runs"), self)
        self.findings = CountedTable(self._found, themes, self, name="run findings", field="finding")
        self.tools_head = PaneHead(themes, "Tools", name="runsToolsHead", parent=self)
        self._called = CountedModel(ToolColumn, ("Tool", "Calls", "Failed", "Runs"), self)
        self.tools = CountedTable(self._called, themes, self, name="run tools", field="tool")
        for one in (self.table, self.findings, self.tools):
            one.filter_requested.connect(lambda text, _mode: self.filter_requested.emit(text))
        self.trends = Trends(themes, self)
        self._lay_out()
        self.setFocusProxy(self.table)
        self.filter = ""
        self._trail = Trail[RunsStop]()
        self.apply_filter("")

    def _lay_out(self) -> None:
        left, right = QWidget(self), QWidget(self)
        for widget, parts in (
            (left, (self.head, self.table, self.trends)),
            (right, (self.findings_head, self.findings, self.tools_head, self.tools)),
        ):
            column = QVBoxLayout(widget)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            for part in parts:
                column.addWidget(part, 1 if part in (self.table, self.findings, self.tools) else 0)
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.splitter.setObjectName("runsSplitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(left)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 0)
        zoom = self._themes.theme.zoom
        aside = min(round(_LISTS_WIDTH * zoom), round(_MAX_LISTS_SHARE * self.window().width()))
        self.splitter.setSizes([10_000, aside])
        right.setMinimumWidth(round(0.7 * aside))
        # As the tool bar of a document, which holds the filter there: a field on the surface of the rows has no edge.
        strip = QWidget(self)
        strip.setObjectName("runsFilterStrip")
        strip.setProperty("variant", "chrome")
        strip.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        above = QHBoxLayout(strip)
        above.setContentsMargins(14, 7, 14, 7)
        above.addWidget(self.bar, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(strip)
        whole.addWidget(self.splitter, 1)

    def _check(self, text: str) -> FilterProblem | None:
        try:
            self.runs.compile(text)
        except FilterError as error:
            return problem_of(error)
        return None

    def _complete(self, text: str, cursor: int, show: Callable[[Completion], object]) -> None:
        show(self.runs.completer.complete(text, cursor))

    def _preview(self, text: str, show: Callable[[int | None], object]) -> None:
        show(len(self.runs.matching_places(self.runs.compile(text))))

    def _to_sql(self, text: str) -> SqlCondition:
        try:
            return SqlCondition(self.runs.condition(text))
        except FilterError as error:
            return SqlCondition(problem=problem_of(error))

    def apply_filter(self, text: str) -> None:
        """Shows the runs that match a filter. An invalid one only shows its error."""
        try:
            chosen = self.runs.matching_places(self.runs.compile(text))
        except FilterError as error:
            self.bar.show_error(problem_of(error))
            return
        self._note_run()
        self._trail.add(RunsStop(text.strip(), None))
        self._show(text.strip(), chosen)

    def _read_all(self) -> None:
        self.read.hide()
        self.figures_requested.emit()

    def show_unread(self, count: int) -> None:
        """Shows the number of logs whose figures are still read."""
        self._unread = count
        self._set_empty_texts()
        self.head.set_count(self._count_text(np.array(self.model.rows, np.int64)))

    def add_figures(self, read: Sequence[tuple[str, Tables]]) -> None:
        """Shows figures of logs, by path; filter, current run and scroll position stay."""
        self.runs.add_figures(read)
        self.model.update_figures()
        self.table.leave_out_absent()
        self._note_run()
        last, top = self._trail.last, self.table.verticalScrollBar().value()
        self._show(self.filter, self.runs.matching_places(self.runs.compile(self.filter)), anew=False)
        self._select_run(last.run if last is not None else None)
        self.table.verticalScrollBar().setValue(top)

    def _show(self, text: str, chosen: np.ndarray, *, anew: bool = True) -> None:
        if anew:
            self.filter = text
            self.bar.set_applied(self.filter)
        self.bar.set_counts(len(chosen), len(self.runs))
        self.model.take_rows(chosen.tolist(), anew=anew)
        findings, tools = self.runs.findings_of(chosen), self.runs.tools_of(chosen)
        self._found.take_rows(findings, anew=True)
        self._called.take_rows(tools, anew=True)
        self.findings_head.set_count(f"{len(findings):,}" if findings else "")
        self.tools_head.set_count(f"{len(tools):,}" if tools else "")
        self.trends.show_trends(self.runs.trends(chosen))
        self.head.set_count(self._count_text(chosen))
        self._set_empty_texts()

    def _set_empty_texts(self) -> None:
        """Sets the texts of empty lists. Without a visible run they say so, instead of "no findings"."""
        total, none = len(self.runs), not self.model.rows
        why = f"No run matches this filter; clear it to see all {total:,}." if total else "This survey holds no runs."
        self.table.set_empty_text(why)
        unread = "Reading the logs." if self._unread else ""
        if self.runs.reads_on_request and self.runs.unread and not self._unread:
            unread = f"Not read yet. Choose \u201c{READ_ALL}\u201d above the table."
        for table, words in ((self.findings, "No findings."), (self.tools, "No tool calls.")):
            table.set_empty_text("No run is shown." if none else unread or words)

    # History

    @property
    def areas(self) -> list[QWidget]:
        """Parts that take the keyboard focus as a whole, in reading order."""
        return [self.bar, self.table, self.findings, self.tools]

    def go_back(self) -> None:
        """Returns to the runs and the current run of the previous place."""
        self._return_to(self._trail.back)

    def go_forward(self) -> None:
        self._return_to(self._trail.forward)

    def _return_to(self, way: Callable[[], tuple[RunsStop, RunsStop] | None]) -> None:
        self._note_run()
        found = way()
        if found is None:
            return
        stop = found[0]
        self._show(stop.filter, self.runs.matching_places(self.runs.compile(stop.filter)))
        self._select_run(stop.run)

    def _select_run(self, run: int | None) -> None:
        if run is not None and run in self.model.rows:
            self.table.setCurrentIndex(self.model.index(self.model.rows.index(run), Column.PATH))

    def _note_run(self) -> None:
        """Stores the current run in the history, so that Back leads to it."""
        row, last = self.table.currentIndex().row(), self._trail.last
        if last is not None:
            self._trail.renew(replace(last, run=self.model.rows[row] if row >= 0 else None))

    @property
    def order(self) -> tuple[str, bool]:
        """The sort field of the runs, and True for descending order."""
        return FIELDS[Column(self.model.sorted_by)], self.model.descending

    def sort_by(self, name: str, *, descending: bool) -> None:
        """Sorts the runs by a field if it has a column."""
        column = next((column for column, field in FIELDS.items() if field == name), None)
        if column is not None:
            self.table.sortByColumn(column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)

    def _count_text(self, chosen: np.ndarray) -> str:
        """Returns the number of visible runs, their sums, and the number of logs without a survey."""
        failed = len(self.runs.failures)
        parts = [formats.number(len(chosen))]
        parts += [f"{count:,} {word}" for count, word in self.runs.outcomes(chosen)]
        sums = (
            (self.runs.tokens(), self.runs.tokens_words(chosen)),
            (self.runs.numbers("failed_calls"), "failed calls"),
        )
        for values, words in sums:
            total = float(np.nansum(values[chosen])) if len(chosen) else 0.0
            if total:
                parts.append(f"{formats.short_count(total)} {words}")
        if failed:
            how = "surveyed" if self.runs.is_survey else "read"
            parts.append(f"{formats.count_of(failed, 'log')} could not be {how}")
        if self._unread:
            parts.append(f"reading {self._unread:,} more")
        return " · ".join(parts)

    def _open(self, place: int, number: int | None) -> None:
        path = self._path_at(place)
        if path is not None:
            self.run_requested.emit(path, number)

    def _compare(self, place: int, other: int) -> None:
        paths = [self._path_at(one) for one in (place, other) if one >= 0]
        if None not in paths:
            self.compare_requested.emit(paths[0], paths[1] if len(paths) > 1 else "")

    def _path_at(self, place: int) -> str | None:
        """Returns the path of a run; None if it cannot be opened, and emits the reason."""
        path: str = self.runs.value(place, "path")
        if is_address(path):
            self.refused.emit(f"{path} is in an object store. Download it and open the file.")
        elif share_of(path) not in ("", share_of(str(self.runs.path.absolute()))):
            self.refused.emit(f"{path} is on another computer, according to the survey. Open the file directly.")
        elif not (file_of_run(Path(path)).is_file() or Path(path).is_dir()):  # a device would be read without end
            self.refused.emit(f"{path} is not there any more.")
        else:
            return path
        return None
