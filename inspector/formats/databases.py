"""Opens SQLite databases of unknown origin: read-only, within limits of time and of memory.

Without a recent write (no `-wal` file), not even their locks are touched.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from inspector.formats.file_conversion import NotConvertedError

MAGIC = b"SQLite format 3\0"
"""First bytes of a database."""
_LEAST_BOUND_S, _SLOWEST_BYTES_S = 60.0, 1 << 20
"""Processor seconds allowed for any database, and bytes per additional second for a larger one."""
_STEPS = 20_000
"""SQLite instructions between two checks of the clock."""
_LONGEST_VALUE = 1 << 26
"""Limit in bytes of a value; a computed value could have any length."""
_SHARED_BYTES = 1 << 26


def is_database(path: Path) -> bool:
    """Returns True for a SQLite database. Raises OSError."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def database_files(path: Path) -> list[Path]:
    """Returns a database and its write-ahead log, if that exists."""
    log = path.with_name(path.name + "-wal")
    return [path, *((log,) if log.is_file() else ())]


def database_size(path: Path) -> int:
    """Returns the bytes of a database and its write-ahead log."""
    return sum(one.stat().st_size for one in database_files(path) if one.is_file())


def open_database(path: Path) -> sqlite3.Connection:
    """Opens a database read-only. Concurrent writes are only visible if its write-ahead log exists."""
    how = "mode=ro" if any(one.stat().st_size for one in database_files(path)[1:]) else "mode=ro&immutable=1"
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.execute("PRAGMA query_only = ON")
    # Views and triggers of a strange file must not call functions.
    connection.execute("PRAGMA trusted_schema = OFF")
    began, most = time.thread_time(), _LEAST_BOUND_S + database_size(path) / _SLOWEST_BYTES_S
    # A crafted database can keep SQLite busy for ever; a true result ends the query.
    connection.set_progress_handler(lambda: time.thread_time() - began > most, _STEPS)
    # Invalid UTF-8 would otherwise end the query with an error.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def table_names(connection: sqlite3.Connection) -> set[str]:
    """Returns the names of the tables. Raises sqlite3.Error."""
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def has_tables(path: Path, columns_by_table: Mapping[str, Iterable[str]]) -> bool:
    """Returns True for a database that has these tables, each with these columns. Raises OSError."""
    if not is_database(path):
        return False
    try:
        with closing(open_database(path)) as connection:
            return all(
                {row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})")}.issuperset(columns)
                for table, columns in columns_by_table.items()
            )
    except (sqlite3.Error, UnicodeError):
        return False


def refuse_computed(connection: sqlite3.Connection, table: str, program: str) -> None:
    """Refuses a table with computed values, since there may be any number of them.

    Raises:
        NotConvertedError: it has generated columns, or is virtual; databases of the program have none.
    """
    asked = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    is_virtual = any(str(sql).split()[1:2] != ["TABLE"] for (sql,) in connection.execute(asked, (table,)))
    if is_virtual or any(row[6] for row in connection.execute(f"PRAGMA table_xinfo({table})")):
        raise NotConvertedError(f"it has generated values, which databases of {program} do not have")


class ReadLimit:
    """Counts the bytes read from a database. Each value is stored once; only defaults shared by rows give more."""

    def __init__(self, size: int) -> None:
        """Stores the limit for a database of a size in bytes."""
        self._left = 2 * size + _SHARED_BYTES

    def count(self, row: tuple[object, ...]) -> None:
        """Counts the values of a row. Raises NotConvertedError if they are more than the database can hold."""
        self._left -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if self._left < 0:
            raise NotConvertedError("it holds more than a database of its size can")


def converted(path: Path, lines_of: Callable[[sqlite3.Connection, ReadLimit], Iterator[bytes]]) -> Iterator[bytes]:
    """Yields the lines that a function makes of a database. Raises OSError and NotConvertedError."""
    try:
        with closing(open_database(path)) as connection:
            yield from lines_of(connection, ReadLimit(database_size(path)))
    except sqlite3.Error as error:
        if "interrupted" in str(error):
            raise NotConvertedError("reading it takes longer than a database of its size can need") from None
        raise NotConvertedError(f"it cannot be read as a database: {error}") from None
    except UnicodeError:
        raise NotConvertedError("it cannot be read as a database: a name in it is not UTF-8") from None
