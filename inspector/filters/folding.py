"""Decides which of the messages that a view lets through have a row.

Of a stream's frames, and of copies, the first alone has one; bookkeeping has none unless it is asked for.

The row of a stream is that of the first frame filter and scope let through, and stands for all of these; it says what
the whole stream does. A copy is folded into the message that it is a copy of, where that is let through. Where frames
or copies are asked for one by one (a filter about them, the setting) nothing is folded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.streams.stream_pass import NO_RUN
from inspector.analysis.views.account.bookkeeping_rows import are_bookkeeping

Messages = NDArray[np.uint32]

NOTHING: Messages = np.empty(0, np.uint32)


class Grown:
    """An ascending array that is added to, mostly at its end: then nothing is copied but what is added."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._room = values
        self._count = len(values)

    @property
    def values(self) -> NDArray[Any]:
        """A view: it stays as it is when more is added."""
        return self._room[: self._count]

    def add(self, more: NDArray[Any]) -> None:
        """Add ascending values, none of which it has."""
        now, count = self.values, self._count + len(more)
        if len(more) and len(now) and more[0] < now[-1]:
            self._room = np.insert(now, now.searchsorted(more), more)
        else:
            if count > len(self._room):
                # Memory past the end is never touched, so generous steps cost no resident pages.
                self._room = np.empty(max(count * 3 // 2, 1024), now.dtype)
                self._room[: self._count] = now
            self._room[self._count : count] = more
        self._count = count


_FEW = 4_096


def _first_of_each(runs: NDArray[Any]) -> NDArray[np.int64]:
    """The first place of each number; in no order."""
    if len(runs) < _FEW:
        return np.unique(runs, return_index=True)[1]
    places = np.full(int(runs.max()) + 1, -1, np.int64)
    places[runs[::-1]] = np.arange(len(runs) - 1, -1, -1)  # of several values for one place the last stays
    return places[places >= 0]


def _among(some: NDArray[np.int64], messages: Messages) -> NDArray[np.bool_]:
    """(n,) which of some messages are among ascending ones. O(n log messages)."""
    if not len(messages):
        return np.zeros(len(some), np.bool_)
    return messages[np.minimum(messages.searchsorted(some.astype(np.uint32)), len(messages) - 1)] == some


class Folding:
    """Knows the row of each stream, and of each copy.

    Attributes:
        on: whether frames and copies are folded.
        hides_bookkeeping: whether bookkeeping has no rows.
        bookkeeping: how many messages let through are bookkeeping.

    Args:
        analysis: whose messages they are.
        chosen: asked for what was let through so far, ascending.
    """

    def __init__(self, analysis: Analysis, chosen: Callable[[], Messages] = lambda: NOTHING) -> None:
        self._analysis = analysis
        self._chosen = chosen
        self._heads = np.zeros(1, np.uint32)  # by run, the message that has its row, counted from 1; 0 for none
        self.on = True
        self.hides_bookkeeping = False
        self.bookkeeping = 0

    def begin(self, chosen: Messages) -> Messages:
        """Fold all messages let through anew: those that have a row. O(messages)."""
        self._heads = np.zeros(1, np.uint32)
        self.bookkeeping = 0
        rows = self.folded(chosen, anew=True)
        self.take(chosen)
        return rows

    def folded(self, chosen: Messages, *, anew: bool = False) -> Messages:
        """Those of more messages let through that have a row of their own; the same array where all have.

        Args:
            chosen: ascending; behind all that was taken in.
            anew: nothing was taken in before.
        """
        kept = np.ones(len(chosen), np.bool_)
        places, runs = self._frames(chosen)
        if len(places):
            heads = np.zeros(len(runs), np.bool_)
            heads[_first_of_each(runs)] = True
            if not anew:
                heads &= self._heads_of(runs) == 0
            kept[places[~heads]] = False
        places, originals = self._copies(chosen)
        if len(places):
            there = _among(originals, chosen)
            if not anew:
                there |= _among(originals, self._chosen())
            kept[places[there]] = False
        if self.hides_bookkeeping:
            kept &= ~are_bookkeeping(self._analysis.capture, chosen)
        return chosen if kept.all() else chosen[kept]

    def grown(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        """The messages whose rows some messages belong to that are folded; ascending."""
        _, runs = self._frames(messages)
        heads = np.unique(self._heads_of(runs)).astype(np.int64)
        _, originals = self._copies(messages)
        return np.union1d(heads[heads > 0] - 1, originals)

    def take(self, chosen: Messages) -> None:
        """Take in messages let through, behind all others."""
        self.bookkeeping += int(np.count_nonzero(are_bookkeeping(self._analysis.capture, chosen)))
        places, runs = self._frames(chosen)
        if not len(places):
            return
        first = _first_of_each(runs)
        found = runs[first]
        most = int(found.max())
        if most >= len(self._heads):
            wider = np.zeros(max(most + 1, 2 * len(self._heads)), np.uint32)
            wider[: len(self._heads)] = self._heads
            self._heads = wider
        new = self._heads[found] == 0
        self._heads[found[new]] = chosen[places[first[new]]] + 1

    def head_of(self, message: int) -> int | None:
        """The message that has the row of a frame's stream, or of what a copy says; None where it has none."""
        runs = self._analysis.streams.columns["run"]
        if not self.on or message >= len(runs):
            return None
        _, originals = self._copies(np.array([message]))
        if len(originals):
            return int(originals[0]) if _among(originals, self._chosen())[0] else None
        run = int(runs[message])
        head = int(self._heads[run]) if NO_RUN < run < len(self._heads) else 0
        return head - 1 if head else None

    def heads_of(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        """(n,) for each message the one that has its row, as far as its stream has one; else itself."""
        found = messages.astype(np.int64)
        places, runs = self._frames(messages)
        heads = self._heads_of(runs).astype(np.int64)
        found[places[heads > 0]] = heads[heads > 0] - 1
        places, originals = self._copies(messages)
        there = _among(originals, self._chosen())
        found[places[there]] = originals[there]
        return found

    def _frames(self, messages: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Places of the frames among some messages, and their runs; none where nothing is folded."""
        runs = self._analysis.streams.columns["run"]
        if not self.on or runs.strides[0] == 0:  # one value for all: there are no frames
            return np.zeros(0, np.int64), np.zeros(0, np.uint32)
        found = runs[messages]
        places = np.flatnonzero(found)
        return places, found[places]

    def _copies(self, messages: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places of the copies among some messages, and the messages that they are copies of."""
        capture = self._analysis.capture
        if not self.on or not capture.has_copies:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        of, copies = capture.repeats(messages.astype(np.int64))
        places = np.flatnonzero(copies)
        return places, of[places]

    def _heads_of(self, runs: NDArray[Any]) -> NDArray[np.uint32]:
        runs = runs.astype(np.int64)  # a narrow column holds no number as large as there are heads
        return np.where(runs < len(self._heads), self._heads[np.minimum(runs, len(self._heads) - 1)], 0)
