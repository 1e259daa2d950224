"""Tracks messages known to be MCP; declares checks of their answers: missing, twice, to nothing."""

from __future__ import annotations

import numpy as np

from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

ANSWERED_TWICE = Check(
    "mcp-answer-twice", WARNING, "MCP request answered twice",
    "{other} already has an answer.",
    "A client may assign the second answer to another request, or replace the first one with it.",
    "Answer each request once. A resumed stream repeats an event under the same event id.",
    "JSON-RPC 2.0, 5: one response for each request",
)  # fmt: skip
UNKNOWN_REQUEST = Check(
    "mcp-answer-to-nothing", NOTE, "Answer without a request",
    "It answers an id that no request of this session has.",
    "The client keeps waiting; the answer may belong to another session.",
    "Copy the id of the request unchanged: 7 and \"7\" differ.",
    "JSON-RPC 2.0, 5: the id of the response is that of its request",
)  # fmt: skip
UNANSWERED = Check(
    "mcp-unanswered", WARNING, "MCP request without an answer",
    "{call} has had no answer for more than {limit} s.",
    "The client still waits, or has given up without a message.",
    "Check that the server is running and how it handles the request.",
    "MCP 2025-06-18, Lifecycle, timeouts; TypeScript SDK 2.4: 60 s", limit=60,
)  # fmt: skip
CHECKS = (ANSWERED_TWICE, UNANSWERED, UNKNOWN_REQUEST)

# Requests with progress and without an answer stay for as long as the capture.
_MAX_ALIVE = 100_000
_CANDIDATE_FLAGS = np.uint32((Flag.RPC | Flag.UNREADABLE).value)


class McpRows:
    """Connections and requests known to be MCP.

    Attributes:
        first: by connection number, the first message known to be MCP.
        whole: connections seen from their beginning.
        noise: server lines that are no messages; one finding per connection covers them.
    """

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.whole: set[int] = set()
        self.noise: set[int] = set()
        self._alive: dict[int, int] = {}  # by open request: last sign of life, nanoseconds
        self._progressed: list[int] = []

    def note_progress(self, request: int, time_ns: int) -> None:
        """Notes progress of an open request; its wait starts anew."""
        if time_ns > self._alive.get(request, NO_TIME):
            self._alive[request] = time_ns
            self._progressed.append(request)
            if len(self._alive) > _MAX_ALIVE:
                del self._alive[next(iter(self._alive))]

    def end(self, request: int) -> None:
        """Notes that a request was answered."""
        self._alive.pop(request, None)

    def take_progressed(self, before: int) -> Rows:
        """Returns and clears the requests with progress since the last call, among messages before `before`."""
        rows = np.unique(np.array(self._progressed, np.int64))
        self._progressed.clear()
        return rows[rows < before]

    def wait_starts(self, capture: Capture, rows: Rows) -> np.ndarray:
        """(n,) nanoseconds: time of each request, or of its last progress if later; NO_TIME if unknown."""
        times = capture.columns["time_ns"][rows].copy()
        if self._alive:
            times = np.maximum(times, np.array([self._alive.get(row, NO_TIME) for row in rows.tolist()], np.int64))
        return times

    def are_mcp(self, capture: Capture, rows: Rows) -> np.ndarray:
        """(n,) bool: True for MCP messages and for unreadable lines in their place. O(n)."""
        found = np.zeros(len(rows), np.bool_)
        if not self.first or not len(rows):
            return found
        some = np.flatnonzero(capture.columns["flags"][rows] & _CANDIDATE_FLAGS != 0)
        keys = connection_keys(capture, rows[some])
        for key in np.unique(keys).tolist():
            first = self.first.get(key)
            if first is not None:
                mine = some[keys == key]
                found[mine] = rows[mine] >= first
        return found

    def began(self, capture: Capture, rows: Rows) -> np.ndarray:
        """(n,) bool: True for messages whose connection was seen from its beginning. O(n)."""
        keys = connection_keys(capture, rows).tolist()
        return np.array([key in self.whole for key in keys], np.bool_)
