"""A Parquet file of ours as lines: those in its column `raw`, one message after the other.

DuckDB reads the file, closed to every other one, to the network and to extensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.sources.converting import NotConvertedError

RAW = "raw"
"""The column that holds what messages were logged as."""
MAGIC = b"PAR1"
"""How a Parquet file begins."""
FORMAT = "parquet"

_ROWS = 256
_NONE = "it holds no records, as it was exported without --with-raw; ask it in SQL, or export its log once more"


class ParquetConversion:
    """The records of a Parquet file.

    Attributes:
        progress: rows taken in, and of how many.
    """

    def __init__(self, path: Path) -> None:
        """Prepare.

        Args:
            path: the file.
        """
        self._path = path
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """The lines, some at a time. Raises OSError and NotConvertedError."""
        import duckdb

        try:
            yield from self._read()
        except duckdb.Error as error:
            why = str(error).partition("\n")[0].removesuffix(".")
            raise NotConvertedError(f"it is damaged or not complete: {why}") from None

    def _read(self) -> Iterator[bytes]:
        import duckdb

        name = "'" + str(self._path.absolute()).replace("'", "''") + "'"
        connection = duckdb.connect(":memory:", config={"temp_directory": "", "autoload_known_extensions": "false"})
        try:
            connection.execute(f"SET allowed_paths = [{name}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            columns = [row[0] for row in connection.execute(f"DESCRIBE FROM read_parquet({name})").fetchall()]
            if RAW not in columns:
                raise NotConvertedError(_NONE)
            ((total,),) = connection.execute(f"SELECT count(*) FROM read_parquet({name})").fetchall()
            asked = connection.execute(f"SELECT {RAW}::BLOB FROM read_parquet({name})")
            taken = 0
            while rows := asked.fetchmany(_ROWS):
                taken += len(rows)
                self.progress = (taken, total)
                yield b"".join(bytes(raw) + b"\n" for (raw,) in rows if raw)
        finally:
            connection.close()
