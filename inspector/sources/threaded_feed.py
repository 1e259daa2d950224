"""What fills a spool beside the loop: its thread, what it may write, how it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from inspector.sources.converting import Conversion, NotConvertedError, lines_of
from inspector.store.files.spool import NoRoomError, Spool


class ThreadedFeed:
    """Fills a spool. Ends by itself, or by `stop`.

    Attributes:
        growing: more may come.
        trouble: why it ended before its time, as a sentence; None while all is well.
        unopened: it is a pipe that nobody has opened to write to it yet.
        container: the format of what is converted; None where that is its lines'.
        log: the file descriptor of a log that may go on behind what is read; None.
        log_taken: bytes taken of it.
    """

    def __init__(self, name: str, log: int | None = None) -> None:
        """Prepare; `start` starts to fill it.

        Args:
            name: what sentences call it.
            log: of ours, closed by `close`.

        Raises:
            OSError: there is no room for a spool.
        """
        self.growing = True
        self.trouble: str | None = None
        self.unopened = False
        self.container: str | None = None
        self.log, self.log_taken = log, 0
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

    @property
    def spool(self) -> Spool:
        """What it fills; another's to write to when it has ended."""
        return self._spool

    @property
    def ended(self) -> bool:
        """Whether nothing more is written by it."""
        return not self._thread.is_alive()

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
        if self.log is not None:  # no thread waits in a file
            self._thread.join()
            os.close(self.log)
            self.log = None

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
    """Fills a spool with the lines that a file of another make is converted to.

    Attributes:
        conversion: makes its lines; used by the thread of this feed alone until that has ended.
    """

    def __init__(
        self, name: str, conversion: Conversion, container: str | None, *, size: int, log: int | None = None
    ) -> None:
        """Start to read.

        Args:
            name: what sentences call the file.
            conversion: makes its lines.
            size: bytes of the file.
            container: the format of the file; None where that is its lines'.
            log: the file, where it may gain records; closed by `close`.

        Raises:
            OSError: there is no room for a spool.
        """
        super().__init__(name, log)
        self.container = container
        self.conversion = conversion
        self._size = size
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        """As that of its conversion."""
        return self.conversion.progress

    def close(self) -> None:
        """Stop, and remove the spool."""
        self.stop()
        self._thread.join()
        super().close()

    def _fill(self) -> None:
        self._write_all(lines_of(self.conversion, self._size))
        self.log_taken = self.conversion.progress[0]
