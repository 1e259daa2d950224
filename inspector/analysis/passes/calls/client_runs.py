"""Detects MCP connections that were reopened or initialized again, since each starts another run of the client."""

from __future__ import annotations

from array import array
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import kinds
from inspector.store.columns.columns import GrowingColumns, locate_rows
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture


def connection_keys(capture: Capture, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns a unique number for the connection of each message: source << 32 | connection in that source."""
    columns = capture.columns
    return columns["source"][rows].astype(np.int64) << 32 | columns["connection"][rows]


class ClientRuns:
    """Counts the runs of MCP clients over each connection.

    A reopened connection starts another run, and so does an `initialize` over a connection that was in use.

    Attributes:
        begun: by connection number, the `initialize` requests that started another run, ascending.
    """

    def __init__(self, capture: Capture, links: GrowingColumns) -> None:
        self._capture = capture
        self._links = links  # of the correlation pass
        self.begun: dict[int, array[int]] = {}
        self._used_directions: set[tuple[int, int]] = set()  # connection and direction of earlier requests

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop` after their methods are known. O(stop - start)."""
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
        # Only the first row of each stretch over one connection and direction matters, and every `initialize`.
        looked_at = (np.diff(keys, prepend=-1) != 0) | (np.diff(directions, prepend=-1) != 0) | begins
        for place in np.flatnonzero(looked_at).tolist():
            way = int(keys[place]), int(directions[place])
            # An `initialize` in an unused direction begins the first run, not another one.
            if begins[place] and way in self._used_directions:
                self.begun.setdefault(int(keys[place]), array("i")).append(int(asked[place]))
            self._used_directions.add(way)

    def generation(self, row: int) -> int:
        """Returns the number of the run that a JSON-RPC message belongs to on its pipe, from 0."""
        source, connection = (int(self._capture.columns[name][row]) for name in ("source", "connection"))
        begun = self.begun.get(source << 32 | connection) if self.begun else None
        before = self._capture.connection_generation(source, connection)
        return before + (bisect_right(begun, row) if begun is not None else 0)

    def ended_by(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns (n,) the later message that started another run over the connection of each message, or NO_ROW.

        Args:
            rows: ascending messages.
        """
        opened = reopened_connections(self._capture, rows)
        begun = [(key, row) for key, later in self.begun.items() for row in later if len(rows) and row <= rows[-1]]
        found = np.full(len(rows), NO_ROW, np.int64)
        if not opened and not begun:
            return found
        keys = connection_keys(self._capture, rows)
        changes = np.array(sorted([*opened.items(), *begun]), np.int64)
        known, at = np.unique(changes[:, 0], return_inverse=True)
        places, is_known = locate_rows(keys, known)
        sought = np.flatnonzero(is_known)
        # Connection index and row in one number: a single search finds the next restart of the same connection.
        following = np.searchsorted(at << 32 | changes[:, 1], places[sought] << 32 | rows[sought], side="right")
        there = following < len(changes)
        sought, following = sought[there], following[there]
        same = at[following] == places[sought]
        found[sought[same]] = changes[following[same], 1]
        return found


def reopened_connections(capture: Capture, rows: NDArray[np.int64]) -> dict[int, int]:
    """Returns connections that another one replaced, by number, with the first message of the replacement.

    Several connections side by side are several servers of one client. A replacement is a connection that reopens the
    same pipe of a source.

    Args:
        capture: the capture of the messages.
        rows: ascending messages.
    """
    piped = rows[capture.columns["flags"][rows] & Flag.RPC.value != 0]
    keys = connection_keys(capture, piped)
    changed = np.flatnonzero(np.diff(keys, prepend=-1)) if len(keys) else np.zeros(0, np.int64)
    found, first = np.unique(keys[changed], return_index=True)
    ended: dict[int, int] = {}
    open_now: dict[tuple[int, int], int] = {}  # (source, its pipe) -> connection
    for place in np.sort(changed[first]).tolist() if len(found) > 1 else []:
        row, key = int(piped[place]), int(keys[place])
        pipe = int(capture.columns["source"][row]), capture.records.read_record(row).src
        before, open_now[pipe] = open_now.get(pipe), key
        if before is not None:
            ended[before] = row
    return ended
