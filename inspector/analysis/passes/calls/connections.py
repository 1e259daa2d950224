"""Connections to MCP servers that were opened anew or initialized again: each begins another run of its client."""

from __future__ import annotations

from array import array
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import kinds
from inspector.store.columns.columns import GrowingColumns, places_among
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture


def connection_keys(capture: Capture, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number of the connection of each message: its source and its connection there."""
    columns = capture.columns
    return columns["source"][rows].astype(np.int64) << 32 | columns["connection"][rows]


class ClientRuns:
    """Counts the runs of MCP clients over each connection.

    A connection that is opened anew begins another run, and so does an `initialize` over one that was in use before.

    Attributes:
        begun: by number of a connection, the `initialize` requests that began another run, ascending.
    """

    def __init__(self, capture: Capture, links: GrowingColumns) -> None:
        self._capture = capture
        self._links = links  # of the correlation pass
        self.begun: dict[int, array[int]] = {}
        self._used: set[tuple[int, int]] = set()  # connections, and directions in which somebody has asked

    def feed(self, start: int, stop: int) -> None:
        """Takes in messages `start` to `stop`, whose methods are known. O(messages)."""
        columns, strings = self._capture.columns, self._capture.strings
        rows = columns["flags"][start:stop] & Flag.RPC.value != 0
        rows &= columns["kind"][start:stop] == (strings.find(kinds.REQUEST) or -1)
        discover = strings.find("server/discover") or -1
        rows &= columns["method"][start:stop] != discover  # a client may fall back from it to `initialize`
        asked = np.flatnonzero(rows) + start
        if not len(asked):
            return
        keys = connection_keys(self._capture, asked)
        directions = columns["direction"][asked].astype(np.int64)
        begins = self._links["method"][asked] == (strings.find("initialize") or -1)
        looked_at = (np.diff(keys, prepend=-1) != 0) | (np.diff(directions, prepend=-1) != 0) | begins
        for place in np.flatnonzero(looked_at).tolist():
            way = int(keys[place]), int(directions[place])
            if begins[place] and way in self._used:
                self.begun.setdefault(int(keys[place]), array("i")).append(int(asked[place]))
            self._used.add(way)

    def generation(self, row: int) -> int:
        """The number of the run over its pipe that a message of JSON-RPC belongs to, from 0."""
        source, connection = (int(self._capture.columns[name][row]) for name in ("source", "connection"))
        begun = self.begun.get(source << 32 | connection) if self.begun else None
        before = self._capture.connection_generation(source, connection)
        return before + (bisect_right(begun, row) if begun is not None else 0)

    def ended_by(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) the message that began another run over the connection of each message, later than it; NO_ROW.

        Args:
            rows: messages that are looked at, ascending.
        """
        opened = opened_anew(self._capture, rows)
        begun = [(key, row) for key, later in self.begun.items() for row in later if len(rows) and row <= rows[-1]]
        found = np.full(len(rows), NO_ROW, np.int64)
        if not opened and not begun:
            return found
        keys = connection_keys(self._capture, rows)
        changes = np.array(sorted([*opened.items(), *begun]), np.int64)
        known, at = np.unique(changes[:, 0], return_inverse=True)
        places, is_known = places_among(keys, known)
        sought = np.flatnonzero(is_known)
        following = np.searchsorted(at << 32 | changes[:, 1], places[sought] << 32 | rows[sought], side="right")
        there = following < len(changes)
        sought, following = sought[there], following[there]
        same = at[following] == places[sought]
        found[sought[same]] = changes[following[same], 1]
        return found


def opened_anew(capture: Capture, rows: NDArray[np.int64]) -> dict[int, int]:
    """Connections that others took the place of, by number, with the first message of the one that did.

    Several connections side by side are several servers of one client; one takes the place of another where the same
    pipe of a source was opened again.

    Args:
        capture: whose.
        rows: messages that are looked at, ascending.
    """
    piped = rows[capture.columns["flags"][rows] & Flag.RPC.value != 0]
    keys = connection_keys(capture, piped)
    changed = np.flatnonzero(np.diff(keys, prepend=-1)) if len(keys) else np.zeros(0, np.int64)
    found, first = np.unique(keys[changed], return_index=True)
    ended: dict[int, int] = {}
    open_now: dict[tuple[int, int], int] = {}  # (source, which of its pipes) -> connection
    for place in np.sort(changed[first]).tolist() if len(found) > 1 else []:
        row, key = int(piped[place]), int(keys[place])
        pipe = int(capture.columns["source"][row]), capture.records.read(row).src
        before, open_now[pipe] = open_now.get(pipe), key
        if before is not None:
            ended[before] = row
    return ended
