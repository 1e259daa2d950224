"""Groups the exchanges of an HTTP recording into conversations (docs/protocols.md 13, Over HTTP).

RULE: a conversation is a session if one is named. A client without a session continues the conversation of the last
`initialize` at the same address. Without that, there is one conversation for each address with a named revision. Its
requests are answered in the same exchange, so ids of several such clients do not collide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.protocol import kinds
from inspector.protocol.record import HttpExchange
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.block import Block
from inspector.store.columns.hashes import NO_HASH, hash_text

_CONNECTION_LIMIT = 1 << 16
_MAX_US = (1 << 32) - 1
_VERSION = "mcp-protocol-version"


@dataclass(slots=True)
class _OpenExchange:
    """An open exchange.

    Attributes:
        conversation: its number in the source, as in a block's column `connection`.
        is_self_contained: without a session, its requests are answered within the exchange; else anywhere in the
            conversation.
        has_asked: a call was made in it.
    """

    conversation: int
    is_self_contained: bool
    has_asked: bool = False
    status: int = 0
    path: str | None = None
    method: str | None = None
    asked_ns: int = NO_TIME
    first_us: int = 0


class HttpConversations:
    """Numbers conversations, and separates JSON-RPC ids of exchanges without a session."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], _OpenExchange] = {}  # by source and exchange number
        self._sessions: dict[tuple[int, str], int] = {}  # by source and session
        self._latest: dict[tuple[int, str | None], int] = {}  # by source and path, of clients without a session
        self._count: dict[int, int] = {}

    def resolve_block(self, block: Block) -> None:
        """Completes a block's exchanges and the columns derived from them."""
        if not block.extracts.exchanges:
            return
        columns, sources = block.columns, block.columns["source"]
        connections, calls = columns["connection"].copy(), columns["rpc_hash"].copy()
        ours = self._request_or_answer_mask(block)
        for place, exchange in sorted(block.extracts.exchanges.items()):
            found = self._update_exchange(int(sources[place]), exchange)
            # The column holds numbers below this bound.
            connections[place] = found.conversation % _CONNECTION_LIMIT
            # Without a session, ids may repeat in each exchange, so the exchange joins the key.
            if found.is_self_contained and ours[place] and calls[place] != NO_HASH:
                calls[place] ^= np.uint64(hash_text(f"exchange {exchange.number}"))
                found.has_asked = True
            exchange.status, exchange.path, exchange.method = found.status, found.path, found.method
            self._set_times(found, exchange, int(columns["time_ns"][place]))
        columns["connection"], columns["rpc_hash"] = connections, calls

    @staticmethod
    def _set_times(found: _OpenExchange, exchange: HttpExchange, time_ns: int) -> None:
        """Sets the times to first answer and to the end, if the lines have times."""
        if exchange.is_request:
            found.asked_ns = time_ns
        since = max(1, (time_ns - found.asked_ns) // 1_000) if NO_TIME not in (time_ns, found.asked_ns) else 0
        if not found.first_us:
            found.first_us = exchange.first_us or (since if exchange.is_answer_head else 0)
        exchange.first_us = min(found.first_us, _MAX_US)
        if exchange.is_end:
            exchange.whole_us = min(since, _MAX_US)

    def _request_or_answer_mask(self, block: Block) -> np.ndarray:
        """Returns (records,) True for requests by the client and answers by the server."""
        columns, strings = block.columns, block.strings
        kind, sender = columns["kind"], columns["sender"]
        pairs = ((kinds.REQUEST, "client"), (kinds.RESPONSE, "server"))
        found = np.zeros(len(kind), np.bool_)
        for name, who in pairs:
            found |= (kind == (strings.find(name) or -1)) & (sender == (strings.find(who) or -1))
        return found

    def _update_exchange(self, source: int, exchange: HttpExchange) -> _OpenExchange:
        key = source, exchange.number
        found = self._open.get(key)
        # A new request under an open number starts another exchange.
        if found is None or (exchange.is_request and not found.has_asked):
            found = self._open[key] = self._begin_exchange(source, exchange)
        elif exchange.session is not None:
            session = source, exchange.session
            if (
                exchange.headers is None
            ):  # an event with the address to post to: the stream belongs to that session from here on
                found.conversation = self._session_conversation(session)
            else:
                self._sessions.setdefault(session, found.conversation)
            found.is_self_contained &= found.has_asked
        found.status = exchange.status or found.status
        if exchange.is_end:
            del self._open[key]
        return found

    def _begin_exchange(self, source: int, exchange: HttpExchange) -> _OpenExchange:
        session = (source, exchange.session) if exchange.session is not None else None
        place = source, exchange.path
        if session is not None:
            number = self._session_conversation(session)
        # Without a session header, `initialize` is the only sign of a new conversation.
        elif exchange.initializes or (place not in self._latest and _VERSION in (exchange.headers or ())):
            number = self._latest[place] = self._new_conversation(source)
        else:
            number = self._latest.get(place, 0)
        return _OpenExchange(
            number, exchange.is_request and session is None, path=exchange.path, method=exchange.method
        )

    def _session_conversation(self, session: tuple[int, str]) -> int:
        number = self._sessions.get(session)
        if number is None:
            number = self._sessions[session] = self._new_conversation(session[0])
        return number

    def _new_conversation(self, source: int) -> int:
        number = self._count[source] = self._count.get(source, 0) + 1
        return number
