"""What the column Time says: since the start, the time of day, since the message above, or since a chosen message."""

from __future__ import annotations

import numpy as np

from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.protocol.times import NO_TIME

MODES: tuple[tuple[str, str], ...] = (
    ("start", "Since the first message"),
    ("clock", "Time of day"),
    ("previous", "Since the message above"),
    ("mark", "Since the chosen message"),
)
"""Ids of the settings with the words of menus."""

_TITLES = {"start": "Time", "clock": "Time of day", "previous": "Interval"}
_WORDS = {"start": "Time since the first message", "clock": "Time of day", "previous": "Time since the message above"}
_LOOKED_AT = 4096


class Times:
    """The texts of the column Time.

    Attributes:
        reference: the message times are counted from, once one was chosen.
    """

    def __init__(self, document: CaptureDocument, rows: VisibleRows) -> None:
        self._document = document
        self._rows = rows
        self._start_ns = NO_TIME
        self._mode = "start"
        self.reference: int | None = None

    @property
    def mode(self) -> str:
        """The mode in force: without a chosen message times count from the first one."""
        return "start" if self._mode == "mark" and self.reference is None else self._mode

    def choose(self, mode: str, reference: int | None) -> bool:
        """Say something else; whether it is.

        Args:
            mode: an id of MODES.
            reference: the message "mark" counts from.
        """
        before = (self.mode, self.reference)
        self._mode, self.reference = mode, reference
        return before != (self.mode, self.reference)

    @property
    def title(self) -> str:
        """The head of the column."""
        return (
            f"Since {self.reference + 1}" if self.mode == "mark" and self.reference is not None else _TITLES[self.mode]
        )

    @property
    def words(self) -> str:
        """The head in words."""
        if self.mode == "mark" and self.reference is not None:
            return f"Time since {formats.message_number(self.reference)}"
        return _WORDS[self.mode]

    @property
    def start_ns(self) -> int:
        """Time of the first message that has one."""
        if self._start_ns == NO_TIME:
            times = self._document.capture.columns["time_ns"]
            known = np.flatnonzero(times[:_LOOKED_AT] != NO_TIME)
            if not len(known) and len(times) > _LOOKED_AT:
                known = np.flatnonzero(times != NO_TIME)
            if len(known):
                self._start_ns = int(times[known[0]])
        return self._start_ns

    def text(self, message: int) -> str:
        """The time of a message that is shown; "" where it, or what it counts from, is unknown. O(log rows)."""
        time_ns, mode = self._time(message), self.mode
        if mode == "clock":
            return formats.time_of_day(time_ns)
        if mode == "start":
            return formats.table_time(time_ns, self.start_ns)
        since = self.reference if mode == "mark" else self._rows.neighbour(message, -1)
        return "" if since is None else formats.table_time(time_ns, self._time(since))

    def story(self, message: int) -> str:
        """The day and time of a message, and the time since the first one; "" where it is unknown."""
        time_ns = self._time(message)
        if not formats.clock(time_ns):
            return ""
        since = formats.table_time(time_ns, self.start_ns)
        return f"{formats.day_and_time(time_ns)}\n{since} s since the first message" if since else ""

    def _time(self, message: int) -> int:
        return int(self._document.capture.columns["time_ns"][message])
