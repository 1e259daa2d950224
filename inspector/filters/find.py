"""Find in view: searches the shown messages in steps.

A message matches if the text of its record does, also where it is folded on screen. A collapsed result also matches by
the summary shown in its place. A frame matches if the text begins there and continues in the next frames. The hit of a
frame in a folded stream is the stream's row. Results per message are cached as long as the query: another filter or new
rows search only unknown messages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.results.transient_results import NO_ROW
from inspector.filters.cache import UNKNOWN
from inspector.filters.find_query import FindQuery
from inspector.filters.folding import NO_MESSAGES, GrowingArray
from inspector.filters.joined_text import begins_in_frame
from inspector.filters.patterns import TOO_LONG
from inspector.filters.text_search import LONG_RECORD, found_in_own, search_long
from inspector.filters.time_limit import TookTooLongError
from inspector.filters.visible import Messages, VisibleRows
from inspector.store.messages.adjacent_reads import LineRange, read_line_ranges

_FIRST_BYTES, _MOST_BYTES = 64 << 10, 2 << 20
"""Record bytes searched in one step. Steps start small, since the cost of the query is unknown."""
# Rows with known answers cost no search, but a look at each.
_MOST_ROWS = 8_192
_MOST_QUEUED = 16
"""Changed messages searched in one step."""
# Around the 2 ms of `Pace`; between the two the size stays, so that it does not oscillate.
_QUICK_S, _SLOW_S = 0.001, 0.003


def _as_array(message: int) -> Messages:
    return np.array([message], np.uint32)


class FindSearch:
    """Searches the rows of a table for one query.

    The search starts at a message and wraps around the end, so it finds the user's next hit first.

    Attributes:
        query: the query.
        locate: returns the matches in a text.
        revision: rises with each change of the hits.
        gave_up: the expression timed out in so many messages that the rest is not searched.
    """

    def __init__(self, rows: VisibleRows, query: FindQuery, origin: int | None = None) -> None:
        """Prepares the search without running it.

        Args:
            rows: rows of the table.
            query: the query.
            origin: the message to start at.

        Raises:
            PatternError: the expression is not valid.
        """
        self.query = query
        self.revision = 0
        self.gave_up = False
        self.locate = query.locator()
        self._finder = query.finder()
        self._rows = rows
        self._known: NDArray[np.int8] = np.zeros(0, np.int8)
        self._long: tuple[int, Iterator[np.int8]] | None = None
        self._seen: Messages = NO_MESSAGES
        self._bytes = _FIRST_BYTES
        self._arranged = -1
        self._again = NO_MESSAGES
        self._begin(origin)

    def _begin(self, origin: int | None) -> None:
        """Starts the search at a message; earlier rows come last."""
        self._seen, self._replaced, self._folded = self._rows.chosen, self._rows.replaced, self._rows.is_folded
        first = 0 if origin is None else self._index_of(origin)
        self._runs = [[first, len(self._seen)], [0, first]]
        self._hits: list[list[Messages]] = [[], []]
        self._late = NO_MESSAGES
        self._joined: GrowingArray | None = None
        self._hit_rows: GrowingArray | None = None
        self._done = 0
        self.revision += 1

    def _index_of(self, message: int) -> int:
        """Returns the number of searched messages before this one."""
        return int(self._seen.searchsorted(np.uint32(message)))

    # Searching

    def step(self) -> bool:
        """Searches some messages. Returns True if all rows are searched, or it gave up."""
        which = next((which for which, (start, stop) in enumerate(self._runs) if start < stop), None)
        if self.is_done:
            return True
        if which is None:
            # Changed messages come last, so the visible part of the table is searched first.
            self._search_queued()
            return self.is_done
        began = time.thread_time()  # processor time: other load on the machine does not count
        try:
            self._search(which, self._runs[which])
        except TookTooLongError:
            self.gave_up = True
            return True
        spent = time.thread_time() - began
        # Chunks adapt to the query: an expression may take a thousand times as long as a text.
        if spent < _QUICK_S:
            self._bytes = min(2 * self._bytes, _MOST_BYTES)
        elif spent > _SLOW_S:
            # Not below a quarter of the first size, since each step also has fixed costs.
            self._bytes = max(self._bytes // 2, _FIRST_BYTES // 4)
        return self.is_done

    def _search(self, which: int, run: list[int]) -> None:
        """Searches the next records of a run."""
        chunk = self._seen[run[0] : min(run[1], run[0] + _MOST_ROWS)]
        known = self._answers()
        unknown = chunk[known[chunk] == UNKNOWN]
        if len(unknown):
            lengths = self._rows.analysis.capture.columns["length"][unknown].cumsum(dtype=np.int64)
            enough = 1 + int(lengths.searchsorted(self._bytes))
            if enough < len(unknown):
                chunk = chunk[: int(chunk.searchsorted(unknown[enough]))]
                unknown = unknown[:enough]
            self._answer(unknown)
            # A long record is searched over several steps; the run stops before it.
            left = unknown[known[unknown] == UNKNOWN]
            if len(left):
                chunk = chunk[: int(chunk.searchsorted(left[0]))]
        found = chunk[known[chunk] == 1]
        if len(found):
            self._take_hits(which, found)
        run[0] += len(chunk)
        self._done += len(chunk)

    def _take_hits(self, which: int, found: Messages) -> None:
        """Adds matching messages of a run as hits. A folded message counts for its row."""
        # A hit in a folded frame must be reachable, so its row is the hit.
        rows = self._rows.row_messages(found)
        own = found[rows == found]
        if len(own):
            own = own[~self._is_late(own)] if len(self._late) else own
            self._hits[which].append(own)
            self._add(own)
        if len(own) < len(found):
            self._add_late(np.unique(rows[rows != found]).astype(np.uint32))

    def _add(self, found: Messages) -> None:
        """Adds messages, ascending, to the hits."""
        self.revision += 1
        if self._joined is not None:
            self._joined.add(found)
        if self._arranged != self._rows.arranged:
            self._hit_rows = None
        if self._hit_rows is not None:
            self._hit_rows.add(self._rows.rows_of(found.astype(np.int64)))

    def _add_late(self, rows: Messages) -> None:
        """Adds hits in rows that the search has already passed, and rows that stand for a hit."""
        late = rows[~self._is_hit(rows)]
        if len(late):
            self._late = np.union1d(self._late, late)
            self._add(late)

    def _is_late(self, messages: Messages) -> NDArray[np.bool_]:
        return np.isin(messages, self._late)

    def _answer(self, messages: Messages) -> None:
        """Searches messages, ascending; slow ones may stay unknown."""
        known, analysis = self._known, self._rows.analysis
        long = np.flatnonzero(analysis.capture.columns["length"][messages] > LONG_RECORD)
        if len(long) and not long[0]:
            answer = known[messages[0]] = self._ask_long(int(messages[0]))
            if answer not in (1, UNKNOWN):
                self._ask_summaries(messages[:1])
            return
        messages = messages[: long[0]] if len(long) else messages
        at = 0
        for stretch in read_line_ranges(analysis.capture, messages):
            some = messages[at : at + len(stretch.starts)]
            found = found_in_own(self._finder, analysis.capture, some, stretch)
            known[some] = found
            self._ask_summaries(some, stretch)
            self._ask_joined(some)
            at += len(found)
            if (found == UNKNOWN).any():
                break

    def _ask_summaries(self, messages: Messages, lines: LineRange | None = None) -> None:
        """Searches summaries of collapsed results whose records do not match.

        Args:
            messages: the searched messages.
            lines: their records; None forces a new read of records with their own summary.
        """
        known = self._known
        rows, own = self._rows.analysis.transients.signals.consumed(int(messages[0]), int(messages[-1]) + 1)
        places = messages.searchsorted(rows.astype(np.uint32))
        asked = (messages[places] == rows) & (known[rows] != 1) & (known[rows] != UNKNOWN)
        given = np.flatnonzero(asked & own)
        if lines is not None and len(given):
            asked[given] = self._finder.may_match_strings(lines.records(places[given]))
        for message in rows[asked].tolist():
            if self._in_summary(message):
                known[message] = 1

    def _ask_joined(self, messages: Messages) -> None:
        """Searches frames without a match of their own for text that continues in the next frames."""
        runs = self._rows.analysis.streams.columns["run"]
        if runs.strides[0] == 0:  # one value for all: there are no frames
            return
        open_ = messages[(runs[messages] != 0) & (self._known[messages] == 0)]
        if len(open_):
            self._known[open_[begins_in_frame(self._rows.analysis, open_, self._begins)]] = 1

    def _begins(self, text: str, limit: int) -> bool:
        places = self.locate(text)
        return bool(places) and places[0][0] < limit

    def _ask_long(self, message: int) -> np.int8:
        """Continues the search in a long record."""
        if self._long is None or self._long[0] != message:
            # The iterator is kept between steps, so a record of 50 MB is not searched again from its beginning.
            self._long = message, search_long(self._finder, self._rows.analysis.capture, message)
        answer = next(self._long[1])
        if answer != UNKNOWN:
            self._long = None
        return answer

    def _in_summary(self, message: int) -> bool:
        return bool(self.locate(self._rows.analysis.transients.summary(message) or ""))

    def _answers(self) -> NDArray[np.int8]:
        count = len(self._rows.analysis)
        if len(self._known) < count:
            # Grows by half, so that a live capture copies each entry only a few times.
            grown = np.full(max(count, len(self._known) * 3 // 2, 1024), UNKNOWN)
            grown[: len(self._known)] = self._known
            self._known = grown
        return self._known

    # Changes

    def follow_rows(self, origin: int | None) -> bool:
        """Follows new rows or another view. Returns True if something must be searched.

        Args:
            origin: the message to start at if rows changed other than by new ones below.
        """
        visible, seen = self._rows.chosen, self._seen
        grown = (
            self._folded == self._rows.is_folded
            and (
                self._rows.replaced == self._replaced
                # Folding may replace the array although only new rows came; then the search goes on.
                or (len(visible) >= len(seen) and np.array_equal(visible[: len(seen)], seen))
            )
        )
        if not grown:
            self._begin(origin)
        elif len(visible) > len(seen):
            self._seen, self._replaced = visible, self._rows.replaced
            self._runs[0][1] = len(visible)
        return not self.is_done

    def note_changed(self, changed: NDArray[np.int64]) -> None:
        """Queues searched messages that may match now.

        A collapsed result gets a summary and a frame gets a continuation; no other message changes.
        """
        changed = changed[changed < len(self._known)]
        changed = changed[self._known[changed] == 0]
        if len(changed):
            analysis = self._rows.analysis
            more = analysis.transients.signals.links("collapsed_by", changed) != NO_ROW
            changed = changed[more | (analysis.streams.columns["run"][changed] != 0)]
            self._again = np.union1d(self._again, changed.astype(np.uint32))

    def _search_queued(self) -> None:
        """Searches a few queued messages, since an expression may take long in each."""
        found = list[int]()
        frames = self._rows.analysis.streams.columns["run"][self._again] != 0
        if frames.any():
            self._ask_joined(self._again[frames])
            found = self._again[frames][self._known[self._again[frames]] == 1].tolist()
            self._again = self._again[~frames]
        some, self._again = self._again[:_MOST_QUEUED], self._again[_MOST_QUEUED:]
        found += filter(self._in_summary, some.tolist())
        new = np.unique(np.array(found, np.uint32))
        self._known[new] = 1
        visible = self._seen
        if len(new) and len(visible):
            shown = visible[np.minimum(visible.searchsorted(new), len(visible) - 1)] == new
            self._add_late(np.unique(self._rows.row_messages(new[shown])).astype(np.uint32))

    # Results

    @property
    def is_done(self) -> bool:
        """Returns True if the search has ended: all rows are searched, or too many timed out."""
        return self.gave_up or (not len(self._again) and all(start >= stop for start, stop in self._runs))

    @property
    def fraction(self) -> float:
        """Progress, 0 to 1."""
        return self._done / max(1, len(self._seen))

    @property
    def hits(self) -> Messages:
        """(n,) uint32, messages found so far, ascending."""
        if self._joined is None:
            parts = [*self._hits[1], *self._hits[0]]
            joined = np.concatenate(parts) if parts else NO_MESSAGES
            self._joined = GrowingArray(np.union1d(joined, self._late) if len(self._late) else joined)
        return self._joined.values

    @property
    def timeout_count(self) -> int:
        """Number of messages left out because the search timed out in them."""
        return int(np.count_nonzero(self._known == TOO_LONG))

    def _is_hit(self, messages: Messages) -> NDArray[np.bool_]:
        hits = self.hits
        if not len(hits):
            return np.zeros(len(messages), np.bool_)
        return hits[np.minimum(hits.searchsorted(messages), len(hits) - 1)] == messages

    def is_hit(self, message: int) -> bool:
        """Returns True if a message, or one that its row stands for, is a known hit."""
        return message < len(self._known) and bool(self._known[message] == 1 or self._is_late(_as_array(message))[0])

    def place_of(self, message: int | None) -> int | None:
        """Returns the index of a message among the hits in display order, if it is a hit."""
        row = self._rows.row_of(message) if message is not None and self.is_hit(message) else None
        if message is None or row is None:
            return None
        if self._rows.sorted_by is None:
            return int(self.hits.searchsorted(np.uint32(message)))
        return int(self._rows_of_hits().searchsorted(row))

    def next_hit(self, message: int | None, step: int) -> tuple[int, bool] | None:
        """Returns the next (1) or previous (-1) hit from a message, and True if it wrapped around; None without hits.

        Without a message, returns the first or last hit. O(log hits).
        """
        if not len(self.hits):
            return None
        by_row = self._rows.sorted_by is not None
        hits: NDArray[Any] = self._rows_of_hits() if by_row else self.hits
        here: Any = None
        if message is not None:
            here = self._rows.row_of(message) if by_row else np.uint32(message)
        if here is None:
            place, wrapped = (0 if step > 0 else len(hits) - 1), False
        else:
            place = int(hits.searchsorted(here, "right" if step > 0 else "left")) - (step < 0)
            wrapped = not 0 <= place < len(hits)
        found = int(hits[place % len(hits)])
        return (self._rows.row_at(found)[0] if by_row else found), wrapped

    def _rows_of_hits(self) -> NDArray[np.int64]:
        """(n,) int64, rows of the hits, ascending; cached until rows are rearranged."""
        if self._hit_rows is None or self._arranged != self._rows.arranged:
            self._arranged = self._rows.arranged
            self._hit_rows = GrowingArray(self._rows.rows_of(self.hits.astype(np.int64)))
        return self._hit_rows.values

    def knows_next(self, message: int | None, step: int) -> bool:
        """Returns True if everything between a message and the hit from `next` is searched."""
        if self.is_done:
            return True
        found = self.next_hit(message, step)
        # In a sorted table, unsearched messages may have rows anywhere.
        if found is None or found[1] or self._rows.sorted_by is not None:
            return False
        first = (0 if step > 0 else len(self._seen)) if message is None else self._index_of(message)
        last = self._index_of(found[0])
        low, high = min(first, last), max(first, last)
        return all(stop <= low or start > high or start >= stop for start, stop in self._runs)
