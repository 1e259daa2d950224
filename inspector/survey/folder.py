"""Stores a survey in a folder as Parquet files, merges parts, and runs SQL over them.

Rows are written in batches of some hundred runs to `.parts`. When a survey ends for any reason, parts and tables are
merged into one file per table. A killed process leaves its parts for the next survey. For a repeated run, only the last
rows stay. The rows of a deleted log stay.
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

from inspector.base.file_lock import FileLock
from inspector.survey import is_survey
from inspector.survey.one_run import Row, RunRows
from inspector.survey.schema import RUNS, SURVEY_TABLES, SURVEYED
from inspector.tables.columns import SqlType, TableColumn, TableShape, sql_literal

_PARTS_FOLDER, _LOCK = ".parts", ".lock"
# Bounds of lost work after a power cut, of memory, and of the number of parts.
_RUNS_AT_ONCE, _ROWS_AT_ONCE, _WRITTEN_EVERY_S = 200, 50_000, 10.0
_TRY_AGAIN = ("memory", "worker", "unreadable")
"""Kinds of failures that may not occur again."""


class SurveyError(Exception):
    """A survey cannot be read or written; the text is the reason."""


class KnownRun(NamedTuple):
    """State of a run at its last survey."""

    size: int
    modified: int
    digest: str
    version: str


class SurveyFolder:
    """A survey folder open for writing."""

    def __init__(self, path: Path) -> None:
        """Creates the folder, or continues the survey in it.

        Raises:
            SurveyError: another process writes to it, or it cannot be written.
        """
        self.path = path
        self._rows: dict[str, list[Row]] = {table.name: [] for table in SURVEY_TABLES}
        self._runs = 0
        self._written = time.monotonic()
        self._part = 0
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock.acquire(path / _LOCK)
        except OSError as error:
            raise SurveyError(f"{path} cannot be written: {error.strerror or error}.") from error
        if self._lock is None:
            raise SurveyError(f"Another survey is being written to {path}.")
        try:
            (path / _PARTS_FOLDER).mkdir(exist_ok=True)
            numbers = [int(one.name.partition("-")[0]) for one in self._parts() if one.name.partition("-")[0].isdigit()]
            # Numbers continue, so that a later part never overwrites one of a killed process.
            self._part = max(numbers, default=0)
            self._put_together()  # parts of a killed process
        except OSError as error:
            self.close()
            raise SurveyError(f"{path} cannot be written: {error.strerror or error}.") from error
        except SurveyError:
            self.close()
            raise

    def close(self) -> None:
        """Releases the lock on the folder."""
        if self._lock is not None:
            self._lock.remove()
            self._lock.release()
            self._lock = None

    # Known runs

    def known_runs(self) -> dict[str, KnownRun]:
        """Returns the state of surveyed runs by path, without failures that are worth another attempt."""
        found: dict[str, KnownRun] = {}
        tried = ", ".join(f"'{kind}'" for kind in _TRY_AGAIN)
        # Runs come last and replace failures, since a run may have both.
        for table, where in (("failures", f"kind NOT IN ({tried}, {SURVEYED})"), ("runs", "true")):
            if not _files_of(self.path, table):
                continue
            rows = query_rows(self.path, f"SELECT path, size, modified, coalesce(digest, ''), version FROM {table} "
                                    f"WHERE {where}")  # fmt: skip
            found.update((path, KnownRun(*rest)) for path, *rest in rows)
        return found

    # Writing

    def add(self, rows: RunRows) -> None:
        """Adds the rows of a run to the next batch.

        Raises:
            SurveyError: the batch cannot be written; earlier ones are kept.
        """
        for table, each in rows.tables.items():
            self._rows[table] += each
        self._runs += 1
        held = sum(map(len, self._rows.values()))
        # A killed process loses at most this time's work.
        late = time.monotonic() - self._written > _WRITTEN_EVERY_S
        if self._runs >= _RUNS_AT_ONCE or held >= _ROWS_AT_ONCE or late:
            self.flush()

    def flush(self) -> None:
        """Writes the batch, without interruption by Ctrl+C. Raises SurveyError as `add`."""
        with _uninterrupted():
            self._flush()

    def _flush(self) -> None:
        self._part += 1
        connection = _connect()
        try:
            for table in SURVEY_TABLES:
                rows = self._rows[table.name]
                if rows:
                    _write_rows(
                        connection, rows, table, self.path / _PARTS_FOLDER / f"{self._part:06d}-{table.name}.parquet"
                    )
                    rows.clear()
        except OSError as error:
            raise SurveyError(f"{self.path} cannot be written: {error.strerror or error}. {_KEPT_WORDS}") from error
        finally:
            connection.close()
        self._runs, self._written = 0, time.monotonic()

    def finish(self) -> None:
        """Writes everything and merges it into one file per table. Raises SurveyError as `add`."""
        with _uninterrupted():
            self._flush()
            self._put_together()

    def _parts(self) -> list[Path]:
        return sorted((self.path / _PARTS_FOLDER).glob("*.parquet"))

    def _put_together(self) -> None:
        """Merges parts and tables into one file per table; all are written before any is replaced."""
        parts = self._parts()
        if not parts and all(_files_of(self.path, table.name) for table in SURVEY_TABLES):
            return
        made: list[tuple[Path, Path]] = []
        connection = _connect()
        try:
            for table in SURVEY_TABLES:
                connection.execute(_create_empty(table))
            last = self._last_of_runs(connection, parts)
            for table in SURVEY_TABLES:
                target = self.path / f"{table.name}.parquet"
                new = self.path / _PARTS_FOLDER / f"{table.name}.whole"
                sources = [*_files_of(self.path, table.name), *(one for one in parts if _is_of(one, table.name))]
                _write_query(connection, _last_rows_query(table, sources, last), new)
                # All are written before any is replaced: a full disk then leaves the old survey whole.
                made.append((new, target))
            for new, target in made:
                # Each replacement is atomic, so readers see a complete table.
                new.replace(target)
        except OSError as error:
            raise SurveyError(f"{self.path} cannot be written: {error.strerror or error}. {_KEPT_WORDS}") from error
        finally:
            connection.close()
        for table in SURVEY_TABLES:
            shutil.rmtree(self.path / table.name, ignore_errors=True)  # a survey that had one folder per table
        for part in parts:
            part.unlink(missing_ok=True)

    def _last_of_runs(self, connection: Any, parts: Sequence[Path]) -> bool:
        """Creates a table `last` with the last run of each path; returns False if there are no runs."""
        queries = [
            f"SELECT path, run, surveyed FROM {_scan(sources)}"
            for name in ("runs", "failures")
            if (sources := [*_files_of(self.path, name), *(one for one in parts if _is_of(one, name))])
        ]
        if not queries:
            return False
        try:
            connection.execute(
                # A repeated run has a new `run`; rows of the earlier one are dropped.
                "CREATE TEMP TABLE last AS SELECT path, arg_max(run, surveyed) AS run "
                f"FROM ({' UNION ALL '.join(queries)}) GROUP BY path"
            )
        except connection_errors() as error:
            raise SurveyError(f"What is in {self.path} is no survey: {error_reason(error)}.") from error
        return True


_KEPT_WORDS = "What was surveyed lies in .parts there; run the same command again when that is mended."


def _is_of(part: Path, table: str) -> bool:
    return part.name.partition("-")[2] == f"{table}.parquet"


def _files_of(folder: Path, table: str) -> list[Path]:
    """Returns the files of a table: one, or all below a folder of its name."""
    one = folder / f"{table}.parquet"
    return [one] if one.is_file() else sorted((folder / table).glob("**/*.parquet"))


def _scan(files: Iterable[Path], *, named: bool = False) -> str:
    listed = ", ".join(sql_literal(str(file)) for file in files)
    more = ", filename=true" if named else ""
    return f"read_parquet([{listed}], union_by_name=true, hive_partitioning=false{more})"


def _last_rows_query(table: TableShape, files: Sequence[Path], has_last: bool) -> str:
    """Returns a query for the rows of each path's last run, without duplicates across files."""
    names = ", ".join(f't."{column.name}"' for column in table.columns)
    if not files or not has_last:
        return f"SELECT {names} FROM {_empty_table_name(table)} t"
    scan = _scan(files, named=True)
    return (
        f"SELECT {names} FROM {scan} t JOIN last USING (run) "
        f"JOIN (SELECT run, min(filename) AS filename FROM {scan} GROUP BY run) f "
        "ON t.run = f.run AND t.filename = f.filename ORDER BY t.path"
    )


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """Delays Ctrl+C until the end of the block."""
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
        # The delayed interrupt takes effect now.
        before(signal.SIGINT, None)


