"""Opens SQLite databases of unknown origin: read-only, within limits of time and of memory.

Without a recent write (no `-wal` file), not even their locks are touched.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
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


class SessionDatabase(NamedTuple):
    """A database of sessions, and the id of one of them; None for all.

    Attributes:
        path: the database.
        container: name of a document of it.
        lines_of: yields the lines of a conversion, given its connection.
        session: the id.
    """

    path: Path
    container: str
    lines_of: Callable[[DatabaseConversion, sqlite3.Connection, ReadLimit], Iterator[bytes]]
    session: str | None = None

    def files(self) -> list[Path]:
        return database_files(self.path)

    def conversion(self) -> DatabaseConversion:
        return DatabaseConversion(self)

    def find_database(self, *, has_sessions: Callable[[Path], bool], name: str | None = None) -> SessionDatabase | None:
        """Returns the database that the path names, if it is one; a session is a path below: `sessions.db/ID`.

        Args:
            has_sessions: tells such databases. May raise OSError.
            name: of the database in a folder; None if folders have others.
        """
        path = self.path
        inside = [(path / name, None)] if name is not None else []
        places = [(path, None)] if path.is_file() else [*inside, (path.parent, path.name)]
        try:
            found = next((place for place in places if has_sessions(place[0])), None)
        except OSError:
            return None
        return None if found is None else self._replace(path=found[0], session=found[1])


class DatabaseConversion:
    """Converts the sessions of a database.

    Attributes:
        session: the id of the only session; None for all.
        progress: sessions converted, and their total.
    """

    def __init__(self, place: SessionDatabase) -> None:
        self._place = place
        self.session = place.session
        self.progress: tuple[int, int] = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        yield from converted(self._place.path, partial(self._place.lines_of, self))


def rows_of(
    connection: sqlite3.Connection, table: str, limit: ReadLimit, session: str | None = None, *, columns: str = "*",
    order: str = "rowid",
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yields the texts and numbers in the rows of a table, those of a session if one is given."""
    where, given = (" WHERE session_id = ?", (session,)) if session is not None else ("", ())
    cursor = connection.execute(f"SELECT {columns} FROM {table}{where} ORDER BY {order}", given)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        limit.count(row)
        yield {name: one for name, one in zip(names, row, strict=True) if isinstance(one, str | int | float)}
