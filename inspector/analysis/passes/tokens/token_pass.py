"""Stores the estimated tokens of each message as far as counted (`tokens.counter`), and hands out batches to count.

Counting is slow compared with reading, so `feed` counts no tokens. A caller takes batches of messages (`next_batch`)
and returns their counts (`store_counts`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.changed_rows import NO_ROWS, ChangedRows, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.results.transient_results import TransientPass
from inspector.analysis.passes.tokens.token_sums import NodeTokens, TokenSums, TokenTally, tokens_by_tool
from inspector.base.slices import SlicedWork
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import DERIVED_OFFSET
from inspector.store.messages.capture import Capture
from inspector.tokens.counter import count_tokens
from inspector.tokens.line_counting import COUNTED_HEAD, NOT_COUNTED, count_line

__all__ = ["NOT_COUNTED", "TokenPass"]

BATCH_ROWS = 1_024
BATCH_BYTES = 256 << 10
"""Bytes of lines in a batch: some 40 ms of work, so that urgent messages never wait longer."""
# Small, as a step is one batch.
_IN_PROCESS_ROWS = 32
_MAX_TOKENS = np.iinfo(np.int32).max


class TokenPass:
    """Tokens by message.

    Attributes:
        columns: per message `tokens` int32, NOT_COUNTED until it is counted, or for ever if it cannot be; and
            `summary` int32, tokens of its own summary, NOT_COUNTED until a caller asks.
        counted: number of counted messages.
        bytes_left: approximate bytes of the lines without a count.
        inherited_tokens: by message, tokens of copies in a model's context, counted on request.
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
        self.columns = GrowingColumns({"tokens": np.int32, "summary": np.int32})
        self.counted = self.bytes_left = 0
        self._next_row = 0
        self._urgent_rows: deque[int] = deque()  # rows to count before all others
        self._rows_given_out = 0
        self._tally = TokenTally(self._capture, self._contexts)
        self._summaries: dict[str, int] = {}
        self._sums: tuple[object, TokenSums] | None = None
        self._node_sums: tuple[object, NodeTokens] | None = None
        self.inherited_tokens: dict[int, int] = {}
        self._changed = ChangedRows()

    def feed(self, start: int, stop: int) -> None:
        """Adds messages `start` to `stop` without counting; copies and unrecorded messages get 0 tokens."""
        self.columns.append({"tokens": NOT_COUNTED, "summary": NOT_COUNTED}, stop - start)
        self.bytes_left += self._bytes_of(slice(start, stop))
        rows = np.arange(start, stop)
        free = self._capture.columns["flags"][start:stop] & np.uint32(Flag.UNRECORDED.value) != 0
        if self._capture.has_copies:
            free |= self._capture.repeated_messages(rows)[1]
        if free.any():
            told = rows[free]
            self._note(told, np.zeros(len(told), np.int32))  # new messages need no change notice

    def take_changes(self) -> Rows:
        """Returns the messages counted since the last call."""
        return self._changed.take_rows()

    # Counting

    @property
    def done(self) -> bool:
        """True if every message has been counted, as far as possible."""
        return self.counted == len(self.columns) or (self._rows_given_out == 0 and not self._has_left)

    @property
    def _has_left(self) -> bool:
        """True if messages are waiting to be given out."""
        return self._next_row < len(self.columns) or bool(self._urgent_rows)

    def _bytes_of(self, rows: slice) -> int:
        return int(self._capture.columns["length"][rows].sum(dtype=np.int64))

    def prioritize(self, rows: Iterable[int]) -> None:
        """Moves messages to the front of the queue, for example because they are visible."""
        tokens = self.columns["tokens"]
        self._urgent_rows.extend(row for row in rows if row >= self._next_row and tokens[row] == NOT_COUNTED)

    def next_batch(self, most: int = BATCH_ROWS) -> Rows:
        """Returns the next messages of one file to count, each once; empty if all were given out."""
        rows = self._wanted(most) if self._urgent_rows else self._following_batch(most)
        self._rows_given_out += len(rows)
        return rows

    def _wanted(self, most: int) -> Rows:
        rows = np.unique(
            np.array([self._urgent_rows.popleft() for _ in range(min(most, len(self._urgent_rows)))], np.int64)
        )
        stop = self._batch_length(rows)
        self._urgent_rows.extendleft(rows[stop:][::-1].tolist())
        return rows[:stop]

    def _following_batch(self, most: int) -> Rows:
        while self._next_row < len(self.columns):
            rows = np.arange(self._next_row, min(len(self.columns), self._next_row + most))
            rows = rows[: self._batch_length(rows)]
            self.bytes_left -= self._bytes_of(slice(self._next_row, self._next_row + len(rows)))
            self._next_row += len(rows)
            rows = rows[self.columns["tokens"][rows] == NOT_COUNTED]
            if len(rows):
                return rows
        return NO_ROWS

    def _batch_length(self, rows: Rows) -> int:
        """Returns the number of leading rows that make a batch: of one source, limited in bytes, at least one."""
        columns = self._capture.columns
        sizes = np.minimum(columns["length"][rows].astype(np.int64), COUNTED_HEAD)
        fitting = max(1, int(np.searchsorted(np.cumsum(sizes), BATCH_BYTES, "right")))
        file = columns["source"][rows].astype(np.int64) << 1 | (columns["offset"][rows] >= DERIVED_OFFSET)
        # A batch is read from one file by one process.
        elsewhere = np.flatnonzero(file != file[0])
        return min(fitting, int(elsewhere[0]) if len(elsewhere) else len(rows))

    def store_counts(self, rows: Rows, counts: NDArray[np.int32]) -> None:
        """Stores the counts of a batch."""
        self._rows_given_out -= len(rows)
        self._changed.add_array(self._note(rows, counts))

    def give_back(self, rows: Rows) -> None:
        """Returns an uncounted batch to the queue."""
        self._rows_given_out -= len(rows)
        self._urgent_rows.extendleft(rows[::-1].tolist())

    def _note(self, rows: Rows, counts: NDArray[np.int32]) -> Rows:
        """Stores counts; returns the messages that had none before."""
        new = (self.columns["tokens"][rows] == NOT_COUNTED) & (counts != NOT_COUNTED)
        rows, counts = rows[new], counts[new]
        if len(rows):
            self.columns.replace("tokens", rows, counts)
            self.counted += len(rows)
            self._tally.add(rows, counts)
        return rows

    def count_now(self, rows: Iterable[int]) -> NDArray[np.int32]:
        """Returns tokens of a few messages; counts missing ones now, in this process."""
        found = np.fromiter(rows, np.int64)
        missing = np.unique(found[self.columns["tokens"][found] == NOT_COUNTED])
        if len(missing):
            self._changed.add_array(self._note(missing, self._count_rows(missing)))
        return self.columns["tokens"][found]

    def count_in_process(self) -> SlicedWork[None]:
        """Counts all messages in this process, a few in a step."""
        while len(rows := self.next_batch(_IN_PROCESS_ROWS)):
            self.store_counts(rows, self._count_rows(rows))
            yield

    def _count_rows(self, rows: Rows) -> NDArray[np.int32]:
        return np.array([self._count_row(row) for row in rows.tolist()], np.int32)

    def _count_row(self, row: int) -> int:
        capture = self._capture

        def read(start: int, length: int) -> bytes:
            return capture.records.line_part(row, start, length)

        source = capture.sources[int(capture.columns["source"][row])]
        offset, length, part = (int(capture.columns[name][row]) for name in ("offset", "length", "part"))
        known = source.known_facts(offset, length)
        found = count_line(read, length, capture.string("kind", row) or "", part, source.chosen_format, known)
        return min(found, _MAX_TOKENS)

    # Summaries

    def summaries(self, rows: Rows) -> list[str]:
        """Returns the uncounted summaries of transient results among some messages."""
        badges = self._transients.columns["badges"][rows]
        texts = (self._transients.summary(row) for row in rows[badges != 0].tolist())
        return [text for text in texts if text is not None and text not in self._summaries]

    def store_summary_counts(self, texts: Iterable[str], counts: Iterable[int]) -> None:
        """Stores the counts of summaries."""
        self._summaries.update(zip(texts, counts, strict=True))

    def summary_tokens(self, row: int) -> int | None:
        """Returns tokens of the present or future summary of a transient result; None for other messages."""
        known = int(self.columns["summary"][row]) if 0 <= row < len(self.columns) else NOT_COUNTED
        if known != NOT_COUNTED and self._transients.is_transient(row):
            return known
        text = self._transients.summary(row)
        if text is None:
            return None
        found = self.count_once(text)
        if self._transients.has_own_summary(row):  # without this cache it is read again for every step of a plot
            self.columns.replace("summary", np.array([row]), np.array([min(found, _MAX_TOKENS)], np.int32))
        return found

    def count_once(self, text: str) -> int:
        """Returns tokens of a text, cached for texts that repeat, such as summaries and definitions of tools."""
        found = self._summaries.get(text)
        if found is None:
            found = self._summaries[text] = count_tokens(text)
        return found

    def count_inherited(self, row: int) -> int:
        """Returns tokens of a copy that is in a model's context; they enter no sum."""
        found = self.inherited_tokens[row] = self._count_row(row)
        return found

    # Lookup

    @property
    def total(self) -> int:
        """Tokens of all counted messages."""
        return self._tally.total

    @property
    def uncounted(self) -> int:
        """Number of messages without a count."""
        return len(self.columns) - self.counted

    def sent_by(self, space: int, name: str) -> int:
        """Returns the counted tokens that a participant sent in a space (string id)."""
        return self._tally.sent_by(space, name)

    def node_sums(self) -> NodeTokens:
        """Returns the counted tokens by context. O(nodes log depth) after a change."""
        state = (self.counted, self._contexts.tree.version)
        if self._node_sums is None or self._node_sums[0] != state:
            self._node_sums = state, self._tally.by_node()
        return self._node_sums[1]

    def all_sums(self) -> TokenSums:
        """Returns all sums of the counted tokens. O(messages) in numpy after a change."""
        state = (self.counted, len(self.columns), self._contexts.tree.version)
        if self._sums is None or self._sums[0] != state:
            self._sums = state, self._compute_sums()
        return self._sums[1]

    def _compute_sums(self) -> TokenSums:
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
            by_tool=tokens_by_tool(self._capture, self._correlation, self.columns["tokens"], self.total),
            by_kind=self._tally.by_kind(),
        )
