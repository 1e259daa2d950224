"""Base of feeds: fills a spool in a thread, with cancellation and error reporting."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from inspector.formats.file_conversion import Conversion, NotConvertedError
from inspector.sources.conversion_worker import lines_of
from inspector.store.files.spool import NoRoomError, Spool


class ThreadedFeed:
    """Fills a spool. Ends on its own, or by `stop`.

    Attributes:
        is_growing: more may come.
        problem: reason for a premature end, as a sentence, if any.
        is_unopened: a pipe without a writer so far.
        container: format of a converted file; None for the format of its lines.
        log: descriptor of a log that may grow after the feed, if any.
        log_taken: bytes read from it.
    """

    def __init__(self, name: str, log: int | None = None) -> None:
        """Prepares the feed; its thread starts later.

        Args:
            name: name for messages.
            log: our descriptor; `close` closes it.

        Raises:
            OSError: there is no space for a spool.
        """
        self.is_growing = True
        self.problem: str | None = None
        self.is_unopened = False
        self.container: str | None = None
        self.log, self.log_taken = log, 0
        self._name = name
        self._spool = Spool(name)
        self._news = threading.Event()
        self._lock = threading.Lock()
        # A daemon: a thread that waits for input must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name=f"read {name}", daemon=True)

    @property
    def path(self) -> Path:
        """Path of the spool."""
        return self._spool.path

    @property
    def spool(self) -> Spool:
        """The spool; others may write to it after the feed has ended."""
        return self._spool

    @property
    def is_ended(self) -> bool:
        """Returns True after the last write of the feed."""
        return not self._thread.is_alive()

    def wait(self, timeout_s: float) -> None:
        """Waits for more bytes or the end."""
        self._news.wait(timeout_s)
        self._news.clear()

    def stop(self) -> None:
        """Ends the reading; earlier data stays. Takes no lock, so signal handlers may call it."""
        self.is_growing = False
        self._news.set()

    def close(self) -> None:
        """Stops, and removes the spool."""
        self.stop()
        with self._lock:
            self._spool.close()
        if self.log is not None:  # a regular file never blocks the thread
            self._thread.join()
            os.close(self.log)
            self.log = None

    def _run(self) -> None:
        try:
            self._fill()
        except NotConvertedError as error:
            # Lines converted so far stay readable.
            words = "was read no further" if self._spool.size else "cannot be read"
            self._end_with(f"{self._name} {words}: {error}.")
        except NoRoomError as error:
            self._end_with(f"{self._name} was not read to its end: {error}.{self._progress_words()}")
        except OSError as error:
            self._end_unread(error)
        finally:
            self.is_growing = False
            self._news.set()

    def _fill(self) -> None:
        """Writes the content to its end. Raises OSError and NotConvertedError."""
        raise NotImplementedError

    def _progress_words(self) -> str:
        """Returns the progress as a sentence with a leading space."""
        return ""

    def _write_all(self, pieces: Iterator[bytes]) -> None:
        """Appends pieces until `stop`. Raises OSError; NotConvertedError for a conversion."""
        for data in pieces:
            if not self._write(data):
                return

    def _write(self, data: bytes) -> bool:
        """Appends bytes unless stopped; returns False after `stop`."""
        with self._lock:
            # `close` removes the spool under this lock, so no write may follow.
            if self.is_growing and data:
                self._spool.write(data)
                self._news.set()
            return self.is_growing

    def _end_unread(self, error: OSError) -> None:
        self._end_with(f"{self._name} could not be read to its end: {error.strerror or error}.{self._progress_words()}")

    def _end_with(self, sentence: str) -> None:
        if self.is_growing:  # after `stop` the error no longer matters
            self.problem = sentence


class ConvertingFeed(ThreadedFeed):
    """Fills a spool with the lines of a converted file.

    Attributes:
        conversion: the conversion; used only by the feed's thread until its end.
    """

    def __init__(
        self, name: str, conversion: Conversion, container: str | None, *, size: int, log: int | None = None
    ) -> None:
        """Starts to read.

        Args:
            name: name of the file for messages.
            conversion: converts the file.
            size: bytes of the file.
            container: format of the file; None for the format of its lines.
            log: the file, if it may grow; `close` closes it.

        Raises:
            OSError: there is no space for a spool.
        """
        super().__init__(name, log)
        self.container = container
        self.conversion = conversion
        self._size = size
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        return self.conversion.progress

    def close(self) -> None:
        """Stops, and removes the spool."""
        self.stop()
        self._thread.join()
        super().close()

    def _fill(self) -> None:
        self._write_all(lines_of(self.conversion, self._size))
        self.log_taken = self.conversion.progress[0]
