"""Stores the results that carry a signal in a table of columns: signal bits, tool and conversation."""

from __future__ import annotations

import enum
from array import array
from bisect import bisect_left
from collections.abc import Collection
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.calls.client_runs import ClientRuns
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.results.tool_pairing import NO_RESULT
from inspector.protocol import kinds
from inspector.protocol.transient_results import TransientSignal
from inspector.store.columns.columns import locate_rows
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

NO_PLACE = -1
"""Place of a message without a signal."""
_CALL_METHOD = "tools/call"
Link = Literal["collapsed_by", "consumes", "unpaired"]


class SignalBit(enum.IntFlag):
    """Bits of a result's signal."""

    HINTS = 1
    CONSUMED = 2
    TRANSIENT = 4
    FAILED = 8
    ODD = 16
    """It resembles a signal and is invalid."""
    SUMMARY = 32
    """Its summary is a text that is not empty."""
    NO_CALL = 64
    """Its request is no tool call, so the signal does not count."""
    REPEATED = 128
    """The same answer came before, so the signal does not count again."""


HINTS, CONSUMED, TRANSIENT, FAILED, ODD, SUMMARY, NO_CALL, REPEATED = (bit.value for bit in SignalBit)
"""The same bits as plain numbers, for loops over a million results."""
# The result itself states the other bits; these two depend on links, which may come late.
_FIXED_BITS = ~(NO_CALL | REPEATED) & 0xFF
_ERROR, _RPC = Flag.ERROR.value, Flag.RPC.value


