"""The results that signal something, one after another: what each says in bits, its tool and its conversation."""

from __future__ import annotations

import enum
from array import array
from bisect import bisect_left
from collections.abc import Collection
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.calls.connections import ClientRuns
from inspector.analysis.passes.calls.correlation import CorrelationPass
from inspector.analysis.passes.changes import Rows
from inspector.analysis.passes.results.pairing import NOTHING
from inspector.protocol import kinds
from inspector.protocol.transient_results import Signal
from inspector.store.columns.columns import places_among
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

NOWHERE = -1
"""The place of a message that signals nothing."""
_CALL = "tools/call"
Link = Literal["collapsed_by", "consumes", "unpaired"]


class Said(enum.IntFlag):
    """Bits of what a result signals."""

    HINTS = 1
    CONSUMED = 2
    TRANSIENT = 4
    FAILED = 8
    ODD = 16
    """It has something that looks like a signal and is none."""
    SUMMARY = 32
    """Its summary is a text that is not empty."""
    NO_CALL = 64
    """It answers something that is no tool call, so that nothing of it counts."""
    REPEATED = 128
    """The answer itself was delivered before, so that nothing of it counts again."""


HINTS, CONSUMED, TRANSIENT, FAILED, ODD, SUMMARY, NO_CALL, REPEATED = (bit.value for bit in Said)
"""The same bits as plain numbers, for what looks at each of a million."""
_LASTING = ~(NO_CALL | REPEATED) & 0xFF
_ERROR, _RPC = Flag.ERROR.value, Flag.RPC.value


