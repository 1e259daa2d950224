"""Spools: temporary files of ours for what cannot be read at any offset, filled beside the loop (design.md 4).

An archive, standard input and a pipe are written to one by a thread, and the document reads what has come so far.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from inspector.capture.sources import read_at
from inspector.paths import cache_folder
from inspector.sources.decoders import DamagedError, Decoder, SniffingDecoder

RESERVE_BYTES = 256 << 20
"""So much of the disk that holds temporary files is left free."""

_PREFIX = "spool-"
_CHECK_BYTES = 16 << 20
_BLOCK_BYTES = 1 << 18
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class NoRoomError(OSError):
    """The disk that holds temporary files is full, or nearly; the text is a sentence's end that says what to do."""


class Spool:
    """A temporary file that only grows, in a folder of its own. Written by one thread.

    Attributes:
        path: the file.
        size: bytes in it.
    """

    def __init__(self, name: str) -> None:
        """Create it.

        Args:
            name: of the file, as a sentence about it says it.

        Raises:
            OSError: it cannot be created.
        """
        sweep()
        self._folder = tempfile.TemporaryDirectory(
            prefix=f"{_PREFIX}{os.getpid()}-", dir=cache_folder(), ignore_cleanup_errors=True
        )
        self.path = Path(self._folder.name) / (re.sub(r"[/\\:\0]", "-", name).strip(".") or "log")[-200:]
        self.size = 0
        self._checked = -_CHECK_BYTES
        self._file = os.open(self.path, _NEW_FILE, 0o600)

    def write(self, data: bytes) -> None:
        """Append bytes, as many as there is room for. Raises OSError, and NoRoomError before the disk is full."""
        if self.size + len(data) - self._checked >= _CHECK_BYTES:
            self.require_room(len(data))
            self._checked = self.size
        view = memoryview(data)
        while view:
            written = os.write(self._file, view)
            self.size += written
            view = view[written:]

    def require_room(self, count: int) -> None:
        """Raise NoRoomError unless so many bytes more would leave the reserve free."""
        if free_bytes(self.path.parent) - count < RESERVE_BYTES:
            raise NoRoomError(
                f"the disk that holds {cache_folder()} has less than {RESERVE_BYTES >> 20} MB left. Free some space "
                "there and open it again"
            )

    def skip(self, count: int) -> None:
        """Go on after so many bytes that are not there."""
        self.size = os.lseek(self._file, count, os.SEEK_CUR)

    def fill_from(self, file: int, count: int, stopped: threading.Event) -> int:
        """Copy a file's first bytes, sharing them on disk where the file system can; returns how many there were."""
        self.require_room(count)
        copied = 0
        share = getattr(os, "copy_file_range", None)
        while copied < count and not stopped.is_set():
            step = min(count - copied, 8 << 20)
            try:
                done = share(file, self._file, step, copied) if share is not None else -1
            except OSError:  # another file system, or one that cannot
                share, done = None, -1
            if done < 0:
                data = read_at(file, copied, min(step, 1 << 20))
                done = len(data)
                os.write(self._file, data)
            if not done:
                break
            copied += done
            self.size = copied
        return copied

    def close(self) -> None:
        """Close and remove it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._folder.cleanup()


def free_bytes(folder: Path) -> int:
    """What the disk has left for us."""
    return shutil.disk_usage(folder).free


def sweep() -> None:
    """Remove spools of programs that ended without doing so."""
    if sys.platform == "win32":  # asking whether a process lives would end it there
        return
    for folder in cache_folder().glob(f"{_PREFIX}[0-9]*-*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        try:
            if number.isdigit():
                os.kill(int(number), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # somebody else's, or gone by itself
            continue


class StreamFeed:
    """Fills a spool from a stream, unpacked when it is compressed. Ends by itself, or by `stop`.

    Attributes:
        growing: more may come.
        trouble: why it ended before its time, as a sentence; None while all is well.
    """

    def __init__(self, name: str, opened: Path | int | None, *, total: int = 0) -> None:
        """Start to read.

        Args:
            name: what sentences call it.
            opened: a file or pipe to open, a file descriptor, or None for Python's own standard input.
            total: bytes in it, where that is known.

        Raises:
            OSError: there is no room for a spool.
        """
        self.growing = True
        self.trouble: str | None = None
        self._name = name
        self._opened = opened
        self._total = total
        self._taken = 0
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
        decoder = SniffingDecoder()
        try:
            for block in self._blocks():
                self._taken += len(block)
                if not self._take(decoder, block):
                    return
            if decoder.rest:
                self._write(decoder.rest)
            decoder.finish()
        except DamagedError as error:
            self._end(f"{self._name} is damaged or not complete: {error}. {self._where()}")
        except NoRoomError as error:
            self._end(f"{self._name} was not read to its end: {error}. {self._where()}")
        except OSError as error:
            self._end(f"{self._name} could not be read to its end: {error.strerror or error}. {self._where()}")
        finally:
            self.stop()

    def _take(self, decoder: Decoder, block: bytes) -> bool:
        return all(self._write(piece) for piece in decoder.feed(block))

    def _write(self, data: bytes) -> bool:
        with self._lock:
            if self.growing:
                self._spool.write(data)
                self._news.set()
            return self.growing

    def _end(self, sentence: str) -> None:
        if self.growing:  # else nobody wants to know any more
            self.trouble = sentence

    def _where(self) -> str:
        of = f" of {self._total:,}" if self._total else ""
        unpacked = f"the {self._spool.size:,} bytes of log before that were read"
        return f"It stopped after {self._taken:,}{of} bytes; {unpacked}."

    def _blocks(self) -> Iterator[bytes]:
        if self._opened is None:
            stream = sys.stdin.buffer
            try:
                # Not through sys.stdin: a thread that still held its lock would abort the program's end.
                number = stream.fileno()
            except (OSError, ValueError):
                yield from iter(lambda: stream.read(_BLOCK_BYTES), b"")
                return
            yield from iter(lambda: os.read(number, _BLOCK_BYTES), b"")
        elif isinstance(self._opened, int):
            number = self._opened
            yield from iter(lambda: os.read(number, _BLOCK_BYTES), b"")
        else:
            with self._opened.open("rb", buffering=0) as file:
                yield from iter(lambda: file.read(_BLOCK_BYTES), b"")
