"""What fills a spool from a Parquet file of ours: the lines in its column `raw`, one message after the other.

DuckDB reads the file, closed to every other one, to the network and to extensions.
"""

from __future__ import annotations

import threading
from pathlib import Path

from inspector.capture.spool import NoRoomError, Spool

RAW = "raw"
"""The column that holds what messages were logged as."""
MAGIC = b"PAR1"
"""How a Parquet file begins."""
FORMAT = "parquet"

_ROWS = 256
_NONE = (
    "{} holds no records to open: it was exported without --with-raw. Ask it in SQL, as any Parquet file, or export "
    "its log once more."
)


class ParquetFeed:
    """Fills a spool with the records of a Parquet file. Ends by itself, or by `stop`.

    Attributes:
        growing: more may come.
        trouble: why it ended before its time, as a sentence; None while all is well.
        unopened: never: it is no pipe.
        progress: rows taken in, and of how many.
    """

    def __init__(self, path: Path) -> None:
        """Start to read.

        Args:
            path: the file.

        Raises:
            OSError: there is no room for a spool.
        """
        self.growing = True
        self.trouble: str | None = None
        self.unopened = False
        self.progress = (0, 0)
        self._file = path
        self._spool = Spool(path.name)
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"read {path.name}", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """The spool."""
        return self._spool.path

    def wait(self, timeout_s: float) -> None:
        """Wait for more bytes or the end."""
        self._news.wait(timeout_s)
        self._news.clear()

    def stop(self) -> None:
        """Take in no more; what came stays. Also from a signal handler: takes no lock."""
        self.growing = False
        self._news.set()

    def close(self) -> None:
        """Stop, and remove the spool."""
        self.stop()
        self._thread.join()
        with self._lock:
            self._spool.close()

    def _run(self) -> None:
        import duckdb

        try:
            self._read()
        except NoRoomError as error:
            self._end(f"{self._file.name} was not read to its end: {error}.")
        except OSError as error:
            self._end(f"{self._file.name} could not be read to its end: {error.strerror or error}.")
        except duckdb.Error as error:
            why = str(error).partition("\n")[0].removesuffix(".")
            self._end(f"{self._file.name} is damaged or not complete: {why}.")
        finally:
            self.stop()

    def _read(self) -> None:
        import duckdb

        name = "'" + str(self._file.absolute()).replace("'", "''") + "'"
        connection = duckdb.connect(":memory:", config={"temp_directory": "", "autoload_known_extensions": "false"})
        try:
            connection.execute(f"SET allowed_paths = [{name}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            columns = [row[0] for row in connection.execute(f"DESCRIBE FROM read_parquet({name})").fetchall()]
            if RAW not in columns:
                self._end(_NONE.format(self._file.name))
                return
            ((total,),) = connection.execute(f"SELECT count(*) FROM read_parquet({name})").fetchall()
            asked = connection.execute(f"SELECT {RAW}::BLOB FROM read_parquet({name})")
            taken = 0
            while self.growing and (rows := asked.fetchmany(_ROWS)):
                taken += len(rows)
                self._write(b"".join(bytes(raw) + b"\n" for (raw,) in rows if raw))
                self.progress = (taken, total)
        finally:
            connection.close()

    def _write(self, data: bytes) -> None:
        with self._lock:
            if self.growing:
                self._spool.write(data)
                self._news.set()

    def _end(self, sentence: str) -> None:
        if self.growing:  # else nobody wants to know any more
            self.trouble = sentence
