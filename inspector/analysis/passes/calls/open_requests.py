"""Matches answers to open requests by JSON-RPC id: rule 4 of docs/protocols.md 3.

The index is built only after an answer comes that names no request. MEW traffic has no such answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inspector.protocol import kinds
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, hash_with_other_type
from inspector.store.messages.capture import Capture

_RPC = Flag.RPC.value
_MAX_DIRECTIONS = 16  # limit of directions of one connection; a pipe has two

_MAX_ANSWERED = 65_536  # limit of answered requests in memory, for repeated answers

_Pipe = tuple[int, int]
"""Source and number of its connection, for JSON-RPC without an envelope; (-1, space) for an envelope.

A JSON-RPC id is unique within one pipe only: a restarted server gets the same ids again.
"""
_Key = tuple[_Pipe, int, int, str | int, int]
"""Pipe, hash of the JSON-RPC id, sender, recipient, direction.

The recipient is a participant. A line of MCP stdio names no participant, so its source and its direction stand in.
"""


class OpenCalls:
    """Finds the request of an answer without correlation id. O(recipients) an answer.

    Args:
        links: the columns of the correlation pass; `answer` is read.

    Attributes:
        probable_requests: by answer without an open request, the request it probably answers. The flag is true if that
            request has the same id and was answered before; false if one id is a number and the other its text.
    """

    def __init__(self, capture: Capture, links: GrowingColumns) -> None:
        self._capture = capture
        self._links = links
        # By hash of the key, which includes the JSON-RPC id. Most keys have one request: stored as a row, not as a
        # list.
        self._open: dict[int, int | list[int]] = {}
        self._answered_requests: dict[_Key, int] = {}  # the last request under each key
        self.probable_requests: dict[int, tuple[int, bool]] = {}
        self._directions: dict[tuple[int, _Pipe], dict[int, None]] = {}  # directions of requests without a recipient
        self._indexed_stop = 0

    def asked_by(self, row: int) -> int:
        """Returns the latest open request with the same JSON-RPC id and the reverse sender and recipient, or NO_ROW.

        Args:
            row: the answer; rows of successive calls ascend.
        """
        rpc = int(self._capture.columns["rpc_hash"][row])
        if not rpc:
            return NO_ROW
        self._index_until(row)
        keys = list(self._keys_of_answer(rpc, row))
        found = self._latest_of_keys(keys, row)
        # Methods with streamed answers send several answers to one request.
        if found == NO_ROW and self._is_streamed(again := self._last_answered(keys)):
            return again
        if found == NO_ROW:
            self._note_probable(keys, row)
        return found

    def _is_streamed(self, request: int) -> bool:
        """Tells if a request's method gets several answers."""
        return request != NO_ROW and self._capture.string("method", request) in kinds.STREAMED_ANSWERS

    def request_with_id(self, rpc: int, row: int) -> int:
        """Returns the latest open request with a JSON-RPC id (its hash) and the direction of `row`, or NO_ROW."""
        self._index_until(row)
        return max((self._latest_open(key, row) for key in self._keys_of_request(row, rpc)), default=NO_ROW)

    def _latest_of_keys(self, keys: list[_Key], row: int) -> int:
        return max((self._latest_open(key, row) for key in keys), default=NO_ROW)

    def _last_answered(self, keys: list[_Key]) -> int:
        return max((self._answered_requests.get(key, NO_ROW) for key in keys), default=NO_ROW)

    def _note_probable(self, keys: list[_Key], row: int) -> None:
        """Stores the probable request of an answer that matches no open request."""
        again = self._last_answered(keys)
        if again != NO_ROW:
            self.probable_requests[row] = again, True
            return
        keys = list(self._keys_of_answer(hash_with_other_type(int(self._capture.columns["rpc_hash"][row])), row))
        found = self._latest_of_keys(keys, row)
        found = self._last_answered(keys) if found == NO_ROW else found
        if found != NO_ROW:
            self.probable_requests[row] = found, False

    def _keys_of_answer(self, rpc: int, row: int) -> Iterator[_Key]:
        """Yields the keys of requests that an answer may belong to."""
        columns = self._capture.columns
        pipe, sender = self._pipe_of(row), int(columns["sender"][row])
        known = (self._capture.strings.find(receiver) for receiver in self._capture.recipients(row))
        askers = dict.fromkeys(asker for asker in known if asker is not None)
        if sender:
            name = self._capture.strings[sender]
            yield from ((pipe, rpc, asker, name, 0) for asker in askers)
            return
        # A line of MCP stdio names no participant: try the other side of the same connection (docs/protocols.md 13).
        source, way = int(columns["source"][row]), int(columns["direction"][row])
        for asker in askers or (0,):
            others = (other for other in self._directions.get((source, pipe), ()) if not way or other != way)
            yield from ((pipe, rpc, asker, source, other) for other in others)

    def _index_until(self, row: int) -> None:
        """Indexes the requests before `row` that have no answer yet."""
        columns = self._capture.columns
        start, self._indexed_stop = self._indexed_stop, max(row, self._indexed_stop)
        request = self._capture.strings.find(kinds.REQUEST) or -1
        answers = self._links["answer"][start:row]
        wanted = (columns["kind"][start:row] == request) & (columns["rpc_hash"][start:row] != NO_HASH)
        wanted &= (answers == NO_ROW) | (answers > row)
        for place in (np.flatnonzero(wanted) + start).tolist():
            for key in self._keys_of_request(place, int(columns["rpc_hash"][place])):
                self._add_open(hash(key), place)

    def _add_open(self, key: int, row: int) -> None:
        listed = self._open.get(key)
        if listed is None:
            self._open[key] = row
        elif isinstance(listed, int):
            self._open[key] = [listed, row]
        else:
            listed.append(row)

    def _keys_of_request(self, row: int, rpc: int) -> Iterator[_Key]:
        columns = self._capture.columns
        pipe, sender = self._pipe_of(row), int(columns["sender"][row])
        asked = self._capture.recipients(row)
        if asked:
            yield from ((pipe, rpc, sender, name, 0) for name in dict.fromkeys(asked))
            return
        source, way = int(columns["source"][row]), int(columns["direction"][row])
        ways = self._directions.setdefault((source, pipe), {})
        if way in ways or len(ways) < _MAX_DIRECTIONS:
            ways[way] = None
            yield pipe, rpc, sender, source, way

    def _pipe_of(self, row: int) -> _Pipe:
        columns = self._capture.columns
        if int(columns["flags"][row]) & _RPC:
            return int(columns["source"][row]), int(columns["connection"][row])
        # Envelopes of one space may come over several connections.
        return -1, int(columns["space"][row])

    def _latest_open(self, key: _Key, row: int) -> int:
        """Returns the latest request under a key without an answer before `row`; removes answered ones."""
        listed = self._open.get(hash(key))
        if listed is None:
            return NO_ROW
        listed = [listed] if isinstance(listed, int) else listed
        answers = self._links["answer"]
        while listed:
            answer = answers[listed[-1]]
            if answer == NO_ROW or answer > row:
                return listed[-1]
            # Moves the key to the end, so that the oldest entry is evicted first.
            self._answered_requests.pop(key, None)
            self._answered_requests[key] = listed.pop()
            if len(self._answered_requests) > _MAX_ANSWERED:
                del self._answered_requests[next(iter(self._answered_requests))]
        del self._open[hash(key)]
        return NO_ROW
