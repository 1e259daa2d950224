"""Pairs calls that occur in two sources (`same_calls`), so that each is counted once.

Pairs are found as the document grows, a few at a time. A call waits for its request while it can still come. A found
pair stays.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.views.account.same_calls import (
    MAX_DISTANCE,
    MAX_DISTANCE_NS,
    MCP_LAYER,
    SameCallFinder,
    is_same_tool,
)
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.hashes import NO_ROW

_CALLS_PER_STEP = 64
"""Calls per step: some milliseconds."""


class CallPairs(SameCallFinder):
    """Maps requests to the calls of another source that caused them. Works only in `step`."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._fed = 0
        self._inner: dict[int, GrowingColumns] = {}  # by tool: possible inner calls
        self._tools: dict[int, list[int]] = {}  # by tool of a call: matching tools of inner calls
        self._due: deque[int] = deque()
        self._waiting: list[int] = []
        self._latest_ns = 0
        self._outer_of: dict[int, int] = {}
        self._taken: dict[tuple[int, int, str], set[int]] = {}

    @classmethod
    def find_all(cls, analysis: Analysis) -> CallPairs:
        """Returns the pairs of a document as it is now."""
        pairs = cls(analysis)
        while pairs.is_behind:
            pairs.step()
        return pairs

    @property
    def is_behind(self) -> bool:
        """True if messages are pending."""
        return len(self._capture.sources) > 1 and (self._fed < len(self._analysis) or bool(self._due))

    def outer_calls(self, rows: Rows) -> Rows:
        """(n,) the call in another source that caused each request; NO_ROW without one."""
        if not self._outer_of:
            return np.full(len(rows), NO_ROW, np.int64)
        return np.array([self._outer_of.get(row, NO_ROW) for row in rows.tolist()], np.int64)

    def step(self) -> Rows:
        """Takes in new messages and checks some calls. Returns requests with a newly found call, ascending."""
        if self._fed < len(self._analysis):
            self._take_in(self._fed, len(self._analysis))
        found: list[int] = []
        for _ in range(min(_CALLS_PER_STEP, len(self._due))):
            outer = self._due.popleft()
            pair = self.inner_of(outer) if self._codes(outer) else None
            if pair is not None:
                self._outer_of[pair.inner] = outer
                found.append(pair.inner)
            # The matching request may still arrive.
            elif int(self._capture.columns["time_ns"][outer]) >= self._latest_ns - MAX_DISTANCE_NS:
                self._waiting.append(outer)
        return np.unique(np.array(found, np.int64)) if found else NO_ROWS

    def _take_in(self, start: int, stop: int) -> None:
        self._fed = stop
        rows = self.calls_between(start, stop)
        if not len(rows):
            return
        layers, targets = self.layers(rows), self._links["target"][rows]
        self._latest_ns = max(self._latest_ns, int(self._capture.columns["time_ns"][rows].max()))
        inner = rows[layers > 0]
        for code in np.unique(targets[layers > 0]).tolist():
            if code not in self._inner:
                self._inner[code] = GrowingColumns({"row": np.int64})
                # A new inner tool may match names that had no match before.
                self._tools.clear()
            self._inner[code].append({"row": inner[self._links["target"][inner] == code]})
        if len(inner):  # waiting calls may have a match now
            self._due.extend(self._waiting)
            self._waiting.clear()
        self._due.extend(rows[layers < MCP_LAYER].tolist())

    def _codes(self, outer: int) -> list[int]:
        """Returns the tools of requests that may belong to a tool call."""
        code, strings = int(self._links["target"][outer]), self._capture.strings
        found = self._tools.get(code)
        if found is None:
            found = [one for one in self._inner if one and is_same_tool(strings[code], strings[one])]
            self._tools[code] = found
        return found

    def _candidates(self, message: int, *, outward: bool) -> Rows:
        known = [self._inner[code]["row"] for code in self._codes(message)]
        near = [
            rows[rows.searchsorted(message - MAX_DISTANCE) : rows.searchsorted(message + MAX_DISTANCE)]
            for rows in known
        ]
        return np.sort(np.concatenate(near)).astype(np.int64)

    def _first_free(self, outer: int, arguments: str, inner: list[int]) -> int | None:
        key = self._source(outer), int(self._links["target"][outer]), arguments
        taken = self._taken.setdefault(key, set())
        found = next((row for row in inner if row not in taken and self._is_during(outer, row)), None)
        if found is not None:
            taken.add(found)
        return found
