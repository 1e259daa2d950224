"""Requests that wait for an answer, found by their JSON-RPC id: rule 4 of protocols.md 3.

Nothing is listed before somebody answers without naming a request, which in MEW traffic nobody does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inspector.capture.capture import Capture
from inspector.capture.columns import GrowingColumns
from inspector.capture.hashes import NO_HASH, NO_ROW
from inspector.protocol import kinds

_WAYS = 16  # directions of one connection that are looked at; a pipe has two

_Key = tuple[int, int, str | int, int]
"""JSON-RPC id (its hash), asker and who was asked. Asked is a participant; for a line of MCP stdio, which names
nobody, it is its source, and the last number is the direction the line went."""


class OpenCalls:
    """Finds the request an answer without correlation id belongs to. O(recipients) an answer.

    Args:
        links: the columns of the correlation pass; `answer` is read.
    """

    def __init__(self, capture: Capture, links: GrowingColumns) -> None:
        self._capture = capture
        self._links = links
        self._open: dict[_Key, list[int]] = {}
        self._ways: dict[int, dict[int, None]] = {}  # directions by source, of requests that name nobody
        self._listed = 0

    def asked_by(self, row: int) -> int:
        """The latest unanswered request with this JSON-RPC id, between the same two, the other way; NO_ROW.

        Args:
            row: the answer; rows asked for ascend.
        """
        rpc = int(self._capture.columns["rpc_hash"][row])
        if not rpc:
            return NO_ROW
        self._list_until(row)
        best = NO_ROW
        for key in self._keys_of_answer(rpc, row):
            best = max(best, self._latest(key, row))
        return best

    def _keys_of_answer(self, rpc: int, row: int) -> Iterator[_Key]:
        """What the requests are listed under that an answer may belong to."""
        columns = self._capture.columns
        sender = int(columns["sender"][row])
        known = (self._capture.strings.find(receiver) for receiver in self._capture.to(row))
        askers = dict.fromkeys(asker for asker in known if asker is not None)
        if sender:
            name = self._capture.strings[sender]
            yield from ((rpc, asker, name, 0) for asker in askers)
            return
        # A line of MCP stdio names nobody: the other side of the same connection (protocols.md 13).
        source, way = int(columns["source"][row]), int(columns["direction"][row])
        for asker in askers or (0,):
            yield from ((rpc, asker, source, other) for other in self._ways.get(source, ()) if not way or other != way)

    def _list_until(self, row: int) -> None:
        """List the requests before `row` that nobody has answered yet."""
        columns = self._capture.columns
        start, self._listed = self._listed, max(row, self._listed)
        request = self._capture.strings.find(kinds.REQUEST) or -1
        answers = self._links["answer"][start:row]
        wanted = (columns["kind"][start:row] == request) & (columns["rpc_hash"][start:row] != NO_HASH)
        wanted &= (answers == NO_ROW) | (answers > row)
        for place in (np.flatnonzero(wanted) + start).tolist():
            for key in self._keys_of_request(place):
                self._open.setdefault(key, []).append(place)

    def _keys_of_request(self, row: int) -> Iterator[_Key]:
        columns = self._capture.columns
        rpc, sender = int(columns["rpc_hash"][row]), int(columns["sender"][row])
        asked = self._capture.to(row)
        if asked:
            yield from ((rpc, sender, name, 0) for name in dict.fromkeys(asked))
            return
        source, way = int(columns["source"][row]), int(columns["direction"][row])
        ways = self._ways.setdefault(source, {})
        if way in ways or len(ways) < _WAYS:
            ways[way] = None
            yield rpc, sender, source, way

    def _latest(self, key: _Key, row: int) -> int:
        """The latest request under a key that nobody had answered before `row`; those answered are forgotten."""
        listed = self._open.get(key)
        if listed is None:
            return NO_ROW
        answers = self._links["answer"]
        while listed:
            answer = answers[listed[-1]]
            if answer == NO_ROW or answer > row:
                return listed[-1]
            listed.pop()
        del self._open[key]
        return NO_ROW
