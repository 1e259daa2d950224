"""Find in view: which of the messages shown hold what is looked for, found out in slices.

A message holds it when the text of its record does, whatever of it is folded on screen, or when the summary does that
is shown in place of a collapsed result; a frame, when it begins there and goes on in the next ones. A hit in a stream
that is folded is its row. What was said of a message is kept as long as the query: another filter, or
rows that come, ask only for what is not known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Changes
from inspector.analysis.passes.results.transients import NO_ROW
from inspector.filters.cache import UNKNOWN
from inspector.filters.find_query import FindQuery
from inspector.filters.folding import NOTHING, Grown
from inspector.filters.joined_text import begins_in_frame
from inspector.filters.long_records import LONG, search_long
from inspector.filters.message_text import found_in_own
from inspector.filters.patterns import TOO_LONG
from inspector.filters.time_limit import TookTooLongError
from inspector.filters.visible import Messages, VisibleRows
from inspector.store.messages.adjacent_reads import Stretch, stretches

_FIRST_BYTES, _MOST_BYTES = 64 << 10, 2 << 20
"""Of records searched without a look at the clock; slices begin small, as nobody knows how dear the query is."""
_MOST_ROWS = 8_192
_QUICK_S, _SLOW_S = 0.001, 0.003


def _one(message: int) -> Messages:
    return np.array([message], np.uint32)


class FindSearch:
    """One query over the rows of a table.

    The search begins at a message and goes around the end, so that what is next for the user is found first.

    Attributes:
        query: what is looked for.
        locate: where in a text it stands.
        gave_up: whether an expression took too long in so many messages that the rest is not searched.
    """

    def __init__(self, rows: VisibleRows, query: FindQuery, origin: int | None = None) -> None:
        """Begin, without searching yet.

        Args:
            rows: of the table.
            query: what is looked for.
            origin: the message to begin at.

        Raises:
            PatternError: the expression cannot be used.
        """
        self.query = query
        self.gave_up = False
        self.locate = query.locator()
        self._finder = query.finder()
        self._rows = rows
        self._known: NDArray[np.int8] = np.zeros(0, np.int8)
        self._long: tuple[int, Iterator[np.int8]] | None = None
        self._seen: Messages = NOTHING
        self._bytes = _FIRST_BYTES
        self._arranged = -1
        self._again = NOTHING
        self._begin(origin)

    def _begin(self, origin: int | None) -> None:
        """Look at the rows from a message on, then at those before it."""
        self._seen, self._replaced, self._folded = self._rows.chosen, self._rows.replaced, self._rows.folded
        first = 0 if origin is None else self._place(origin)
        self._runs = [[first, len(self._seen)], [0, first]]
        self._hits: list[list[Messages]] = [[], []]
        self._late = NOTHING
        self._joined: Grown | None = None
        self._hit_rows: Grown | None = None
        self._done = 0

    def _place(self, message: int) -> int:
        """How many of the messages searched were said before this one."""
        return int(self._seen.searchsorted(np.uint32(message)))

    # Searching

    def step(self, until: float) -> bool:
        """Search on until a time (`time.perf_counter`); whether all rows are searched then, or it gave up."""
        for which, run in enumerate(self._runs):
            while run[0] < run[1] and not self.gave_up:
                began = time.thread_time()  # what others take of the machine makes no message dearer
                try:
                    self._search(which, run)
                except TookTooLongError:
                    self.gave_up = True
                    return True
                spent = time.thread_time() - began
                if spent < _QUICK_S:
                    self._bytes = min(2 * self._bytes, _MOST_BYTES)
                elif spent > _SLOW_S:
                    self._bytes = max(self._bytes // 2, _FIRST_BYTES // 4)
                if time.perf_counter() >= until:
                    return self.done
        if len(self._again) and not self.gave_up:
            self._ask_again(until)
        return self.done

    def _search(self, which: int, run: list[int]) -> None:
        """Search the next records of a run."""
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
            left = unknown[known[unknown] == UNKNOWN]
            if len(left):
                chunk = chunk[: int(chunk.searchsorted(left[0]))]
        found = chunk[known[chunk] == 1]
        if len(found):
            self._take(which, found)
        run[0] += len(chunk)
        self._done += len(chunk)

    def _take(self, which: int, found: Messages) -> None:
        """Some messages of a run are found to hold it: they are hits, or the rows are that they are folded into."""
        rows = self._rows.standing_for(found)
        own = found[rows == found]
        if len(own):
            own = own[~self._is_late(own)] if len(self._late) else own
            self._hits[which].append(own)
            self._add(own)
        if len(own) < len(found):
            self._add_late(np.unique(rows[rows != found]).astype(np.uint32))

    def _add(self, found: Messages) -> None:
        """Some messages, ascending, are hits too."""
        if self._joined is not None:
            self._joined.add(found)
        if self._arranged != self._rows.arranged:
            self._hit_rows = None
        if self._hit_rows is not None:
            self._hit_rows.add(self._rows.rows_of(found.astype(np.int64)))

    def _add_late(self, rows: Messages) -> None:
        """Some messages are hits that were passed already, or whose row is that of a hit."""
        late = rows[~self._is_hit(rows)]
        if len(late):
            self._late = np.union1d(self._late, late)
            self._add(late)

    def _is_late(self, messages: Messages) -> NDArray[np.bool_]:
        return np.isin(messages, self._late)

    def _answer(self, messages: Messages) -> None:
        """Find out about messages, ascending; some stay unknown where that takes long."""
        known, analysis = self._known, self._rows.analysis
        long = np.flatnonzero(analysis.capture.columns["length"][messages] > LONG)
        if len(long) and not long[0]:
            answer = known[messages[0]] = self._ask_long(int(messages[0]))
            if answer not in (1, UNKNOWN):
                self._ask_summaries(messages[:1])
            return
        messages = messages[: long[0]] if len(long) else messages
        at = 0
        for stretch in stretches(analysis.capture, messages):
            some = messages[at : at + len(stretch.starts)]
            found = found_in_own(self._finder, analysis.capture, some, stretch)
            known[some] = found
            self._ask_summaries(some, stretch)
            self._ask_joined(some)
            at += len(found)
            if (found == UNKNOWN).any():
                break

    def _ask_summaries(self, messages: Messages, lines: Stretch | None = None) -> None:
        """Find out about summaries of collapsed results whose records do not hold it.

        Args:
            messages: that were searched.
            lines: their records; None to read those that give a summary of their own again.
        """
        known = self._known
        rows, own = self._rows.analysis.transients.signals.consumed(int(messages[0]), int(messages[-1]) + 1)
        places = messages.searchsorted(rows.astype(np.uint32))
        asked = (messages[places] == rows) & (known[rows] != 1) & (known[rows] != UNKNOWN)
        given = np.flatnonzero(asked & own)
        if lines is not None and len(given):
            at = places[given]
            asked[given] = self._finder.may_hold_apart(lines.data, lines.starts[at], lines.ends[at])
        for message in rows[asked].tolist():
            if self._in_summary(message):
                known[message] = 1

    def _ask_joined(self, messages: Messages) -> None:
        """Find out about frames which do not hold it themselves: whether it goes on in the next ones."""
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
        """Search on in a long record."""
        if self._long is None or self._long[0] != message:
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
            grown = np.full(max(count, len(self._known) * 3 // 2, 1024), UNKNOWN)
            grown[: len(self._known)] = self._known
            self._known = grown
        return self._known

    # Following what changes

    def take_in(self, changes: Changes, origin: int | None) -> bool:
        """Traffic has come or another view was chosen; whether there is something to search.

        Args:
            changes: what is no longer known.
            origin: the message to begin at where rows changed otherwise than by new ones below.
        """
        self._to_ask_again(changes)
        visible, seen = self._rows.chosen, self._seen
        grown = self._folded == self._rows.folded and (
            self._rows.replaced == self._replaced
            or (len(visible) >= len(seen) and np.array_equal(visible[: len(seen)], seen))
        )
        if not grown:
            self._begin(origin)
        elif len(visible) > len(seen):
            self._seen, self._replaced = visible, self._rows.replaced
            self._runs[0][1] = len(visible)
        return not self.done

    def _to_ask_again(self, changes: Changes) -> None:
        """Remember messages searched before that may hold it now.

        A collapsed result shows its summary too, and a frame goes on in newer ones; nothing else changes.
        """
        changed = changes.changed[changes.changed < len(self._known)]
        changed = changed[self._known[changed] == 0]
        if len(changed):
            analysis = self._rows.analysis
            more = analysis.transients.signals.links("collapsed_by", changed) != NO_ROW
            changed = changed[more | (analysis.streams.columns["run"][changed] != 0)]
            self._again = np.union1d(self._again, changed.astype(np.uint32))

    def _ask_again(self, until: float) -> None:
        """Ask some of them, one at least, until a time; an expression may take long in each."""
        asked, found = 0, list[int]()
        frames = self._rows.analysis.streams.columns["run"][self._again] != 0
        if frames.any():
            self._ask_joined(self._again[frames])
            found = self._again[frames][self._known[self._again[frames]] == 1].tolist()
            self._again = self._again[~frames]
        for message in self._again.tolist():
            asked += 1
            if self._in_summary(message):
                found.append(message)
            if time.perf_counter() >= until:
                break
        self._again = self._again[asked:]
        new = np.unique(np.array(found, np.uint32))
        self._known[new] = 1
        visible = self._seen
        if len(new) and len(visible):
            shown = visible[np.minimum(visible.searchsorted(new), len(visible) - 1)] == new
            self._add_late(np.unique(self._rows.standing_for(new[shown])).astype(np.uint32))

    # Asking

    @property
    def done(self) -> bool:
        """Whether nothing more is searched: all rows are, or too many take too long."""
        return self.gave_up or (not len(self._again) and all(start >= stop for start, stop in self._runs))

    @property
    def fraction(self) -> float:
        """How far it is, 0 to 1."""
        return self._done / max(1, len(self._seen))

    @property
    def hits(self) -> Messages:
        """(n,) uint32, the messages found so far, ascending."""
        if self._joined is None:
            parts = [*self._hits[1], *self._hits[0]]
            joined = np.concatenate(parts) if parts else NOTHING
            self._joined = Grown(np.union1d(joined, self._late) if len(self._late) else joined)
        return self._joined.values

    @property
    def too_long(self) -> int:
        """How many messages were left out because it takes too long to say whether they are hits."""
        return int(np.count_nonzero(self._known == TOO_LONG))

    def _is_hit(self, messages: Messages) -> NDArray[np.bool_]:
        hits = self.hits
        if not len(hits):
            return np.zeros(len(messages), np.bool_)
        return hits[np.minimum(hits.searchsorted(messages), len(hits) - 1)] == messages

    def holds(self, message: int) -> bool:
        """Whether a message, or one that its row stands for, is known to hold it."""
        return message < len(self._known) and bool(self._known[message] == 1 or self._is_late(_one(message))[0])

    def place_of(self, message: int | None) -> int | None:
        """Which of the hits a message is as they stand, from 0; None when it is none."""
        row = self._rows.row_of(message) if message is not None and self.holds(message) else None
        if message is None or row is None:
            return None
        if self._rows.sorted_by is None:
            return int(self.hits.searchsorted(np.uint32(message)))
        return int(self._rows_of_hits().searchsorted(row))

    def next(self, message: int | None, step: int) -> tuple[int, bool] | None:
        """The next (1) or previous (-1) hit from a message, and whether the end was passed; None where none is known.

        Without a message it is the first or the last one. O(log hits).
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
        return (self._rows.at(found)[0] if by_row else found), wrapped

    def _rows_of_hits(self) -> NDArray[np.int64]:
        """(n,) int64, the rows the hits stand in, ascending; kept until messages come to stand elsewhere."""
        if self._hit_rows is None or self._arranged != self._rows.arranged:
            self._arranged = self._rows.arranged
            self._hit_rows = Grown(self._rows.rows_of(self.hits.astype(np.int64)))
        return self._hit_rows.values

    def knows_next(self, message: int | None, step: int) -> bool:
        """Whether nothing that is still to be searched lies between a message and the hit `next` gives."""
        if self.done:
            return True
        found = self.next(message, step)
        if found is None or found[1] or self._rows.sorted_by is not None:
            return False
        first = (0 if step > 0 else len(self._seen)) if message is None else self._place(message)
        last = self._place(found[0])
        low, high = min(first, last), max(first, last)
        return all(stop <= low or start > high or start >= stop for start, stop in self._runs)
