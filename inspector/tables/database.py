"""DuckDB database of a document: plans, loads and runs queries; closed to files, settings and the network.

RULE: a query is one read-only statement over the tables. DuckDB parses it, and any statement type other than SELECT is
refused. External access is off, extensions are neither installed nor loaded, names of Python objects have no meaning,
no data is spilled to disk, and the settings are locked afterwards.

A query takes two steps. `needed` plans it over one-row tables, to find errors and its columns before a log is read;
`load` takes only these columns from the document. Decoded columns are SQL functions, so that records are read only for
rows that pass the other conditions.
"""

from __future__ import annotations

import errno
import os
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis.arrays.field_columns import Decoded, InternedSets
from inspector.analysis.findings import Severity
from inspector.base.memory_budget import available_bytes
from inspector.document.document import CaptureDocument
from inspector.tables.batch_decoding import RunRead, TableDecoder
from inspector.tables.column_arrays import array_in_steps, lists_of
from inspector.tables.columns import Content, SqlType, Table, TableColumn, sql_literal
from inspector.tables.late_materialization import ROW_COLUMN, LateQuery, late_form, late_view
from inspector.tables.payloads import payload_column
from inspector.tables.query_errors import QueryError, error_from_message
from inspector.tables.schema import PAYLOAD, TABLES