class SignalTable:
    """Signalling results, ascending; a result's place among them is its index here. 42 bytes each.

    Attributes:
        row: the message.
        said: Said bits.
        tool: string id of the tool that was called; 0 when it is not known.
        conversation: a number for each run of a client, with all servers it talks to.
        note: what became of it (`transients.Note`).
        consumers: by place, who consumes a result by its own word, where it says so.
        following: of one that waits, the next one of the same tool that does (`pairing`).
        collapsed_by: the message that consumed it; NO_ROW. consumes: the result that it consumed; NO_ROW.
        unpaired: of one that consumed nothing, a result that waited and that no hint pairs with it; NO_ROW.
    """

    def __init__(self, capture: Capture, correlation: CorrelationPass, runs: ClientRuns) -> None:
        self._capture = capture
        self._correlation = correlation
        self._runs = runs
        self.row: array[int] = array("i")
        self.said: array[int] = array("B")
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

    def add(self, row: int, signal: Signal, digest: int) -> None:
        """A result that comes after all others signals something; `digest` is equal for results that say the same."""
        failed = int(self._capture.columns["flags"][row]) & _ERROR
        said = (
            (HINTS if signal.hints else 0) | (CONSUMED if signal.consumed else 0)
            | (TRANSIENT if signal.transient else 0) | (FAILED if failed else 0)
            | (ODD if signal.odd else 0) | (SUMMARY if signal.summary else 0)
        )  # fmt: skip
        pairs = signal.pairs
        found = self._pair_ids.get(pairs)
        if found is None:
            found = self._pair_ids[pairs] = len(self._pair_lists)
            self._pair_lists.append(pairs)
        if signal.consumers:
            self.consumers[len(self.row)] = signal.consumers
        self.row.append(row)
        self._digests.append(digest)
        conversation, tool, void = self._placed(row)
        self.said.append(said | void)
        self.tool.append(tool)
        self.conversation.append(conversation)
        self.note.append(0)
        self.following.append(NOTHING)
        self.collapsed_by.append(NO_ROW)
        self.consumes.append(NO_ROW)
        self.unpaired.append(NO_ROW)
        self._pairs.append(found)

    def find(self, row: int) -> int:
        """The place of a message; NOWHERE."""
        place = bisect_left(self.row, row)
        return place if place < len(self.row) and self.row[place] == row else NOWHERE

    def find_all(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """The places of some messages; NOWHERE. O(rows log signals)."""
        if not self.row:
            return np.full(len(rows), NOWHERE)
        places, known = places_among(rows, as_numpy(self.row))
        return np.where(known, places, NOWHERE)

    def links(self, name: Link, rows: NDArray[np.integer[Any]]) -> Rows:
        """(n,) of some messages what consumed each, or what it consumed, or what it left; NO_ROW."""
        if not self.row:
            return np.full(len(rows), NO_ROW)
        places = self.find_all(rows)
        linked = as_numpy(
            {"collapsed_by": self.collapsed_by, "consumes": self.consumes, "unpaired": self.unpaired}[name]
        )
        return np.where(places == NOWHERE, NO_ROW, linked[places])

    def consumed(self, first: int, stop: int) -> tuple[Rows, NDArray[np.bool_]]:
        """Results among messages `first` to `stop` that were consumed, and which of them bring their own summary."""
        low, high = bisect_left(self.row, first), bisect_left(self.row, stop)
        if low == high:
            return np.zeros(0, np.int64), np.zeros(0, np.bool_)
        linked = as_numpy(self.collapsed_by)[low:high] != NO_ROW
        rows, said = (as_numpy(of)[low:high][linked] for of in (self.row, self.said))
        return rows, said & SUMMARY != 0

    def link(self, result: int, consumer: int) -> None:
        """Note that a result is consumed by another, both by place."""
        self.collapsed_by[result], self.consumes[consumer] = self.row[consumer], self.row[result]

    def forget_links(self, places: Rows) -> None:
        """Let some of them consume nothing, and be consumed by nothing."""
        for linked in (self.collapsed_by, self.consumes, self.unpaired) if self.row else ():
            as_numpy(linked)[places] = NO_ROW

    def story(self, places: Rows) -> Rows:
        """(4, k) of some of them: note, what consumed it, what it consumed, what waited for another consumer."""
        links = (self.note, self.collapsed_by, self.consumes, self.unpaired)
        return np.stack([np.array(of)[places] for of in links])

    def pairs(self, place: int) -> tuple[tuple[str, str], ...]:
        """The (fetching tool, consuming tool) pairs it names, as written."""
        return self._pair_lists[self._pairs[place]]

    def tool_name(self, place: int) -> str | None:
        """The tool that was called, as written."""
        return self._capture.strings[self.tool[place]] if self.tool[place] else None

    def of_conversations(self, conversations: Collection[int]) -> Rows:
        """Places of those that belong to some conversations, ascending. O(signals)."""
        wanted = np.fromiter(conversations, np.uint32, len(conversations))
        return np.flatnonzero(np.isin(np.array(self.conversation, np.uint32), wanted))

    def conversation_of(self, row: int) -> int | None:
        """The conversation a result belongs to; None when nothing was signalled in it."""
        place = self.find(row)
        return self.conversation[place] if place != NOWHERE else self._conversations.get(self._key(row))

    def moved(self, rows: Rows) -> set[int]:
        """Take in that links of some results changed; the conversations for which that makes a difference."""
        found: set[int] = set()
        for row in rows.tolist():
            place = self.find(row)
            if place == NOWHERE:
                continue
            conversation, tool, void = self._placed(row)
            said = self.said[place] & _LASTING | void
            if (conversation, tool, said) != (self.conversation[place], self.tool[place], self.said[place]):
                found |= {conversation, self.conversation[place]}
                self.conversation[place], self.tool[place], self.said[place] = conversation, tool, said
        return found

    def _placed(self, row: int) -> tuple[int, int, int]:
        """Conversation and tool of a result as known now, and the bit that says why nothing of it counts; 0."""
        links, strings = self._correlation.columns, self._capture.strings
        method = int(links["method"][row])
        is_call = not method or strings[method] == _CALL
        tool = int(links["target"][row]) if method and is_call else 0
        conversation = self._conversations.setdefault(self._key(row), len(self._conversations))
        void = NO_CALL if not is_call else REPEATED if self._is_repeated(row) else 0
        return conversation, tool, void

    def _is_repeated(self, row: int) -> bool:
        """Whether a call's first answer was this very message: a log without a gateway may have what it got twice."""
        links, capture = self._correlation.columns, self._capture
        cause = int(links["cause"][row])
        first = int(links["answer"][cause]) if cause != NO_ROW else NO_ROW
        if first == NO_ROW or first >= row:
            return False
        known = [int(capture.columns[name][row]) for name in ("id_hash", "rpc_hash")]
        if known != [int(capture.columns[name][first]) for name in ("id_hash", "rpc_hash")] or not any(known):
            return False
        place, before = self.find(row), self.find(first)
        return before != NOWHERE and self._digests[place] == self._digests[before]

    def _key(self, row: int) -> tuple[Any, ...]:
        """The client's run, as all its servers share its pairs and results: its space and name, or its pipes.

        Nobody knows who holds two sessions over HTTP, so that each is apart.
        """
        capture = self._capture
        columns = capture.columns
        cause = int(self._correlation.columns["cause"][row])
        server, to = int(columns["sender"][row]), capture.to(row)
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
