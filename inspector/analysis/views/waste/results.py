"""Who asked whom for what: results of tool calls, and what those who asked said themselves, by columns alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.results.transients import Badge
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]
_RPC, _ERROR = Flag.RPC.value, Flag.ERROR.value
_UNRECORDED = Flag.UNRECORDED.value
_NOBODY = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.FRAME).value


@dataclass(frozen=True, slots=True)
class Results:
    """Results that did not fail, and their calls; ascending.

    Attributes:
        rows, calls: (k,) messages.
        speakers: (k,) numbers of who asked (`Traffic.speakers`).
        pairs: (k,) numbers of who asked and who answered.
        tokens: (k,) of each whole result; NOT_COUNTED.
    """

    rows: Array
    calls: Array
    speakers: Array
    pairs: Array
    tokens: Array

    def __len__(self) -> int:
        return len(self.rows)

    def those(self, places: Array) -> Results:
        """Some of them."""
        return Results(
            self.rows[places], self.calls[places], self.speakers[places], self.pairs[places], self.tokens[places]
        )


class Traffic:
    """The traffic up to a message.

    Attributes:
        stop: messages looked at.
        speakers: (stop,) int64, a number for whoever sent each message, on its connection or in its space.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis, self.stop = analysis, len(analysis)
        columns = analysis.capture.columns
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
        """The answers to calls of a method that did not fail. O(messages) in numpy.

        Args:
            method: as MCP calls it.
            unrecorded: also those whose content was not recorded, which nothing can be compared with.
        """
        columns, cause = self.analysis.capture.columns, self._column("cause")
        flags, kind = columns["flags"][: self.stop], columns["kind"][: self.stop]
        wanted = (kind == self._code(kinds.RESPONSE)) & (
            flags & (_ERROR | _NOBODY | (0 if unrecorded else _UNRECORDED)) == 0
        )
        wanted &= (cause != NO_ROW) & (cause < self.stop)
        rounds, methods = self.analysis.correlation.rounds, self._column("method")
        same = methods == self._code(method)
        ended = rounds.ended(np.arange(self.stop)) if rounds.begun else cause[:0]
        same[ended] = methods[rounds.begun_by(ended, ended)] == self._code(method)
        rows = np.flatnonzero(wanted & same)
        calls = rounds.begun_by(rows, cause[rows])
        asked = columns["kind"][calls] == self._code(kinds.REQUEST)
        asked &= ~rounds.are_interim(rows)  # no result: that comes in a later round
        rows, calls = rows[asked], calls[asked]
        asker, answerer = self.speakers[calls], self.speakers[rows]
        tokens = self.analysis.tokens.columns["tokens"][rows].astype(np.int64)
        return Results(rows, calls, asker, _numbered(asker, answerer), tokens)

    def calls(self) -> Array:
        """Requests and proposals of tools, ascending."""
        kind = self.analysis.capture.columns["kind"][: self.stop]
        asking = np.isin(kind, [self._code(kinds.REQUEST), self._code(kinds.PROPOSAL)])
        return np.flatnonzero(asking & (self._column("method") == self._code("tools/call")))

    def sayings(self) -> Array:
        """What a model may have written: calls, proposals, chat, reasoning; ascending."""
        capture = self.analysis.capture
        kind = capture.columns["kind"][: self.stop]
        seen = np.flatnonzero(np.bincount(kind)).tolist() if len(kind) else []
        spoken = [code for code in seen if capture.strings[code].startswith(("reasoning/", "chat"))]
        spoke = np.isin(kind, [*spoken, self._code(kinds.PROPOSAL)])
        spoke[self.calls()] = True
        return np.flatnonzero(spoke & (capture.columns["flags"][: self.stop] & _NOBODY == 0))

    def losses(self) -> Array:
        """Messages after which somebody may have lost what stood in its context, ascending."""
        kind = self.analysis.capture.columns["kind"][: self.stop]
        return np.flatnonzero(np.isin(kind, [self._code(name) for name in _LOSING]))

    def collapsed(self, rows: Array) -> NDArray[np.bool_]:
        """Which of some results were collapsed."""
        return self.analysis.transients.columns["badges"][rows] & Badge.COLLAPSED.value != 0

    # In words

    def sender(self, row: int) -> str | None:
        """Who sent a message; None where nobody is named."""
        return self.analysis.capture.string("sender", row) or None

    def tool(self, row: int) -> str:
        """The tool of a call or result."""
        links = self.analysis.correlation
        return self.analysis.capture.strings[int(links.columns["target"][links.rounds.begun.get(row, row)])] or "a tool"

    def asker_words(self, call: int) -> str:
        """Who asked, for the beginning of a sentence."""
        return self.sender(call) or "The MCP client"

    def answerer_words(self, result: int) -> str:
        """Who answered, within a sentence."""
        return self.sender(result) or "the server"

    def cost(self, row: int) -> int:
        """Tokens of a result as it stands in the context: those of its summary once it is collapsed."""
        whole = int(self.analysis.tokens.columns["tokens"][row])
        if whole != NOT_COUNTED and bool(self.collapsed(np.array([row]))[0]):
            return min(whole, self.analysis.tokens.summary_tokens(row) or 0)
        return max(whole, 0)


_MOST_PAIRS = 1 << 22
"""Different rows for which a table is made, so that nothing has to be ordered."""
_LOSING = ("participant/forget", "participant/compact-done", "participant/clear", "participant/restart")


def _numbered(*columns: Array) -> Array:
    """A small number for each different row of some columns of small numbers. O(n) where these are not many."""
    found = columns[0]
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if (int(found.max(initial=0)) + 1) * width <= _MOST_PAIRS:
            found = _renumbered(found * width + column)
        else:
            found = np.unique(found << 32 | column, return_inverse=True)[1].astype(np.int64)
    return found


def _renumbered(keys: Array) -> Array:
    """Small numbers in the order of keys that are not large themselves."""
    there = np.zeros(int(keys.max(initial=0)) + 1, np.bool_)
    there[keys] = True
    return (np.cumsum(there) - 1)[keys]
