"""A folder that holds a survey: a Parquet file a table, and meanwhile what was surveyed since it was last put together.

Rows are written as they come, some hundred runs at once, to `.parts`; when a survey ends, however it does, parts and
tables become one file a table. A process that was killed leaves its parts, which the next survey takes in. Of a run
that was surveyed again only the last rows stay; of a log that is no longer there they stay as they are.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.base.held_file import Lock
from inspector.survey import is_survey
from inspector.survey.one_run import Row, RunRows
from inspector.survey.schema import RUNS, SURVEY_TABLES, SURVEYED
from inspector.tables.columns import SqlType, TableColumn, TableShape, quoted

_PARTS, _LOCK = ".parts", ".lock"
_RUNS_AT_ONCE, _ROWS_AT_ONCE, _WRITTEN_EVERY_S = 200, 50_000, 10.0
_TRY_AGAIN = ("memory", "worker", "unreadable")
"""Failures that another time may not happen again."""


class SurveyError(Exception):
    """A survey cannot be read or written; the text says why."""


class Known(NamedTuple):
    """How a run was when it was surveyed."""

    size: int
    modified: int
    digest: str
    version: str


class SurveyFolder:
    """A survey that is written."""

    def __init__(self, path: Path) -> None:
        """Make the folder, or go on with the survey in it.

        Raises:
            SurveyError: somebody else writes to it, or it cannot be written.
        """
        self.path = path
        self._rows: dict[str, list[Row]] = {table.name: [] for table in SURVEY_TABLES}
        self._runs = 0
        self._written = time.monotonic()
        self._part = 0
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = Lock.take(path / _LOCK)
        except OSError as error:
            raise SurveyError(f"{path} cannot be written: {error.strerror or error}.") from error
        if self._lock is None:
            raise SurveyError(f"Another survey is being written to {path}.")
        try:
            (path / _PARTS).mkdir(exist_ok=True)
            numbers = [int(one.name.partition("-")[0]) for one in self._parts() if one.name.partition("-")[0].isdigit()]
            self._part = max(numbers, default=0)
            self._put_together()  # what one that was killed has left
        except OSError as error:
            self.close()
            raise SurveyError(f"{path} cannot be written: {error.strerror or error}.") from error
        except SurveyError:
            self.close()
            raise

    def close(self) -> None:
        """Let others write to it."""
        if self._lock is not None:
            self._lock.remove()
            self._lock.release()
            self._lock = None

    # What is known

    def known(self) -> dict[str, Known]:
        """How runs were when they were surveyed, by path; without those that are worth another try."""
        found: dict[str, Known] = {}
        tried = ", ".join(f"'{kind}'" for kind in _TRY_AGAIN)
        for table, where in (("failures", f"kind NOT IN ({tried}, {SURVEYED})"), ("runs", "true")):
            if not _files_of(self.path, table):
                continue
            rows = asked(self.path, f"SELECT path, size, modified, coalesce(digest, ''), version FROM {table} "
                                    f"WHERE {where}")  # fmt: skip
            found.update((path, Known(*rest)) for path, *rest in rows)
        return found

    # Writing

    def add(self, rows: RunRows) -> None:
        """Take in what came of a run; written with others.

        Raises:
            SurveyError: it cannot be written; what was before is there.
        """
        for table, each in rows.tables.items():
            self._rows[table] += each
        self._runs += 1
        held = sum(map(len, self._rows.values()))
        late = time.monotonic() - self._written > _WRITTEN_EVERY_S
        if self._runs >= _RUNS_AT_ONCE or held >= _ROWS_AT_ONCE or late:
            self.flush()

    def flush(self) -> None:
        """Write what was taken in, also while Ctrl+C is pressed. Raises SurveyError as `add` does."""
        with _uninterrupted():
            self._flush()

    def _flush(self) -> None:
        self._part += 1
        connection = _connect()
        try:
            for table in SURVEY_TABLES:
                rows = self._rows[table.name]
                if rows:
                    _write_rows(connection, rows, table, self.path / _PARTS / f"{self._part:06d}-{table.name}.parquet")
                    rows.clear()
        except OSError as error:
            raise SurveyError(f"{self.path} cannot be written: {error.strerror or error}. {_KEPT}") from error
        finally:
            connection.close()
        self._runs, self._written = 0, time.monotonic()

    def finish(self) -> None:
        """Write all, and make one file a table. Raises SurveyError as `add` does."""
        with _uninterrupted():
            self._flush()
            self._put_together()

    def _parts(self) -> list[Path]:
        return sorted((self.path / _PARTS).glob("*.parquet"))

    def _put_together(self) -> None:
        """Make parts and tables one file a table: all are written before any takes its place."""
        parts = self._parts()
        if not parts and all(_files_of(self.path, table.name) for table in SURVEY_TABLES):
            return
        made: list[tuple[Path, Path]] = []
        connection = _connect()
        try:
            for table in SURVEY_TABLES:
                connection.execute(_empty(table))
            last = self._last_of_runs(connection, parts)
            for table in SURVEY_TABLES:
                target = self.path / f"{table.name}.parquet"
                new = self.path / _PARTS / f"{table.name}.whole"
                sources = [*_files_of(self.path, table.name), *(one for one in parts if _is_of(one, table.name))]
                _write(connection, _chosen(table, sources, last), new)
                made.append((new, target))
            for new, target in made:
                new.replace(target)
        except OSError as error:
            raise SurveyError(f"{self.path} cannot be written: {error.strerror or error}. {_KEPT}") from error
        finally:
            connection.close()
        for table in SURVEY_TABLES:
            shutil.rmtree(self.path / table.name, ignore_errors=True)  # a survey that came as a folder a table
        for part in parts:
            part.unlink(missing_ok=True)

    def _last_of_runs(self, connection: Any, parts: Sequence[Path]) -> bool:
        """Make a table `last` of each path's last run; whether there is any."""
        queries = [
            f"SELECT path, run, surveyed FROM {_scan(sources)}"
            for name in ("runs", "failures")
            if (sources := [*_files_of(self.path, name), *(one for one in parts if _is_of(one, name))])
        ]
        if not queries:
            return False
        try:
            connection.execute(
                "CREATE TEMP TABLE last AS SELECT path, arg_max(run, surveyed) AS run "
                f"FROM ({' UNION ALL '.join(queries)}) GROUP BY path"
            )
        except connection_errors() as error:
            raise SurveyError(f"What is in {self.path} is no survey: {reason(error)}.") from error
        return True


