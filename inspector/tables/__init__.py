"""A document as tables: what SQL asks, and what is written as Parquet; no Qt.

`TABLES` (`schema`) declares every table once: its columns with SQL types, and how they are read from a document.
Columns come whole from `field_columns`. `decoding` decodes the requested rows, `late_materialization` decodes last
where nothing depends on it. `Database` (`database`) shows them to DuckDB, closed to everything else. `write_parquet`
(`parquet`) writes one table; `turns` lets a thread do so. To add a table: a module here with a `Table`, and its line in
TABLES; `docs/tables.md` follows.

DuckDB is imported when a database is made, not with this package: it takes longer than the window does to start.
"""

from __future__ import annotations

from inspector.tables.columns import SqlType, Table, TableColumn
from inspector.tables.database import Database, Needed, Result
from inspector.tables.errors import QueryError
from inspector.tables.parquet import write_parquet
from inspector.tables.schema import TABLE_BY_NAME, TABLES

__all__ = [
    "TABLES",
    "TABLE_BY_NAME",
    "Database",
    "Needed",
    "QueryError",
    "Result",
    "SqlType",
    "Table",
    "TableColumn",
    "write_parquet",
]
