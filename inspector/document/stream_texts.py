"""Joins the frames of streams to texts, incrementally and on demand.

A row needs only the start, the details more. Texts of recently used streams are cached.
"""

from __future__ import annotations

from collections import OrderedDict

from inspector.analysis.passes.streams.stream_pass import StreamPass
from inspector.protocol.payloads.stream_chunks import FrameJoiner
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.store.messages.capture import Capture

_MOST_STREAMS = 128


class StreamText:
    """Text of one stream, as far as read.

    Attributes:
        run: number of the stream in `StreamPass`.
        joiner: the joined frames.
    """

    def __init__(self, capture: Capture, streams: StreamPass, run: int) -> None:
        self.run = run
        self.joiner = FrameJoiner()
        self._capture = capture
        self._streams = streams
        self._last = -1

    @property
    def frames_left(self) -> int:
        """Number of frames unread, or above the limit of the joiner."""
        return int(self._streams.runs["frames"][self.run]) - self.joiner.frames + self.joiner.left_out

    def read(self, most: int) -> FrameJoiner:
        """Reads until `most` frames are joined, if there are as many. O(frames not read before)."""
        missing = min(most, int(self._streams.runs["frames"][self.run])) - self.joiner.frames
        if missing > 0:
            rows = self._streams.frames(self.run, self._last, most=missing)
            with self._capture.records.unmasked():  # the joined text is masked as a whole
                for data in read_in_batches(self._capture, rows, self._capture.records.frame_data):
                    self.joiner.add_frame(data)
            self._last = int(rows[-1]) if len(rows) else self._last
        return self.joiner


class StreamTexts:
    """The texts of a document's streams."""

    def __init__(self, capture: Capture, streams: StreamPass) -> None:
        self._capture = capture
        self._streams = streams
        self._texts: OrderedDict[int, StreamText] = OrderedDict()

    def stream_text(self, run: int) -> StreamText:
        """Returns the text of a stream by number, without reading."""
        found = self._texts.get(run)
        if found is None:
            found = self._texts[run] = StreamText(self._capture, self._streams, run)
            # Least recently used first; a table shows far fewer streams at a time.
            if len(self._texts) > _MOST_STREAMS:
                self._texts.popitem(last=False)
        self._texts.move_to_end(run)
        return found
