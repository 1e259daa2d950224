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
    from inspector.capture.writer import CaptureWriter

MOST_HELD_BYTES = 1 << 20
"""Above this, what is held back is written all the same: the gap then tells how long it had been until there."""


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

    def received(self, data: str | bytes) -> None:
        """Record a frame that came. Called for every frame, so it is short."""
        self.last_in_ns = time_ns = self._clock_ns()
        if self._gap is not None:
            self._hold(partial(self._frame, data, "in", time_ns), len(data))
            return
        self.recorded += 1
        self._writer.frame(data, direction="in", time_ns=time_ns, src=self._src)

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
        """The connection was lost: hold back what follows.

        Args:
            since_ns: When, nanoseconds since the Unix epoch; the time of the gap's row.
            words: Gives what the row says; asked when it is written.
        """
        self.end_gap()
        self._gap, self._since_ns = words, since_ns

    def drop_held(self) -> None:
        """An attempt to get back was not answered: nothing is left of it."""
        self._held.clear()
        self._held_bytes = 0

    def end_gap(self) -> None:
        """The loss is over, or frames came all the same: write its row, then what was held back. Else does nothing."""
        words, self._gap = self._gap, None
        if words is None:
            return
        facts = {"reason": words(), "until_ns": self._clock_ns()}
        self._writer.mark("gap", time_ns=self._since_ns, src=self._src, **facts)
        self.gaps += 1
        self.recorded += 1
        held = list(self._held)
        self.drop_held()
        for write in held:
            write()

    def _hold(self, write: Callable[[], None], size: int) -> None:
        self._held.append(write)
        self._held_bytes += size
        if self._held_bytes > MOST_HELD_BYTES:
            self.end_gap()

    def _frame(self, data: str | bytes, direction: Literal["in", "out"], time_ns: int) -> None:
        self.recorded += 1
        self._writer.frame(data, direction=direction, time_ns=time_ns, src=self._src)
