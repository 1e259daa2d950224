"""Detects traffic that began before the capture: ends without beginnings, senders present without a join.

The first welcome of a space in a capture of this program lists the participants then present. Logs of other programs
are assumed to be complete.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.findings.check import NOTE, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.protocol.timestamps import NO_TIME
from inspector.store.messages.capture import Capture

EARLY_S = 60
"""Seconds after the welcome in which answers and decisions may refer to earlier messages."""

BEGAN_BEFORE_CAPTURE = Check(
    "began-before-capture", NOTE, "Began before this capture",
    "{who} was present before this capture began, so this {detail} may have begun earlier.",
    "Its beginning is unknown.",
    "Start recording before the participants join, or open the gateway's log.",
    "Context Inspector, captures",
    example="answer",
)  # fmt: skip
CHECKS = (BEGAN_BEFORE_CAPTURE,)


@dataclass(frozen=True, slots=True)
class _Welcome:
    row: int
    time_ns: int
    present: frozenset[int]
    lists_streams: bool


class CaptureBeginnings:
    """Knows the participants that were in a space when its capture began."""

    def __init__(self, capture: Capture, trust: TrustPass) -> None:
        self._capture = capture
        self._impersonation = trust
        self._welcomes: dict[int, _Welcome | None] = {}
        self._joined: dict[tuple[int, str], int] = {}  # by space and name: the message that shows the join
        self._first_joins: dict[int, int] = {}  # by space
        self._listed = 0

    def feed(self, welcomes: Rows, stop: int) -> None:
        """Takes in messages up to `stop`. `welcomes` are the new welcomes; the first of each space counts."""
        self._list_joins(stop)
        for row in welcomes.tolist():
            space = int(self._capture.columns["space"][row])
            if space not in self._welcomes and self._impersonation.is_gateway(row):
                self._welcomes[space] = _read_welcome(self._capture, row)

    def senders_were_present(self, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for senders that were present before the capture began."""
        found = np.zeros(len(rows), np.bool_)
        spaces, senders = self._capture.columns["space"][rows], self._capture.columns["sender"][rows]
        for space in np.unique(spaces).tolist() if self._welcomes else ():
            welcome = self._welcomes.get(space)
            if welcome is not None:
                found |= (spaces == space) & (rows > welcome.row) & np.isin(senders, list(welcome.present))
        return found

    def are_early(self, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for messages of such senders soon after the capture began."""
        found = self.senders_were_present(rows)
        for place in np.flatnonzero(found).tolist():
            found[place] = self._is_early(int(rows[place]))
        return found

    def _is_early(self, row: int) -> bool:
        columns = self._capture.columns
        welcome, time = self._welcomes.get(int(columns["space"][row])), int(columns["time_ns"][row])
        if welcome is None or NO_TIME in (time, welcome.time_ns):
            return False
        return time - welcome.time_ns <= EARLY_S * 1_000_000_000

    def joined_before(self, row: int, names: Collection[str]) -> bool:
        """Returns True if one of the names joined before this message; without names, any participant."""
        space = int(self._capture.columns["space"][row])
        first = (self._joined.get((space, name), row) for name in names)
        return min(first, default=self._first_joins.get(space, row)) < row

    def _list_joins(self, stop: int) -> None:
        start, self._listed = self._listed, max(stop, self._listed)
        columns, strings = self._capture.columns, self._capture.strings
        codes = [code for code in map(strings.find, _JOINS) if code is not None]
        for place in (np.flatnonzero(are_any_of(columns["kind"][start:stop], codes)) + start).tolist():
            space = int(columns["space"][place])
            trusted = strings[int(columns["kind"][place])] == "system/join" or self._impersonation.is_gateway(place)
            for name in _joiners(self._capture, place) if trusted else ():
                self._joined.setdefault((space, name), place)
                self._first_joins.setdefault(space, place)

    def stream_may_be_older(self, row: int) -> bool:
        """Returns True if a frame may belong to an older stream, as the welcome lists no open streams."""
        welcome = self._welcomes.get(int(self._capture.columns["space"][row]))
        return welcome is not None and not welcome.lists_streams and row > welcome.row and self._is_early(row)


_JOINS = ("system/welcome", "system/presence", "system/join")


def _joiners(capture: Capture, row: int) -> tuple[str, ...]:
    """Returns the participants that join by a message."""
    kind, sender = capture.string("kind", row), capture.string("sender", row)
    if kind == "system/join":
        return (sender,) if sender else ()
    if kind == "system/welcome":
        return capture.recipients(row)
    payload = capture.records.decoded_record(row).payload
    who = payload.get("participant")
    name = who.get("id") if isinstance(who, Mapping) else None
    return (name,) if payload.get("event") == "join" and isinstance(name, str) else ()


def _read_welcome(capture: Capture, row: int) -> _Welcome | None:
    """Reads a welcome; None if no participant was present, or if this program did not record the capture."""
    if not capture.sources[int(capture.columns["source"][row])].origin:
        return None
    payload = capture.records.decoded_record(row).payload
    named, you = payload.get("participants"), payload.get("you")
    own = you.get("id") if isinstance(you, Mapping) else None
    names = [item.get("id") for item in named if isinstance(item, Mapping)] if isinstance(named, list) else []
    strings = capture.strings
    present = frozenset(strings.intern(name) for name in names if isinstance(name, str) and name and name != own)
    streams = isinstance(payload.get("active_streams"), list)
    return _Welcome(row, int(capture.columns["time_ns"][row]), present, streams) if present else None
