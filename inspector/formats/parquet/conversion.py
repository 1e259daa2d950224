"""Converts Parquet exports to lines: the column `raw` of each row, or rows that are spans of another program.

DuckDB reads the file without access to other files, the network and extensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.formats.file_conversion import LEAST_BOUND_BYTES, MOST_FOLD, FileConverter, NotConvertedError
from inspector.formats.format import TrafficKind, load
from inspector.formats.parquet import FORMAT
from inspector.formats.table import FORMATS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RAW_COLUMN = "raw"
"""Column with the logged bytes of messages."""
_MAGIC = b"PAR1"
"""First bytes of a Parquet file."""

_ROWS = 256
_AT_ONCE_BYTES = 64 << 20
_NO_RAW_COLUMN = (
    "it has no column `raw` with records, and no spans; a log exported without --with-raw must be exported once more"
)


class ParquetConversion:
    """Converts the records of a Parquet file.

    Attributes:
        progress: rows read, and their total.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        import duckdb

        try:
            yield from self._read()
        except duckdb.Error as error:
            why = str(error).partition("\n")[0].removesuffix(".")
            raise NotConvertedError(f"it is damaged or not complete: {why}") from None

    def _read(self) -> Iterator[bytes]:
        import duckdb

        name = "'" + str(self._path.absolute()).replace("'", "''") + "'"
        table = f"read_parquet({name})"
        connection = duckdb.connect(":memory:", config={"temp_directory": "", "autoload_known_extensions": "false"})
        try:
            connection.execute(f"SET allowed_paths = [{name}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            columns = [row[0] for row in connection.execute(f"DESCRIBE FROM {table}").fetchall()]
            if RAW_COLUMN not in columns:
                yield from self._spans(connection.execute(f"SELECT to_json(rows)::VARCHAR FROM {table} AS rows"))
                return
            ((total,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
            measured = (
                f"SELECT sum(octet_length(b)), max(octet_length(b)) FROM (SELECT {RAW_COLUMN}::BLOB AS b FROM {table})"
            )
            ((size, longest),) = connection.execute(measured).fetchall()
            if (size or 0) > max(LEAST_BOUND_BYTES, MOST_FOLD * self._path.stat().st_size):
                raise NotConvertedError("its lines are more bytes than a file of its size can hold")
            most = max(1, min(_ROWS, _AT_ONCE_BYTES // max(1, longest or 1)))
            asked = connection.execute(f"SELECT {RAW_COLUMN}::BLOB FROM {table}")
            taken = 0
            while rows := asked.fetchmany(most):
                taken += len(rows)
                self.progress = (taken, total)
                yield b"".join(bytes(raw) + b"\n" for (raw,) in rows if raw)
        finally:
            connection.close()

    def _spans(self, asked: DuckDBPyConnection) -> Iterator[bytes]:
        """Yields the lines of spans, if the first row is one."""
        lines = (f"{row}\n".encode() for (row,) in iter(asked.fetchone, None))
        first = next(lines, b"")
        for one in FORMATS if first else ():
            converter = load(one.conversion) if one.traffic is TrafficKind.TRACE and one.conversion else None
            if converter is not None and converter.begins_file(first):
                yield from converter.convert_stream(chain((first,), lines))
                return
        raise NotConvertedError(_NO_RAW_COLUMN)


CONVERSION = FileConverter(
    head_bytes=len(_MAGIC),
    begins_file=lambda head: head.startswith(_MAGIC),
    may_begin_file=_MAGIC.startswith,
    convert=ParquetConversion,
    container=FORMAT.name,
)