_KEPT = "What was surveyed lies in .parts there; run the same command again when that is mended."


def _is_of(part: Path, table: str) -> bool:
    return part.name.partition("-")[2] == f"{table}.parquet"


def _files_of(folder: Path, table: str) -> list[Path]:
    """The files of a table: one, or all below a folder of its name."""
    one = folder / f"{table}.parquet"
    return [one] if one.is_file() else sorted((folder / table).glob("**/*.parquet"))


def _scan(files: Iterable[Path], *, named: bool = False) -> str:
    listed = ", ".join(quoted(str(file)) for file in files)
    more = ", filename=true" if named else ""
    return f"read_parquet([{listed}], union_by_name=true, hive_partitioning=false{more})"


def _chosen(table: TableShape, files: Sequence[Path], has_last: bool) -> str:
    """A query for the rows of a table of each path's last run, each once though it lies in two files."""
    names = ", ".join(f't."{column.name}"' for column in table.columns)
    if not files or not has_last:
        return f"SELECT {names} FROM {_nothing(table)} t"
    scan = _scan(files, named=True)
    return (
        f"SELECT {names} FROM {scan} t JOIN last USING (run) "
        f"JOIN (SELECT run, min(filename) AS filename FROM {scan} GROUP BY run) f "
        "ON t.run = f.run AND t.filename = f.filename ORDER BY t.path"
    )


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """What is done meanwhile is done to its end; Ctrl+C counts after that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard and callable(before):
        before(signal.SIGINT, None)


# Rows and SQL


def connection_errors() -> tuple[type[Exception], ...]:
    """What DuckDB raises."""
    import duckdb

    return (duckdb.Error,)


@cache
def _database() -> Any:
    """The one of this process: starting one takes longer than most of what is asked of a survey."""
    import duckdb

    return duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false", "threads": "2"})


def _connect() -> Any:
    """A connection of its own, with tables and settings of its own."""
    connection = _database().cursor()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def reason(error: Exception) -> str:
    """What DuckDB says, on one line."""
    return str(error).partition("\n")[0].partition(": ")[2].rstrip(".") or type(error).__name__


def _write_rows(connection: Any, rows: Sequence[Row], table: TableShape, path: Path) -> None:
    """Write rows of a table to a file, whole or not at all. Raises OSError where that is not possible."""
    arrays = {column.name: _array([row.get(column.name) for row in rows], column.type) for column in table.columns}
    connection.register("given", arrays)
    _write(connection, f"SELECT {', '.join(map(_typed, table.columns))} FROM given", path)


def _write(connection: Any, query: str, path: Path) -> None:
    """Write what a query gives to a file. Raises OSError where that is not possible."""
    part = path.with_name(path.name + ".tmp")
    try:
        connection.execute(f"COPY ({query}) TO {quoted(str(part))} (FORMAT parquet, COMPRESSION zstd)")
        part.replace(path)
    except connection_errors() as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise OSError(0, reason(error)) from error


def _array(values: Sequence[Any], type_: SqlType) -> NDArray[Any]:
    missing = np.array([value is None for value in values], np.bool_)
    if type_ is SqlType.TEXTS:
        values = [json.dumps(value or []) for value in values]
        return np.array(values, object)
    if type_ in (SqlType.INTEGER, SqlType.TIME):
        found = np.array([value or 0 for value in values], np.int64)
        return np.ma.masked_array(found, mask=missing) if missing.any() else found
    if type_ is SqlType.NUMBER:
        numbers = np.array([value or 0.0 for value in values], np.float64)
        return np.ma.masked_array(numbers, mask=missing) if missing.any() else numbers
    if type_ is SqlType.BOOLEAN:
        return np.array([bool(value) for value in values], np.bool_)
    texts = np.empty(len(values), object)
    texts[:] = [value if value is None else _stored(str(value)) for value in values]
    return texts


def _stored(text: str) -> str:
    """Text that UTF-8 holds: names of files may be bytes that are none."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not text.isascii() else text


