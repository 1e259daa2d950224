"""Counts deeds and outcomes of a capture: prompts, calls, failures, open requests, the longest silence.

Every relevant message has a *deed* and an *outcome*, one byte together. A changed message is removed from the sums and
added again. No record is read. Further kinds, such as prompts of transcripts, need a line in `_DEEDS`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.passes.calls.ended_servers import failed_servers
from inspector.analysis.passes.calls.open_waits import are_refused, are_waiting
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.call_pairs import CallPairs
from inspector.formats.table import FAILING_KINDS
from inspector.protocol import kinds, msp
from inspector.protocol.context_places import START_KIND
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

_MESSAGES_PER_STEP = 1 << 14
"""Messages per step: some milliseconds."""
# Sentences name a few groups; hostile names must not fill memory.
MAX_GROUPS = 4_096
"""Groups counted separately; the first ones."""
_MAX_CHANGED = 1 << 20
MAX_FIRST = 1_000
"""Messages of one sort kept one by one; of more, the first."""

DISCOVERY = (
    "initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "roots/list",
)  # fmt: skip
"""Methods that ask for identity and offers. Clients send them to all participants, and they hold up no work."""


class Deed(enum.IntEnum):
    """Action of a sender, by message."""

    NONE = 0
    SAID = 1
    CALL = 2
    """Tool call."""
    DISCOVERY = 3
    REQUEST = 4
    """Any other request."""
    PROPOSAL = 5
    REASONING = 6
    """Start of reasoning."""
    CONTEXT = 7
    """Start of a context or sub-session."""
    THOUGHT = 8
    STREAM = 9
    REJECTION = 10
    """Rejected proposal."""
    ERROR = 11
    """Error from a gateway."""
    COMPACTION = 12
    """Compaction of a coding agent's model context."""
    FAILURE = 13
    """Failure other than a call: a span of a trace, a line of a program."""


class Outcome(enum.IntEnum):
    """Result of a deed: a `MessageState` of requests, proposals, starts and streams, or one of these."""

    NONE = 0
    TAKEN_UP = 1
    """An unprompted message to which another participant reacted. Other deeds use `MessageState.ANSWERED`."""
    REPLY = 12
    """A message about an earlier one."""
    REFUSED = 13
    """Refused by a gateway."""
    IN_VAIN = 14
    """Cannot be answered any more, as the recipient has left."""


_OUTCOMES = 16
_WAITS = (MessageState.WAITING.value, MessageState.UNANSWERED.value)
_DEEDS: dict[str, Deed] = {
    "chat": Deed.SAID,
    kinds.REQUEST: Deed.REQUEST,
    kinds.PROPOSAL: Deed.PROPOSAL,
    kinds.REJECT: Deed.REJECTION,
    "reasoning/start": Deed.REASONING,
    START_KIND: Deed.CONTEXT,
    msp.SUBSESSION_OPENED: Deed.CONTEXT,
    "reasoning/thought": Deed.THOUGHT,
    "stream/open": Deed.STREAM,
    "system/error": Deed.ERROR,
    "participant/compact-done": Deed.COMPACTION,
}
_NO_DEED = (Flag.UNREADABLE | Flag.GAP | Flag.LOG_ONLY | Flag.FRAME | Flag.JOIN | Flag.SENT).value
_BY_TARGET = (Deed.CALL.value, Deed.DISCOVERY.value, Deed.REQUEST.value, Deed.PROPOSAL.value)


