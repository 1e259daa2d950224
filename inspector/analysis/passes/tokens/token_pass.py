"""How many tokens each message has, as far as they are counted: an estimate (`tokens.counter`).

Counting is slow beside reading, so that nothing is counted when a message is taken in. Whoever wants counts takes
batches of messages from here (`next_batch`) and brings their counts back (`put`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.calls.correlation import CorrelationPass
from inspector.analysis.passes.changes import NO_ROWS, ChangedRows, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.results.transients import TransientPass
from inspector.analysis.passes.tokens.token_sums import NodeTokens, TokenSums, TokenTally, by_tool
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import JOINED_FROM
from inspector.store.messages.capture import Capture
from inspector.tokens.counter import count
from inspector.tokens.line_counting import COUNTED_HEAD, NOT_COUNTED, count_line

__all__ = ["NOT_COUNTED", "TokenPass"]

BATCH_ROWS = 1_024
BATCH_BYTES = 256 << 10
"""Of lines that are counted in one go: some 40 ms of work, so that what is wanted next never waits longer."""
_HERE_ROWS = 32
_MOST = np.iinfo(np.int32).max


class TokenPass:
    """Tokens by message.

    Attributes:
        columns: per message `tokens` int32, NOT_COUNTED until it is counted, and for ever where it cannot be; and
            `summary` int32, tokens of the summary it gives itself, NOT_COUNTED until somebody asked.
        counted: messages that are counted.
        of_inherited: by message, tokens of copies that somebody asked about as they stand in a model's context.
    """

    def __init__(
        self, capture: Capture, contexts: ContextPass, correlation: CorrelationPass, transients: TransientPass
    ) -> None:
        self._capture = capture
        self._contexts = contexts
        self._correlation = correlation
        self._transients = transients
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.columns = GrowingColumns({"tokens": np.int32, "summary": np.int32})
        self.counted = 0
        self._next = 0
        self._first: deque[int] = deque()  # wanted before all others
        self._out = 0
        self._tally = TokenTally(self._capture, self._contexts)
        self._summaries: dict[str, int] = {}
        self._sums: tuple[object, TokenSums] | None = None
        self._node_sums: tuple[object, NodeTokens] | None = None
        self.of_inherited: dict[int, int] = {}
        self._changed = ChangedRows()

    def feed(self, start: int, stop: int) -> None:
        """Take in messages `start` to `stop`, without counting them; copies and what was not recorded cost nothing."""
        self.columns.append({"tokens": NOT_COUNTED, "summary": NOT_COUNTED}, stop - start)
        rows = np.arange(start, stop)
        free = self._capture.columns["flags"][start:stop] & np.uint32(Flag.UNRECORDED.value) != 0
        if self._capture.has_copies:
            free |= self._capture.repeats(rows)[1]
        if free.any():
            told = rows[free]
            self._note(told, np.zeros(len(told), np.int32))  # they are new anyway: no change to tell

    def take_changes(self) -> Rows:
        """Messages that were counted since the last call."""
        return self._changed.take()

    # Counting

    @property
    def done(self) -> bool:
        """Whether every message taken in has been counted, as far as it can be."""
        return self.counted == len(self.columns) or (self._out == 0 and not self._left)

    @property
    def _left(self) -> bool:
        """Whether messages wait to be given out."""
        return self._next < len(self.columns) or bool(self._first)

    @property
    def bytes_left(self) -> int:
        """Of the lines nobody has counted yet, in about."""
        return int(self._capture.columns["length"][self._next : len(self.columns)].sum(dtype=np.int64))

    def want(self, rows: Iterable[int]) -> None:
        """Let these messages be counted before all others, say because they are looked at."""
        tokens = self.columns["tokens"]
        self._first.extend(row for row in rows if row >= self._next and tokens[row] == NOT_COUNTED)

    def next_batch(self, most: int = BATCH_ROWS) -> Rows:
        """Messages of one file to be counted next, each given out once; none when all have been."""
        rows = self._wanted(most) if self._first else self._following(most)
        self._out += len(rows)
        return rows

    def _wanted(self, most: int) -> Rows:
        rows = np.unique(np.array([self._first.popleft() for _ in range(min(most, len(self._first)))], np.int64))
        stop = self._fitting(rows)
        self._first.extendleft(rows[stop:][::-1].tolist())
        return rows[:stop]

    def _following(self, most: int) -> Rows:
        while self._next < len(self.columns):
            rows = np.arange(self._next, min(len(self.columns), self._next + most))
            rows = rows[: self._fitting(rows)]
            self._next += len(rows)
            rows = rows[self.columns["tokens"][rows] == NOT_COUNTED]
            if len(rows):
                return rows
        return NO_ROWS

    def _fitting(self, rows: Rows) -> int:
        """How many of these make a batch: of one source, and not too much to read; one at least."""
        columns = self._capture.columns
        sizes = np.minimum(columns["length"][rows].astype(np.int64), COUNTED_HEAD)
        fitting = max(1, int(np.searchsorted(np.cumsum(sizes), BATCH_BYTES, "right")))
        file = columns["source"][rows].astype(np.int64) << 1 | (columns["offset"][rows] >= JOINED_FROM)
        elsewhere = np.flatnonzero(file != file[0])
        return min(fitting, int(elsewhere[0]) if len(elsewhere) else len(rows))

    def put(self, rows: Rows, counts: NDArray[np.int32]) -> None:
        """Take in the counts of a batch that was given out."""
        self._out -= len(rows)
        self._changed.update_all(self._note(rows, counts))

    def give_back(self, rows: Rows) -> None:
        """A batch that was given out was not counted: somebody else may."""
        self._out -= len(rows)
        self._first.extendleft(rows[::-1].tolist())

    def _note(self, rows: Rows, counts: NDArray[np.int32]) -> Rows:
        """Take in counts of messages; those that had none yet."""
        new = (self.columns["tokens"][rows] == NOT_COUNTED) & (counts != NOT_COUNTED)
        rows, counts = rows[new], counts[new]
        if len(rows):
            self.columns.put("tokens", rows, counts)
            self.counted += len(rows)
            self._tally.add(rows, counts)
        return rows

    def count_now(self, rows: Iterable[int]) -> NDArray[np.int32]:
        """Tokens of a few messages, counted at once and in this process where nobody has counted them."""
        found = np.fromiter(rows, np.int64)
        missing = np.unique(found[self.columns["tokens"][found] == NOT_COUNTED])
        if len(missing):
            self._changed.update_all(self._note(missing, self._count_here(missing)))
        return self.columns["tokens"][found]

    def count_some(self, until: float) -> bool:
        """Count in this process until a time, by `time.perf_counter`; whether nothing is left."""
        while len(rows := self.next_batch(_HERE_ROWS)):
            self.put(rows, self._count_here(rows))
            if time.perf_counter() >= until:
                break
        return self.done

    def _count_here(self, rows: Rows) -> NDArray[np.int32]:
        return np.array([self._count_row(row) for row in rows.tolist()], np.int32)

    def _count_row(self, row: int) -> int:
        capture = self._capture

        def read(start: int, length: int) -> bytes:
            return capture.records.line_part(row, start, length)

        source = capture.sources[int(capture.columns["source"][row])]
        offset, length, part = (int(capture.columns[name][row]) for name in ("offset", "length", "part"))
        known = source.known(offset, length)
        found = count_line(read, length, capture.string("kind", row) or "", part, source.reading, known)
        return min(found, _MOST)

    # Summaries

    def summaries(self, rows: Rows) -> list[str]:
        """The summaries of transient results among some messages that are not counted yet."""
        badges = self._transients.columns["badges"][rows]
        texts = (self._transients.summary(row) for row in rows[badges != 0].tolist())
        return [text for text in texts if text is not None and text not in self._summaries]

    def put_summaries(self, texts: Iterable[str], counts: Iterable[int]) -> None:
        """Take in the counts of summaries."""
        self._summaries.update(zip(texts, counts, strict=True))

    def summary_tokens(self, row: int) -> int | None:
        """Tokens of the summary that stands, or will stand, for a transient result; None for any other message."""
        known = int(self.columns["summary"][row]) if 0 <= row < len(self.columns) else NOT_COUNTED
        if known != NOT_COUNTED and self._transients.is_transient(row):
            return known
        text = self._transients.summary(row)
        if text is None:
            return None
        found = self.count_once(text)
        if self._transients.gives_summary(row):  # it is read again for every step of a plot otherwise
            self.columns.put("summary", np.array([row]), np.array([min(found, _MOST)], np.int32))
        return found

    def count_once(self, text: str) -> int:
        """Tokens of a text that is asked about again and again, as a summary or definitions of tools."""
        found = self._summaries.get(text)
        if found is None:
            found = self._summaries[text] = count(text)
        return found

    def count_inherited(self, row: int) -> int:
        """Tokens of a copy that stands in a model's context all the same; in no sum."""
        found = self.of_inherited[row] = self._count_row(row)
        return found

    # Asking

    @property
    def total(self) -> int:
        """Of all messages counted."""
        return self._tally.total

    @property
    def uncounted(self) -> int:
        """Messages that are not counted, or cannot be."""
        return len(self.columns) - self.counted

    def sent_by(self, space: int, name: str) -> int:
        """Of what somebody sent in a space (string id), as far as counted."""
        return self._tally.sent_by(space, name)

    def node_sums(self) -> NodeTokens:
        """By context, as far as counted. O(nodes log depth) when something changed."""
        state = (self.counted, self._contexts.tree.version)
        if self._node_sums is None or self._node_sums[0] != state:
            self._node_sums = state, self._tally.by_node()
        return self._node_sums[1]

    def sums(self) -> TokenSums:
        """Everything counted so far, added up. O(messages) in numpy when something changed."""
        state = (self.counted, len(self.columns), self._contexts.tree.version)
        if self._sums is None or self._sums[0] != state:
            self._sums = state, self._added_up()
        return self._sums[1]

    def _added_up(self) -> TokenSums:
        by_sender = self._tally.by_sender()
        by_participant: dict[str, int] = {}
        for (_, name), tokens in by_sender.items():
            by_participant[name] = by_participant.get(name, 0) + tokens
        return TokenSums(
            total=self.total,
            uncounted=self.uncounted,
            by_node=self.node_sums(),
            by_participant=by_participant,
            by_sender=by_sender,
            by_tool=by_tool(self._capture, self._correlation, self.columns["tokens"], self.total),
            by_kind=self._tally.by_kind(),
        )
