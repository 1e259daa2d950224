"""Fills a spool from an archive, standard input or a pipe, in a thread with decompression.

Formats that are not logs of lines (`conversion_table`) are read to the end, then converted. An endless pipe is
converted at each pause if its format allows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from inspector.formats.file_conversion import Conversion, FileConverter
from inspector.sources.bundle import Member, blocks_of
from inspector.sources.conversion_table import converter_for, may_be_converted
from inspector.sources.conversion_worker import lines_of, within_bounds
from inspector.sources.decoders import DamagedError, SniffingDecoder
from inspector.sources.stream_pauses import with_pauses
from inspector.sources.threaded_feed import ThreadedFeed
from inspector.store.files.spool import Spool

_BLOCK_BYTES = 1 << 18


_Input = Path | Member | int | None


class StreamFeed(ThreadedFeed):
    """Fills a spool from a stream, decompressed; `log` continues after its rotated parts."""

    def __init__(
        self, name: str, opened: Path | Sequence[Path] | Member | int | None, *, total: int = 0, log: int | None = None
    ) -> None:
        """Starts to read.

        Args:
            name: name for messages.
            opened: a file or pipe, several files to join, a bundle member, a file descriptor, or None for standard
                input.
            total: size in bytes if known, as for a file; 0 for a pipe, whose data is shown as it arrives.
            log: our file descriptor to read after all of these; `close` closes it.

        Raises:
            OSError: there is no space for a spool.
        """
        super().__init__(name, log)
        self.is_unopened = isinstance(opened, Path)
        self._inputs: list[_Input] = [opened] if isinstance(opened, _Input | None) else list(opened)
        self._inputs += [log] if log is not None else []
        self._total = total
        self._taken = 0
        self._torn = False
        self._conversion: Conversion | None = None
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read, and the total, (n, 0) if unknown; then the progress of a conversion."""
        return (self._taken, self._total) if self._conversion is None else self._conversion.progress

    def _fill(self) -> None:
        pieces = self._pieces()
        head = self._read_head(pieces)
        kind = converter_for(head)
        # Detection consumed the head, so it goes in front again.
        pieces = chain([head], pieces)
        if kind is None:
            self._write_all(pieces)
            return
        self.container = kind.container
        # A pipe may never end; a file is converted at its end, which is faster.
        if kind.convert_stream is not None and not self._total:
            self._write_all(within_bounds(kind.convert_stream(with_pauses(pieces)), lambda: self._taken))
        else:
            self._convert_whole(kind, pieces)

    def _read_head(self, pieces: Iterator[bytes]) -> bytes:
        """Reads enough for detection."""
        head = b""
        for data in pieces:
            head += data
            if not may_be_converted(head):
                break
        return head

    def _convert_whole(self, kind: FileConverter, pieces: Iterator[bytes]) -> None:
        """Converts the whole stream at its end. Raises OSError and NotConvertedError."""
        whole = Spool(self._name)
        try:
            for data in pieces:
                whole.write(data)
                if not self.is_growing:
                    return
            self._conversion = kind.convert(whole.path)
            self._write_all(lines_of(self._conversion, whole.size))
        finally:
            whole.close()

    def _pieces(self) -> Iterator[bytes]:
        """Yields all inputs, decompressed, as far as they are readable."""
        try:
            for opened in self._inputs:
                yield from self._unpacked(opened)
        except DamagedError as error:
            self._end_with(f"{self._name} is damaged or not complete: {error}.{self._progress_words()}")
        except OSError as error:
            self._end_unread(error)

    def _unpacked(self, opened: _Input) -> Iterator[bytes]:
        """Yields one input; ends the previous file's last line if it is unfinished."""
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
            # Shorter than any magic number, so it is plain text.
            yield decoder.rest
        decoder.finish()

    def _progress_words(self) -> str:
        of = f" of {self._total:,}" if self._total else ""
        unpacked = f"the {self._spool.size:,} bytes of log before that were read"
        return f" It stopped after {self._taken:,}{of} bytes; {unpacked}."

    def _blocks(self, opened: _Input) -> Iterator[bytes]:
        if isinstance(opened, Member):
            yield from blocks_of(opened)
        elif opened is None:
            stream = sys.stdin.buffer
            try:
                # Not through sys.stdin: a thread that holds its lock would abort the program's exit.
                number = stream.fileno()
            except (OSError, ValueError):
                yield from iter(lambda: stream.read(_BLOCK_BYTES), b"")
                return
            yield from iter(lambda: os.read(number, _BLOCK_BYTES), b"")
        elif isinstance(opened, int):
            number = opened
            yield from iter(lambda: os.read(number, _BLOCK_BYTES), b"")
        else:
            with opened.open("rb", buffering=0) as file:  # blocks until a pipe has a writer
                self.is_unopened = False
                yield from iter(lambda: file.read(_BLOCK_BYTES), b"")