@dataclass(frozen=True, slots=True)
class Groups:
    """Deeds of one sort, by sender and subject; largest groups first, then in order of appearance.

    Attributes:
        senders, what: (k,) string ids; `what` is the tool or method, 0 for none, or the id of a set of recipients.
        outcomes: (k, 16) counts by `Outcome`.
    """

    senders: NDArray[np.int64]
    what: NDArray[np.int64]
    outcomes: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """(k,) size of each group."""
        return self.outcomes.sum(axis=1)

    def for_sender(self, sender: int) -> Groups:
        mine = self.senders == sender
        return Groups(self.senders[mine], self.what[mine], self.outcomes[mine])

    def by_sender(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns senders and their numbers of deeds; most first."""
        return _sums_by_key(self.senders, self.counts)

    def by_subject(self, outcome: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns subjects and their numbers of deeds, all or with one outcome; most first."""
        return _sums_by_key(self.what, self.counts if outcome is None else self.outcomes[:, outcome])


def _sums_by_key(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns each key with a positive sum once, with this sum; most first, then in the given order."""
    found, first, which = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.bincount(which, weights=counts, minlength=len(found)).astype(np.int64)
    order = np.lexsort((first, -sums))
    order = order[sums[order] > 0]
    return found[order], sums[order]


class _GroupCounts:
    """Counts by group and outcome, for the first groups. Sums over all groups are kept elsewhere."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._keys = np.zeros(64, np.uint64)
        self._counts = np.zeros((64, _OUTCOMES), np.int64)

    def add(self, keys: NDArray[np.uint64], outcomes: NDArray[Any], by: int = 1) -> None:
        """Adds messages; `by` -1 removes them. Groups are numbered by their first messages."""
        found, first, which = np.unique(keys, return_index=True, return_inverse=True)
        places = np.fromiter((self._places.get(key, -1) for key in found.tolist()), np.int64, len(found))
        new = np.flatnonzero(places < 0)
        new = new[np.argsort(first[new])][: max(0, MAX_GROUPS - len(self._places))]
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
        # `add.at`, as one group may occur several times in a batch.
        np.add.at(self._counts, (where[counted], outcomes[counted]), by)

    def groups_of(self, deed: Deed) -> Groups:
        """Returns the groups of one sort."""
        keys = self._keys[: len(self._places)]
        counts = self._counts[: len(self._places)]
        mine = np.flatnonzero((keys >> np.uint64(56) == deed) & counts.any(axis=1))
        mine = mine[np.argsort(-counts[mine].sum(axis=1), kind="stable")]
        parts = keys[mine].astype(np.int64)
        return Groups(parts >> 28 & _ID_MASK, parts & _ID_MASK, counts[mine])


_ID_MASK = (1 << 28) - 1


def _group_keys(deeds: NDArray[Any], senders: NDArray[Any], what: NDArray[Any]) -> NDArray[np.uint64]:
    """Packs deed, sender and subject into one number per message; string ids stay below 2 ** 28."""
    parts = (deeds.astype(np.uint64) << np.uint64(56), senders.astype(np.uint64) << np.uint64(28))
    return parts[0] | parts[1] | what.astype(np.uint64)


class _FirstRows:
    """First messages with certain codes; a message with a changed code is dropped."""

    def __init__(self, codes: tuple[int, ...], most: int) -> None:
        self._wanted = np.zeros(256, np.bool_)
        self._wanted[list(codes)] = True
        self._capacity = most
        self._rows: Rows = NO_ROWS
        self._is_cut = False  # further ones may follow the last one

    def add(self, rows: Rows, codes: NDArray[Any]) -> None:
        """Takes in messages with their present codes."""
        rows = rows[self._wanted[codes]]
        if len(rows):
            if self._is_cut:
                rows = rows[rows < self._rows[-1]] if len(self._rows) else NO_ROWS
            self._rows = np.union1d(self._rows, rows)
            if len(self._rows) > self._capacity:
                self._rows, self._is_cut = self._rows[: self._capacity], True

    def rows(self, codes: NDArray[np.uint8]) -> Rows:
        """Returns the messages, ascending. O(kept ones), and O(messages) after many were dropped.

        Args:
            codes: present codes of all messages.
        """
        left = self._rows[self._wanted[codes[self._rows]]]
        if self._is_cut and len(left) <= self._capacity // 2:
            left = np.flatnonzero(self._wanted[codes])
            self._is_cut = len(left) > self._capacity
            left = left[: self._capacity]
        self._rows = left
        return left


@dataclass(frozen=True, slots=True)
class Silence:
    """A period without messages.

    Attributes:
        ns: length in nanoseconds.
        row: the message that ended it.
    """

    ns: int
    row: int


class _LongestSilence:
    """Finds the longest time between messages.

    A time counts only up to the following message's time, so that a single wrong clock neither ends nor creates a
    silence. With several wrong times, a silence must exceed the largest backward step. The last message counts only if
    the log's clock accepts it.
    """

    def __init__(self) -> None:
        self._last: tuple[int, int, bool] | None = None  # time, message, and True after a break
        self._accepted_until: int | None = None  # latest accepted time before the last message
        self._longest = Silence(0, NO_ROW)
        self._backward_step = 0  # largest backward step

    def add(self, times: NDArray[np.int64], rows: Rows, broken: NDArray[np.bool_]) -> None:
        """Takes in messages with known times; `broken` is True after a lost connection."""
        # Hostile times would overflow in the differences below.
        times = np.clip(times, -_MAX_ABS_NS, _MAX_ABS_NS)
        if self._last is not None:
            time, row, lost = self._last
            times, rows, broken = np.append(time, times), np.append(row, rows), np.append(lost, broken)
        self._last = int(times[-1]), int(rows[-1]), bool(broken[-1])
        # A time counts up to its successor's, so one outlier has no effect.
        low = np.minimum(times[:-1], times[1:])
        if not len(low):
            return
        before = np.append(low[0] if self._accepted_until is None else self._accepted_until, low[:-1])
        before = np.maximum.accumulate(before)
        steps = low - before
        self._backward_step = max(self._backward_step, -int(steps.min()))
        gaps = np.where(broken[:-1], 0, steps)
        self._accepted_until = max(int(before[-1]), int(low[-1]))
        place = int(gaps.argmax())
        if int(gaps[place]) > self._longest.ns:
            self._longest = Silence(int(gaps[place]), int(rows[place]))

    def longest(self, believed_ns: int) -> Silence | None:
        """Returns the longest silence, up to the last message."""
        found = self._longest
        if self._last is not None and self._accepted_until is not None:
            time, row, lost = self._last
            if time <= believed_ns and not lost and time - self._accepted_until > found.ns:
                found = Silence(time - self._accepted_until, row)
        return found if found.ns > self._backward_step else None


_MAX_ABS_NS = 1 << 61  # differences of such times fit into 64 bits


class AccountTally:
    """Maintains the figures in steps; works only in `step`. O(new or changed messages).

    Attributes:
        gaps: number of gaps in the capture.
        crashes: number of failed ends of a tapped server, by its recorder.
        has_repeats: True if some messages repeat others or continue a call. Repeats count for nothing, nor do requests
            made for a call of another source.
        first_gap, first_crash: row of the first; NO_ROW.
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
        self._first: dict[str, _FirstRows] = {name: _FirstRows(codes, most) for name, (codes, most) in _FIRST.items()}
        self._silences = _LongestSilence()
        self._sources: set[int] = set()
        self._spaces: set[int] = set()
        self._first_ns = NO_TIME  # earliest time
        self._is_after_gap = False
        self.gaps, self.first_gap = 0, NO_ROW
        self.crashes, self.first_crash = 0, NO_ROW
        self.has_repeats = False
        self._changed: list[Rows] = []
        self._waiting = 0

    @property
    def is_behind(self) -> bool:
        """True if new or changed messages are pending."""
        return self._fed < len(self._analysis) or bool(self._changed) or self._pairs.is_behind

    def note_changed(self, changed: Rows) -> None:
        """Queues changed messages. O(1)."""
        if len(changed) and self._fed:
            self._changed.append(changed)
            self._waiting += len(changed)
            # Counting anew is cheaper than that many corrections.
            if self._waiting > _MAX_CHANGED:
                self._restart()

    def step(self) -> bool:
        """Processes some messages. Returns True if none is pending."""
        if self._changed:
            rows = sorted_unique(*self._changed)
            rows = rows[rows < self._fed]
            self._changed = [rows[_MESSAGES_PER_STEP:]] if len(rows) > _MESSAGES_PER_STEP else []
            self._waiting = sum(map(len, self._changed))
            self._recount(rows[:_MESSAGES_PER_STEP])
            return not self.is_behind
        start, stop = self._fed, min(len(self._analysis), self._fed + _MESSAGES_PER_STEP)
        if start < stop:
            self._take_in(start, stop)
            self._fed = stop
        elif self._pairs.is_behind:
            # Only now: a call may be paired with a message of another source, read later.
            self._recount(self._pairs.step())
        return not self.is_behind

    # Input

    def _take_in(self, start: int, stop: int) -> None:
        # Two bytes a message are all that is kept, so that a change can be subtracted again.
        self._columns.append({"code": 0, "taken": 0}, stop - start)
        rows = np.arange(start, stop)
        deeds = self._deeds(rows)
        rows, deeds = rows[deeds != 0], deeds[deeds != 0]
        taken = self._mark_reactions(np.arange(start, stop))
        self._put(rows, deeds << 4 | self._outcomes(rows, deeds))
        # A reaction changes the outcome of the earlier message.
        self._recount(taken[taken < start])
        self._count_crashes(start, stop)
        self._add_times(start, stop)

    def _deeds(self, rows: Rows) -> NDArray[np.uint8]:
        """Returns the deed of each message."""
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
        failing = np.isin(kind, [code for name in FAILING_KINDS if (code := strings.find(name))])
        deeds[failing & (columns["flags"][rows] & Flag.ERROR.value != 0)] = Deed.FAILURE
        deeds[(deeds == Deed.COMPACTION) & (columns["flags"][rows] & Flag.DERIVED.value == 0)] = 0
        again = analysis.capture.repeated_messages(rows)[0] != NO_ROW
        if again.any():
            self.has_repeats = True
            deeds[again] = 0
        continues = analysis.correlation.rounds.continued_calls(rows) != NO_ROW
        if continues.any():
            self.has_repeats = True
            deeds[continues] = 0
        calls = np.flatnonzero(deeds == Deed.CALL)
        deeds[calls[self._pairs.outer_calls(rows[calls]) != NO_ROW]] = 0
        return deeds

    def _outcomes(self, rows: Rows, deeds: NDArray[np.uint8]) -> NDArray[np.uint8]:
        analysis = self._analysis
        links = analysis.correlation.columns
        outcomes = np.zeros(len(rows), np.uint8)
        acts = np.flatnonzero(~np.isin(deeds, _STATELESS))
        asked, states = rows[acts], analysis.states.states_at(rows[acts])
        waits = np.flatnonzero(np.isin(states, _WAITS))
        if len(waits):
            asks = waits[np.isin(deeds[acts[waits]], _ASKING_DEEDS)]
            states[asks[~are_waiting(analysis.capture, links, asked[asks])]] = Outcome.IN_VAIN
        failed = np.flatnonzero(states == MessageState.FAILED)
        if len(failed):
            states[failed[are_refused(analysis.capture, links, asked[failed])]] = Outcome.REFUSED
        outcomes[acts] = states
        said = np.flatnonzero(deeds == Deed.SAID)
        replies = links["cause"][rows[said]] != NO_ROW
        taken = self._columns["taken"][rows[said]] != 0
        outcomes[said] = np.where(replies, Outcome.REPLY.value, np.where(taken, Outcome.TAKEN_UP.value, 0))
        return outcomes

    def _mark_reactions(self, rows: Rows) -> Rows:
        """Marks chats with a reaction. Returns newly marked ones."""
        columns, strings = self._analysis.capture.columns, self._analysis.capture.strings
        causes = self._analysis.correlation.columns["cause"][rows]
        named = causes != NO_ROW
        rows, causes = rows[named], causes[named].astype(np.int64)
        said = columns["kind"][causes] == (strings.find("chat") or -1)
        said &= (columns["sender"][causes] != columns["sender"][rows]) & (causes < len(self._columns))
        causes = sorted_unique(causes[said])
        causes = causes[self._columns["taken"][causes] == 0]
        if len(causes):
            self._columns.replace("taken", causes, 1)
        return causes

    def _put(self, rows: Rows, codes: NDArray[Any]) -> None:
        """Sets codes of messages that did not count before."""
        if len(rows):
            self._columns.replace("code", rows, codes)
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
        self._by_what.add(_group_keys(deeds, senders, np.where(targeted, what, 0)), outcomes, by)
        calls = deeds == Deed.CALL
        if calls.any():
            keys = _group_keys(deeds[calls], senders[calls], columns["to_set"][rows[calls]])
            self._by_recipients.add(keys, outcomes[calls], by)

    def _recount(self, rows: Rows) -> None:
        """Recounts messages by their present state."""
        if not len(rows):
            return
        taken = self._mark_reactions(rows)
        rows = np.union1d(rows, taken[taken < self._fed])
        before = self._columns["code"][rows]
        deeds = self._deeds(rows)
        codes = deeds << 4 | np.where(deeds != 0, self._outcomes(rows, deeds), 0).astype(np.uint8)
        other = codes != before
        rows, before, codes = rows[other], before[other], codes[other]
        if len(rows):
            counted = before != 0
            self._count(rows[counted], before[counted], -1)
            self._columns.replace("code", rows, 0)
            self._put(rows[codes != 0], codes[codes != 0])

    def _count_crashes(self, start: int, stop: int) -> None:
        crashes = failed_servers(self._analysis.capture, start, stop)
        if len(crashes):
            self.crashes += len(crashes)
            self.first_crash = int(crashes[0]) if self.first_crash == NO_ROW else self.first_crash

    def _add_times(self, start: int, stop: int) -> None:
        columns = self._analysis.capture.columns
        times, flags = columns["time_ns"][start:stop], columns["flags"][start:stop]
        lost = flags & Flag.GAP.value != 0
        missing = np.flatnonzero(lost & (flags & Flag.ERROR.value == 0))
        if len(missing):
            self.gaps += len(missing)
            self.first_gap = start + int(missing[0]) if self.first_gap == NO_ROW else self.first_gap
        known = np.flatnonzero((times != NO_TIME) & ~lost)
        # True if there was a gap between a message and the previous one.
        so_far = np.cumsum(lost)[known]
        broken = np.diff(so_far, prepend=0 if not self._is_after_gap else -1) > 0
        self._is_after_gap = bool(lost.any() and (not len(known) or lost[known[-1] :].any())) or (
            self._is_after_gap and not len(known)
        )
        if not len(known):
            return
        told = times[known]
        broken |= self._are_first_of_source(known + start)
        self._silences.add(told, known + start, broken)
        least = int(told.min())
        self._first_ns = least if self._first_ns == NO_TIME else min(self._first_ns, least)

    # Queries

    def count(self, deed: Deed, *outcomes: int) -> int:
        """Returns the number of deeds of a sort, all or with the given outcomes."""
        row = self._totals[deed]
        return int(row[list(outcomes)].sum()) if outcomes else int(row.sum())

    def groups(self, deed: Deed) -> Groups:
        """Returns groups by sender and tool or method; of thousands, the first."""
        return self._by_what.groups_of(deed)

    def recipients(self) -> Groups:
        """Returns tool calls by sender and recipients (ids of `Capture.to_sets`)."""
        return self._by_recipients.groups_of(Deed.CALL)

    def first(self, name: str) -> Rows:
        """Returns the first messages of a sort named in `_FIRST`, ascending; at most MAX_FIRST."""
        return self._first[name].rows(self._columns["code"])

    def longest_silence(self) -> Silence | None:
        """Returns the longest silence."""
        return self._silences.longest(self._analysis.contexts.clock_ns)

    def _are_first_of_source(self, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for the first message of a source, as no silence lies before it.

        A further file of a session that has begun continues the session.
        """
        found, columns = np.zeros(len(rows), np.bool_), self._analysis.capture.columns
        spaces, begun = np.unique(columns["space"][rows], return_index=True)
        first = dict(zip(spaces.tolist(), begun.tolist(), strict=True))
        sources, at = np.unique(columns["source"][rows], return_index=True)
        for source, place in zip(sources.tolist(), at.tolist(), strict=True):
            if source not in self._sources:
                self._sources.add(source)
                space = int(columns["space"][rows[place]])
                found[place] = not space or (space not in self._spaces and first[space] >= place)
        self._spaces.update(spaces.tolist())
        return found

    @property
    def span_ns(self) -> int | None:
        """Nanoseconds from the first to the last accepted time; None without times."""
        if self._first_ns == NO_TIME:
            return None
        return max(0, self._analysis.contexts.clock_ns - self._first_ns)


_STATELESS = (
    Deed.SAID.value,
    Deed.THOUGHT.value,
    Deed.REJECTION.value,
    Deed.ERROR.value,
    Deed.COMPACTION.value,
    Deed.FAILURE.value,
)
_ASKING_DEEDS = (Deed.CALL.value, Deed.DISCOVERY.value, Deed.REQUEST.value, Deed.PROPOSAL.value)


def _codes(deeds: tuple[Deed, ...], *outcomes: int) -> tuple[int, ...]:
    return tuple(deed << 4 | outcome for deed in deeds for outcome in outcomes)


_WORK = (Deed.CALL, Deed.REQUEST)
_FIRST: dict[str, tuple[tuple[int, ...], int]] = {
    "asked": (_codes((Deed.SAID,), Outcome.TAKEN_UP), 16),
    "said": (_codes((Deed.SAID,), *range(_OUTCOMES)), 1),
    "call": (_codes((Deed.CALL,), *range(_OUTCOMES)), 1),
    "failed": (_codes((Deed.CALL, Deed.REQUEST, Deed.DISCOVERY), MessageState.FAILED), 16),
    "refused": (_codes((*_WORK, Deed.DISCOVERY, Deed.PROPOSAL), Outcome.REFUSED), 16),
    "rejected": (_codes((Deed.PROPOSAL,), MessageState.REJECTED), 16),
    "compaction": (_codes((Deed.COMPACTION,), *range(_OUTCOMES)), 16),
    "declined": (_codes(_WORK, MessageState.REJECTED), 16),
    "error": (_codes((Deed.ERROR,), *range(_OUTCOMES)), 16),
    "failure": (_codes((Deed.FAILURE,), *range(_OUTCOMES)), 1),
    "waiting": (_codes((*_WORK, Deed.PROPOSAL), *_WAITS), MAX_FIRST),
    "discovery": (_codes((Deed.DISCOVERY,), *_WAITS), MAX_FIRST),
    "in vain": (_codes((*_WORK, Deed.DISCOVERY), Outcome.IN_VAIN), 16),
    "asked of the gone": (_codes(_WORK, Outcome.IN_VAIN), MAX_FIRST),
}
