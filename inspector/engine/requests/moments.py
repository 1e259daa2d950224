"""Times of messages, and the shown message nearest to a time, for two documents with one clock."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.protocol.timestamps import NO_TIME


class TimeOfMessage(Request[int], frozen=True):
    """The time of a message in nanoseconds since the Unix epoch, or `NO_TIME`."""

    is_urgent: ClassVar[bool] = True
    message: int


class FindMessageAt(Request[int | None], frozen=True):
    """The message of a view that is nearest to a time; None without a message with a time.

    Attributes:
        view: number of the view.
        time_ns: nanoseconds since the Unix epoch.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    time_ns: int


def _time(held: OpenDocument, asked: TimeOfMessage) -> int:
    times = held.document.capture.columns["time_ns"]
    return int(times[asked.message]) if 0 <= asked.message < len(held.document.capture) else NO_TIME


def _find(held: OpenDocument, asked: FindMessageAt) -> int | None:
    shown = held.view(asked.view).rows.visible
    times = held.document.capture.columns["time_ns"][shown].astype(np.int64)
    known = np.flatnonzero(times != NO_TIME)
    if not len(known):
        return None
    # As floats: differences of times far apart exceed 64 bits.
    distances = np.abs(times[known].astype(np.float64) - float(asked.time_ns))
    nearest = known[np.flatnonzero(distances == distances.min())]
    # The precision of floats at today's times is 256 ns, so candidates are compared exactly.
    return int(shown[min(nearest, key=lambda place: abs(int(times[place]) - asked.time_ns))])


QUERIES = (Query(TimeOfMessage, int, _time), Query(FindMessageAt, int | None, _find))
