"""Lines of one source that another process reads while its own goes on: very long ones, and many that wait.

Of a live source only: files that are opened are read by processes anyway (`reading.workers.parallel`).
"""

from __future__ import annotations

import time
from collections import deque

from inspector.reading.reassembly.reassembler import Wires
from inspector.reading.workers.parallel import Pace, part_size
from inspector.reading.workers.parts import PartReader, read_part
from inspector.store.columns.block import Block
from inspector.store.files.source_files import SourceFile, last_end

LONG_LINE_BYTES = 4 << 20
"""A shorter line is read sooner than it is handed over: one of 50 MB would hold a window up for 200 ms."""
BACKLOG_BYTES = 2 << 20
"""Of less that waits nothing is left when a process has started, which takes some 0.3 s."""
WORTHWHILE_BYTES = 1 << 18
"""Once it is there it is given what is more than this: less is read sooner than it is handed over."""
_PART_BYTES = 4 << 20
_GIVEN_AHEAD = 3
"""Parts that are being read, or wait to be taken: it shall not run dry between two looks."""
_IDLE_S = 10.0
"""A process that has had nothing to read for so long is ended."""


class ReadAside:
    """A process that reads one source, started when it is needed first, as long as the source stays with its file."""

    _in_order = False
    """Whether the process looks for lines that have to be seen in order."""

    def __init__(self, source: SourceFile, place: int) -> None:
        self._source = source
        self._place = place
        self._reader: PartReader | None = None
        self._failed = False
        self._file = (source.data_path, source.identity)

    def _process(self) -> PartReader | None:
        """The process; None where none is to be had. Raises OSError when that turns out now."""
        file = (self._source.data_path, self._source.identity)
        if self._file != file:  # saved meanwhile: the process may read on in the old one, or seek it in vain
            self._file, self._failed = file, False
            self.end()
        if self._reader is None and not self._failed:
            self._reader = PartReader(self._source, self._place, in_order=self._in_order)
        return self._reader

    def _give_up(self) -> None:
        """There is no process to be had, or it has died: what it was given is read without it."""
        self._failed = True
        self.end()

    def end(self) -> None:
        """End the process; what it was given and has not brought is to be read once more."""
        if self._reader is not None:
            self._reader.end()
            self._reader = None


class LongLines(ReadAside):
    """Reads lines that are too long to be read on the loop, one at a time."""

    @property
    def pending(self) -> bool:
        """Whether a line is being read."""
        return self._reader is not None and (not self._reader.ready or bool(self._reader.pending))

    def next(self) -> Block | None:
        """The line at `source.read_to`, which is longer than LONG_LINE_BYTES; None while it is being read.

        A block without a record: the line has no end yet.
        """
        try:
            reader = self._process()
            if reader is not None:
                return self._from(reader)
        except (OSError, EOFError):  # late is better than never
            self._give_up()
        return read_part(self._source, self._place, self._source.read_to, self._source.read_to + 1)

    def _from(self, reader: PartReader) -> Block | None:
        block = reader.take_ready()
        if block is None and reader.ready and not reader.pending:
            reader.give(0, self._source.read_to, self._source.read_to + 1)
        return block


class Backlog(ReadAside):
    """Reads what a source has gained faster than it is taken in, so that taking in is all that is left to be done.

    Until its process is ready, and of what comes when nothing more waits, it brings nothing; nor of lines that have to
    be seen in order, which the process finds.
    """

    _in_order = True

    def __init__(self, source: SourceFile, place: int, wires: Wires) -> None:
        super().__init__(source, place)
        self._wires = wires
        self._ordered_to = 0  # up to there lines may have to be seen in order
        self._stops: deque[int] = deque()  # offsets at which the parts end that were given out and not taken
        self._void = 0  # parts that were given out behind such lines: they are read once more
        self._used_s = time.monotonic()

    @property
    def pending(self) -> bool:
        """Whether what comes next in the source is being read."""
        return bool(self._stops)

    def next(self, pace: Pace) -> Block | None:
        """The next block; None while it is being read, or where nothing was given out.

        Args:
            pace: of whoever takes the blocks in: how large they shall be.
        """
        try:
            reader = self._process()
            if reader is None:
                return None
            block = self._next_of(reader)
            self._give_out(reader, pace, taken=block)
        except (OSError, EOFError):
            self._give_up()
            return None
        if self._stops or block is not None:
            self._used_s = time.monotonic()
        elif reader.ready and time.monotonic() - self._used_s > _IDLE_S:
            self.end()
        return block

    def _next_of(self, reader: PartReader) -> Block | None:
        while (block := reader.take_ready()) is not None:
            if self._void:
                self._void -= 1
                continue
            stop = self._stops.popleft()
            if not block.in_order:
                return block
            self._ordered_to, self._void = stop, len(self._stops)
            self._stops.clear()
        return None

    def _give_out(self, reader: PartReader, pace: Pace, taken: Block | None) -> None:
        """Give out parts of whole lines, so that each is read once; the last one stays where it is."""
        source = self._source
        start = self._stops[-1] if self._stops else taken.stop if taken is not None else source.read_to
        if not reader.ready or start < self._ordered_to or self._wires.may_matter(b""):
            return
        while len(self._stops) + self._void < _GIVEN_AHEAD and source.size - start > WORTHWHILE_BYTES:
            size = min(part_size(source, start, pace.lines, _PART_BYTES), source.size - start)
            stop = last_end(source.read, start, start + size)
            if stop == start:  # a line that long is for who looks for its end
                return
            reader.give(0, start, stop)
            self._stops.append(stop)
            start = stop

    @property
    def idle(self) -> bool:
        """Whether it has no process."""
        return self._reader is None

    def end(self) -> None:
        """End the process; what it was given and has not brought is to be read once more."""
        super().end()
        self._stops.clear()
        self._void = 0
