"""Pairs tool results with their calls, and lists messages of each asker, by columns only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.results.transient_results import Badge
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]
_RPC, _ERROR = Flag.RPC.value, Flag.ERROR.value
_UNRECORDED = Flag.UNRECORDED.value
_EXCLUDED_FLAGS = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.FRAME).value


@dataclass(frozen=True, slots=True)
class Results:
    """Successful results and their calls, ascending.

    Attributes:
        rows, calls: (k,) messages.
        speakers: (k,) numbers of the askers (`Traffic.speakers`).
        pairs: (k,) numbers of asker and server.
        tokens: (k,) tokens of each whole result; NOT_COUNTED.
    """

    rows: Array
    calls: Array
    speakers: Array
    pairs: Array
    tokens: Array

    def __len__(self) -> int:
        return len(self.rows)

    def those(self, places: Array) -> Results:
        """Returns a subset."""
        return Results(
            self.rows[places], self.calls[places], self.speakers[places], self.pairs[places], self.tokens[places]
        )


class Traffic:
    """The traffic up to a message.

    Attributes:
        stop: number of messages examined.
        speakers: (stop,) int64, a number per sender on its connection or in its space.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis, self.stop = analysis, len(analysis)
        columns = analysis.capture.columns
        # Senders have no names over MCP stdio, so the connection identifies them.
        rpc = columns["flags"][: self.stop] & _RPC != 0
        place = columns["space"][: self.stop].astype(np.int64)
        if rpc.any():
            source = np.where(rpc, columns["source"][: self.stop].astype(np.int64) + 1, 0)
            place = _numbered(place, source, np.where(rpc, columns["connection"][: self.stop].astype(np.int64), 0))
        self.speakers = _numbered(place, columns["sender"][: self.stop].astype(np.int64))

    def _code(self, text: str) -> int:
        return self.analysis.capture.strings.find(text) or -1

    def _column(self, name: str) -> Array:
        return self.analysis.correlation.columns[name][: self.stop].astype(np.int64)

    def answers(self, method: str, *, unrecorded: bool = False) -> Results:
        """Returns successful answers to calls of a method. O(messages) in numpy.

        Args:
            method: name in MCP.
            unrecorded: True to include answers without recorded content, which cannot be compared.
        """
        columns, cause = self.analysis.capture.columns, self._column("cause")
        flags, kind = columns["flags"][: self.stop], columns["kind"][: self.stop]
        wanted = (kind == self._code(kinds.RESPONSE)) & (
            flags & (_ERROR | _EXCLUDED_FLAGS | (0 if unrecorded else _UNRECORDED)) == 0
        )
        wanted &= (cause != NO_ROW) & (cause < self.stop)
        rounds, methods = self.analysis.correlation.rounds, self._column("method")
        same = methods == self._code(method)
        ended = rounds.ended(np.arange(self.stop)) if rounds.begun else cause[:0]
        same[ended] = methods[rounds.begun_by(ended, ended)] == self._code(method)
        rows = np.flatnonzero(wanted & same)
        calls = rounds.begun_by(rows, cause[rows])
        asked = columns["kind"][calls] == self._code(kinds.REQUEST)
        # A question or a task handle has no content of the tool.
        asked &= ~rounds.are_interim(rows)  # an interim answer; the result comes in a later round
        rows, calls = rows[asked], calls[asked]
        asker, answerer = self.speakers[calls], self.speakers[rows]
        tokens = self.analysis.tokens.columns["tokens"][rows].astype(np.int64)
        return Results(rows, calls, asker, _numbered(asker, answerer), tokens)

    def calls(self) -> Array:
        """Returns tool requests and proposals, ascending."""
        kind = self.analysis.capture.columns["kind"][: self.stop]
        asking = np.isin(kind, [self._code(kinds.REQUEST), self._code(kinds.PROPOSAL)])
        return np.flatnonzero(asking & (self._column("method") == self._code("tools/call")))

    def sayings(self) -> Array:
        """Returns messages that a model may have written: calls, proposals, chat, reasoning; ascending."""
        capture = self.analysis.capture
        kind = capture.columns["kind"][: self.stop]
        seen = np.flatnonzero(np.bincount(kind)).tolist() if len(kind) else []
        spoken = [code for code in seen if capture.strings[code].startswith(("reasoning/", "chat"))]
        spoke = np.isin(kind, [*spoken, self._code(kinds.PROPOSAL)])
        spoke[self.calls()] = True
        return np.flatnonzero(spoke & (capture.columns["flags"][: self.stop] & _EXCLUDED_FLAGS == 0))

    def loss_messages(self) -> Array:
        """Returns messages after which a participant may have lost its context, ascending."""
        kind = self.analysis.capture.columns["kind"][: self.stop]
        return np.flatnonzero(np.isin(kind, [self._code(name) for name in _LOSING]))

    def collapsed(self, rows: Array) -> NDArray[np.bool_]:
        """(n,) bool: True for collapsed results."""
        return self.analysis.transients.columns["badges"][rows] & Badge.COLLAPSED.value != 0

    # Words

    def sender(self, row: int) -> str | None:
        """Returns the sender of a message."""
        return self.analysis.capture.string("sender", row) or None

    def tool(self, row: int) -> str:
        """Returns the tool of a call or result."""
        links = self.analysis.correlation
        return self.analysis.capture.strings[int(links.columns["target"][links.rounds.begun.get(row, row)])] or "a tool"

    def asker_words(self, call: int, unnamed: str = "The MCP client") -> str:
        """Returns the asker, for the start of a sentence."""
        return self.analysis.capture.shown_name(self.sender(call) or unnamed)

    def answerer_words(self, result: int) -> str:
        """Returns the server, within a sentence."""
        return self.analysis.capture.shown_name(self.sender(result) or "the server")

    def cost(self, row: int) -> int:
        """Returns a result's tokens in the context; those of its summary if it is collapsed."""
        whole = int(self.analysis.tokens.columns["tokens"][row])
        if whole != NOT_COUNTED and bool(self.collapsed(np.array([row]))[0]):
            return min(whole, self.analysis.tokens.summary_tokens(row) or 0)
        return max(whole, 0)


# 4 MB of flags.
_MAX_TABLE_ROWS = 1 << 22
"""Distinct rows up to which a lookup table replaces sorting."""
_LOSING = ("participant/forget", "participant/compact-done", "participant/clear", "participant/restart")


def _numbered(*columns: Array) -> Array:
    """Returns a small number per distinct row of several columns of small numbers. O(n) if rows are few."""
    found = columns[0]
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if (int(found.max(initial=0)) + 1) * width <= _MAX_TABLE_ROWS:
            found = _renumbered(found * width + column)
        else:
            found = np.unique(found << 32 | column, return_inverse=True)[1].astype(np.int64)
    return found


def _renumbered(keys: Array) -> Array:
    """Maps small keys to consecutive numbers in key order."""
    there = np.zeros(int(keys.max(initial=0)) + 1, np.bool_)
    there[keys] = True
    return (np.cumsum(there) - 1)[keys]
