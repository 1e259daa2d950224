"""A stretch of generated messages that is repeated with its own ids and times, some GB a minute."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tests.bench.story import BLOCK_MARK, TIME_MARK

START_MS = 1_767_603_600_000
"""2026-01-05T09:00:00Z, milliseconds since the Unix epoch."""

_PAUSE_MS = 200
"""Between the last message of a repetition and the first of the next."""


class Template:
    """Messages as bytes with marks in them; `block` gives the n-th repetition.

    Attributes:
        ends: (messages + 1,) int64, where each message begins, and the end of the last.
    """

    def __init__(self, messages: list[bytes], times_ms: list[int]) -> None:
        """Find the marks.

        Args:
            messages: the bytes of each message, as they stand in a file or on a wire.
            times_ms: when each was said, since the beginning of a repetition.
        """
        data = b"".join(messages)
        self.ends = np.concatenate(([0], np.cumsum([len(message) for message in messages])))
        self._data = np.frombuffer(bytearray(data), np.uint8)
        self._times_ms = np.array(times_ms, np.int64)
        self._blocks = _places(data, BLOCK_MARK)
        self._times = _places(data, TIME_MARK)
        self._time_of = np.searchsorted(self.ends, self._times[:, 0], "right") - 1

    def __len__(self) -> int:
        return len(self.ends) - 1

    def times_ms(self, number: int) -> NDArray[np.int64]:
        """When the messages of a repetition were said, in the story's own pace, since the Unix epoch."""
        return START_MS + number * (self._times_ms[-1] + _PAUSE_MS) + self._times_ms

    def block(self, number: int, times_ms: NDArray[np.int64] | None = None) -> memoryview:
        """The bytes of a repetition; they are good until the next call.

        Args:
            number: which one, 0 to 99,999.
            times_ms: (messages,) int64, to be written as times, milliseconds since the Unix epoch; default: the
                story's own pace.
        """
        times = self.times_ms(number) if times_ms is None else times_ms
        self._data[self._blocks] = np.frombuffer(b"%05d" % number, np.uint8)
        stamps = np.datetime_as_string(times.astype("datetime64[ms]")).astype("S23").view(np.uint8).reshape(-1, 23)
        self._data[self._times[:, :23]] = stamps[self._time_of]
        self._data[self._times[:, 23]] = ord("Z")
        return self._data.data

    def size(self, messages: int) -> int:
        """Bytes that so many messages take, over as many repetitions as they need."""
        whole, rest = divmod(messages, len(self))
        return whole * int(self.ends[-1]) + int(self.ends[rest])


def _places(data: bytes, mark: str) -> NDArray[np.int64]:
    """(marks, characters) int64: the place of every character of every mark."""
    starts = np.array([found.start() for found in re.finditer(re.escape(mark.encode()), data)], np.int64)
    return starts[:, None] + np.arange(len(mark))
