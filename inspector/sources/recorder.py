"""What of a connection goes into the capture, and in which order: frames, marks, and one gap for each loss.

While a lost connection is sought again, what the attempts send and receive is held back: how long the gap was is known
only when it is over, and its row belongs before the frames that follow it. An attempt that is never answered leaves no
trace but in the gap's words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from inspector.store.files.capture_writer import CaptureWriter

MOST_HELD_BYTES = 1 << 20
"""An attempt that brings more than this has ended the gap, whatever becomes of it; and of the attempts that failed no
more is kept."""

_RECORD_BYTES = 200  # that a record takes beside its frame, about


class Recorder:
    """Writes one source's frames and marks to a capture. The writer stays the caller's.

    Attributes:
        recorded: Frames and gaps written, that is messages the capture holds of this source.
        gaps: Gaps among them.
        last_in_ns: When the last frame was received, nanoseconds since the Unix epoch; 0 before the first.
    """

    def __init__(self, writer: CaptureWriter, clock_ns: Callable[[], int], src: int = 0) -> None:
        """Prepare.

        Args:
            writer: Gets everything.
            clock_ns: Arrival clock, nanoseconds since the Unix epoch.
            src: Number of the source within the capture.
        """
        self.recorded: int = 0
        self.gaps: int = 0
        self.last_in_ns: int = 0
        self._writer = writer
        self._clock_ns = clock_ns
        self._src = src
        self._gap: Callable[[], str] | None = None  # the words of a gap not yet written
        self._since_ns = 0
        self._held: list[Callable[[], None]] = []
        self._held_bytes = 0
        self._settled = 0  # that many of them are of attempts that are over
        self._settled_bytes = 0

    def received(self, data: str | bytes, arrived_ns: int | None = None) -> None:
        """Record a frame that came. Called for every frame, so it is short.

        Args:
            data: The frame.
            arrived_ns: When its last byte came, nanoseconds since the Unix epoch; None is now. Frames follow each
                other: it counts as no earlier than the one before, unless the clock was set back.
        """
        time_ns = self._clock_ns()
        if arrived_ns is not None:
            time_ns = min(time_ns, max(arrived_ns, self.last_in_ns))
        self.last_in_ns = time_ns
        if self._gap is not None:
            self._hold(partial(self._frame, data, "in", time_ns), len(data))
            return
        self.recorded += 1
        self._writer.frame(data, direction="in", time_ns=time_ns, src=self._src)

    def is_full(self) -> bool:
        """Whether the disk should take something first, before more is received."""
        return self._writer.crowded

    def sent(self, data: str) -> None:
        """Record a frame of ours."""
        write = partial(self._frame, data, "out", self._clock_ns())
        if self._gap is not None:
            self._hold(write, len(data))
        else:
            write()

    def mark(self, name: str, **facts: str | int | None) -> None:
        """Record a mark that is no message."""
        write = partial(self._writer.mark, name, time_ns=self._clock_ns(), src=self._src, **facts)
        if self._gap is not None:
            self._hold(write, 0)
        else:
            write()

    # losses

    def begin_gap(self, since_ns: int, words: Callable[[], str]) -> None:
        """The connection was lost: hold back what follows. Does nothing while a gap is open.

        Args:
            since_ns: When, nanoseconds since the Unix epoch; the time of the gap's row.
            words: Gives what the row says; asked when it is written.
        """
        if self._gap is None:
            self._gap, self._since_ns = words, since_ns

    def drop_held(self) -> None:
        """An attempt to get back was not answered: nothing is left of it."""
        del self._held[self._settled :]
        self._held_bytes = self._settled_bytes

    def keep_held(self) -> None:
        """An attempt was answered and failed all the same: it is kept behind the gap, as long as that is not much."""
        if self._held_bytes > MOST_HELD_BYTES:
            self.drop_held()
        self._settled, self._settled_bytes = len(self._held), self._held_bytes

    def end_gap(self) -> None:
        """The loss is over: write its row, then what was held back. Does nothing when no gap is open."""
        words, self._gap = self._gap, None
        if words is None:
            return
        facts = {"reason": words(), "until_ns": self._clock_ns()}
        self._writer.mark("gap", time_ns=self._since_ns, src=self._src, **facts)
        self.gaps += 1
        self.recorded += 1
        held, self._held = self._held, []
        self._held_bytes = self._settled = self._settled_bytes = 0
        for write in held:
            write()

    def _hold(self, write: Callable[[], None], size: int) -> None:
        self._held.append(write)
        self._held_bytes += size + _RECORD_BYTES
        if self._held_bytes - self._settled_bytes > MOST_HELD_BYTES:
            self.end_gap()

    def _frame(self, data: str | bytes, direction: Literal["in", "out"], time_ns: int) -> None:
        self.recorded += 1
        self._writer.frame(data, direction=direction, time_ns=time_ns, src=self._src)
