"""What fills a spool from a stream: an archive, standard input or a pipe, read and unpacked beside the loop.

What lies in it and is no log of lines (`conversions`) is taken in to its end first, and then converted; what may have
no end, a pipe, at each pause where that can be.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from inspector.sources.bundle import Member, blocks_of
from inspector.sources.conversions import Converted, converted, may_be_converted
from inspector.sources.converting import Conversion, lines_of, within_bounds
from inspector.sources.decoders import DamagedError, SniffingDecoder
from inspector.sources.pauses import with_pauses
from inspector.sources.threaded_feed import ThreadedFeed
from inspector.store.files.spool import Spool

_BLOCK_BYTES = 1 << 18


_Input = Path | Member | int | None


class StreamFeed(ThreadedFeed):
    """Fills a spool from a stream, unpacked when it is compressed; `log` goes on behind what was rotated away of it."""

    def __init__(
        self, name: str, opened: Path | Sequence[Path] | Member | int | None, *, total: int = 0, log: int | None = None
    ) -> None:
        """Start to read.

        Args:
            name: what sentences call it.
            opened: a file or pipe to open, several files to be one behind the other, what lies in a bundle, a file
                descriptor, or None for Python's own standard input.
            total: bytes in it, where that is known: in a file; what comes of a pipe is shown as it comes.
            log: a file descriptor of ours to read behind all of these; closed by `close`.

        Raises:
            OSError: there is no room for a spool.
        """
        super().__init__(name, log)
        self.unopened = isinstance(opened, Path)
        self._inputs: list[_Input] = [opened] if isinstance(opened, _Input | None) else list(opened)
        self._inputs += [log] if log is not None else []
        self._total = total
        self._taken = 0
        self._torn = False
        self._conversion: Conversion | None = None
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes taken in, and of how many, (n, 0) where nobody knows; then as that of a conversion."""
        return (self._taken, self._total) if self._conversion is None else self._conversion.progress

    def _fill(self) -> None:
        pieces = self._pieces()
        head = self._head(pieces)
        kind = converted(head)
        pieces = chain([head], pieces)
        if kind is None:
            self._write_all(pieces)
            return
        self.container = kind.container
        if kind.as_they_come is not None and not self._total:
            self._write_all(within_bounds(kind.as_they_come(with_pauses(pieces)), lambda: self._taken))
        else:
            self._convert_whole(kind, pieces)

    def _head(self, pieces: Iterator[bytes]) -> bytes:
        """Take in as much as tells what it is."""
        head = b""
        for data in pieces:
            head += data
            if not may_be_converted(head):
                break
        return head

    def _convert_whole(self, kind: Converted, pieces: Iterator[bytes]) -> None:
        """Convert all once it is there. Raises OSError and NotConvertedError."""
        whole = Spool(self._name)
        try:
            for data in pieces:
                whole.write(data)
                if not self.growing:
                    return
            self._conversion = kind.convert(whole.path)
            self._write_all(lines_of(self._conversion, whole.size))
        finally:
            whole.close()

    def _pieces(self) -> Iterator[bytes]:
        """All inputs, unpacked, as far as they can be read."""
        try:
            for opened in self._inputs:
                yield from self._unpacked(opened)
        except DamagedError as error:
            self._end(f"{self._name} is damaged or not complete: {error}.{self._where()}")
        except OSError as error:
            self._end_unread(error)

    def _unpacked(self, opened: _Input) -> Iterator[bytes]:
        """One input to its end; where the file before ends within a line, that does not go on in it."""
        decoder = SniffingDecoder()
        if self._torn:
            yield b"\n"
        for block in self._blocks(opened):
            self._taken += len(block)
            self.log_taken += len(block) if opened is self.log else 0
            for piece in decoder.feed(block):
                self._torn = not piece.endswith(b"\n")
                yield piece
        if decoder.rest:
            yield decoder.rest
        decoder.finish()

    def _where(self) -> str:
        of = f" of {self._total:,}" if self._total else ""
        unpacked = f"the {self._spool.size:,} bytes of log before that were read"
        return f" It stopped after {self._taken:,}{of} bytes; {unpacked}."

    def _blocks(self, opened: _Input) -> Iterator[bytes]:
        if isinstance(opened, Member):
            yield from blocks_of(opened)
        elif opened is None:
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
