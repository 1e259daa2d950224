"""Folds frames of a stream, and copies of a message, into one row.

The row of a stream is its first frame that passes filter and scope; it stands for all such frames and shows the whole
stream's state. A copy folds into its original if that passes too. If the user asks for single frames or copies, by a
filter or the setting, folding is off.
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

NO_MESSAGES: Messages = np.empty(0, np.uint32)


class GrowingArray:
    """An ascending array that grows mostly at its end; then only the new part is copied."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._room = values
        self._count = len(values)

    @property
    def values(self) -> NDArray[Any]:
        """A view of the values; later additions do not change it."""
        return self._room[: self._count]

    def add(self, more: NDArray[Any]) -> None:
        """Adds ascending values that it does not contain."""
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


_SMALL_ARRAY = 4_096


def _first_of_each(runs: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the first index of each number, in no order."""
    if len(runs) < _SMALL_ARRAY:
        return np.unique(runs, return_index=True)[1]
    places = np.full(int(runs.max()) + 1, -1, np.int64)
    places[runs[::-1]] = np.arange(len(runs) - 1, -1, -1)  # numpy keeps the last of several values for one index
    return places[places >= 0]


def is_member(some: NDArray[np.int64], messages: Messages) -> NDArray[np.bool_]:
    """Returns (n,) True for each of `some` that is among ascending messages. O(n log messages)."""
    if not len(messages):
        return np.zeros(len(some), np.bool_)
    return messages[np.minimum(messages.searchsorted(some.astype(np.uint32)), len(messages) - 1)] == some


class Folding:
    """Maps stream frames and copies to their rows.

    Attributes:
        on: frames and copies are folded.
        hides_bookkeeping: bookkeeping has no rows.
        bookkeeping: number of bookkeeping messages among the filtered ones.

    Args:
        analysis: the analysis of the messages.
        chosen: returns the filtered messages so far, ascending.
    """

    def __init__(self, analysis: Analysis, chosen: Callable[[], Messages] = lambda: NO_MESSAGES) -> None:
        self._analysis = analysis
        self._chosen = chosen
        self._heads = np.zeros(1, np.uint32)  # by run: the message with the stream's row, from 1; 0 for no row
        self.on = True
        self.hides_bookkeeping = False
        self.bookkeeping = 0

    def begin(self, chosen: Messages) -> Messages:
        """Folds all filtered messages anew and returns the ones with a row. O(messages)."""
        self._heads = np.zeros(1, np.uint32)
        self.bookkeeping = 0
        rows = self.unfolded_messages(chosen, anew=True)
        self.append_messages(chosen)
        return rows

    def unfolded_messages(self, chosen: Messages, *, anew: bool = False) -> Messages:
        """Returns the messages with a row of their own among new ones; the same array if all have one.

        Args:
            chosen: filtered messages, ascending, after all earlier ones.
            anew: there are no earlier ones.
        """
        kept = np.ones(len(chosen), np.bool_)
        places, runs = self._frames(chosen)
        if len(places):
            heads = np.zeros(len(runs), np.bool_)
            heads[_first_of_each(runs)] = True
            if not anew:
                # A stream that already has a row takes no second one.
                heads &= self._heads_of(runs) == 0
            kept[places[~heads]] = False
        places, originals = self._copies(chosen)
        if len(places):
            there = is_member(originals, chosen)
            if not anew:
                # The original may have arrived earlier than these messages.
                there |= is_member(originals, self._chosen())
            kept[places[there]] = False
        if self.hides_bookkeeping:
            kept &= ~are_bookkeeping(self._analysis.capture, chosen)
        return chosen if kept.all() else chosen[kept]

    def grown_rows(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the rows, ascending, that some folded messages belong to."""
        _, runs = self._frames(messages)
        heads = np.unique(self._heads_of(runs)).astype(np.int64)
        _, originals = self._copies(messages)
        return np.union1d(heads[heads > 0] - 1, originals)

    def append_messages(self, chosen: Messages) -> None:
        """Records new filtered messages, after all earlier ones."""
        self.bookkeeping += int(np.count_nonzero(are_bookkeeping(self._analysis.capture, chosen)))
        places, runs = self._frames(chosen)
        if not len(places):
            return
        first = _first_of_each(runs)
        found = runs[first]
        most = int(found.max())
        if most >= len(self._heads):
            # Doubling: numbers of runs grow by one with each new stream.
            wider = np.zeros(max(most + 1, 2 * len(self._heads)), np.uint32)
            wider[: len(self._heads)] = self._heads
            self._heads = wider
        new = self._heads[found] == 0
        self._heads[found[new]] = chosen[places[first[new]]] + 1

    def head_of(self, message: int) -> int | None:
        """Returns the message whose row represents a frame or copy, if any."""
        runs = self._analysis.streams.columns["run"]
        if not self.on or message >= len(runs):
            return None
        _, originals = self._copies(np.array([message]))
        if len(originals):
            return int(originals[0]) if is_member(originals, self._chosen())[0] else None
        run = int(runs[message])
        head = int(self._heads[run]) if NO_RUN < run < len(self._heads) else 0
        return head - 1 if head else None

    def heads_of(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        """Returns (n,) for each message the message with its row; itself if it is not folded."""
        found = messages.astype(np.int64)
        places, runs = self._frames(messages)
        heads = self._heads_of(runs).astype(np.int64)
        found[places[heads > 0]] = heads[heads > 0] - 1
        places, originals = self._copies(messages)
        there = is_member(originals, self._chosen())
        found[places[there]] = originals[there]
        return found

    def _frames(self, messages: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Returns indices of the frames among some messages, and their runs; empty if folding is off."""
        runs = self._analysis.streams.columns["run"]
        if not self.on or runs.strides[0] == 0:  # one value for all: there are no frames
            return np.zeros(0, np.int64), np.zeros(0, np.uint32)
        found = runs[messages]
        places = np.flatnonzero(found)
        return places, found[places]

    def _copies(self, messages: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns indices of the copies among some messages, and their originals."""
        capture = self._analysis.capture
        if not self.on or not capture.has_copies:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        of, copies = capture.repeated_messages(messages.astype(np.int64))
        places = np.flatnonzero(copies)
        return places, of[places]

    def _heads_of(self, runs: NDArray[Any]) -> NDArray[np.uint32]:
        runs = runs.astype(np.int64)  # a narrow dtype could not hold the number of heads
        return np.where(runs < len(self._heads), self._heads[np.minimum(runs, len(self._heads) - 1)], 0)
