"""What the frames of each stream say together, read once: a stream that flows is joined as its frames come.

Reading goes by what is asked for: a row wants the beginning, the details more. What was read stays for the streams that
were asked for last.
"""

from __future__ import annotations

from collections import OrderedDict

from inspector.analysis.passes.streams.stream_pass import StreamPass
from inspector.protocol.payloads.chunks import Joiner
from inspector.store.messages.capture import Capture
from inspector.store.messages.decoding import decoded_in_blocks

_MOST_STREAMS = 128


class StreamText:
    """The text of one stream, as far as it was read.

    Attributes:
        run: the stream's number in `StreamPass`.
        joiner: what was read of it.
    """

    def __init__(self, capture: Capture, streams: StreamPass, run: int) -> None:
        self.run = run
        self.joiner = Joiner()
        self._capture = capture
        self._streams = streams
        self._last = -1

    @property
    def left(self) -> int:
        """Frames that were not read, or are too many to be joined."""
        return int(self._streams.runs["frames"][self.run]) - self.joiner.frames + self.joiner.left_out

    def read(self, most: int) -> Joiner:
        """Read on until so many frames are read, where there are as many. O(frames that were not read before)."""
        missing = min(most, int(self._streams.runs["frames"][self.run])) - self.joiner.frames
        if missing > 0:
            rows = self._streams.frames(self.run, self._last, most=missing)
            for data in decoded_in_blocks(self._capture, rows, self._capture.records.data):
                self.joiner.add(data)
            self._last = int(rows[-1]) if len(rows) else self._last
        return self.joiner


class StreamTexts:
    """The texts of a document's streams."""

    def __init__(self, capture: Capture, streams: StreamPass) -> None:
        self._capture = capture
        self._streams = streams
        self._texts: OrderedDict[int, StreamText] = OrderedDict()

    def of(self, run: int) -> StreamText:
        """The text of a stream, by its number; nothing is read for it."""
        found = self._texts.get(run)
        if found is None:
            found = self._texts[run] = StreamText(self._capture, self._streams, run)
            if len(self._texts) > _MOST_STREAMS:
                self._texts.popitem(last=False)
        self._texts.move_to_end(run)
        return found
