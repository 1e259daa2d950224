"""SQL queries: a thread plans and answers them, and this one reads the document for it, some milliseconds at a time."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, ClassVar, TypeVar

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import PAUSE, Part, PartsRequest, Query, Request, Steps
from inspector.filters.completion import Candidate as Candidate
from inspector.filters.completion import Completion as Completion
from inspector.tables import TABLES, Database, QueryError, QueryInputs
from inspector.tables.completion import complete_query
from inspector.tables.read_requests import ReadRequests
from inspector.tables.result_values import to_json_value

MOST_ROWS = 10_000
"""Limit of rows of a result."""
TABLE_NAMES = tuple(table.name for table in TABLES)
"""Names of all tables."""
_NUMBER_COLUMN = "no"
"""The column with message numbers."""
_NUMBERS = ("BIGINT", "INTEGER", "HUGEINT", "DOUBLE", "FLOAT", "DECIMAL", "UBIGINT", "UINTEGER", "SMALLINT", "TINYINT")
_FETCHED_ROWS = 500
_PART_CHARS = 1_000_000
"""Length of a part, unless its only row is longer."""
_MAX_CELL_CHARS = 1_000_000
"""Limit of the text of a cell, since a part has one frame of the pipe."""
_END_S = 0.02
"""Time for an interrupted thread to end before another thread waits for it."""

ResultT = TypeVar("ResultT")


class QueryColumn(msgspec.Struct, frozen=True):
    """A column of a result.

    Attributes:
        name: as SQL gives it; names may repeat.
        type: in SQL notation.
        is_number: its values are numbers.
    """

    name: str
    type: str
    is_number: bool


class QueryRows(msgspec.Struct, frozen=True):
    """The columns of a result, in the first part, or some of its rows.

    Attributes:
        columns: the columns; None in later parts.
        rows: texts of the cells of each row.
        messages: message of each row by its column `no`; None for rows without one.
    """

    columns: list[QueryColumn] | None = None
    rows: list[list[str]] = []
    messages: list[int | None] = []


class QueryTrouble(msgspec.Struct, frozen=True):
    """An error in a query.

    Attributes:
        sentence: the problem, with a remedy if known.
        position: characters from the start of the query to the error, if there is a position.
        length: number of wrong characters.
    """

    sentence: str
    position: int | None
    length: int


class QueryEnd(msgspec.Struct, frozen=True):
    """The end of a result.

    Attributes:
        count: number of rows.
        is_cut: there are more than `MOST_ROWS`.
        seconds: duration of the query.
        trouble: the error, if the query has failed.
    """

    count: int
    is_cut: bool
    seconds: float
    trouble: QueryTrouble | None = None


class RunQuery(PartsRequest[QueryRows, QueryEnd], frozen=True):
    """Runs one SELECT statement over the tables of the document, as it is now."""

    sql: str


class CompleteQuery(Request[Completion], frozen=True):
    """Completes a query with names of tables, columns, functions and keywords.

    Attributes:
        sql: the query.
        cursor: the position in characters.
    """

    is_urgent: ClassVar[bool] = True
    sql: str
    cursor: int


class _RunningQuery:
    """A query on its thread. The thread never touches the document."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._reads = ReadRequests()
        self._parts: queue.SimpleQueue[QueryRows] = queue.SimpleQueue()
        self._database: Database | None = None
        self._thread: threading.Thread | None = None

    def steps(self, held: OpenDocument) -> Steps[tuple[int, bool]]:
        """Plans the query, loads its columns and sends its rows; returns their number, and True if there are more."""
        database, needed = yield from self._call(self._plan)
        if needed.checked:
            yield from held.document.postponed_checks()
        yield from database.load_in_steps(held.document, needed)
        return (yield from self._call(lambda: self._answer(database)))

    def close(self) -> None:
        """Interrupts the query, and frees its tables as soon as its thread has ended."""
        self._reads.close()
        ending = threading.Thread(target=self._end, name="end of a query", daemon=True)
        ending.start()
        ending.join(_END_S)

    def _end(self) -> None:
        # An interrupt before the query runs has no effect.
        while self._thread is not None and self._thread.is_alive():
            if self._database is not None:
                self._database.interrupt()
            self._thread.join(0.005)
        if self._database is not None:
            self._database.close()

    def _call(self, work: Callable[[], ResultT]) -> Steps[ResultT]:
        """Runs a function on a thread, reads for it and sends its parts."""
        result: Future[ResultT] = Future()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
                result.set_exception(error)

        # Daemon: an unfinished query must not keep the process alive.
        self._thread = threading.Thread(target=run, name="query", daemon=True)
        self._thread.start()
        done = False
        while not done:
            done = result.done()
            if not done:
                yield None if self._reads.serve() else PAUSE
            with contextlib.suppress(queue.Empty):
                while True:
                    yield Part(self._parts.get_nowait())
        return result.result()

    # On the thread

    def _plan(self) -> tuple[Database, QueryInputs]:
        self._database = database = Database(read=self._reads)
        return database, database.plan_inputs(self._sql)

    def _answer(self, database: Database) -> tuple[int, bool]:
        result, count = database.run_query(self._sql), 0
        number = result.names.index(_NUMBER_COLUMN) if _NUMBER_COLUMN in result.names else None
        self._parts.put(QueryRows([_column(*one) for one in zip(result.names, result.types, strict=True)]))
        while rows := result.fetch_rows(_FETCHED_ROWS):
            self._put(rows[: MOST_ROWS - count], result.types, number)
            count += len(rows)
            if count > MOST_ROWS:
                return MOST_ROWS, True
        return count, False

    def _put(self, rows: Iterable[tuple[Any, ...]], types: tuple[str, ...], number: int | None) -> None:
        part, size = QueryRows(rows=[], messages=[]), 0
        for row in rows:
            texts = [_cell_text(value, type_) for value, type_ in zip(row, types, strict=True)]
            length = sum(map(len, texts))
            if part.rows and size + length > _PART_CHARS:
                self._parts.put(part)
                part, size = QueryRows(rows=[], messages=[]), 0
            part.rows.append(texts)
            part.messages.append(None if number is None else _message(row[number]))
            size += length
        if part.rows:
            self._parts.put(part)


def _column(name: str, type_: str) -> QueryColumn:
    return QueryColumn(name, type_, type_.startswith(_NUMBERS) and not type_.endswith("[]"))


def _message(value: object) -> int | None:
    # bool is a subclass of int.
    return value - 1 if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _cell_text(value: object, type_: str) -> str:
    """Returns the text of a cell, also for the clipboard."""
    value = to_json_value(value, type_)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        text = ", ".join(value)
    elif isinstance(value, list | dict):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text[:_MAX_CELL_CHARS]


def _run(held: OpenDocument, asked: RunQuery) -> Steps[QueryEnd]:
    began, running = time.perf_counter(), _RunningQuery(asked.sql)
    try:
        count, is_cut = yield from running.steps(held)
    except QueryError as error:
        trouble = QueryTrouble(error.sentence, error.position, error.length)
        return QueryEnd(0, False, time.perf_counter() - began, trouble)
    finally:
        running.close()
    return QueryEnd(count, is_cut, time.perf_counter() - began)


def _complete(_held: OpenDocument, asked: CompleteQuery) -> Completion:
    return complete_query(asked.sql, asked.cursor)


QUERIES = (Query(RunQuery, QueryEnd, _run, QueryRows), Query(CompleteQuery, Completion, _complete))
