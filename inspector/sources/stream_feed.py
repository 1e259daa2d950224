"""What fills a spool from a stream: an archive, standard input or a pipe, read and unpacked beside the loop."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspector.capture.spool import NoRoomError, Spool
from inspector.sources.decoders import DamagedError, Decoder, SniffingDecoder

_BLOCK_BYTES = 1 << 18


class StreamFeed:
    """Fills a spool from a stream, unpacked when it is compressed. Ends by itself, or by `stop`.

    Attributes:
        growing: more may come.
        trouble: why it ended before its time, as a sentence; None while all is well.
        unopened: it is a pipe that nobody has opened to write to it yet.
    """

    def __init__(self, name: str, opened: Path | Sequence[Path] | int | None, *, total: int = 0) -> None:
        """Start to read.

        Args:
            name: what sentences call it.
            opened: a file or pipe to open, several files to be one behind the other, a file descriptor, or None for
                Python's own standard input.
            total: bytes in it, where that is known.

        Raises:
            OSError: there is no room for a spool.
        """
        self.growing = True
        self.trouble: str | None = None
        self.unopened = isinstance(opened, Path)
        self._name = name
        self._inputs = list(opened) if isinstance(opened, Sequence) else [opened]
        self._total = total
        self._taken = 0
        self._torn = False
        self._spool = Spool(name)
        self._news = threading.Event()
        self._lock = threading.Lock()
        # A daemon: one that waits for input nobody sends must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name=f"read {name}", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """The spool."""
        return self._spool.path

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes taken in, and of how many; (n, 0) where nobody knows."""
        return self._taken, self._total

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
            for opened in self._inputs:
                if not self._fill(opened):
                    return
        except DamagedError as error:
            self._end(f"{self._name} is damaged or not complete: {error}. {self._where()}")
        except NoRoomError as error:
            self._end(f"{self._name} was not read to its end: {error}. {self._where()}")
        except OSError as error:
            self._end(f"{self._name} could not be read to its end: {error.strerror or error}. {self._where()}")
        finally:
            self.stop()

    def _fill(self, opened: Path | int | None) -> bool:
        """Take in one input to its end; whether it was not stopped before."""
        decoder = SniffingDecoder()
        if self._torn:  # the file before ends within a line, which does not go on here
            self._write(b"\n")
        for block in self._blocks(opened):
            self._taken += len(block)
            if not self._take(decoder, block):
                return False
        if decoder.rest:
            self._write(decoder.rest)
        decoder.finish()
        return True

    def _take(self, decoder: Decoder, block: bytes) -> bool:
        return all(self._write(piece) for piece in decoder.feed(block))

    def _write(self, data: bytes) -> bool:
        with self._lock:
            if self.growing and data:
                self._spool.write(data)
                self._torn = not data.endswith(b"\n")
                self._news.set()
            return self.growing

    def _end(self, sentence: str) -> None:
        if self.growing:  # else nobody wants to know any more
            self.trouble = sentence

    def _where(self) -> str:
        of = f" of {self._total:,}" if self._total else ""
        unpacked = f"the {self._spool.size:,} bytes of log before that were read"
        return f"It stopped after {self._taken:,}{of} bytes; {unpacked}."

    def _blocks(self, opened: Path | int | None) -> Iterator[bytes]:
        if opened is None:
            stream = sys.stdin.buffer
            try:
                # Not through sys.stdin: a thread that still held its lock would abort the program's end.
                number = stream.fileno()
            except (OSError, ValueError):
                yield from iter(lambda: stream.read(_BLOCK_BYTES), b"")
                return
            yield from iter(lambda: os.read(number, _BLOCK_BYTES), b"")
        elif isinstance(opened, int):
            number = opened
            yield from iter(lambda: os.read(number, _BLOCK_BYTES), b"")
        else:
            with opened.open("rb", buffering=0) as file:  # waits for who writes to a pipe
                self.unopened = False
                yield from iter(lambda: file.read(_BLOCK_BYTES), b"")
