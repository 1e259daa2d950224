"""Replays reasoning sequences: starts and ends of each context in message order, and the resulting states.

This is the only source of a context's state, of each start's state, and of the findings about ends (docs/protocols.md
8).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy, extend_with
from inspector.analysis.passes.changed_rows import Rows

MAIN = -1
"""Node number of the main context of a space, above all roots."""
RUNNING, CONCLUDED, CANCELLED = 0, 1, 2
"""States of a start; the last two are also ends of a context."""
STARTED, STARTED_OWN = 3, 4
"""Event codes beside CONCLUDED and CANCELLED: a start, and the start with the context's id."""
_MARK = 5  # only opens the context
_STARTS = (STARTED, STARTED_OWN, _MARK)
_NO_ROW = -1
ALL_SENDERS = -2
"""Start number in an end that ends the context for all senders."""
_MAX_UNCACHED_EVENTS = 8  # limit of events that are replayed at each read; the replay of a longer node is cached


class StateChange(NamedTuple):
    """A change of a context's state."""

    row: int
    """The message with which the state begins."""
    state: int
    """RUNNING, CONCLUDED or CANCELLED."""
    by: int
    """The message that caused it."""


class RepeatedConclusion(NamedTuple):
    """A repeated conclusion."""

    row: int
    other: int
    """The earlier conclusion."""


class Outcome(NamedTuple):
    """The state of a node after all its events."""

    first: int
    """Its first start; -1."""
    state: int
    """RUNNING, CONCLUDED or CANCELLED."""
    ended_by: int
    """The message that ended it; -1 if it has not ended."""


