"""Which messages are MCP: checks of JSON-RPC in general leave those to the checks of MCP; one fault is told once."""

from __future__ import annotations

import numpy as np

from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.passes.calls.connections import connection_keys
from inspector.analysis.passes.changes import Rows
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

TWICE = Check(
    "mcp-answer-twice", WARNING, "Request of MCP answered twice",
    "{other} was answered before.",
    "A client may take the second answer for that of another request, or put it in the first one's place.",
    "Answer each request once; a stream that is resumed repeats an event under its own id.",
    "JSON-RPC 2.0, 5: one response for each request",
)  # fmt: skip
TO_NOTHING = Check(
    "mcp-answer-to-nothing", NOTE, "Answer to nothing that was asked",
    "It answers an id that nobody asked under in this session.",
    "Whoever asked goes on waiting; the answer may belong to another session.",
    "Copy the id of the request unchanged: 7 and \"7\" differ.",
    "JSON-RPC 2.0, 5: the id of the response is that of its request",
)  # fmt: skip
UNANSWERED = Check(
    "mcp-unanswered", WARNING, "Request of MCP without an answer",
    "{call} has had no answer for more than {limit} s.",
    "The client waits, or has given up without saying so.",
    "Look at what the server does with it, and whether it is still there.",
    "MCP 2025-06-18, Lifecycle, timeouts; TypeScript SDK 2.4: 60 s", limit=60,
)  # fmt: skip
CHECKS = (TWICE, UNANSWERED, TO_NOTHING)

_MOST_ALIVE = 100_000
_OURS = np.uint32((Flag.RPC | Flag.UNREADABLE).value)


class McpRows:
    """What is known to be MCP.

    Attributes:
        first: by number of a connection, the first message that is known to be.
        whole: connections of which the beginning was seen.
        noise: lines of servers that are no message, of which one finding for all of a connection tells.
    """

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.whole: set[int] = set()
        self.noise: set[int] = set()
        self._alive: dict[int, int] = {}  # by request that is open, when something was last said of it, nanoseconds
        self._stirred: list[int] = []

    def stir(self, request: int, time_ns: int) -> None:
        """Something is said of a request that has no answer yet: whoever asked waits from then on."""
        if time_ns > self._alive.get(request, NO_TIME):
            self._alive[request] = time_ns
            self._stirred.append(request)
            if len(self._alive) > _MOST_ALIVE:
                del self._alive[next(iter(self._alive))]

    def end(self, request: int) -> None:
        """A request was answered."""
        self._alive.pop(request, None)

    def take_stirred(self, before: int) -> Rows:
        """Requests of which something was said since this was asked, of the messages before one."""
        rows = np.unique(np.array(self._stirred, np.int64))
        self._stirred.clear()
        return rows[rows < before]

    def alive_at(self, capture: Capture, rows: Rows) -> np.ndarray:
        """(n,) when each of some requests was made, or something was last said of it; NO_TIME."""
        times = capture.columns["time_ns"][rows].copy()
        if self._alive:
            times = np.maximum(times, np.array([self._alive.get(row, NO_TIME) for row in rows.tolist()], np.int64))
        return times

    def are_ours(self, capture: Capture, rows: Rows) -> np.ndarray:
        """(n,) bool, which of some messages are, or stand where such a message should. O(n)."""
        found = np.zeros(len(rows), np.bool_)
        if not self.first or not len(rows):
            return found
        some = np.flatnonzero(capture.columns["flags"][rows] & _OURS != 0)
        keys = connection_keys(capture, rows[some])
        for key in np.unique(keys).tolist():
            first = self.first.get(key)
            if first is not None:
                mine = some[keys == key]
                found[mine] = rows[mine] >= first
        return found

    def began(self, capture: Capture, rows: Rows) -> np.ndarray:
        """(n,) bool, of which of some messages the connection was seen from its beginning. O(n)."""
        keys = connection_keys(capture, rows).tolist()
        return np.array([key in self.whole for key in keys], np.bool_)