_CLOSED_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "false",
    "temp_directory": "",
    "pandas_analyze_sample": "0",  # no type guessing from texts
}
_MIN_MEMORY = 256 << 20
# Columns are registered as TABLE__COLUMN, so that a plan names the table of each.
_RAW = re.compile(r"\b(\w+?)__(\w+)\b")
_INDIRECT = re.compile(r"\bquery(?:_table)?\s*\(|\bjson_execute", re.IGNORECASE)
_WORDS = {
    "INSERT": "writes", "UPDATE": "writes", "DELETE": "writes", "MERGE_INTO": "writes", "CREATE": "makes tables",
    "CREATE_FUNC": "makes functions", "DROP": "drops tables", "ALTER": "changes tables",
    "COPY": "reads or writes files", "EXPORT": "writes files",
    "ATTACH": "opens files", "DETACH": "closes files", "LOAD": "loads extensions",
    "EXTENSION": "loads extensions", "SET": "changes settings", "VARIABLE_SET": "changes settings",
    "PRAGMA": "changes settings", "MULTI": "is several statements in one, as PIVOT is",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class QueryInputs:
    """Inputs of a query.

    Attributes:
        columns: names of columns by table.
        checked, counted: it needs columns that are complete only after all checks, or after the token count.
    """

    columns: dict[str, frozenset[str]]
    checked: bool
    counted: bool


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A query's rows, fetched on demand; a fetch from an older result after another query ends that query.

    Attributes:
        names: of its columns, as SQL gives them; they may repeat.
        types: of its columns, in SQL notation.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    _fetch: Callable[[int], list[tuple[Any, ...]]]

    def fetch_rows(self, most: int) -> list[tuple[Any, ...]]:
        """Returns the next rows, at most `most`; [] at the end.

        Raises:
            QueryError: if the query fails.
        """
        return self._fetch(most)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while rows := self.fetch_rows(1_024):
            yield from rows


class Database:
    """The tables of one document, for one query at a time.

    Args:
        read: calls functions that read records; by default under a lock, for a single user.
        target: the only file that `write` may write.
        tables: the tables.
        masked: mask secrets.
        in_order: decode rows sequentially, in their order.
    """

    def __init__(
        self, *, read: RunRead | None = None, target: str | None = None, tables: Sequence[Table] = TABLES,
        masked: bool = True, in_order: bool = False,
    ) -> None:  # fmt: skip
        # Imported late: it takes longer than the window takes to start.
        import duckdb

        lock = threading.Lock()

        def one_by_one(work: Callable[[], Any]) -> Any:
            with lock:
                return work()

        self._duckdb = duckdb
        self._read: RunRead = read or one_by_one
        config: dict[str, Any] = {**_CLOSED_SETTINGS, "memory_limit": f"{_memory_bytes() >> 20}MiB"}
        self._connection = duckdb.connect(":memory:", config=config)
        if target is not None:
            self._connection.execute(f"SET allowed_paths = [{sql_literal(target)}]")
        # Only after `allowed_paths`: with external access off, DuckDB accepts no further path.
        self._connection.execute("SET enable_external_access = false")
        self._decodings: dict[str, TableDecoder] = {}
        self._tables, self._masks = tables, masked
        self._held: set[str] = set()  # tables with content of a document
        words = ", ".join(f"'{severity.word}'" for severity in sorted(Severity))
        self._connection.execute(f"CREATE TYPE SEVERITY AS ENUM ({words})")
        self._connection.execute("SET TimeZone = 'UTC'")
        # the first rows arrive before the rest is computed
        self._connection.execute("SET streaming_buffer_size = '64KB'")
        if in_order:
            # Each thread decodes rows of its own place, and records are read fastest in order.
            self._connection.execute("SET threads = 1")
        for table in tables:
            for column in table.columns:
                if column.is_decoded:
                    self._function(_function(table, column), table.name, column.name, column.type)
        self._function(PAYLOAD, PAYLOAD, PAYLOAD, SqlType.JSON, first=1)
        for table in tables:
            self.set_content(table, _empty_row(table))
        # Last, so that no query can lift the limits above.
        self._connection.execute("SET lock_configuration = true")

    def close(self) -> None:
        """Closes the database and drops its tables."""
        self._connection.close()
        self._decodings.clear()

    def interrupt(self) -> None:
        """Cancels the running query, from any thread."""
        self._connection.interrupt()

    # Queries

    def plan_inputs(self, sql: str) -> QueryInputs:
        """Returns the inputs of a query.

        Raises:
            QueryError: if it is no SELECT, or not valid for these tables.
        """
        self._check_select(sql)
        try:
            # Planned over one-row tables: the plan names the columns before any of them is built.
            ((_, plan),) = self._connection.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()
        except self._duckdb.Error as error:
            raise _without_explain(str(error), sql) from None
        found: dict[str, set[str]] = {}
        for table, column in _RAW.findall(plan):
            found.setdefault(table, set()).add(column)
        named = _named_in(sql)
        columns: dict[str, frozenset[str]] = {}
        for table in TABLES:
            raw = found.get(table.name, set())
            if table.name in named or raw:
                known = {column.name for column in table.columns} & raw
                # Some plans omit the called functions, but show their argument, the row number.
                decoded = {column.name for column in table.columns if column.is_decoded}
                columns[table.name] = frozenset(known | (decoded if ROW_COLUMN in raw else set()))
        read = [column for table in TABLES for column in table.columns if column.name in columns.get(table.name, ())]
        checked = "findings" in columns or any(column.needs_checks for column in read)
        return QueryInputs(columns, checked, "tokens" in columns or any(column.needs_token_counts for column in read))

    def load(self, document: CaptureDocument, needed: QueryInputs) -> None:
        """Loads a query's inputs from a document as it is now. Call on a thread that may read the document."""
        for _ in self.load_in_steps(document, needed):
            pass

    def load_in_steps(self, document: CaptureDocument, needed: QueryInputs) -> Generator[None]:
        """Loads a query's inputs in steps of some milliseconds."""
        self._decode(PAYLOAD, {PAYLOAD: payload_column(document.capture)}, len(document.capture))
        for table in self._tables:
            names = needed.columns.get(table.name)
            if names is not None:
                self._held.add(table.name)
                yield from self.set_content_in_steps(table, table.read(document, names))
            elif table.name in self._held:
                self._held.discard(table.name)
                # The values of an earlier query are no longer needed.
                self.set_content(table, _empty_row(table))

    def decoded_rows(self, table: Table) -> int:
        """Returns the number of decoded rows of a table so far."""
        return self._decodings[table.name].decoded_count

    def run_query(self, sql: str) -> QueryResult:
        """Runs a query over the loaded inputs.

        Raises:
            QueryError: if it fails.
        """
        self._check_select(sql)
        late = self._late_form(sql)
        try:
            cursor = self._connection.execute(late.sql if late is not None else sql)
            described = cursor.description or []
        except self._duckdb.Error as error:
            # Without its cause: the message of DuckDB contains internal names.
            raise error_from_message(str(error), sql) from None
        names, types = [one[0] for one in described], [str(one[1]) for one in described]
        if late is not None:
            for place, name in late.places.items():
                types[place] = late.table.column(name).type.value

        # Fetched on demand, since a result may have millions of rows.
        def fetch(most: int) -> list[tuple[Any, ...]]:
            try:
                rows = cursor.fetchmany(most)
            except self._duckdb.Error as error:
                raise error_from_message(str(error), sql) from None
            return self._with_decoded(rows, late) if late is not None else rows

        return QueryResult(tuple(names), tuple(types), fetch)

    def _late_form(self, sql: str) -> LateQuery | None:
        """Returns the query's late form, if some columns can be decoded last."""

        def ask(question: str, text: str) -> str:
            ((answer,),) = self._connection.execute(question, [text]).fetchall()
            return answer

        try:
            return late_form(sql, {table.name: table for table in self._tables}, ask)
        except self._duckdb.Error:  # a query without such a form runs unchanged
            return None

    def _with_decoded(self, rows: list[tuple[Any, ...]], late: LateQuery) -> list[tuple[Any, ...]]:
        """Returns rows of a result with decoded values in place of row numbers."""
        places, names = list(late.places), list(dict.fromkeys(late.places.values()))
        # Several columns of a row are decoded together, from one line.
        numbers = np.array([row[places[0]] for row in rows], np.int64)
        made: list[tuple[Any, ...]] = []
        for row, values in zip(rows, self._decodings[late.table.name].read_rows(names, numbers), strict=True):
            cells = list(row)
            for place in places:
                cells[place] = values[names.index(late.places[place])]
            made.append(tuple(cells))
        return made

    def write(self, sql: str, target: str, compression: str = "snappy") -> None:
        """Writes a query's result to the permitted file as Parquet.

        Raises:
            OSError: if the file cannot be written.
            QueryError: if the query fails.
        """
        self._check_select(sql)
        # DuckDB would write its temporary file elsewhere, and only one path is permitted.
        options = f"FORMAT parquet, COMPRESSION {compression}, USE_TMP_FILE false"
        try:
            described = self._connection.execute(f"DESCRIBE SELECT * FROM (\n{_without_semicolon(sql)}\n)").fetchall()
            columns = ", ".join(_in_parquet(name, type_) for name, type_, *_ in described)
            self._connection.execute(
                f"COPY (SELECT {columns} FROM (\n{_without_semicolon(sql)}\n)) TO {sql_literal(target)} ({options})"
            )
        except self._duckdb.IOException as error:
            # DuckDB has one error for all causes, so only its text tells a full disk.
            code = errno.ENOSPC if "No space left" in str(error) else errno.EIO
            raise OSError(code, os.strerror(code), target) from None
        except self._duckdb.Error as error:
            raise error_from_message(str(error), sql) from None

    def _check_select(self, sql: str) -> None:
        """Checks that a text is a single SELECT statement.

        Raises:
            QueryError: if it is not.
        """
        try:
            # DuckDB itself parses the query, so no other rule about SQL can disagree.
            statements = self._duckdb.extract_statements(sql)
        except TypeError:  # of text that is not valid Unicode
            raise QueryError("The query has an incomplete character.", 0) from None
        except self._duckdb.Error as error:
            raise error_from_message(str(error), sql) from None
        if not statements:
            raise QueryError("There is no query. Write one, as SELECT kind, count(*) FROM messages GROUP BY kind.", 0)
        if len(statements) > 1:
            place = len(statements[0].query)
            raise QueryError("There are several statements; one is asked at a time.", min(place, len(sql) - 1))
        kind = statements[0].type.name
        if kind != "SELECT":
            does = _WORDS.get(kind, "does more than ask")
            raise QueryError(f"Only SELECT is allowed: this statement {does}.", _first_word(sql))

    # Definitions

    def _function(self, function: str, table: str, column: str, type_: SqlType, *, first: int = 0) -> None:
        """Registers an SQL function that returns a column's value by row number."""

        def value(row: int | None) -> object:
            decoding = self._decodings.get(table)
            return None if row is None or decoding is None else decoding.value_at(column, row - first)

        # Without side effects, so that the optimizer may call it after all other conditions.
        make: Any = self._connection.create_function
        # None is a valid value
        make(function, value, ["BIGINT"], type_.value, null_handling="special", side_effects=False)

    def _decode(self, table: str, columns: Mapping[str, Decoded], length: int) -> None:
        """Sets the decoded columns behind a table's functions."""
        self._decodings[table] = TableDecoder(columns, length, self._read, masked=self._masks)

    def set_content(self, table: Table, content: Content) -> None:
        """Sets the content of a table; missing columns are NULL."""
        for _ in self.set_content_in_steps(table, content):
            pass

    def set_content_in_steps(self, table: Table, content: Content) -> Generator[None]:
        """Sets the content of a table in steps of some milliseconds."""
        length, arrays, shown = content.length, dict[str, Any](), list[str]()
        decoded = dict[str, Decoded]()
        for column in table.columns:
            values = content.columns.get(column.name)
            raw = f"{table.name}__{column.name}"
            if column.is_decoded:
                decoded[column.name] = values if isinstance(values, Decoded) else Decoded(_absent, length)
                value = f"{_function(table, column)}({table.name}__{ROW_COLUMN})"
            elif values is None:
                # A broadcast array takes one byte for any length.
                arrays[raw] = np.broadcast_to(np.zeros(1, np.uint8), (length,))
                value = f"nullif({raw}, 0)::VARCHAR"  # not a constant: a plan that folds it would hide that it is read
            elif isinstance(values, InternedSets):
                arrays[raw], lists = lists_of(values, length, masked=self._masks)
                # Lists are in a table, so that equal ones are stored once.
                self._connection.execute(
                    f"CREATE OR REPLACE TEMP TABLE {raw}_lists AS SELECT ?::VARCHAR[][] AS l", [lists]
                )
                value = f"(SELECT l FROM {raw}_lists)[{raw}]"
            else:
                arrays[raw] = yield from array_in_steps(values, length, column.type, masked=self._masks)
                value = raw
            # Between columns the window may handle events.
            yield
            shown.append(f'({value})::{column.type.value} AS "{column.name}"')
        self._decode(table.name, decoded, length)
        number = f"{table.name}__{ROW_COLUMN}"
        arrays[number] = np.arange(length)
        # Registered arrays are not copied.
        self._connection.register(f"{table.name}__", arrays)
        for view, columns in ((table.name, shown), (late_view(table), [*shown, number])):
            self._connection.execute(
                # Views, so that types and names of SQL are independent of the arrays below.
                f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {', '.join(columns)} FROM {table.name}__"
            )


def _named_in(sql: str) -> set[str]:
    """Returns the tables a query may use; a query that only counts rows shows no column in its plan."""
    if _INDIRECT.search(sql):  # a query inside a string of the query
        return {table.name for table in TABLES}
    return {word.lower() for word in re.findall(r"\w+", sql)}


def _function(table: Table, column: TableColumn) -> str:
    """Returns the name of a decoded column's SQL function."""
    return f"{table.name}_{column.name}_of"


def _empty_row(table: Table) -> Content:
    """Returns one row without values."""
    return Content(1, {})


def _absent(_row: int) -> None:
    return None


def _memory_bytes() -> int:
    free = available_bytes()
    return max(_MIN_MEMORY, (free if free is not None else 2 << 30) // 2)


_EXPLAIN = "EXPLAIN (FORMAT json) "


def _without_explain(message: str, sql: str) -> QueryError:
    """Returns a planning error with its position in the query, since DuckDB counts from the EXPLAIN prefix."""
    error = error_from_message(message, _EXPLAIN + sql)
    position = None if error.position is None else max(0, error.position - len(_EXPLAIN))
    return QueryError(error.sentence, position, error.length)


def _in_parquet(name: str, type_: str) -> str:
    """Returns a column in types every Parquet reader supports: times as microseconds in UTC, enums as texts."""
    column = '"' + name.replace('"', '""') + '"'
    cast = "TIMESTAMPTZ" if type_.startswith("TIMESTAMP") else "VARCHAR" if type_.startswith(("ENUM", "JSON")) else None
    return f"{column}::{cast} AS {column}" if cast is not None else column


def _without_semicolon(sql: str) -> str:
    """Returns a query without its final semicolon."""
    return sql.strip().rstrip(";")


def _first_word(sql: str) -> int:
    return len(sql) - len(sql.lstrip())