# Rows and SQL


def connection_errors() -> tuple[type[Exception], ...]:
    """Returns the exception types of DuckDB."""
    import duckdb

    return (duckdb.Error,)


@cache
def _database() -> Any:
    """Returns the DuckDB instance of this process; starting one takes longer than most queries of a survey."""
    import duckdb

    return duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false", "threads": "2"})


def _connect() -> Any:
    """Returns a connection with tables and settings of its own."""
    connection = _database().cursor()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def error_reason(error: Exception) -> str:
    """Returns DuckDB's message on one line."""
    return str(error).partition("\n")[0].partition(": ")[2].rstrip(".") or type(error).__name__


def _write_rows(connection: Any, rows: Sequence[Row], table: TableShape, path: Path) -> None:
    """Writes rows of a table to a file atomically. Raises OSError if that fails."""
    arrays = {column.name: _array([row.get(column.name) for row in rows], column.type) for column in table.columns}
    connection.register("given", arrays)
    _write_query(connection, f"SELECT {', '.join(map(_typed_column, table.columns))} FROM given", path)


def _write_query(connection: Any, query: str, path: Path) -> None:
    """Writes the result of a query to a file atomically. Raises OSError if that fails."""
    part = path.with_name(path.name + ".tmp")
    try:
        connection.execute(f"COPY ({query}) TO {sql_literal(str(part))} (FORMAT parquet, COMPRESSION zstd)")
        part.replace(path)
    except connection_errors() as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise OSError(0, error_reason(error)) from error


