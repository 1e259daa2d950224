"""SQL tables of a document, for queries and Parquet; no Qt.

`TABLES` (`schema`) declares every table once: its columns with SQL types, and their sources in a document. Columns come
whole from `field_columns`. `batch_decoding` decodes the requested rows. `late_materialization` defers decoding to the
end if possible. `Database` (`database`) exposes them to DuckDB, closed to all else. `write_parquet` (`parquet`) writes
one table; `read_requests` lets a thread do so. To add a table, write a module here with a `Table`, and add it to
TABLES; `docs/tables.md` follows.

DuckDB is imported when a database is created: its import takes longer than the window's start.
"""

from __future__ import annotations

from inspector.tables.columns import SqlType, Table, TableColumn
from inspector.tables.database import Database, QueryInputs, QueryResult
from inspector.tables.parquet import write_parquet
from inspector.tables.query_errors import QueryError
from inspector.tables.schema import TABLE_BY_NAME, TABLES

__all__ = [
    "TABLES",
    "TABLE_BY_NAME",
    "Database",
    "QueryError",
    "QueryInputs",
    "QueryResult",
    "SqlType",
    "Table",
    "TableColumn",
    "write_parquet",
]