def _typed(column: TableColumn) -> str:
    name = f'"{column.name}"'
    if column.type is SqlType.TEXTS:
        return f"CAST({name}::JSON AS VARCHAR[]) AS {name}"
    if column.type is SqlType.TIME:
        return f"make_timestamp_ns({name})::TIMESTAMPTZ AS {name}"
    return f"CAST({name} AS {column.type.value}) AS {name}"


def _nothing(table: TableShape) -> str:
    return f"nothing_{table.name}"


def _empty(table: TableShape) -> str:
    columns = ", ".join(f'"{column.name}" {_sql_type(column)}' for column in table.columns)
    return f"CREATE TEMP TABLE {_nothing(table)} ({columns})"


def _sql_type(column: TableColumn) -> str:
    return "TIMESTAMPTZ" if column.type is SqlType.TIME else column.type.value


# Reading


def _trusted(column: TableColumn) -> str:
    """A column as it is declared, whatever a file that somebody else made has in its place."""
    name = f'"{column.name}"'
    value = f"TRY_CAST({name} AS {_sql_type(column)})"
    if column.type is SqlType.NUMBER:
        value = f"CASE WHEN isfinite({value}) THEN {value} END"
    elif column.type is SqlType.TEXTS:
        value = f"list_filter({value}, lambda one: one IS NOT NULL)"
    return f"{value} AS {name}"


def asked(folder: Path, query: str) -> Iterator[tuple[Any, ...]]:
    """Answer a query over the tables of a survey, row by row.

    Args:
        folder: the survey.
        query: names the tables as they are declared; the others are not looked at.

    Raises:
        SurveyError: they cannot be read.
    """
    connection = _connect()
    try:
        try:
            for table in (one for one in SURVEY_TABLES if one.name in query):
                files = _files_of(folder, table.name)
                connection.execute(_empty(table))
                source = _scan(files) if files else _nothing(table)
                columns = ", ".join(map(_trusted, table.columns))
                connection.execute(
                    f"CREATE TEMP VIEW {table.name} AS SELECT {columns} FROM (SELECT * FROM {_nothing(table)} "
                    f"UNION ALL BY NAME SELECT * FROM {source}) WHERE run IS NOT NULL AND path IS NOT NULL"
                )
            cursor = connection.execute(query)
            while rows := cursor.fetchmany(4_096):
                yield from rows
        except connection_errors() as error:
            raise SurveyError(f"The survey in {folder} cannot be read: {reason(error)}.") from error
    finally:
        connection.close()


def check_readable(folder: Path) -> None:
    """Raise SurveyError where a folder holds no survey."""
    if not is_survey(folder):
        raise SurveyError(f"There is no survey in {folder}.")
    names = ", ".join(f'"{column.name}"' for column in RUNS.columns)
    for _ in asked(folder, f"SELECT {names} FROM runs LIMIT 1"):
        pass
