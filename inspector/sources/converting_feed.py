"""What fills a spool from a file of another make, whose contents become lines of a format that is read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from inspector.capture.spool import NoRoomError, Spool


class NotConvertedError(ValueError):
    """A file is read no further; the text says why, as a sentence's end."""


class Conversion(Protocol):
    """Makes lines of a file."""

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes or records taken in, and of how many."""
        ...

    def lines(self) -> Iterator[bytes]:
        """The lines, each with its end. Raises OSError and NotConvertedError."""
        ...


class ConvertingFeed:
    """Fills a spool with the lines of a conversion. Ends by itself, or by `stop`.

    Attributes:
        growing: more may come.
        trouble: why it ended before its time, as a sentence; None while all is well.
        unopened: never: it is no pipe.
    """

    def __init__(self, path: Path, conversion: Conversion) -> None:
        """Start to read.

        Args:
            path: what is converted.
            conversion: makes its lines; used by the thread of this feed alone.

        Raises:
            OSError: there is no room for a spool.
        """
        self.growing = True
        self.trouble: str | None = None
        self.unopened = False
        self._file = path
        self._conversion = conversion
        self._spool = Spool(path.name)
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"read {path.name}", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """The spool."""
        return self._spool.path

    @property
    def progress(self) -> tuple[int, int]:
        """As that of its conversion."""
        return self._conversion.progress

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
        try:
            for line in self._conversion.lines():
                if not self._write(line):
                    return
        except NotConvertedError as error:
            self._end(f"{self._file.name} was read no further: {error}.")
        except NoRoomError as error:
            self._end(f"{self._file.name} was not read to its end: {error}.")
        except OSError as error:
            self._end(f"{self._file.name} could not be read to its end: {error.strerror or error}.")
        finally:
            self.stop()

    def _write(self, line: bytes) -> bool:
        with self._lock:
            if self.growing:
                self._spool.write(line)
                self._news.set()
            return self.growing

    def _end(self, sentence: str) -> None:
        if self.growing:  # else nobody wants to know any more
            self.trouble = sentence
