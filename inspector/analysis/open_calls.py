"""Requests that wait for an answer, found by their JSON-RPC id: rule 4 of protocols.md 3.

Nothing is listed before somebody answers without naming a request, which in MEW traffic nobody does.
"""

from __future__ import annotations

import numpy as np

from inspector.capture.capture import Capture
from inspector.capture.columns import GrowingColumns
from inspector.capture.hashes import NO_HASH, NO_ROW
from inspector.protocol import kinds

_LOOKED_AT = 64  # open requests with one JSON-RPC id and sender; more of them are no conversation


class OpenCalls:
    """Finds the request an answer without correlation id belongs to.

    Args:
        links: the columns of the correlation pass; `answer` is read.
    """

    def __init__(self, capture: Capture, links: GrowingColumns) -> None:
        self._capture = capture
        self._links = links
        self._open: dict[tuple[int, int], list[int]] = {}
        self._listed = 0

    def asked_by(self, row: int) -> int:
        """The latest unanswered request with this JSON-RPC id, between the same two, the other way; NO_ROW."""
        columns = self._capture.columns
        rpc, sender = int(columns["rpc_hash"][row]), int(columns["sender"][row])
        if not rpc:
            return NO_ROW
        self._list_until(row)
        known = (self._capture.strings.find(receiver) for receiver in self._capture.to(row))
        askers = [r for r in known if r is not None] or ([] if sender else [0])
        best, best_key = NO_ROW, (0, 0)
        for key in [(rpc, asker) for asker in askers]:
            found = next((r for r in self._unanswered(key, row) if self._addressed(r, row, sender)), NO_ROW)
            if found > best:
                best, best_key = found, key
        if best != NO_ROW:
            self._forget(best_key, best)
        return best

    def _list_until(self, row: int) -> None:
        columns = self._capture.columns
        start, self._listed = self._listed, max(row, self._listed)
        request = self._capture.strings.find(kinds.REQUEST) or -1
        wanted = (columns["kind"][start:row] == request) & (columns["rpc_hash"][start:row] != NO_HASH)
        for place in (np.flatnonzero(wanted) + start).tolist():
            key = (int(columns["rpc_hash"][place]), int(columns["sender"][place]))
            self._open.setdefault(key, []).append(place)

    def _unanswered(self, key: tuple[int, int], row: int) -> list[int]:
        """Requests nobody had answered before `row`, latest first; those found answered are forgotten."""
        listed = self._open.get(key)
        if listed is None:
            return []
        answers = self._links["answer"]
        found: list[int] = []
        place = len(listed)
        while place and len(found) < _LOOKED_AT:
            place -= 1
            answer = answers[listed[place]]
            if answer == NO_ROW or answer > row:
                found.append(listed[place])
        listed[place:] = reversed(found)
        return found

    def _addressed(self, request: int, response: int, responder: int) -> bool:
        """Whether a request went to whom the response comes from."""
        columns = self._capture.columns
        if responder:
            return self._capture.strings[responder] in self._capture.to(request)
        # A line of MCP stdio names nobody: the other side of the same connection (protocols.md 13).
        ways = {int(columns["direction"][row]) for row in (request, response)}
        one_way = len(ways) == 1 and ways != {0}
        same = columns["source"][request] == columns["source"][response]
        return bool(same) and not one_way and not self._capture.to(request)

    def _forget(self, key: tuple[int, int], request: int) -> None:
        listed = self._open[key]
        listed.remove(request)
        if not listed:
            del self._open[key]
