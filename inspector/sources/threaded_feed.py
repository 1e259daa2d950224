"""What fills a spool beside the loop: its thread, what it may write, how it ends; and conversions of files to lines."""

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


class ThreadedFeed:
    """Fills a spool. Ends by itself, or by `stop`.

    Attributes:
        growing: more may come.
        trouble: why it ended before its time, as a sentence; None while all is well.
        unopened: it is a pipe that nobody has opened to write to it yet.
        container: the format of what is converted; None where that is its lines'.
    """

    def __init__(self, name: str) -> None:
        """Prepare; `start` starts to fill it.

        Args:
            name: what sentences call it.

        Raises:
            OSError: there is no room for a spool.
        """
        self.growing = True
        self.trouble: str | None = None
        self.unopened = False
        self.container: str | None = None
        self._name = name
        self._spool = Spool(name)
        self._news = threading.Event()
        self._lock = threading.Lock()
        # A daemon: one that waits for input nobody sends must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name=f"read {name}", daemon=True)

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
        with self._lock:
            self._spool.close()

    def _run(self) -> None:
        try:
            self._fill()
        except NotConvertedError as error:
            self._end(f"{self._name} was read no further: {error}.")
        except NoRoomError as error:
            self._end(f"{self._name} was not read to its end: {error}.{self._where()}")
        except OSError as error:
            self._end_unread(error)
        finally:
            self.growing = False
            self._news.set()

    def _fill(self) -> None:
        """Write what there is to its end. Raises OSError and NotConvertedError."""
        raise NotImplementedError

    def _where(self) -> str:
        """How far it was read, as a sentence with a blank before it."""
        return ""

    def _write_all(self, pieces: Iterator[bytes]) -> None:
        """Append what comes while more may come. Raises OSError, and NotConvertedError where it is converted."""
        for data in pieces:
            if not self._write(data):
                return

    def _write(self, data: bytes) -> bool:
        """Append bytes while more may come; whether it may."""
        with self._lock:
            if self.growing and data:
                self._spool.write(data)
                self._news.set()
            return self.growing

    def _end_unread(self, error: OSError) -> None:
        self._end(f"{self._name} could not be read to its end: {error.strerror or error}.{self._where()}")

    def _end(self, sentence: str) -> None:
        if self.growing:  # else nobody wants to know any more
            self.trouble = sentence


class ConvertingFeed(ThreadedFeed):
    """Fills a spool with the lines that a file of another make is converted to."""

    def __init__(self, name: str, conversion: Conversion, container: str | None) -> None:
        """Start to read.

        Args:
            name: what sentences call the file.
            conversion: makes its lines; used by the thread of this feed alone.
            container: the format of the file; None where that is its lines'.

        Raises:
            OSError: there is no room for a spool.
        """
        super().__init__(name)
        self.container = container
        self._conversion = conversion
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        """As that of its conversion."""
        return self._conversion.progress

    def close(self) -> None:
        """Stop, and remove the spool."""
        self.stop()
        self._thread.join()
        super().close()

    def _fill(self) -> None:
        self._write_all(self._conversion.lines())