class ReasoningSequences:
    """Events of each node as a linked list in arrays; no Python object per message or node.

    Rules of a node, in the order of its events:

    - A start opens a sequence of its sender. In a context that has ended it begins the context again, unless it only
      arrived late. It did if it was written before that end, or if it is the first and the context bears its id.
    - An end that names a start ends that one. Another end closes the open sequences of its sender. If that sender began
      none there, it closes all senders' sequences. A marker's sequence stays open if its sender reasoned in the
      context.
    - A context has ended when none of its sequences is open any more. Without any start its first end ends it.
    - A cancel overrules a conclusion of the same sequences.

    Args:
        was_written_before: tells, of a start and the end before it, if the start was written first.

    Attributes:
        last: by node, its latest event; -1.
        first_end: by node, the first message after which it had ended at any time; -1.
        any_ended: true once any end came, even one that left others open.
        changed_starts: starts with a changed state since the last read, and their states; the reader clears it.
        rewritten: nodes with a changed past since the last read, by a merge or a late message; the reader clears it.
    """

    def __init__(self, was_written_before: Callable[[int, int], bool] = lambda row, end: False) -> None:
        self._was_written_before = was_written_before
        self.last = array("i")
        self.first_end = array("i")
        self.any_ended = False
        self.changed_starts: list[tuple[int, int]] = []
        self.rewritten: set[int] = set()
        self._rows, self._event_codes = array("i"), array("b")
        self._senders, self._targets = array("I"), array("i")
        self._before = array("i")  # the previous event in the same node
        self._starts, self._start_nodes, self._states = array("i"), array("i"), array("b")  # rows ascending
        self._cached_replays: dict[int, SequenceReplay] = {}

    # Events

    def note_start(self, node: int, row: int, sender: int, *, own: bool = False, mark: bool = False) -> Outcome:
        """Adds a start to a node; rows of starts ascend.

        Args:
            node, row, sender: the node, the message, its sender.
            own: the node bears the id of the start.
            mark: it opens the context and begins no reasoning, as `context/start` does.
        """
        self._starts.append(row)
        self._start_nodes.append(node)
        self._states.append(RUNNING)
        return self._add_event(node, row, STARTED_OWN if own else _MARK if mark else STARTED, sender, _NO_ROW)

    def note_end(self, node: int, row: int, end: int, sender: int, target: int = _NO_ROW) -> Outcome:
        """Adds an end to a node.

        Args:
            node, row, sender: the node, the message, its sender.
            end: CONCLUDED or CANCELLED.
            target: the start it names; -1 for none, or ALL_SENDERS.
        """
        self.any_ended = True
        return self._add_event(node, row, end, sender, target)

    def note_events(
        self, nodes: Rows, rows: Rows, codes: Rows, senders: Rows
    ) -> tuple[NDArray[np.bool_], list[tuple[int, Outcome]]]:
        """Adds many starts and ends without a target at once.

        Args:
            nodes, rows, codes, senders: (n,) the events; rows ascend, codes are of starts and ends.

        Returns:
            (n,) flags of events that are the only start of their node, and the outcomes of all others, in order.
        """
        starts = codes >= STARTED
        for values, added in ((self._starts, rows), (self._start_nodes, nodes), (self._states, rows * 0)):
            extend_with(values, added[starts])
        _, first, counts = np.unique(nodes, return_index=True, return_counts=True)
        alone = np.zeros(len(nodes), np.bool_)
        # Most contexts have one start, and nothing before it changes its outcome.
        alone[first[counts == 1]] = True
        alone &= starts & (as_numpy(self.last)[nodes] < 0)
        count, length = int(np.count_nonzero(alone)), len(self._rows)
        as_numpy(self.last)[nodes[alone]] = np.arange(length, length + count)
        none = np.full(count, _NO_ROW)
        for values, added in (
            (self._rows, rows[alone]), (self._event_codes, codes[alone]), (self._senders, senders[alone]),
            (self._targets, none), (self._before, none),
        ):  # fmt: skip
            extend_with(values, added)
        rest = ~alone
        self.any_ended |= not starts.all()
        events = zip(*(values[rest].tolist() for values in (nodes, rows, codes, senders)), strict=True)
        return alone, [(node, self._add_event(node, row, code, sender, _NO_ROW)) for node, row, code, sender in events]

    def _add_event(self, node: int, row: int, what: int, sender: int, target: int) -> Outcome:
        event, above, after = len(self._rows), self.last[node], -1
        # Events usually arrive in order; a late one is inserted at its place.
        while above >= 0 and self._rows[above] > row:
            above, after = self._before[above], above
        self._rows.append(row)
        self._event_codes.append(what)
        self._senders.append(sender)
        self._targets.append(target)
        self._before.append(above)
        if after < 0:
            self.last[node] = event
            kept = self._cached_replays.get(node)
            if kept is not None:
                self._put(dict(self._apply_event(kept, event)))
                self._note_end_of(node, kept)
                return kept.outcome
            plain = self._apply_plain(node, event, above)
            if plain is not None:
                return plain
        else:
            self._before[after] = event
            self.rewritten.add(node)
        return self._replay(node)

    def _apply_plain(self, node: int, event: int, above: int) -> Outcome | None:
        """Applies the first start of a node, or the end of a single start; returns None for other events.

        Most contexts have no others. A single start ends by any end that names no other start.

        Args:
            above: the previous event; -1.
        """
        row, what = self._rows[event], self._event_codes[event]
        if what in _STARTS:
            return Outcome(row, RUNNING, _NO_ROW) if above < 0 else None
        if above < 0 or self._before[above] >= 0 or self._event_codes[above] not in _STARTS:
            return None
        start = self._rows[above]
        if self._targets[event] not in (_NO_ROW, ALL_SENDERS, start):
            return None
        self._put({start: what})
        self.first_end[node] = row
        return Outcome(start, what, row)

    def events(self, node: int) -> list[int]:
        """Returns the events of a node, earliest first."""
        found: list[int] = []
        event = self.last[node]
        while event >= 0:
            found.append(event)
            event = self._before[event]
        return found[::-1]

    def merge(self, node: int, into: int) -> Outcome | None:
        """Moves the events of a node to another one; returns the joint outcome, or None if there are none."""
        if self.first_end[node] >= 0 or self.first_end[into] >= 0:
            self.rewritten.add(into)
        moved = self.events(node)
        self._clear_node(node)
        if not moved:
            return None
        return self._link_events(into, moved + self.events(into))

    def move_start(self, row: int, node: int, into: int) -> tuple[Outcome, Outcome]:
        """Moves a start, and the ends that name it, to another node; returns both outcomes."""
        if self.first_end[node] >= 0 or self.first_end[into] >= 0:
            self.rewritten |= {node, into}
        self._start_nodes[bisect_left(self._starts, row)] = into
        kept = self._cached_replays.get(node)
        # Without this each of many moved starts would cost a replay of its whole context.
        if kept is not None and kept.remove_start(row):
            moved = self._unlink_event(node, row)
            return kept.outcome, self._link_events(into, [*self.events(into), moved])
        events = self.events(node)
        moving = [one for one in events if row in (self._targets[one], self._rows[one])]
        rest = self._link_events(node, [one for one in events if one not in moving])
        return rest, self._link_events(into, self.events(into) + moving)

    def _unlink_event(self, node: int, row: int) -> int:
        """Removes the event of a message from a node's list; it usually is one of the latest."""
        event, after = self.last[node], -1
        while self._rows[event] != row:
            event, after = self._before[event], event
        if after < 0:
            self.last[node] = self._before[event]
        else:
            self._before[after] = self._before[event]
        return event

    def _link_events(self, node: int, events: list[int]) -> Outcome:
        before = -1
        for event in sorted(events, key=lambda one: self._rows[one]):
            self._before[event] = before
            before = event
        self.last[node] = before
        return self._replay(node)

    def _clear_node(self, node: int) -> None:
        self.last[node] = self.first_end[node] = -1
        self._cached_replays.pop(node, None)
        self.rewritten.discard(node)

    # Replay

    def _replay(self, node: int) -> Outcome:
        events, states = self.events(node), dict[int, int]()
        replay = SequenceReplay()
        for event in events:
            states.update(self._apply_event(replay, event))
        self._put(states)
        self._cached_replays.pop(node, None)
        # A long context would make every further event cost a full replay.
        if len(events) > _MAX_UNCACHED_EVENTS:
            self._cached_replays[node] = replay
        self.first_end[node] = -1
        self._note_end_of(node, replay)
        return replay.outcome

    def _note_end_of(self, node: int, replay: SequenceReplay) -> None:
        if self.first_end[node] < 0 and replay.changes:
            self.first_end[node] = replay.changes[0].row

    def _apply_event(self, replay: SequenceReplay, event: int) -> list[tuple[int, int]]:
        row, what, sender = self._rows[event], self._event_codes[event], self._senders[event]
        if what in _STARTS:
            late = what == STARTED_OWN and replay.first < 0
            if replay.state and not late:
                late = self._was_written_before(row, replay.ended_by)
            return replay.begin(row, sender, late=late, mark=what == _MARK)
        return replay.end(row, what, sender, self._targets[event])

    def _put(self, states: Mapping[int, int]) -> None:
        latest = len(self._starts) - 1
        for start, state in states.items():
            place = latest if self._starts[latest] == start else bisect_left(self._starts, start)
            if self._states[place] != state:
                self._states[place] = state
                self.changed_starts.append((start, state))

    # Lookup

    def replay(self, node: int) -> SequenceReplay:
        """Returns the replay of all events of a node."""
        kept = self._cached_replays.get(node)
        if kept is None:
            kept = SequenceReplay()
            for event in self.events(node):
                self._apply_event(kept, event)
        return kept

    def plain_ends(self, nodes: Rows) -> tuple[NDArray[np.bool_], Rows, Rows]:
        """Finds nodes with a start and an end as their only events; their only change is to that end.

        Args:
            nodes: (n,) nodes that had ended at any time.

        Returns:
            (n,) flags of these nodes, and for them (k,) the ends and (k,) the states.
        """
        last, before, codes = as_numpy(self.last)[nodes], as_numpy(self._before), as_numpy(self._event_codes)
        above = before[last]
        plain = (above >= 0) & (before[above] < 0) & (codes[last] < STARTED) & (codes[above] >= STARTED)
        return plain, as_numpy(self._rows)[last[plain]].astype(np.int64), codes[last[plain]].astype(np.int64)

    def started_since(self, row: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the starts from `row` on, ascending, and their nodes as numbered then, before later merges."""
        first = bisect_left(self._starts, row)
        return np.array(self._starts[first:], np.int64), np.array(self._start_nodes[first:], np.int64)

    def node_of_start(self, row: int) -> int:
        """Returns the node that a start began, as numbered then; MAIN for other messages."""
        place = bisect_left(self._starts, row)
        return self._start_nodes[place] if place < len(self._starts) and self._starts[place] == row else MAIN

    def starts_of(self, node: int) -> Iterator[tuple[int, int]]:
        """Yields the starts of a node and their senders (string ids), latest first."""
        event = self.last[node]
        while event >= 0:
            if self._event_codes[event] in _STARTS:
                yield self._rows[event], self._senders[event]
            event = self._before[event]


class _EndedSequences(NamedTuple):
    """The sequences of one sender that ended together."""

    starts: tuple[int, ...]
    end: int
    by: int


class SequenceReplay:
    """The state of a node after some of its events.

    Attributes:
        first: its first start; -1.
        changes: of its state, in order.
        again: repeated conclusions, in order.
        unopened: ends of the node without a start in it, in order.
    """

    __slots__ = ("_early", "_marks", "_open", "_over", "again", "changes", "first", "unopened")

    def __init__(self) -> None:
        self.first = _NO_ROW
        self.changes: list[StateChange] = []
        self.again: list[RepeatedConclusion] = []
        self.unopened: list[int] = []
        self._open: dict[int, dict[int, None]] = {}  # by sender, its starts in order
        self._over: dict[int, _EndedSequences] = {}  # by sender, since the last beginning of the context
        self._marks: set[int] = set()  # starts that only open the context
        self._early: dict[int, tuple[int, int, int]] = {}  # ends that came before the start they name

    @property
    def state(self) -> int:
        """RUNNING, CONCLUDED or CANCELLED."""
        return self.changes[-1].state if self.changes else RUNNING

    @property
    def ended_by(self) -> int:
        """The message that ended it; -1 if it has not ended."""
        return self.changes[-1].by if self.state else _NO_ROW

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.first, self.state, self.ended_by)

    def remove_start(self, row: int) -> bool:
        """Removes an open start as if it had never come; returns False if an end depends on it."""
        whose = next((sender for sender, starts in self._open.items() if row in starts), None)
        if whose is None or self.changes or self._over or self._early:
            return False
        del self._open[whose][row]
        if not self._open[whose]:
            del self._open[whose]
        self.first = min((next(iter(starts)) for starts in self._open.values()), default=_NO_ROW)
        return True

    def begin(self, row: int, sender: int, *, late: bool, mark: bool = False) -> list[tuple[int, int]]:
        """Applies a start; returns changed starts and their states."""
        if mark:
            self._marks.add(row)
        early = self._early.pop(row, None)
        self.first = row if self.first < 0 else self.first
        if late and self.state:
            over = self._over.get(sender)
            self._over[sender] = _EndedSequences((*(over.starts if over else ()), row), self.state, self.ended_by)
            return [(row, self.state)]
        if self.state and early is None:
            self._over = {}
            self.changes.append(StateChange(row, RUNNING, row))
        # Its end came first, so it does not begin an ended context again.
        if early is not None and self.state:
            return [(row, early[1])]
        self._over.pop(sender, None)
        self._open.setdefault(sender, {})[row] = None
        if early is not None:
            return [(row, RUNNING), *self._close_starts([(sender, (row,))], row, early[1], early[0])]
        return [(row, RUNNING)]

    def end(self, row: int, end: int, sender: int, target: int) -> list[tuple[int, int]]:
        """Applies an end; returns changed starts and their states."""
        if target >= 0:
            return self._end_start(row, end, sender, target)
        own = self._open.get(sender, {}) if target != ALL_SENDERS else {}
        reasoning = tuple(start for start in own if start not in self._marks)
        if reasoning or (own and sender not in self._over):
            return self._close_starts([(sender, reasoning or tuple(own))], row, end, row)
        if (sender in self._over and target != ALL_SENDERS) or not self._open:
            return self._apply_extra_end(
                row, end, [sender] if sender in self._over and target != ALL_SENDERS else [*self._over]
            )
        return self._close_starts([(one, tuple(starts)) for one, starts in self._open.items()], row, end, row)

    def _end_start(self, row: int, end: int, sender: int, target: int) -> list[tuple[int, int]]:
        for whose, starts in self._open.items():
            if target in starts:
                return self._close_starts([(whose, (target,))], row, end, row)
        over = [whose for whose, one in self._over.items() if target in one.starts]
        if over:
            return self._apply_extra_end(row, end, over)
        if target > row:
            self._early[target] = (row, end, sender)
        return []

    def _close_starts(
        self, closed: Iterable[tuple[int, tuple[int, ...]]], row: int, end: int, by: int
    ) -> list[tuple[int, int]]:
        states: list[tuple[int, int]] = []
        for sender, starts in closed:
            before = self._over.get(sender)
            self._over[sender] = _EndedSequences((*(before.starts if before else ()), *starts), end, by)
            left = self._open[sender]
            for start in starts:
                del left[start]
                states.append((start, end))
            if not left:
                del self._open[sender]
        if not self._open:
            self.changes.append(StateChange(row, end, by))
        return states

    def _apply_extra_end(self, row: int, end: int, whose: list[int]) -> list[tuple[int, int]]:
        """Applies an end without an open sequence: it ends a context without starts, or is one too many."""
        if not self.state and not self._open:
            self.changes.append(StateChange(row, end, row))
            if self.first < 0:
                self.unopened.append(row)
            return []
        known = [self._over[one] for one in whose]
        state, by = (known[0].end, known[0].by) if known and self._open else (self.state, self.ended_by)
        if state == CANCELLED:
            return []
        if end == CONCLUDED:
            self.again.append(RepeatedConclusion(row, by))
            return []
        for one in whose:
            self._over[one] = self._over[one]._replace(end=CANCELLED, by=row)
        if not self._open:
            self.changes.append(StateChange(row, CANCELLED, row))
        return [(start, CANCELLED) for over in known for start in over.starts]
