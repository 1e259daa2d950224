"""What happened in a capture, in figures: who asked, what was done by whom, what failed, what waits, how long nothing.

Every message of a kind that matters here is a *deed* and has an *outcome*; both are one byte a message, so that what a
later message changes is taken out of the sums and put in again. Nothing is read from a record. What tells more of a
session than these (prompts of a transcript, say) becomes a deed by its kind: a line in `_DEEDS`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import ascending
from inspector.analysis.passes.calls.ended_servers import ended_badly
from inspector.analysis.passes.calls.waits import are_refused, are_waiting
from inspector.analysis.passes.changes import NO_ROWS, Rows
from inspector.analysis.states.state_pass import State
from inspector.analysis.views.account.call_pairs import CallPairs
from inspector.protocol import kinds, msp
from inspector.protocol.context_places import START
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

_STEP = 1 << 14
"""Messages looked at in one step: some milliseconds."""
MOST_GROUPS = 4_096
"""Groups of deeds that are counted apart: the first."""
_MOST_CHANGED = 1 << 20
MOST_FIRST = 1_000
"""Messages of one sort that are known one by one; of more there are the first, and how many."""

DISCOVERY = (
    "initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "roots/list",
)  # fmt: skip
"""Methods that ask what somebody is and offers, which clients ask of everybody: no work is held up by them alone."""


class Deed(enum.IntEnum):
    """What somebody did with a message."""

    NONE = 0
    SAID = 1
    CALL = 2
    """A tool was called."""
    DISCOVERY = 3
    REQUEST = 4
    """Anything else was asked for by a request."""
    PROPOSAL = 5
    REASONING = 6
    """Reasoning was started."""
    CONTEXT = 7
    """A context or a sub-session was opened."""
    THOUGHT = 8
    STREAM = 9
    REJECTION = 10
    """Somebody rejected a proposal."""
    ERROR = 11
    """A gateway's error."""
    COMPACTION = 12
    """The context of a coding agent's model was compacted."""
    FAILURE = 13
    """Something failed that is no call: a span of a trace, a line of a program that says so."""


class Outcome(enum.IntEnum):
    """What came of it: a `State` of requests, proposals, starts and streams, or one of these."""

    NONE = 0
    TAKEN_UP = 1
    """Of what was said out of the blue: somebody else answered, or acted on it. Of others `State.ANSWERED`."""
    REPLY = 12
    """Of what was said: it is about an earlier message."""
    REFUSED = 13
    """A gateway did not let it through."""
    IN_VAIN = 14
    """Nobody can answer it any more: who was asked is gone."""


_OUTCOMES = 16
_WAITS = (State.WAITING.value, State.UNANSWERED.value)
_DEEDS: dict[str, Deed] = {
    "chat": Deed.SAID,
    kinds.REQUEST: Deed.REQUEST,
    kinds.PROPOSAL: Deed.PROPOSAL,
    kinds.REJECT: Deed.REJECTION,
    "reasoning/start": Deed.REASONING,
    START: Deed.CONTEXT,
    msp.OPENED: Deed.CONTEXT,
    "reasoning/thought": Deed.THOUGHT,
    "stream/open": Deed.STREAM,
    "system/error": Deed.ERROR,
    "participant/compact-done": Deed.COMPACTION,
}
_FAILING = ("otlp/span", "otlp/agent", "otlp/event", "otlp/log", "stdio/line", "stdio/disconnect")
_NO_DEED = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.FRAME | Flag.JOIN | Flag.SENT).value
_BY_TARGET = (Deed.CALL.value, Deed.DISCOVERY.value, Deed.REQUEST.value, Deed.PROPOSAL.value)


