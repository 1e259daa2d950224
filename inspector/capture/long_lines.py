"""Long lines of traffic that is followed, read by another process: 50 MB would hold a window up for 200 ms.

Files that are opened are read by processes anyway (`capture.parallel`).
"""

from __future__ import annotations

from inspector.capture.block import Block
from inspector.capture.parts import PartReader, read_part
from inspector.capture.sources import SourceFile

LONG_LINE_BYTES = 4 << 20
"""A shorter line is read sooner than it is handed over."""


class LongLines:
    """Reads the lines of one source that are too long to be read on the loop, one at a time.

    Its process is started with the first one and kept for the next, as long as the source stays with its file.
    """

    def __init__(self, source: SourceFile, place: int) -> None:
        self._source = source
        self._place = place
        self._reader: PartReader | None = None
        self._failed = False
        self._file = (source.data_path, source.identity)

    @property
    def pending(self) -> bool:
        """Whether a line is being read."""
        return self._reader is not None and (not self._reader.ready or bool(self._reader.pending))

    def next(self) -> Block | None:
        """The line at `source.read_to`, which is longer than LONG_LINE_BYTES; None while it is being read.

        A block without a record: the line has no end yet.
        """
        file = (self._source.data_path, self._source.identity)
        if self._file != file:  # saved meanwhile: the process may read on in the old one, or seek it in vain
            self._file, self._failed = file, False
            self.end()
        if self._failed:
            return self._read_here()
        try:
            if self._reader is None:
                self._reader = PartReader(self._source, self._place)
            return self._from(self._reader)
        except (OSError, EOFError):  # no process to be had, or it has died: late is better than never
            self._failed = True
            self.end()
            return self._read_here()

    def _from(self, reader: PartReader) -> Block | None:
        while reader.connection.poll(0):
            found = reader.take()
            if found is not None:
                return found[1]
        if reader.ready and not reader.pending:
            reader.give(0, self._source.read_to, self._source.read_to + 1)
        return None

    def _read_here(self) -> Block:
        return read_part(self._source, self._place, self._source.read_to, self._source.read_to + 1)

    def end(self) -> None:
        """End the process."""
        if self._reader is not None:
            self._reader.end()
            self._reader = None
