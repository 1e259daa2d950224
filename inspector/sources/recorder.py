"""Records a connection; holds back frames while it reconnects, so that the gap comes before them.

During reconnection, the frames of attempts are held back, since the length of the gap is only known at its end and its
row belongs before them. An unanswered attempt leaves no trace except in the text of the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from inspector.store.files.capture_writer import CaptureWriter

MOST_HELD_BYTES = 1 << 20
"""Limit in bytes of held frames: an attempt with more ends the gap, and failed attempts keep no more."""

_RECORD_BYTES = 200  # approximate overhead of a record


class Recorder:
    """Writes one source's frames and marks to a capture; the caller closes the writer.

    Attributes:
        recorded: number of frames and gaps written.
        gaps: number of gaps among them.
        last_in_ns: time of the last received frame, nanoseconds since the Unix epoch; 0 before the first.
    """

    def __init__(self, writer: CaptureWriter, clock_ns: Callable[[], int], src: int = 0) -> None:
        """Prepares the recorder.

        Args:
            writer: destination.
            clock_ns: arrival clock, nanoseconds since the Unix epoch.
            src: number of the source in the capture.
        """
        self.recorded: int = 0
        self.gaps: int = 0
        self.last_in_ns: int = 0
        self._writer = writer
        self._clock_ns = clock_ns
        self._src = src
        self._gap: Callable[[], str] | None = None  # text of a gap that is not written yet
        self._since_ns = 0
        self._held: list[Callable[[], None]] = []
        self._held_bytes = 0
        self._settled = 0  # number of records from completed attempts
        self._settled_bytes = 0

    def record_received(self, data: str | bytes, arrived_ns: int | None = None) -> None:
        """Records a received frame. Called for every frame, so it is short.

        Args:
            data: the frame.
            arrived_ns: arrival of its last byte, nanoseconds since the Unix epoch; None for now. Times never decrease,
                unless the clock was set back.
        """
        time_ns = self._clock_ns()
        if arrived_ns is not None:
            time_ns = min(time_ns, max(arrived_ns, self.last_in_ns))
        self.last_in_ns = time_ns
        if self._gap is not None:
            self._hold_back(partial(self._frame, data, "in", time_ns), len(data))
            return
        self.recorded += 1
        self._writer.add_frame(data, direction="in", time_ns=time_ns, src=self._src)

    def is_full(self) -> bool:
        """Returns True if the disk must catch up before more is received."""
        return self._writer.should_pause

    def record_sent(self, data: str) -> None:
        """Records a sent frame."""
        write = partial(self._frame, data, "out", self._clock_ns())
        if self._gap is not None:
            self._hold_back(write, len(data))
        else:
            write()

    def record_mark(self, name: str, **facts: str | int | None) -> None:
        """Records a mark, which is not a message."""
        write = partial(self._writer.add_mark, name, time_ns=self._clock_ns(), src=self._src, **facts)
        if self._gap is not None:
            self._hold_back(write, 0)
        else:
            write()

    # gaps

    def begin_gap(self, since_ns: int, words: Callable[[], str]) -> None:
        """Starts a gap after a loss: holds back all further records. Does nothing during a gap.

        Args:
            since_ns: time of the loss and of the gap's row, nanoseconds since the Unix epoch.
            words: returns the text of the row; called when it is written.
        """
        if self._gap is None:
            self._gap, self._since_ns = words, since_ns

    def drop_held(self) -> None:
        """Drops the records of an unanswered attempt."""
        del self._held[self._settled :]
        self._held_bytes = self._settled_bytes

    def keep_held(self) -> None:
        """Keeps the records of an answered but failed attempt after the gap, if they are few."""
        if self._held_bytes > MOST_HELD_BYTES:
            self.drop_held()
        self._settled, self._settled_bytes = len(self._held), self._held_bytes

    def end_gap(self) -> None:
        """Ends a gap: writes its row, then the held records. Does nothing without a gap."""
        words, self._gap = self._gap, None
        if words is None:
            return
        facts = {"reason": words(), "until_ns": self._clock_ns()}
        self._writer.add_mark("gap", time_ns=self._since_ns, src=self._src, **facts)
        self.gaps += 1
        self.recorded += 1
        held, self._held = self._held, []
        self._held_bytes = self._settled = self._settled_bytes = 0
        for write in held:
            write()

    def _hold_back(self, write: Callable[[], None], size: int) -> None:
        self._held.append(write)
        self._held_bytes += size + _RECORD_BYTES
        if self._held_bytes - self._settled_bytes > MOST_HELD_BYTES:
            self.end_gap()

    def _frame(self, data: str | bytes, direction: Literal["in", "out"], time_ns: int) -> None:
        self.recorded += 1
        self._writer.add_frame(data, direction=direction, time_ns=time_ns, src=self._src)
