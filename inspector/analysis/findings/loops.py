"""Finds loops of chats: agents that answer each other within seconds (docs/protocols.md 5, Loops).

A chat that answers another sender's chat within seconds is one step deeper than it. People cannot keep this pace, and
agents with a subject come to an end. `slow_loops` finds the slower ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.findings.slow_loops import SlowLoops
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol.payloads.content_blocks import size_in_words
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.columns import GrowingColumns, locate_rows
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

LOOP_STEPS = 30
"""Consecutive answers from which a chain counts as a loop."""
MAX_REPLY_S = 5
"""Seconds; a slower answer may come from a person."""

LOOP = Check(
    "chat-loop", WARNING, "Agents answer each other endlessly",
    "{detail}, each an answer to another; the first is {other}.",
    "Every message wakes all listeners. Model calls, tokens and logs grow until somebody stops it.",
    "Stop or pause one of them. Let agents answer only questions and messages addressed to them, but no "
    "answers to their own answers.",
    "MEW v0.4, chat: every participant receives a broadcast; no rule of the protocol ends an exchange",
    limit=LOOP_STEPS, example="echo-agent and control-agent sent 28,000 chats, 14.2 MB in 4 min",
)  # fmt: skip
CHECKS = (LOOP,)

_PAUSE_NS = 10 * 1_000_000_000  # a pause: later chats belong to another exchange
_MAX_NAMES = 3


@dataclass(slots=True)
class _Loop:
    """A loop in one space; counts start at the chat that made it a loop."""

    row: int
    root: int
    root_ns: int
    last_ns: int
    chats: int
    size: int = 0
    senders: dict[int, None] = field(default_factory=dict)
    detail: str = ""


class ChatLoops:
    """Tracks chats that answer chats. O(chats in the batch), in numpy."""

    def __init__(self) -> None:
        self._steps = GrowingColumns({"row": np.uint32, "depth": np.uint32, "root": np.uint32})  # of answers, ascending
        self._last_chat: dict[int, int] = {}  # by space: latest chat
        self._last_ns: dict[int, int] = {}  # by space: time of the latest answer
        self._loops: dict[int, _Loop] = {}
        self._slow = SlowLoops(LOOP_STEPS)
        self._slow_loops: dict[int, _Loop] = {}

    def feed(self, batch: Batch) -> None:
        chats = batch.sent_rows(batch.rows("chat"))
        if not len(chats):
            return
        self._follow_fast(batch, chats)
        self._follow_slow(batch, chats)

    def _follow_slow(self, batch: Batch, chats: Rows) -> None:
        """Reports loops that the fast check has not reported."""
        going_on = self._slow.feed(batch, chats)
        for space, new, turns in going_on:
            if space in self._loops:
                continue
            loop = self._slow_loops.get(space)
            if loop is None or loop.root != turns.root:
                root_ns = int(batch.capture.columns["time_ns"][turns.root])
                started = turns.steps + 1 - len(new)
                loop = self._slow_loops[space] = _Loop(int(new[0]), turns.root, root_ns, root_ns, started)
            self._count(batch, loop, new)

    def _follow_fast(self, batch: Batch, chats: Rows) -> None:
        answered = self._answered_chats(batch, chats)
        rows, causes = chats[answered != NO_ROW], answered[answered != NO_ROW]
        times = batch.capture.columns["time_ns"]
        begun, ended = times[causes], times[rows]
        known = (begun != NO_TIME) & (ended != NO_TIME)
        # In floats: hostile times may be further apart than 64 bits hold.
        known[known] = np.abs(ended[known] / 1e9 - begun[known] / 1e9) <= MAX_REPLY_S
        known &= batch.column_values("sender", rows) != batch.column_values("sender", causes)
        known &= batch.column_values("space", rows) == batch.column_values("space", causes)
        rows, causes = rows[known], causes[known]
        if len(rows):
            self._add_depths(rows, causes)
            self._follow(batch, rows)

    def _answered_chats(self, batch: Batch, chats: Rows) -> Rows:
        """Returns the chat that each chat answers: the named one, else the previous one if both address each other."""
        causes = batch.links["cause"][chats].astype(np.int64)
        code = batch.code("chat")
        of_chats = (causes != NO_ROW) & (causes < chats)
        of_chats[of_chats] = batch.column_values("kind", causes[of_chats]) == code
        causes[~of_chats] = NO_ROW
        before = np.empty(len(chats), np.int64)
        spaces = batch.column_values("space", chats)
        for space in np.unique(spaces).tolist():
            own = np.flatnonzero(spaces == space)
            before[own] = np.concatenate(([self._last_chat.get(space, NO_ROW)], chats[own][:-1]))
            self._last_chat[space] = int(chats[own[-1]])
        # Without a correlation id, mutual addresses show the exchange.
        bare = np.flatnonzero(
            (before != NO_ROW) & (batch.column_values("flags", chats) & Flag.CORRELATED.value == 0)
            & (batch.column_values("to_set", chats) != 0)
        )  # fmt: skip
        bare = bare[batch.column_values("to_set", before[bare]) != 0]
        if len(bare):
            mutual = self._are_mutual(batch, chats[bare], before[bare])
            causes[bare[mutual]] = before[bare[mutual]]
        return causes

    def _are_mutual(self, batch: Batch, rows: Rows, before: Rows) -> Array:
        """(n,) bool: True if both messages address each other's senders."""
        mutual = batch.addressed(batch.column_values("to_set", rows), batch.column_values("sender", before))
        mutual[mutual] = batch.addressed(
            batch.column_values("to_set", before[mutual]), batch.column_values("sender", rows[mutual])
        )
        return mutual

    def _add_depths(self, rows: Rows, causes: Rows) -> None:
        """Sets each depth to one more than its cause's; the cause may be among the new chats."""
        depths, roots = self._steps_of(causes)
        depths += 1
        place = np.searchsorted(rows, causes)
        inside = (place < len(rows)) & (rows[np.minimum(place, len(rows) - 1)] == causes)
        onward = np.where(inside, place, NO_ROW)
        # Pointer doubling: each row jumps twice as far up per round, so log2(longest chain) rounds suffice.
        while True:
            moving = np.flatnonzero(onward != NO_ROW)
            if not len(moving):
                break
            up = onward[moving]
            depths[moving], roots[moving], onward[moving] = depths[moving] + depths[up], roots[up], onward[up]
        self._steps.append({"row": rows, "depth": depths, "root": roots}, len(rows))

    def _steps_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """(n,) depth in answers of each chat, and the root chat of its chain."""
        depths, roots = np.zeros(len(rows), np.int64), rows.copy()
        places, known = locate_rows(rows, self._steps["row"])
        depths[known] = self._steps["depth"][places[known]]
        roots[known] = self._steps["root"][places[known]]
        return depths, roots

    def _follow(self, batch: Batch, rows: Rows) -> None:
        """Takes in answers. From the first one deep enough until a pause, all of a space belong to its loop."""
        spaces = batch.column_values("space", rows)
        for space in np.unique(spaces).tolist():
            own = rows[spaces == space]
            times = batch.column_values("time_ns", own)
            for part in np.split(own, np.flatnonzero(np.diff(times) > _PAUSE_NS) + 1):
                self._take(batch, space, part)

    def _take(self, batch: Batch, space: int, rows: Rows) -> None:
        times = batch.column_values("time_ns", rows)
        if int(times[0]) - self._last_ns.get(space, NO_TIME) > _PAUSE_NS:
            self._loops.pop(space, None)
        self._last_ns[space] = int(times[-1])
        loop = self._loops.get(space)
        if loop is None:
            depths, roots = self._steps_of(rows)
            deep = np.flatnonzero(depths >= LOOP_STEPS)
            if not len(deep):
                return
            rows, times, root = rows[deep[0] :], times[deep[0] :], int(roots[deep[0]])
            root_ns = int(batch.capture.columns["time_ns"][root])
            loop = self._loops[space] = _Loop(int(rows[0]), root, root_ns, root_ns, LOOP_STEPS)
        self._count(batch, loop, rows)

    def _count(self, batch: Batch, loop: _Loop, rows: Rows) -> None:
        """Adds chats to a loop, and reports it again if the text changes."""
        loop.last_ns = max(loop.last_ns, int(batch.column_values("time_ns", rows).max()))
        loop.chats += len(rows)
        loop.size += int(batch.column_values("size", rows).sum())
        senders = batch.column_values("sender", rows)
        found, first = np.unique(senders, return_index=True)
        loop.senders.update(dict.fromkeys(found[np.argsort(first)].tolist()))
        # The counts are rounded, so the text changes rarely and the finding is rarely rewritten.
        words = self._words(batch, loop)
        if words != loop.detail:
            if loop.detail:
                batch.findings.withdraw(LOOP, np.array([loop.row]))
            batch.findings.add(LOOP, [loop.row], others=loop.root, details=words)
            loop.detail = words

    def _words(self, batch: Batch, loop: _Loop) -> str:
        names = [batch.capture.strings[code] for code in loop.senders]
        more = len(names) - _MAX_NAMES
        who = f"{', '.join(names[:_MAX_NAMES])} and {more} more" if more > 0 else " and ".join(
            filter(None, (", ".join(names[:-1]), names[-1]))
        )  # fmt: skip
        lasted = max(1, round((loop.last_ns - loop.root_ns) / 1e9))
        span = f"{lasted} s" if lasted < 120 else f"{lasted // 60} min"
        return f"{who} sent {_two_digits(loop.chats):,} chats, {size_in_words(_two_digits(loop.size))} in {span}"


def _two_digits(count: int) -> int:
    """Rounds down to two digits, so that the finding does not change with each message."""
    step = 10 ** max(0, len(str(count)) - 2)
    return count // step * step
