"""Finds slow loops: two agents that answer each other endlessly, below the pace of `loops` (docs/protocols.md 5).

People and cooperating agents also take turns. A loop adds no new content: each chat names the previous one as its
cause, two senders alternate, no tool is called, and texts repeat on both sides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.protocol import kinds
from inspector.protocol.message_text import text_shown
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW

MAX_REPLY_NS = 10 * 60 * 1_000_000_000
_MAX_DISTINCT_SHARE = 0.2  # share of distinct texts on one side, at most
_MAX_TEXT_CHARS = 2_000  # characters compared of a text
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Turns:
    """Chats of a space that answer each other in turns.

    Attributes:
        rows: the latest chats, as many as a judgement reads.
        steps: number of answers so far.
        root: the first chat.
        judged: number of steps at the last judgement; 0 before the first.
        is_loop: True if judged to be a loop.
    """

    rows: Rows = field(default_factory=lambda: NO_ROWS)
    steps: int = 0
    root: int = NO_ROW
    judged: int = 0
    is_loop: bool = False


class SlowLoops:
    """Tracks chats in turns. O(chats and tool calls in the batch) in numpy; only long runs are read.

    Args:
        least: steps from which a run may be a loop.
    """

    def __init__(self, least: int) -> None:
        self._min_steps = least
        self._turns: dict[int, Turns] = {}  # by space
        self._last_call: dict[int, int] = {}  # by space: last tool call or proposal

    def feed(self, batch: Batch, chats: Rows) -> list[tuple[int, Rows, Turns]]:
        """Takes in the chats of a batch. Returns (space, new chats, run) for each space with an ongoing loop."""
        acts = np.sort(np.concatenate((batch.rows(kinds.REQUEST), batch.rows(kinds.PROPOSAL))))
        acts = acts[batch.links["method"][acts] == batch.code("tools/call")] if len(acts) else acts
        spaces, worked_in = batch.column_values("space", chats), batch.column_values("space", acts)
        found: list[tuple[int, Rows, Turns]] = []
        for space in np.unique(spaces).tolist():
            own, worked = chats[spaces == space], acts[worked_in == space]
            turns = self._turns.setdefault(space, Turns())
            new = self._take(batch, turns, own, np.concatenate(([self._last_call.get(space, NO_ROW)], worked)))
            if turns.is_loop:
                found.append((space, new, turns))
        for space in np.unique(worked_in).tolist():
            self._last_call[space] = int(acts[worked_in == space][-1])
        return found

    def _take(self, batch: Batch, turns: Turns, chats: Rows, worked: Rows) -> Rows:
        """Extends a run or starts a new one. Returns the chats that belong to a detected loop."""
        before = turns.rows[-2:]
        together = np.concatenate((before, chats))
        goes_on = _continue_run(batch, together, worked)[len(before) :]
        breaks = np.flatnonzero(~goes_on)
        first = int(breaks[-1]) if len(breaks) else 0
        new = chats[first:]
        if len(breaks):
            turns.rows, turns.steps, turns.judged, turns.is_loop = NO_ROWS, -1, 0, False
            turns.root = int(new[0])
        turns.steps += len(new)
        known = np.concatenate((turns.rows, new))
        turns.rows = known[-self._min_steps :]
        return new if turns.is_loop else self._judge_run(batch, turns, known)

    def _judge_run(self, batch: Batch, turns: Turns, known: Rows) -> Rows:
        """Judges a run at `least` steps and at each doubling. Returns the chats from the detection on."""
        while not turns.is_loop and turns.steps >= (steps := 2 * turns.judged or self._min_steps):
            turns.judged = steps
            last = len(known) - 1 - (turns.steps - steps)
            turns.is_loop = _have_repeated_texts(batch, known[max(0, last + 1 - self._min_steps) : last + 1])
            if turns.is_loop:
                return known[last:]
        return NO_ROWS


def _continue_run(batch: Batch, chats: Rows, worked: Rows) -> Array:
    """(n,) bool: True for chats that answer the previous one by id, in turn and in time, without tool calls between."""
    answers = np.zeros(len(chats), np.bool_)
    if len(chats) < 2:
        return answers
    earlier, later = chats[:-1], chats[1:]
    senders, times = batch.column_values("sender", chats), batch.column_values("time_ns", chats)
    goes_on = (batch.links["cause"][later] == earlier) & (senders[1:] != senders[:-1])
    goes_on &= (times[1:] != NO_TIME) & (times[:-1] != NO_TIME)
    goes_on &= np.abs(times[1:] / 1e9 - times[:-1] / 1e9) <= MAX_REPLY_NS / 1e9
    goes_on &= worked[np.searchsorted(worked, later) - 1] < earlier
    # From the third chat of a run on, the sender of the second to last must repeat; before it, turns are undefined.
    third = np.ones(len(later), np.bool_)
    third[1:] = (senders[2:] == senders[:-2]) | ~goes_on[:-1]
    answers[1:] = goes_on & third
    return answers


def _have_repeated_texts(batch: Batch, chats: Rows) -> bool:
    """Returns True if few texts are distinct on both sides, ignoring digits and quotes of each other."""
    texts = [_text(batch, row) for row in chats.tolist()]
    # Without this, a quote of the previous text would make each text distinct.
    own = [text.replace(before, "", 1) if before else text for before, text in zip(["", *texts], texts, strict=False)]
    sides = own[2::2], own[1::2]
    return all(texts) and all(len(set(side)) <= _MAX_DISTINCT_SHARE * len(side) for side in sides)


def _text(batch: Batch, row: int) -> str:
    if batch.capture.records.is_big(row):
        return ""
    text = text_shown("chat", batch.capture.records.payload(row)) or ""
    return " ".join(_DIGITS.sub("", text[:_MAX_TEXT_CHARS]).split()).casefold()
