"""Stores messages sorted by track and time; finds ranges, neighbours and the nearest message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.base.slices import SlicedWork

Rows = NDArray[Any]

_MESSAGES_PER_STEP = 1 << 16
"""Messages sorted per step."""

_MAX_EQUAL_TIMES = 4_096
"""Messages with equal time on a track that are searched when stepping off one."""


@dataclass(slots=True)
class Segment:
    """Sorted messages.

    Attributes:
        rows: (n,) int32, messages.
        times: (n,) int64, positions.
        begins, stops: (tracks,) int64, range of each track.
        changes: (n,) int32, increases by one where the family differs from the previous message's.
        shown: (n + 1,) int32, number of visible messages before each index; None if all are visible.
    """

    rows: Rows
    times: NDArray[np.int64]
    changes: NDArray[np.int32]
    begins: NDArray[np.int64]
    stops: NDArray[np.int64]
    shown: NDArray[np.int32] | None = None

    def part(self, track: int) -> tuple[int, int]:
        """Returns the range of a track."""
        if not 0 <= track < len(self.begins):
            return 0, 0
        return int(self.begins[track]), int(self.stops[track])

    def renumber(self, now: NDArray[np.int64], count: int) -> None:
        """Renumbers tracks.

        Args:
            now: (old tracks,) new number of each.
            count: number of tracks.
        """
        begins, stops = np.zeros(count, np.int64), np.zeros(count, np.int64)
        begins[now], stops[now] = self.begins, self.stops
        self.begins, self.stops = begins, stops

    def between(self, track: int, left: int, right: int) -> tuple[int, int]:
        """Returns the range of a track's messages between two times, the second excluded."""
        low, high = self.part(track)
        found = self.times[low:high].searchsorted(np.array([left, right], np.int64))
        return low + int(found[0]), low + int(found[1])

    def hidden(self, low: int, high: int) -> bool:
        """Returns True if the table shows no message of a range."""
        return self.shown is not None and self.shown[high] == self.shown[low]

    def mark_shown(self, shown: NDArray[np.bool_] | None) -> None:
        """Sets the messages visible in the table, (messages,) bool; None for all."""
        if shown is None:
            self.shown = None
            return
        self.shown = np.zeros(len(self.rows) + 1, np.int32)
        np.cumsum(shown[self.rows], out=self.shown[1:])


def sort_messages(
    rows: Rows, tracks: Rows, times: NDArray[np.int64], families: NDArray[np.uint8], count: int
) -> SlicedWork[Segment]:
    """Sorts messages.

    Args:
        rows: messages, ascending.
        tracks, times, families: of each message.
        count: number of tracks.
    """
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(tracks, minlength=count), out=offsets[1:])
    yield
    places = np.empty(len(rows), np.int64)
    filled = offsets[:-1].copy()
    for low in range(0, len(rows), _MESSAGES_PER_STEP):
        some = tracks[low : low + _MESSAGES_PER_STEP]
        if count <= 1 << 16:  # numpy sorts 16-bit values by counting
            some = some.astype(np.uint16)
        by_track, counts = np.argsort(some, kind="stable"), np.bincount(some, minlength=count)
        shift = filled - (np.cumsum(counts) - counts)
        places[shift[some[by_track]] + np.arange(len(some))] = by_track + low
        filled += counts
        yield
    yield from _sort_by_time(places, times, offsets)
    ordered_times = times[places]
    yield
    ordered = families[places]
    changes = np.zeros(len(ordered), np.int32)
    np.cumsum(ordered[1:] != ordered[:-1], out=changes[1:])
    yield
    return Segment(rows[places].astype(np.int32), ordered_times, changes, offsets[:-1].copy(), offsets[1:].copy())


def _sort_by_time(places: Rows, times: NDArray[np.int64], offsets: NDArray[np.int64]) -> SlicedWork[None]:
    """Sorts tracks with messages out of order by time."""
    # Most captures are in order, so that one pass replaces a sort of each track.
    if not len(times) or (times[1:] >= times[:-1]).all():
        return
    ordered = times[places]
    late = np.flatnonzero(ordered[1:] < ordered[:-1]) + 1
    tracks = offsets.searchsorted(late, side="right") - 1
    tracks = np.unique(tracks[late > offsets[tracks]])
    yield
    for low, high in zip(offsets[tracks].tolist(), offsets[tracks + 1].tolist(), strict=True):
        part = places[low:high]
        places[low:high] = part[np.argsort(times[part], kind="stable")]
        yield


def neighbour_message(segments: Sequence[Segment], track: int, ns: int, row: int, step: int) -> int | None:
    """Returns the message before (-1) or after (1) another one on its track, by time."""
    here = (ns, row)
    best: tuple[int, int] | None = None
    for segment in segments:
        low, high = segment.part(track)
        times = segment.times[low:high]
        place, stop = int(times.searchsorted(ns)), int(times.searchsorted(ns, side="right"))
        # Many messages may share one time, so the search is bounded.
        for n in {place - 1, *range(place, min(stop, place + _MAX_EQUAL_TIMES)), stop}:
            if 0 <= n < high - low:
                one = (int(times[n]), int(segment.rows[low + n]))
                further = one > here if step > 0 else one < here
                if further and (best is None or (one < best if step > 0 else one > best)):
                    best = one
    return None if best is None else best[1]


def nearest_message(segments: Sequence[Segment], track: int, ns: int) -> int | None:
    """Returns the message of a track nearest to a time."""
    best: tuple[int, int] | None = None
    for segment in segments:
        low, high = segment.part(track)
        place = int(segment.times[low:high].searchsorted(ns))
        for n in (place - 1, place):
            if 0 <= n < high - low:
                one = (abs(int(segment.times[low + n]) - ns), int(segment.rows[low + n]))
                best = one if best is None or one < best else best
    return None if best is None else best[1]