def _array(values: Sequence[Any], type_: SqlType) -> NDArray[Any]:
    missing = np.array([value is None for value in values], np.bool_)
    if type_ is SqlType.TEXTS:
        # Lists pass as JSON text; `_typed` casts them back.
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
    texts[:] = [value if value is None else _storable_text(str(value)) for value in values]
    return texts


def _storable_text(text: str) -> str:
    """Replaces bytes that are not UTF-8, as file names can have them."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not text.isascii() else text


def _typed_column(column: TableColumn) -> str:
    name = f'"{column.name}"'
    if column.type is SqlType.TEXTS:
        return f"CAST({name}::JSON AS VARCHAR[]) AS {name}"
    if column.type is SqlType.TIME:
        return f"make_timestamp_ns({name})::TIMESTAMPTZ AS {name}"
    return f"CAST({name} AS {column.type.value}) AS {name}"


def _empty_table_name(table: TableShape) -> str:
    return f"nothing_{table.name}"


def _create_empty(table: TableShape) -> str:
    columns = ", ".join(f'"{column.name}" {_sql_type(column)}' for column in table.columns)
    return f"CREATE TEMP TABLE {_empty_table_name(table)} ({columns})"


def _sql_type(column: TableColumn) -> str:
    return "TIMESTAMPTZ" if column.type is SqlType.TIME else column.type.value


# Reading


def _trusted_column(column: TableColumn) -> str:
    """Returns SQL that casts a column to its declared type, since files may come from other programs."""
    name = f'"{column.name}"'
    value = f"TRY_CAST({name} AS {_sql_type(column)})"
    if column.type is SqlType.NUMBER:
        # Infinite and undefined numbers would break sums and charts.
        value = f"CASE WHEN isfinite({value}) THEN {value} END"
    elif column.type is SqlType.TEXTS:
        value = f"list_filter({value}, lambda one: one IS NOT NULL)"
    return f"{value} AS {name}"


def query_rows(folder: Path, query: str) -> Iterator[tuple[Any, ...]]:
    """Runs a query over the tables of a survey; yields rows.

    Args:
        folder: the survey.
        query: names tables as declared; only the named ones are opened.

    Raises:
        SurveyError: the tables cannot be read.
    """
    connection = _connect()
    try:
        try:
            for table in (one for one in SURVEY_TABLES if one.name in query):
                files = _files_of(folder, table.name)
                connection.execute(_create_empty(table))
                # The empty table provides columns that an older survey lacks.
                source = _scan(files) if files else _empty_table_name(table)
                columns = ", ".join(map(_trusted_column, table.columns))
                connection.execute(
                    f"CREATE TEMP VIEW {table.name} AS SELECT {columns} FROM (SELECT * FROM {_empty_table_name(table)} "
                    f"UNION ALL BY NAME SELECT * FROM {source}) WHERE run IS NOT NULL AND path IS NOT NULL"
                )
            cursor = connection.execute(query)
            # In pieces, as a fleet's tables may not fit in memory as Python objects.
            while rows := cursor.fetchmany(4_096):
                yield from rows
        except connection_errors() as error:
            raise SurveyError(f"The survey in {folder} cannot be read: {error_reason(error)}.") from error
    finally:
        connection.close()


def check_readable(folder: Path) -> None:
    """Raises SurveyError if a folder contains no survey."""
    if not is_survey(folder):
        raise SurveyError(f"There is no survey in {folder}.")
    names = ", ".join(f'"{column.name}"' for column in RUNS.columns)
    for _ in query_rows(folder, f"SELECT {names} FROM runs LIMIT 1"):
        pass
