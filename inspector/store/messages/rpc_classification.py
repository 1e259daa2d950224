"""Separates connections of plain JSON-RPC, as of a language server, from connections of MCP.

RULE: a method that only MCP has, or an `initialize` with a version of MCP, makes a connection one of MCP. Otherwise a
method that MCP lacks makes it one of plain JSON-RPC. Without either it counts as MCP. A connection without any method,
as in a slice, is one of plain JSON-RPC if a result is no object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import kinds, mcp_messages
from inspector.protocol.mcp_notes import McpNote
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.columns.intern_table import InternTable

_Rows = NDArray[np.int64]
_Take = slice | NDArray[np.integer]
_RPC = np.uint32(Flag.RPC.value)


class RpcClassifier:
    """Classifies the connections of a capture, and names kinds of messages accordingly.

    Args:
        columns, strings: of the capture.
        notes: returns the notes of new JSON-RPC messages, by message.
    """

    def __init__(
        self, columns: GrowingColumns, strings: InternTable[str], notes: Callable[[], Mapping[int, McpNote]]
    ) -> None:
        self._columns, self._strings, self._notes = columns, strings, notes
        self._of_mcp: set[int] = set()
        self._foreign: set[int] = set()
        self._named: set[int] = set()  # connections with a method
        self._first: dict[int, int] = {}  # first message of each connection
        self._sorted = np.zeros(0, np.int64)
        self._moved: list[int] = []  # connections reclassified after their first messages were reported
        self._codes = (0, 0, 0)

    @property
    def is_empty(self) -> bool:
        """True if every connection counts as MCP."""
        return not self._foreign

    def classify_messages(self, start: int, stop: int) -> None:
        """Classifies connections by messages `start` to `stop`.

        O(messages) in numpy, plus one check per distinct method.
        """
        columns = self._columns
        rows = np.flatnonzero(columns["flags"][start:stop] & _RPC) + start
        if not len(rows):
            return
        keys, methods = self._keys(rows), columns["method"][rows]
        connections, places = (found.tolist() for found in np.unique(keys, return_index=True))
        for key, place in zip(connections, places, strict=True):
            self._first.setdefault(key, int(rows[place]))
        # Sorted by connection and method, so that each distinct pair is decided once.
        order = np.lexsort((methods, keys))
        is_other = np.diff(keys[order], prepend=-1) != 0
        is_other |= np.diff(methods[order].astype(np.int64), prepend=-1) != 0
        # In order of arrival, since the first decisive method counts.
        for place in np.sort(order[is_other]).tolist():
            key, code = int(keys[place]), int(methods[place])
            if code and key not in self._named:
                self._named.add(key)
                # A method outweighs the form of results.
                self._remove_foreign(key, start)
            if code and key not in self._of_mcp:
                self._decide(key, self._strings[code], int(rows[place]), start)
        if unnamed := [key for key in connections if key not in self._named and key not in self._foreign]:
            notes, places = self._notes(), np.isin(keys, unnamed)
            for key, row in zip(keys[places].tolist(), rows[places].tolist(), strict=True):
                if (note := notes.get(row)) is not None and note.is_foreign:
                    self._add_foreign(key, start)
        self._sorted = np.sort(np.fromiter(self._foreign, np.int64, len(self._foreign)))

    def _decide(self, key: int, method: str, row: int, start: int) -> None:
        # Other protocols have an `initialize` too, but without a version of MCP.
        note = self._notes().get(row) if method == "initialize" else None
        versioned = note is not None and note.params is not None and isinstance(note.params.version, str)
        if versioned or mcp_messages.is_own_method(method):
            self._of_mcp.add(key)
            self._remove_foreign(key, start)
        elif note is not None or not mcp_messages.is_shared_method(method):
            self._add_foreign(key, start)

    def _add_foreign(self, key: int, start: int) -> None:
        if key in self._foreign:
            return
        self._foreign.add(key)
        # Messages stored before were shown as the other protocol, so they must be relabelled.
        if self._first[key] < start:
            self._moved.append(key)
        # Interned at first need: most captures contain no other JSON-RPC.
        if not self._codes[0]:
            self._codes = tuple(map(self._strings.intern, kinds.OF_JSON_RPC))

    def _remove_foreign(self, key: int, start: int) -> None:
        if key in self._foreign and self._first[key] < start:
            self._moved.append(key)
        self._foreign.discard(key)

    def _keys(self, rows: _Take) -> _Rows:
        columns = self._columns
        return columns["source"][rows].astype(np.int64) << 32 | columns["connection"][rows]

    def are_foreign(self, rows: _Take) -> NDArray[np.bool_]:
        """Returns (n,) True for messages of plain JSON-RPC. O(rows)."""
        flags = self._columns["flags"][rows]
        if not self._foreign:
            return np.zeros(len(flags), np.bool_)
        return (flags & _RPC != 0) & np.isin(self._keys(rows), self._sorted)

    def is_foreign(self, message: int) -> bool:
        return bool(self._foreign) and bool(self.are_foreign(np.array([message]))[0])

    def kind_codes(self, rows: _Take) -> NDArray[np.uint32]:
        """Returns (n,) string ids of the displayed kinds, with own kinds for plain JSON-RPC. O(rows)."""
        codes = self._columns["kind"][rows]
        if not self._foreign:
            return codes
        foreign = self.are_foreign(rows)
        request, response, notification = self._codes
        asks = codes == (self._strings.find(kinds.REQUEST) or -1)
        own = np.where(self._columns["rpc_hash"][rows] == NO_HASH, notification, request)
        return np.where(foreign, np.where(asks, own, response), codes).astype(np.uint32)

    def kind_of(self, message: int) -> str:
        """Returns the displayed kind of a message."""
        return self._strings[int(self.kind_codes(np.array([message]))[0])]

    def take_changes(self) -> _Rows:
        """Returns and clears the messages of reclassified connections. O(messages), rarely."""
        if not self._moved:
            return np.zeros(0, np.int64)
        moved, self._moved = self._moved, []
        first = min(self._first[key] for key in moved)
        rows = np.arange(first, len(self._columns))
        return rows[(self._columns["flags"][first:] & _RPC != 0) & np.isin(self._keys(rows), moved)]