@dataclass(frozen=True, slots=True)
class Groups:
    """Deeds of one sort, by sender and by what they are about; the largest groups first, else in the order met.

    Attributes:
        senders, what: (k,) string ids; `what` is the tool or method, 0 for none; by recipients, the id of those.
        outcomes: (k, 16) how many came to each `Outcome`.
    """

    senders: NDArray[np.int64]
    what: NDArray[np.int64]
    outcomes: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """(k,) how many there are of each."""
        return self.outcomes.sum(axis=1)

    def of(self, sender: int) -> Groups:
        """Those of one sender."""
        mine = self.senders == sender
        return Groups(self.senders[mine], self.what[mine], self.outcomes[mine])

    def by_sender(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Senders, and how many deeds each has done; the most first."""
        return _added_up(self.senders, self.counts)

    def by_what(self, outcome: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What they are about, and how many of each there are, or came to an outcome; the most first."""
        return _added_up(self.what, self.counts if outcome is None else self.outcomes[:, outcome])


def _added_up(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys that have any, each once, with their sums; the most first, else in the order given."""
    found, first, which = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.bincount(which, weights=counts, minlength=len(found)).astype(np.int64)
    order = np.lexsort((first, -sums))
    order = order[sums[order] > 0]
    return found[order], sums[order]


class _GroupCounts:
    """Counts by group and outcome, of the first groups; the sums over all are exact elsewhere."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._keys = np.zeros(64, np.uint64)
        self._counts = np.zeros((64, _OUTCOMES), np.int64)

    def add(self, keys: NDArray[np.uint64], outcomes: NDArray[Any], by: int = 1) -> None:
        """Count messages; `by` -1 takes them out. Groups are met in the order of their first messages."""
        found, first, which = np.unique(keys, return_index=True, return_inverse=True)
        places = np.fromiter((self._places.get(key, -1) for key in found.tolist()), np.int64, len(found))
        new = np.flatnonzero(places < 0)
        new = new[np.argsort(first[new])][: max(0, MOST_GROUPS - len(self._places))]
        if len(new):
            start = len(self._places)
            places[new] = np.arange(start, start + len(new))
            self._places.update(zip(found[new].tolist(), places[new].tolist(), strict=True))
            if len(self._places) > len(self._keys):
                grown = 2 * len(self._places)
                self._keys = np.resize(self._keys, grown)
                self._counts = np.pad(self._counts, ((0, grown - len(self._counts)), (0, 0)))
            self._keys[places[new]] = found[new]
        where = places[which]
        counted = where >= 0
        np.add.at(self._counts, (where[counted], outcomes[counted]), by)

    def of(self, deed: Deed) -> Groups:
        """Those of one sort."""
        keys = self._keys[: len(self._places)]
        counts = self._counts[: len(self._places)]
        mine = np.flatnonzero((keys >> np.uint64(56) == deed) & counts.any(axis=1))
        mine = mine[np.argsort(-counts[mine].sum(axis=1), kind="stable")]
        parts = keys[mine].astype(np.int64)
        return Groups(parts >> 28 & _PART, parts & _PART, counts[mine])


_PART = (1 << 28) - 1


def _keys(deeds: NDArray[Any], senders: NDArray[Any], what: NDArray[Any]) -> NDArray[np.uint64]:
    """One number a message for what is counted together; string ids stay below 2 ** 28."""
    parts = (deeds.astype(np.uint64) << np.uint64(56), senders.astype(np.uint64) << np.uint64(28))
    return parts[0] | parts[1] | what.astype(np.uint64)


class _First:
    """The first messages with certain codes; those that come to another code fall out."""

    def __init__(self, codes: tuple[int, ...], most: int) -> None:
        self._wanted = np.zeros(256, np.bool_)
        self._wanted[list(codes)] = True
        self._most = most
        self._rows: Rows = NO_ROWS
        self._more = False  # there may be others behind the last one

    def add(self, rows: Rows, codes: NDArray[Any]) -> None:
        """Some messages have these codes now."""
        rows = rows[self._wanted[codes]]
        if len(rows):
            if self._more:
                rows = rows[rows < self._rows[-1]] if len(self._rows) else NO_ROWS
            self._rows = np.union1d(self._rows, rows)
            if len(self._rows) > self._most:
                self._rows, self._more = self._rows[: self._most], True

    def rows(self, codes: NDArray[np.uint8]) -> Rows:
        """They, ascending. O(those), and O(messages) where many fell out of more.

        Args:
            codes: of all messages as they are now.
        """
        left = self._rows[self._wanted[codes[self._rows]]]
        if self._more and len(left) <= self._most // 2:
            left = np.flatnonzero(self._wanted[codes])
            self._more = len(left) > self._most
            left = left[: self._most]
        self._rows = left
        return left


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing was sent for a while.

    Attributes:
        ns: how long, in nanoseconds.
        row: the message that ended it.
    """

    ns: int
    row: int


class _Silences:
    """The longest time between messages.

    A time counts only as far as the message after it is not earlier: one that is off, as by a wrong clock, ends and
    makes no silence. Where more are off, a silence is told that is longer than time ever went back. Of the last message
    the log's clock says whether it is believed.
    """

    def __init__(self) -> None:
        self._last: tuple[int, int, bool] | None = None  # time, message and whether a break lies before it
        self._reached: int | None = None  # the latest time that counts, without that of the last message
        self._longest = Silence(0, NO_ROW)
        self._back = 0  # how far times went back at most

    def add(self, times: NDArray[np.int64], rows: Rows, broken: NDArray[np.bool_]) -> None:
        """Take in messages with known times; `broken` are those before which the connection was lost."""
        times = np.clip(times, -_FARTHEST, _FARTHEST)
        if self._last is not None:
            time, row, lost = self._last
            times, rows, broken = np.append(time, times), np.append(row, rows), np.append(lost, broken)
        self._last = int(times[-1]), int(rows[-1]), bool(broken[-1])
        low = np.minimum(times[:-1], times[1:])
        if not len(low):
            return
        before = np.append(low[0] if self._reached is None else self._reached, low[:-1])
        before = np.maximum.accumulate(before)
        steps = low - before
        self._back = max(self._back, -int(steps.min()))
        gaps = np.where(broken[:-1], 0, steps)
        self._reached = max(int(before[-1]), int(low[-1]))
        place = int(gaps.argmax())
        if int(gaps[place]) > self._longest.ns:
            self._longest = Silence(int(gaps[place]), int(rows[place]))

    def longest(self, believed_ns: int) -> Silence | None:
        """The longest one, that before the last message included; None where there is none."""
        found = self._longest
        if self._last is not None and self._reached is not None:
            time, row, lost = self._last
            if time <= believed_ns and not lost and time - self._reached > found.ns:
                found = Silence(time - self._reached, row)
        return found if found.ns > self._back else None


_FARTHEST = 1 << 61  # differences of such times are still 64 bits


class AccountTally:
    """Keeps the figures, in steps; nothing is looked at until `step` is called. O(what is new or changed).

    Attributes:
        gaps: places where messages may be missing.
        crashes: times that a tapped server ended badly, by what its recorder wrote.
        has_repeats: some messages say again what others said; they count for nothing. Nor do requests that were made
            for a call of another source.
        first_gap, first_crash: the first of each; NO_ROW.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._restart()

    def _restart(self) -> None:
        self._fed = 0
        self._pairs = CallPairs(self._analysis)
        self._columns = GrowingColumns({"code": np.uint8, "taken": np.uint8})
        self._totals = np.zeros((_OUTCOMES, _OUTCOMES), np.int64)
        self._by_what, self._by_recipients = _GroupCounts(), _GroupCounts()
        self._first: dict[str, _First] = {name: _First(codes, most) for name, (codes, most) in _FIRST.items()}
        self._silences = _Silences()
        self._sources: set[int] = set()
        self._from: tuple[int, int] | None = None  # the least and the greatest time
        self._broken = False
        self.gaps, self.first_gap = 0, NO_ROW
        self.crashes, self.first_crash = 0, NO_ROW
        self.has_repeats = False
        self._changed: list[Rows] = []
        self._waiting = 0

    @property
    def behind(self) -> bool:
        """Whether messages wait to be looked at, new ones or earlier ones again."""
        return self._fed < len(self._analysis) or bool(self._changed) or self._pairs.behind

    def note_changed(self, changed: Rows) -> None:
        """Earlier messages have changed. O(1)."""
        if len(changed) and self._fed:
            self._changed.append(changed)
            self._waiting += len(changed)
            if self._waiting > _MOST_CHANGED:
                self._restart()

    def step(self) -> bool:
        """Look at some more messages; whether all were looked at."""
        if self._changed:
            rows = ascending(*self._changed)
            rows = rows[rows < self._fed]
            self._changed = [rows[_STEP:]] if len(rows) > _STEP else []
            self._waiting = sum(map(len, self._changed))
            self._look_again(rows[:_STEP])
            return not self.behind
        start, stop = self._fed, min(len(self._analysis), self._fed + _STEP)
        if start < stop:
            self._take_in(start, stop)
            self._fed = stop
        elif self._pairs.behind:
            self._look_again(self._pairs.step())
        return not self.behind

    # Taking in

    def _take_in(self, start: int, stop: int) -> None:
        self._columns.append({"code": 0, "taken": 0}, stop - start)
        rows = np.arange(start, stop)
        deeds = self._deeds(rows)
        rows, deeds = rows[deeds != 0], deeds[deeds != 0]
        taken = self._take_up(np.arange(start, stop))
        self._put(rows, deeds << 4 | self._outcomes(rows, deeds))
        self._look_again(taken[taken < start])
        self._take_crashes(start, stop)
        self._take_times(start, stop)

    def _deeds(self, rows: Rows) -> NDArray[np.uint8]:
        """What somebody did with each of some messages."""
        analysis = self._analysis
        columns, strings = analysis.capture.columns, analysis.capture.strings
        kind = columns["kind"][rows]
        deeds = np.zeros(len(rows), np.uint8)
        for name, deed in _DEEDS.items():
            code = strings.find(name)
            if code:
                deeds[kind == code] = deed
        methods = analysis.correlation.columns["method"][rows]
        asked = deeds == Deed.REQUEST
        deeds[asked & (methods == (strings.find("tools/call") or -1))] = Deed.CALL
        for name in DISCOVERY:
            deeds[asked & (methods == (strings.find(name) or -1))] = Deed.DISCOVERY
        deeds[columns["flags"][rows] & _NO_DEED != 0] = 0
        failing = np.isin(kind, [code for name in _FAILING if (code := strings.find(name))])
        deeds[failing & (columns["flags"][rows] & Flag.ERROR.value != 0)] = Deed.FAILURE
        deeds[(deeds == Deed.COMPACTION) & (columns["flags"][rows] & Flag.DERIVED.value == 0)] = 0
        again = analysis.capture.repeats(rows)[0] != NO_ROW
        if again.any():
            self.has_repeats = True
            deeds[again] = 0
        calls = np.flatnonzero(deeds == Deed.CALL)
        deeds[calls[self._pairs.outer_of(rows[calls]) != NO_ROW]] = 0
        return deeds

    def _outcomes(self, rows: Rows, deeds: NDArray[np.uint8]) -> NDArray[np.uint8]:
        analysis = self._analysis
        links = analysis.correlation.columns
        outcomes = np.zeros(len(rows), np.uint8)
        acts = np.flatnonzero(~np.isin(deeds, _STATELESS))
        asked, states = rows[acts], analysis.states.at(rows[acts])
        waits = np.flatnonzero(np.isin(states, _WAITS))
        if len(waits):
            asks = waits[np.isin(deeds[acts[waits]], _ASKS)]
            states[asks[~are_waiting(analysis.capture, links, asked[asks])]] = Outcome.IN_VAIN
        failed = np.flatnonzero(states == State.FAILED)
        if len(failed):
            states[failed[are_refused(analysis.capture, links, asked[failed])]] = Outcome.REFUSED
        outcomes[acts] = states
        said = np.flatnonzero(deeds == Deed.SAID)
        replies = links["cause"][rows[said]] != NO_ROW
        taken = self._columns["taken"][rows[said]] != 0
        outcomes[said] = np.where(replies, Outcome.REPLY.value, np.where(taken, Outcome.TAKEN_UP.value, 0))
        return outcomes

    def _take_up(self, rows: Rows) -> Rows:
        """Note what others have said that some messages are about; returns what nobody had taken up before."""
        columns, strings = self._analysis.capture.columns, self._analysis.capture.strings
        causes = self._analysis.correlation.columns["cause"][rows]
        named = causes != NO_ROW
        rows, causes = rows[named], causes[named].astype(np.int64)
        said = columns["kind"][causes] == (strings.find("chat") or -1)
        said &= (columns["sender"][causes] != columns["sender"][rows]) & (causes < len(self._columns))
        causes = ascending(causes[said])
        causes = causes[self._columns["taken"][causes] == 0]
        if len(causes):
            self._columns.put("taken", causes, 1)
        return causes

    def _put(self, rows: Rows, codes: NDArray[Any]) -> None:
        """Let messages that counted for nothing have these codes."""
        if len(rows):
            self._columns.put("code", rows, codes)
            self._count(rows, codes, 1)
            for first in self._first.values():
                first.add(rows, codes)

    def _count(self, rows: Rows, codes: NDArray[Any], by: int) -> None:
        deeds, outcomes = codes >> 4, codes & 15
        np.add.at(self._totals, (deeds, outcomes), by)
        columns = self._analysis.capture.columns
        senders = columns["sender"][rows]
        targeted = np.isin(deeds, _BY_TARGET)
        links = self._analysis.correlation.columns
        called = np.isin(deeds, (Deed.CALL.value, Deed.PROPOSAL.value))
        what = np.where(called, links["target"][rows], links["method"][rows])
        self._by_what.add(_keys(deeds, senders, np.where(targeted, what, 0)), outcomes, by)
        calls = deeds == Deed.CALL
        if calls.any():
            keys = _keys(deeds[calls], senders[calls], columns["to_set"][rows[calls]])
            self._by_recipients.add(keys, outcomes[calls], by)

    def _look_again(self, rows: Rows) -> None:
        """Count messages by what they are now."""
        if not len(rows):
            return
        taken = self._take_up(rows)
        rows = np.union1d(rows, taken[taken < self._fed])
        before = self._columns["code"][rows]
        deeds = self._deeds(rows)
        codes = deeds << 4 | np.where(deeds != 0, self._outcomes(rows, deeds), 0).astype(np.uint8)
        other = codes != before
        rows, before, codes = rows[other], before[other], codes[other]
        if len(rows):
            counted = before != 0
            self._count(rows[counted], before[counted], -1)
            self._columns.put("code", rows, 0)
            self._put(rows[codes != 0], codes[codes != 0])

    def _take_crashes(self, start: int, stop: int) -> None:
        crashes = ended_badly(self._analysis.capture, start, stop)
        if len(crashes):
            self.crashes += len(crashes)
            self.first_crash = int(crashes[0]) if self.first_crash == NO_ROW else self.first_crash

    def _take_times(self, start: int, stop: int) -> None:
        columns = self._analysis.capture.columns
        times, flags = columns["time_ns"][start:stop], columns["flags"][start:stop]
        lost = flags & Flag.GAP.value != 0
        missing = np.flatnonzero(lost & (flags & Flag.ERROR.value == 0))
        if len(missing):
            self.gaps += len(missing)
            self.first_gap = start + int(missing[0]) if self.first_gap == NO_ROW else self.first_gap
        known = np.flatnonzero((times != NO_TIME) & ~lost)
        # Whether there was a gap between each and the one before it.
        so_far = np.cumsum(lost)[known]
        broken = np.diff(so_far, prepend=0 if not self._broken else -1) > 0
        self._broken = bool(lost.any() and (not len(known) or lost[known[-1] :].any())) or (
            self._broken and not len(known)
        )
        if not len(known):
            return
        told = times[known]
        broken |= self._begins_source(known + start)
        self._silences.add(told, known + start, broken)
        least, most = int(told.min()), int(told.max())
        self._from = (least, most) if self._from is None else (min(self._from[0], least), max(self._from[1], most))

    # Asking

    def count(self, deed: Deed, *outcomes: int) -> int:
        """How many deeds of a sort there are: with one of some outcomes, or with any."""
        row = self._totals[deed]
        return int(row[list(outcomes)].sum()) if outcomes else int(row.sum())

    def groups(self, deed: Deed) -> Groups:
        """By sender and by tool or method; of more than some thousands the first."""
        return self._by_what.of(deed)

    def recipients(self) -> Groups:
        """Calls of tools by sender and recipients (ids of `Capture.to_sets`)."""
        return self._by_recipients.of(Deed.CALL)

    def first(self, name: str) -> Rows:
        """The first messages of a sort named in `_FIRST`, ascending; at most MOST_FIRST."""
        return self._first[name].rows(self._columns["code"])

    def silence(self) -> Silence | None:
        """The longest time in which nothing came; None where times are not known."""
        return self._silences.longest(self._analysis.contexts.clock_ns)

    def _begins_source(self, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool, messages that are the first of their source: what lies before them is no silence of theirs."""
        found = np.zeros(len(rows), np.bool_)
        sources, at = np.unique(self._analysis.capture.columns["source"][rows], return_index=True)
        for source, place in zip(sources.tolist(), at.tolist(), strict=True):
            if source not in self._sources:
                self._sources.add(source)
                found[place] = True
        return found

    @property
    def span_ns(self) -> int | None:
        """From the first to the last message, as far as the log's clock is believed; None without times."""
        if self._from is None:
            return None
        return max(0, min(self._from[1], self._analysis.contexts.clock_ns) - self._from[0])


_STATELESS = (
    Deed.SAID.value,
    Deed.THOUGHT.value,
    Deed.REJECTION.value,
    Deed.ERROR.value,
    Deed.COMPACTION.value,
    Deed.FAILURE.value,
)
_ASKS = (Deed.CALL.value, Deed.DISCOVERY.value, Deed.REQUEST.value, Deed.PROPOSAL.value)


def _codes(deeds: tuple[Deed, ...], *outcomes: int) -> tuple[int, ...]:
    return tuple(deed << 4 | outcome for deed in deeds for outcome in outcomes)


_WORK = (Deed.CALL, Deed.REQUEST)
_FIRST: dict[str, tuple[tuple[int, ...], int]] = {
    "asked": (_codes((Deed.SAID,), Outcome.TAKEN_UP), 16),
    "said": (_codes((Deed.SAID,), *range(_OUTCOMES)), 1),
    "call": (_codes((Deed.CALL,), *range(_OUTCOMES)), 1),
    "failed": (_codes((Deed.CALL, Deed.REQUEST, Deed.DISCOVERY), State.FAILED), 16),
    "refused": (_codes((*_WORK, Deed.DISCOVERY, Deed.PROPOSAL), Outcome.REFUSED), 16),
    "rejected": (_codes((Deed.PROPOSAL,), State.REJECTED), 16),
    "compaction": (_codes((Deed.COMPACTION,), *range(_OUTCOMES)), 16),
    "declined": (_codes(_WORK, State.REJECTED), 16),
    "error": (_codes((Deed.ERROR,), *range(_OUTCOMES)), 1),
    "failure": (_codes((Deed.FAILURE,), *range(_OUTCOMES)), 1),
    "waiting": (_codes((*_WORK, Deed.PROPOSAL), *_WAITS), MOST_FIRST),
    "discovery": (_codes((Deed.DISCOVERY,), *_WAITS), MOST_FIRST),
    "in vain": (_codes((*_WORK, Deed.DISCOVERY), Outcome.IN_VAIN), 16),
    "asked of the gone": (_codes(_WORK, Outcome.IN_VAIN), MOST_FIRST),
}
