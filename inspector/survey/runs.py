"""Runs of a survey as columns: fields and filters, counts of findings and tools, trends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Flags, Numbers
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.completion import Completer
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends, Field, FieldType
from inspector.filters.run_fields import RUN_FACTS
from inspector.filters.strings import quote
from inspector.store.messages.capture import Capture
from inspector.survey import is_survey
from inspector.survey.file_runs import rows_of_file
from inspector.survey.folder import SurveyError, check_readable, query_rows
from inspector.survey.folder_runs import rows_of_folder
from inspector.survey.log_figures import Tables
from inspector.survey.run_places import PlaceError, RunPlace
from inspector.survey.schema import RUNS, SURVEYED
from inspector.tables.columns import SqlType, TableColumn, text_column, text_list_column
from inspector.tables.filter_to_sql import condition_of

_TYPES = {
    SqlType.TEXT: FieldType.STRING, SqlType.TEXTS: FieldType.STRING, SqlType.INTEGER: FieldType.INTEGER,
    SqlType.NUMBER: FieldType.NUMBER, SqlType.TIME: FieldType.TIME, SqlType.BOOLEAN: FieldType.BOOLEAN,
}  # fmt: skip
_EMPTY_ANALYSIS = Analysis(Capture())
_NO_TIME = np.iinfo(np.int64).min
_BINS = 48
_REPORTED = ("usage_input", "usage_output", "usage_cache_read", "usage_cache_write")
_STATED = ("title", "stated_cost", *_REPORTED, *(one.name for one in RUN_FACTS))
"""Columns whose values in a file come first."""
_MOST_RUNS = 1_000_000
"""Limit of runs; a small file could repeat one run forever."""


@dataclass(frozen=True, slots=True)
class CountedItem:
    """A finding or tool with its frequency among some runs.

    Attributes:
        name: code of the finding, or the tool.
        runs: number of runs with it.
        count: number of findings or calls.
        failed: number of failed calls; 0 for findings.
        severity: severity of a finding; "" for tools.
    """

    name: str
    runs: int
    count: int
    failed: int = 0
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """A figure over time: runs grouped by start into equal intervals.

    Attributes:
        title: name of the figure.
        values: (bins,) float64, NaN for intervals without runs.
        first_ns, last_ns: start of the first and the last run.
        is_time: values are milliseconds, averaged instead of summed.
    """

    title: str
    values: NDArray[np.float64]
    first_ns: int
    last_ns: int
    is_time: bool = False


class SurveyRuns:
    """The runs of one survey, read once.

    Attributes:
        path: folder of the survey, a file with several runs, or a folder of logs.
        is_survey: it is a survey; of other runs, findings and tools are unknown until `add_figures`.
        unread: paths of runs whose figures are not read yet.
        reads_on_request: the runs are in one file. A user decides to read them, since each is read in full.
        sessions: paths of agents' sessions, which open with their sub-agents.
        failures: path and reason of logs that could not be surveyed.
        completer: completes filters over runs.
    """

    def __init__(self, path: Path) -> None:
        """Reads the runs.

        Raises:
            SurveyError: the folder has no survey, or it cannot be read.
        """
        self.path, self.is_survey = path, is_survey(path)
        self.sessions: frozenset[str] = frozenset()
        self.unread: set[str] = set()
        self.reads_on_request = False
        self.failures: list[tuple[str, str]] = []
        rows = self._read_folder(path) if self.is_survey else self._read_logs(path)
        self._values: dict[str, list[Any]] = {
            column.name: [row.get(column.name) for row in rows] for column in RUNS.columns
        }
        self._place = {run: place for place, run in enumerate(self._values["run"])}
        self._place_of_path = {path: place for place, path in enumerate(self._values["path"])}
        self._findings: list[tuple[int, str, str, int, int]] = []
        self._tools: list[tuple[int, str, str, int, int]] = []
        if self.is_survey:
            self._count_findings_and_tools()
        self._update_fields()

    def _update_fields(self) -> None:
        self._fields = {field.name: field for field in self._make_fields()}
        self.completer = Completer(_EMPTY_ANALYSIS, self._fields, payloads=False)

    def _read_logs(self, path: Path) -> list[dict[str, Any]]:
        try:
            if path.is_dir():
                rows, self.sessions = rows_of_folder(path)
                self.unread = {row["path"] for row in rows if Path(row["path"]).is_file()}
                return rows
            rows, cut = rows_of_file(path)
        except OSError as error:
            raise SurveyError(f"{path} cannot be read: {error.strerror or error}.") from error
        except PlaceError as error:
            raise SurveyError(str(error)) from error
        self.failures = [(str(path), cut)] if cut else []
        self.unread, self.reads_on_request = {row["path"] for row in rows}, True
        return rows

    def _read_folder(self, path: Path) -> list[dict[str, Any]]:
        check_readable(path)
        # Counted before reading, so that a huge survey takes no memory.
        ((count,),) = query_rows(path, "SELECT count(*) FROM runs")
        if count > _MOST_RUNS:
            raise SurveyError(
                f"The survey in {path} has {count:,} runs; as many as {_MOST_RUNS:,} are shown. Ask it in SQL, or "
                "survey fewer of them into another folder."
            )
        names = [column.name for column in RUNS.columns]
        taken = ", ".join(_select_column(column) for column in RUNS.columns)
        rows = query_rows(path, f"SELECT {taken} FROM runs ORDER BY first, path")
        self.failures = list(
            query_rows(path, f"SELECT path, text FROM failures WHERE kind NOT IN ({SURVEYED}) ORDER BY path")
        )
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _count_findings_and_tools(self) -> None:
        self._findings = self._count_by(
            "findings", "coalesce(code, ''), coalesce(any_value(severity), ''), count(*), 0", "code"
        )
        self._tools = self._count_by(
            "tools", "coalesce(tool, ''), '', coalesce(sum(calls), 0)::BIGINT, coalesce(sum(failed), 0)::BIGINT", "tool"
        )

    # Figures of logs

    def places_to_read(self) -> list[RunPlace]:
        """Returns the runs without figures, the latest first. Runs of one file have neither size nor time."""
        sizes, times = self._values["size"], self._values["modified"]
        places = sorted(
            (self._place_of_path[path] for path in self.unread), key=lambda place: (-(times[place] or 0), place)
        )
        return [RunPlace(self._values["path"][place], sizes[place] or 0, times[place] or 0) for place in places]

    def add_figures(self, read: Iterable[tuple[str, Tables]]) -> None:
        """Adds figures of logs, by path. Values that a file states itself stay."""
        for path, tables in read:
            self.unread.discard(path)
            place = self._place_of_path[path]
            self.failures += [
                (path, one["text"]) for one in tables.get("failures", ()) if f"'{one['kind']}'" not in SURVEYED
            ]
            for row in tables.get("runs", ()):
                self._add_row(place, row)
            counts: dict[str, list[Any]] = {}
            for one in tables.get("findings", ()):
                counts.setdefault(one["code"], [one["severity"], 0])[1] += 1
            self._findings += [(place, code, severity, count, 0) for code, (severity, count) in counts.items()]
            self._tools += [
                (place, one["tool"] or "", "", one["calls"], one["failed"]) for one in tables.get("tools", ())
            ]
        self._update_fields()

    def _add_row(self, place: int, row: dict[str, Any]) -> None:
        stated = {name for name in _STATED if self._values[name][place] is not None}
        # Kinds of tokens add up, so they come from one origin.
        if stated.intersection(_REPORTED):
            stated.update(_REPORTED)
        for name, values in self._values.items():
            if name not in stated and row.get(name) is not None and name not in ("run", "path"):
                values[place] = row[name]

    # Runs

    def __len__(self) -> int:
        return len(self._values["run"])

    def value(self, place: int, name: str) -> Any:
        """Returns a run's value by column name, if present."""
        return self._values[name][place]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Returns (n,) values of a numeric column, NaN if absent."""
        values = self._values[name]
        return np.array([np.nan if value is None else value for value in values], np.float64)

    def tokens(self) -> NDArray[np.float64]:
        """Returns (n,) the tokens of each run: reported by its model calls, with caches, else estimated."""
        reported = np.stack([self.numbers(name) for name in _REPORTED])
        return np.where(self.reports_tokens(), np.nansum(reported, axis=0), self.numbers("tokens"))

    def reports_tokens(self) -> NDArray[np.bool_]:
        """Returns (n,) True for runs with tokens reported by their model calls."""
        absent = np.isnan(np.stack([self.numbers(name) for name in _REPORTED]))
        return ~np.asarray(absent.all(axis=0), np.bool_)

    def outcomes(self, places: NDArray[np.int64]) -> list[tuple[int, str]]:
        """Returns the numbers of some runs by outcome; empty if no run of the survey is graded or failed."""
        passed, errors = self._values["passed"], self._values["error"]
        if not (any(one is not None for one in passed) or any(errors)):
            return []
        words = [
            "failed" if errors[place] else {True: "solved", False: "not solved"}.get(passed[place], "not graded")
            for place in places.tolist()
        ]
        counts = ((words.count(word), word) for word in ("solved", "not solved", "failed", "not graded"))
        return [(count, word) for count, word in counts if count]

    def tokens_words(self, places: NDArray[np.int64]) -> str:
        """Returns the name for the tokens of some runs: "tokens", marked if estimated."""
        reported = self.reports_tokens()[places]
        estimated = ~reported & ~np.isnan(self.tokens()[places])
        return "tokens" if not estimated.any() else "tokens, partly estimate" if reported.any() else "tokens, estimate"

    def _count_by(self, table: str, what: str, by: str) -> list[tuple[int, str, str, int, int]]:
        rows = query_rows(self.path, f"SELECT run, {what} FROM {table} GROUP BY run, {by}")
        return [(self._place[run], *rest) for run, *rest in rows if run in self._place]

    # Filtering

    def _make_fields(self) -> list[Field]:
        found = [self._field(column, column.name) for column in RUNS.columns if column.name != "run"]
        by_name = {field.name: field for field in found}
        codes: list[list[str]] = [[] for _ in range(len(self))]
        for place, code, *_ in self._findings:
            codes[place].append(code)
        finding = text_list_column(codes)
        more = Field("finding", FieldType.STRING, "Findings", "Codes of its findings.", lambda _: finding, many=True)
        return [
            *found, more, replace(by_name["tools"], name="tool"), replace(by_name["models"], name="model"),
            *(replace(by_name[one.name], name=f"run.{one.name}") for one in RUN_FACTS),
        ]  # fmt: skip

    def _field(self, column: TableColumn, name: str) -> Field:
        values = self._values[column.name]
        found: Column
        if column.type is SqlType.TEXTS:
            found = text_list_column([tuple(value or ()) for value in values])
        elif column.type is SqlType.TEXT:
            found = text_column(list(values))
        elif column.type is SqlType.TIME:
            found = Numbers(np.array([_NO_TIME if value is None else value for value in values], np.int64), _NO_TIME)
        elif column.type is SqlType.INTEGER:
            # Counts and sizes are never negative, so -1 can mean absent.
            found = Numbers(np.array([-1 if value is None else value for value in values], np.int64), -1)
        elif column.type is SqlType.BOOLEAN:
            found = Flags(np.array([value is True for value in values], np.uint8), 1)
        else:
            found = Numbers(self.numbers(column.name))
        return Field(name, _TYPES[column.type], column.name, column.help, lambda _: found, Depends.FIXED,
                     many=column.type is SqlType.TEXTS)  # fmt: skip

    def compile(self, text: str) -> DisplayFilter:
        """Compiles a filter over runs. Its fields are the columns, `tool`, `model` and `finding`.

        Raises:
            FilterError: it is not valid for runs.
        """
        found = compile_filter(text, fields=self._fields, payload_field=_no_payload)
        if found.searches:
            # Runs have no text, so words can only be meant for the path.
            searches = found.searches if found.is_words else found.searches[:1]
            meant = " && ".join(f"path contains {quote(search.text)}" for search in searches)
            position, length = (0, len(text)) if found.is_words else (searches[0].position, searches[0].length)
            raise FilterError(
                "A run has no text to search.", position=position, length=length,
                suggestion=f"Did you mean {meant}?", replacement=meant,
            )  # fmt: skip
        return found

    def condition(self, text: str) -> str:
        """Translates a filter to an SQL condition, without WHERE, over the survey's table `runs`.

        Raises:
            FilterError: it is not valid, or has no translation.
        """
        return condition_of(self.compile(text), _COLUMNS)

    def matching_places(self, filter_: DisplayFilter) -> NDArray[np.int64]:
        """Returns the indices of runs that pass a filter."""
        return np.flatnonzero(filter_.mask(_EMPTY_ANALYSIS, np.arange(len(self))))

    # Counting

    def findings_of(self, places: NDArray[np.int64]) -> list[CountedItem]:
        """Returns findings of some runs, by descending severity and frequency."""
        found = _sum_counts(self._findings, places, len(self))
        order = {"error": 0, "warning": 1, "note": 2}
        return sorted(found, key=lambda one: (order.get(one.severity, 3), -one.count, one.name))

    def tools_of(self, places: NDArray[np.int64]) -> list[CountedItem]:
        """Returns tools of some runs, by descending number of calls."""
        return sorted(_sum_counts(self._tools, places, len(self)), key=lambda one: (-one.count, one.name))

    def trends(self, places: NDArray[np.int64]) -> list[Trend]:
        """Returns trends of some runs; empty unless two of them have different dates."""
        times = np.array([self._values["first"][place] or 0 for place in places.tolist()], np.int64)
        # Logs that count from their own start have no place on a calendar.
        dated = places[times > 0]
        times = times[times > 0]
        if len(np.unique(times)) < 2:
            return []
        first, last = int(times.min()), int(times.max())
        # The last run belongs to the last interval, not to one after it.
        bins = ((times - first) / (last - first) * (_BINS - 1)).astype(np.int64)
        tokens = self.tokens_words(dated)
        trends = [Trend(tokens[0].upper() + tokens[1:], _binned(bins, self.tokens()[dated], mean=False), first, last)]
        trends += [
            Trend(title, _binned(bins, self.numbers(name)[dated], mean=mean), first, last, mean)
            for name, title, mean in _TRENDS
        ]
        return [one for one in trends if not np.isnan(one.values).all()]


_TRENDS = (
    ("failed_calls", "Failed calls", False), ("latency_p95", "Calls, p95", True), ("wasted", "Avoidable", False),
)  # fmt: skip
"""Column, title, and True for an average instead of a sum."""


_COLUMNS = {
    "tool": "tools", "model": "models", **{f"run.{one.name}": one.name for one in RUN_FACTS},
    "finding": "(SELECT list(code) FROM findings WHERE findings.run = runs.run)",
    **{column.name: f"({column.name} AT TIME ZONE 'UTC')" for column in RUNS.columns if column.type is SqlType.TIME},
}  # fmt: skip
"""SQL expressions of fields that differ from their column."""


def _binned(bins: NDArray[np.int64], values: NDArray[np.float64], *, mean: bool) -> NDArray[np.float64]:
    known = ~np.isnan(values)
    counts = np.bincount(bins[known], minlength=_BINS)
    sums = np.bincount(bins[known], weights=values[known], minlength=_BINS)
    return np.where(counts > 0, sums / np.maximum(counts, 1) if mean else sums, np.nan)


def _sum_counts(
    rows: Sequence[tuple[int, str, str, int, int]], places: NDArray[np.int64], total: int
) -> list[CountedItem]:
    within = np.zeros(total, np.bool_)
    within[places] = True
    found: dict[str, list[Any]] = {}
    for place, name, severity, count, failed in rows:
        if within[place]:
            sums = found.setdefault(name, [0, 0, 0, severity])
            sums[0] += 1
            sums[1] += count
            sums[2] += failed
    return [CountedItem(name, *sums) for name, sums in found.items()]


def _no_payload(path: tuple[str, ...]) -> Field:
    raise FilterError("A run has no payload; its columns are its fields.", position=0, length=len("payload"))


def _select_column(column: TableColumn) -> str:
    name = f'"{column.name}"'
    return f"epoch_ns({name})" if column.type is SqlType.TIME else name