class SignalTable:
    """Results with a signal, ascending; a result's place is its index here. 42 bytes each.

    Attributes:
        row: the message.
        signal_bits: bits of `SignalBit`.
        tool: string id of the called tool; 0 if unknown.
        conversation: a number for each run of a client, with all servers it talks to.
        note: outcome of the signal (`result_badges.SignalNote`).
        consumers: by place, the consumers that a result itself names.
        following: by waiting result, the next waiting one of the same tool (`tool_pairing`).
        collapsed_by: the message that consumed it; NO_ROW. consumes: the result that it consumed; NO_ROW.
        unpaired: for a signal that consumed nothing, a waiting result that no hint pairs with it; NO_ROW.
    """

    def __init__(self, capture: Capture, correlation: CorrelationPass, runs: ClientRuns) -> None:
        self._capture = capture
        self._correlation = correlation
        self._runs = runs
        self.row: array[int] = array("i")
        self.signal_bits: array[int] = array("B")
        self.tool: array[int] = array("I")
        self.conversation: array[int] = array("I")
        self.note: array[int] = array("B")
        self._digests: array[int] = array("Q")
        self.following: array[int] = array("i")
        self.collapsed_by: array[int] = array("i")
        self.consumes: array[int] = array("i")
        self.unpaired: array[int] = array("i")
        self._pairs: array[int] = array("I")
        self._pair_lists: list[tuple[tuple[str, str], ...]] = [()]
        self._pair_ids: dict[tuple[tuple[str, str], ...], int] = {(): 0}
        self.consumers: dict[int, tuple[str, ...]] = {}
        self._conversations: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self.row)

    def add(self, row: int, signal: TransientSignal, digest: int) -> None:
        """Appends a result with a signal; `digest` is equal for results with equal content."""
        failed = int(self._capture.columns["flags"][row]) & _ERROR
        said = (
            (HINTS if signal.hints else 0) | (CONSUMED if signal.consumed else 0)
            | (TRANSIENT if signal.transient else 0) | (FAILED if failed else 0)
            | (ODD if signal.problem else 0) | (SUMMARY if signal.summary else 0)
        )  # fmt: skip
        pairs = signal.pairs
        # Hints repeat with every result of a tool, so equal lists are stored once.
        found = self._pair_ids.get(pairs)
        if found is None:
            found = self._pair_ids[pairs] = len(self._pair_lists)
            self._pair_lists.append(pairs)
        if signal.consumers:
            self.consumers[len(self.row)] = signal.consumers
        self.row.append(row)
        self._digests.append(digest)
        conversation, tool, void = self._conversation_and_tool(row)
        self.signal_bits.append(said | void)
        self.tool.append(tool)
        self.conversation.append(conversation)
        self.note.append(0)
        self.following.append(NO_RESULT)
        self.collapsed_by.append(NO_ROW)
        self.consumes.append(NO_ROW)
        self.unpaired.append(NO_ROW)
        self._pairs.append(found)

    def find(self, row: int) -> int:
        """Returns the place of a message, or NOWHERE."""
        place = bisect_left(self.row, row)
        return place if place < len(self.row) and self.row[place] == row else NO_PLACE

    def find_all(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Returns (n,) the places of messages, or NOWHERE. O(rows log signals)."""
        if not self.row:
            return np.full(len(rows), NO_PLACE)
        places, known = locate_rows(rows, as_numpy(self.row))
        return np.where(known, places, NO_PLACE)

    def links(self, name: Link, rows: NDArray[np.integer[Any]]) -> Rows:
        """Returns (n,) the consumer, the consumed result, or the unpaired result of each message, or NO_ROW."""
        if not self.row:
            return np.full(len(rows), NO_ROW)
        places = self.find_all(rows)
        linked = as_numpy(
            {"collapsed_by": self.collapsed_by, "consumes": self.consumes, "unpaired": self.unpaired}[name]
        )
        return np.where(places == NO_PLACE, NO_ROW, linked[places])

    def consumed(self, first: int, stop: int) -> tuple[Rows, NDArray[np.bool_]]:
        """Returns consumed results from `first` to `stop`, and (n,) flags of the ones with their own summary."""
        low, high = bisect_left(self.row, first), bisect_left(self.row, stop)
        if low == high:
            return np.zeros(0, np.int64), np.zeros(0, np.bool_)
        linked = as_numpy(self.collapsed_by)[low:high] != NO_ROW
        rows, said = (as_numpy(of)[low:high][linked] for of in (self.row, self.signal_bits))
        return rows, said & SUMMARY != 0

    def link(self, result: int, consumer: int) -> None:
        """Records that a result is consumed by another, both by place."""
        self.collapsed_by[result], self.consumes[consumer] = self.row[consumer], self.row[result]

    def clear_links(self, places: Rows) -> None:
        """Clears the links of some places."""
        for linked in (self.collapsed_by, self.consumes, self.unpaired) if self.row else ():
            as_numpy(linked)[places] = NO_ROW

    def story(self, places: Rows) -> Rows:
        """Returns (4, k) per place: note, consumer, consumed result, unpaired result."""
        links = (self.note, self.collapsed_by, self.consumes, self.unpaired)
        return np.stack([np.array(of)[places] for of in links])

    def pairs(self, place: int) -> tuple[tuple[str, str], ...]:
        """Returns the (fetching tool, consuming tool) pairs that it names, as written."""
        return self._pair_lists[self._pairs[place]]

    def tool_name(self, place: int) -> str | None:
        """Returns the called tool, as written."""
        return self._capture.strings[self.tool[place]] if self.tool[place] else None

    def of_conversations(self, conversations: Collection[int]) -> Rows:
        """Returns the places that belong to some conversations, ascending. O(signals)."""
        wanted = np.fromiter(conversations, np.uint32, len(conversations))
        return np.flatnonzero(np.isin(np.array(self.conversation, np.uint32), wanted))

    def conversation_of(self, row: int) -> int | None:
        """Returns the conversation of a result, or None if it has no signal."""
        place = self.find(row)
        return self.conversation[place] if place != NO_PLACE else self._conversations.get(self._conversation_key(row))

    def moved(self, rows: Rows) -> set[int]:
        """Updates results with changed links; returns the conversations that this affects."""
        found: set[int] = set()
        for row in rows.tolist():
            place = self.find(row)
            if place == NO_PLACE:
                continue
            conversation, tool, void = self._conversation_and_tool(row)
            said = self.signal_bits[place] & _FIXED_BITS | void
            if (conversation, tool, said) != (self.conversation[place], self.tool[place], self.signal_bits[place]):
                found |= {conversation, self.conversation[place]}
                self.conversation[place], self.tool[place], self.signal_bits[place] = conversation, tool, said
        return found

    def _conversation_and_tool(self, row: int) -> tuple[int, int, int]:
        """Returns conversation and tool of a result as known now, and a bit if its signal does not count.

        The bit is NO_CALL or REPEATED, else 0.
        """
        links, strings = self._correlation.columns, self._capture.strings
        method = int(links["method"][row])
        is_call = not method or strings[method] == _CALL_METHOD
        tool = int(links["target"][row]) if method and is_call else 0
        conversation = self._conversations.setdefault(self._conversation_key(row), len(self._conversations))
        void = NO_CALL if not is_call else REPEATED if self._is_repeated(row) else 0
        return conversation, tool, void

    def _is_repeated(self, row: int) -> bool:
        """Tells if a call's first answer was an equal message: a log without a gateway may have a delivery twice."""
        links, capture = self._correlation.columns, self._capture
        cause = int(links["cause"][row])
        first = int(links["answer"][cause]) if cause != NO_ROW else NO_ROW
        # The first answer itself, or an answer that came later, is no repetition.
        if first == NO_ROW or first >= row:
            return False
        known = [int(capture.columns[name][row]) for name in ("id_hash", "rpc_hash")]
        if known != [int(capture.columns[name][first]) for name in ("id_hash", "rpc_hash")] or not any(known):
            return False
        place, before = self.find(row), self.find(first)
        return before != NO_PLACE and self._digests[place] == self._digests[before]

    def _conversation_key(self, row: int) -> tuple[Any, ...]:
        """Returns the key of the client's run, since its servers share pairs and results: space and name, or pipes.

        Over HTTP the owner of two sessions is unknown, so each session has its own key.
        """
        capture = self._capture
        columns = capture.columns
        cause = int(self._correlation.columns["cause"][row])
        server, to = int(columns["sender"][row]), capture.recipients(row)
        asked = cause != NO_ROW and capture.string("kind", cause) == kinds.REQUEST
        client = capture.string("sender", cause) if asked or (cause != NO_ROW and not to) else next(iter(to), None)
        if int(columns["flags"][row]) & _RPC:
            source, direction = int(columns["source"][row]), int(columns["direction"][row])
            run = self._runs.generation(cause if cause != NO_ROW else row)
            if self._came_by_http(row):
                return (source, int(columns["connection"][row]), direction, client, server, run)
            return (source, client, direction if client is None else None, run)
        return (-1, int(columns["space"][row]), client, server if client is None else None)

    def _came_by_http(self, row: int) -> bool:
        carried = self._capture.extracted.exchange_rows
        place = int(np.searchsorted(carried, row))
        return place < len(carried) and int(carried[place]) == row
