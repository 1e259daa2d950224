"""Resolves the thread, copied history and model of records in thread files (docs/transcripts.md).

A file contains one thread; its first record names the thread and its parent. Everything derived from the order of
records is resolved here, block by block: context, model, repeats, and history copied from another thread.

RULE: a text occurs once in each of several channels. The same text in another channel is a copy, while the first is
among the recent texts that occurred in one channel only.

RULE: copied history is everything after a second record about another thread, or after a first record that names the
thread it was forked from, or with an ordinal below the first own one. It ends at the first turn that began after the
thread itself did: ids of turns and threads contain their creation time. Without such ids, it ends at the first turn or
prompt written after the thread's first record and at least 0.2 s after the record before it: history is copied without
a pause.

RULE: a call shared with the parent or the forked thread belongs to that thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import kinds
from inspector.protocol.derived_messages import MODEL_CHANNEL, ApiCall, ThreadMark
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_text
from inspector.store.messages.row_participants import participants_of

_USER, _SUB_AGENT = "user", "agent"
_MAX_UNMATCHED = 512
"""Limit of texts that may occur in another channel; at least half are kept. Copies lie within a turn of each other."""
_MAX_SAME_TEXT = 8
"""Limit of occurrences of the same text."""
# One bit each in a number, so that a text costs no set.
_MAX_CHANNELS = 16
_Occurrences = tuple[int, ...]
"""Occurrences of the same text: a number with one low bit per channel."""
_PAUSE_NS = 200_000_000
"""Longest pause in nanoseconds between the records of copied history."""
_TIMED_VERSION = "7"
"""Version digit of ids that begin with their creation time (RFC 9562, section 5.7)."""


@dataclass(slots=True)
class Thread:
    """One file, as far as it was read.

    Attributes:
        tops: root thread by thread: files of before 2026 name only the parent.
        identifier: the thread's id; empty until a record names it.
        parent: the parent thread; "" if unnamed; None for a thread begun by a person.
        model: the latest model.
        models: the current model by context: a connection of an app server has several threads.
        copied_hash: shared hash of copied history; NO_HASH outside of it.
        has_own_turn: a turn of its own has begun.
        calls: shared hash of calls of all threads, by root thread and hash of the call's id.
        began_ns, last_ns: times of its first and latest record.
        has_origin: it has a parent, or was forked.
    """

    source: int
    tops: dict[str, str]
    identifier: str = ""
    space: str = ""
    parent: str | None = None
    agent_type: str | None = None
    label: str | None = None
    model: str | None = None
    models: dict[str, str] = field(default_factory=dict)
    copied_hash: int = NO_HASH
    copied_from: str = ""
    first_own: int | None = None
    has_own_turn: bool = False
    prompted: bool = False
    calls: dict[tuple[str, int], int] = field(default_factory=dict)
    began_ns: int = NO_TIME
    last_ns: int = NO_TIME
    has_origin: bool = False
    _turns_tell: bool = False
    _open_calls: dict[str, bool] = field(default_factory=dict)  # by id, True if something it ran failed
    _occurrence_count: int = 0
    _unmatched: dict[int, _Occurrences] = field(default_factory=dict)
    _channel_bits: dict[str, int] = field(default_factory=dict)

    def process_first_record(self, mark: ThreadMark) -> None:
        """Processes the first record."""
        self.identifier = mark.identifier or f"thread of source {self.source}"
        # A sub-agent of a sub-agent belongs to the session of the topmost thread.
        above = self.tops.get(mark.parent, mark.parent) if mark.parent else None
        self.space = self.tops[self.identifier] = mark.space or above or self.identifier
        self.parent, self.agent_type, self.label = mark.parent, mark.agent_type, mark.label
        self.first_own = mark.first_own
        self.has_origin = mark.parent is not None or mark.forked_from not in (None, self.identifier)
        if mark.first_own is not None:
            self._copy_from(mark.parent or "")
        elif mark.forked_from not in (None, self.identifier):
            self._copy_from(mark.forked_from or "")

    def process_record(self, mark: ThreadMark, time_ns: int, context: str) -> None:
        """Processes a record in a context before its meaning is resolved; `time_ns` is its time of writing."""
        if self.began_ns == NO_TIME:
            self.began_ns = time_ns
        if mark.identifier is not None and not self.identifier:
            self.process_first_record(mark)
        # A second identifier before any own turn: the file begins with another thread's history.
        elif mark.identifier not in (None, self.identifier) and not self.has_own_turn and self.copied_hash == NO_HASH:
            self._copy_from(mark.identifier or "")
        elif self.copied_hash != NO_HASH and self._is_own(mark, time_ns):
            self.copied_hash = NO_HASH
        self.last_ns = max(self.last_ns, time_ns)
        if mark.turn is not None and self.copied_hash == NO_HASH:
            self.has_own_turn = True
        if mark.model is not None:
            self.model = self.models[context] = mark.model

    def _copy_from(self, thread: str) -> None:
        self.has_origin = True
        self.copied_from = thread
        self.copied_hash = hash_text(f"copied\0{self.source}\0{thread}")

    def _is_own(self, mark: ThreadMark, time_ns: int) -> bool:
        """Returns True if copied history ends before this record."""
        if self.first_own is not None:
            return mark.ordinal is not None and mark.ordinal >= self.first_own
        # A turn's id contains its time of creation, which no copy changes.
        made, own = _creation_time_ms(mark.turn or ""), _creation_time_ms(self.identifier)
        if mark.turn and made and own:
            self._turns_tell = True
            return made >= own
        if self._turns_tell or not (mark.turn is not None or mark.prompt):
            return False
        # Without times only a turn is evidence.
        if NO_TIME in (time_ns, self.began_ns):
            return mark.turn is not None
        # History is copied in one go; the first pause ends it.
        return time_ns - max(self.began_ns, self.last_ns) >= _PAUSE_NS

    def shared_text_hash(self, words: int, channel: str) -> int:
        """Returns the shared hash of a text and its occurrence in another channel; a new one if unmatched."""
        shared, tellings = self._match_other_channel(self._unmatched.pop(words, ()), channel)
        if shared == NO_HASH:
            self._occurrence_count += 1
            shared = self._occurrence_hash(self._occurrence_count)
            tellings = (*tellings, self._occurrence_count << _MAX_CHANNELS | self._channel_bit(channel))[
                -_MAX_SAME_TEXT:
            ]
        # Drops the older half at once, so that the cost per text stays constant.
        if len(self._unmatched) >= _MAX_UNMATCHED:
            for oldest in [*islice(self._unmatched, _MAX_UNMATCHED // 2)]:
                del self._unmatched[oldest]
        self._unmatched[words] = tellings
        return shared

    def repeated_text_hash(self, words: int, channel: str) -> int:
        """Returns the shared hash of a text that an item had before, or NO_HASH."""
        if words not in self._unmatched:
            return NO_HASH
        shared, self._unmatched[words] = self._match_other_channel(self._unmatched[words], channel)
        return shared

    def track_call(self, mark: ThreadMark) -> bool:
        """Tracks calls, failures within them, and answers; returns True if this answer is a failure."""
        calls = self._open_calls
        if mark.call is not None and mark.channel == MODEL_CHANNEL:
            calls[mark.call] = False
            # An interrupted turn leaves calls without an answer.
            if len(calls) > _MAX_UNMATCHED:
                del calls[next(iter(calls))]
        if mark.failed_call is not None and calls:
            calls[mark.failed_call if mark.failed_call in calls else next(reversed(calls))] = True
        return mark.answered_call is not None and calls.pop(mark.answered_call, False)

    def shared_call_hash(self, words: int, shared: int) -> int:
        """Returns the shared hash of the same call in the thread of origin, or `shared`.

        Args:
            words: a hash of its id.
            shared: shared hash of its occurrences in this thread.
        """
        known = self.calls.setdefault((self.space, words), shared)
        return known if self.has_origin else shared

    def _match_other_channel(self, tellings: _Occurrences, channel: str) -> tuple[int, _Occurrences]:
        """Returns the shared hash of an occurrence in another channel, and the updated occurrences."""
        way = self._channel_bit(channel)
        for place, told in enumerate(tellings):
            if not told & way:
                return self._occurrence_hash(told >> _MAX_CHANNELS), (
                    *tellings[:place],
                    told | way,
                    *tellings[place + 1 :],
                )
        return NO_HASH, tellings

    def _channel_bit(self, channel: str) -> int:
        """Returns the bit of a channel; channels above the limit share one."""
        known = self._channel_bits.get(channel)
        if known is None and len(self._channel_bits) < _MAX_CHANNELS - 1:
            known = self._channel_bits[channel] = 1 << len(self._channel_bits)
        return known or 1 << (_MAX_CHANNELS - 1)

    def _occurrence_hash(self, told: int) -> int:
        return hash_text(f"told\0{self.source}\0{told}")

    def set_model(self, call: ApiCall, context: str) -> None:
        """Sets the called model and qualifies the call's id; an equal count in another thread is another call."""
        call.model = call.model or self.models.get(context, self.model)
        call.identifier = f"{self.copied_from if self.copied_hash != NO_HASH else self.identifier}\0{call.identifier}"


def _creation_time_ms(identifier: str) -> int:
    """Returns the creation time in an id, in milliseconds since the epoch, else 0."""
    digits = identifier.replace("-", "")
    if len(digits) != 32 or digits[12] != _TIMED_VERSION:
        return 0
    try:
        return int(digits[:12], 16)
    except ValueError:
        return 0


@dataclass(frozen=True, slots=True)
class ResolvedThread:
    """One thread in a block: its rows, first prompts of a sub-agent, and ends."""

    thread: Thread
    rows: NDArray[np.int64]
    prompts: list[int]
    ends: list[int]


class Threads:
    """Threads of a capture, by source."""

    def __init__(self) -> None:
        self._threads: dict[int, Thread] = {}
        self._tops: dict[str, str] = {}
        self._calls: dict[tuple[str, int], int] = {}

    def resolve_block(self, block: Block, derived: NDArray[np.int64]) -> list[ResolvedThread]:
        """Completes the columns of a block for each source that is a thread's file.

        Args:
            block: of one source, or of several merged ones.
            derived: (n,) its messages derived from transcript records, ascending.
        """
        sources = block.columns["source"]
        marks, calls = block.extracts.threads, block.extracts.api_calls
        if not marks and not self._threads:
            return []
        places: dict[int, list[int]] = {}
        for place in sorted(marks.keys() | (calls.keys() if self._threads or marks else ())):
            places.setdefault(int(sources[place]), []).append(place)
        # Only a source with a mark is a thread.
        begun = {source for source, found in places.items() if any(place in marks for place in found)}
        found: list[ResolvedThread] = []
        for source in np.unique(sources[derived]).tolist():
            if source not in self._threads:
                if source not in begun:
                    continue
                self._threads[source] = Thread(source, self._tops, calls=self._calls)
            rows = derived[sources[derived] == source]
            found.append(_resolve_thread(block, rows, places.get(source, []), self._threads[source]))
        return found


def _resolve_thread(block: Block, rows: NDArray[np.int64], places: list[int], thread: Thread) -> ResolvedThread:
    """Completes the columns of one thread's rows; `places` are the rows with marks or calls, in order."""
    said, marks, calls = block.columns["said"], block.extracts.threads, block.extracts.api_calls
    found = ResolvedThread(thread, rows, [], [])
    since = int(rows[0])  # start of the present stretch, copied or not
    for place in places:
        mark, before = marks.get(place), thread.copied_hash
        context = block.strings[int(block.columns["context"][place])]
        if mark is not None:
            thread.process_record(mark, int(block.columns["time_ns"][place]), context)
            if thread.copied_hash != before:
                # The stretch before this mark was copied from another thread.
                _mark_copied(block, rows[(rows >= since) & (rows < place)], before)
                since = place
            if thread.copied_hash == NO_HASH:
                _apply_mark(said, place, mark, found)
                if thread.track_call(mark) and not block.columns["flags"][place] & Flag.DECLINED.value:
                    block.columns["flags"][place] |= np.uint32(Flag.ERROR.value)
        if place in calls:
            thread.set_model(calls[place], context)
            said[place] = hash_text(f"tokens\0{calls[place].identifier}")
    _mark_copied(block, rows[rows >= since], thread.copied_hash)
    if thread.parent is not None:
        _move_into_context(block, rows, thread)
    return found


def _apply_mark(said: NDArray[np.uint64], place: int, mark: ThreadMark, found: ResolvedThread) -> None:
    """Applies a record of the thread's own."""
    thread = found.thread
    if mark.channel is not None:
        tells = (
            thread.shared_text_hash if mark.call is None or mark.channel == MODEL_CHANNEL else thread.repeated_text_hash
        )
        words = int(said[place])
        said[place] = tells(words, mark.channel)
        if mark.call is not None and mark.channel == MODEL_CHANNEL:
            said[place] = thread.shared_call_hash(words, int(said[place]))
    if mark.prompt and not thread.prompted:
        thread.prompted = True
        found.prompts.append(place)
    if mark.ends_turn:
        found.ends.append(place)


def _mark_copied(block: Block, rows: NDArray[np.int64], copied: int) -> None:
    """Marks rows as copies; their items remain in the context of the thread's model."""
    if copied == NO_HASH:
        return
    block.columns["said"][rows] = copied
    items = np.isin(block.columns["kind"][rows], [block.strings.find(kind) or -1 for kind in _TOLD_TO_MODELS])
    marks = block.extracts.threads
    for place, row in enumerate(rows.tolist()):
        mark = marks.get(row)
        items[place] &= mark is None or mark.channel in (None, MODEL_CHANNEL)
    block.columns["flags"][rows[items]] |= np.uint32(Flag.INHERITED.value)


_TOLD_TO_MODELS = ("chat", "reasoning/thought", kinds.REQUEST, kinds.RESPONSE, "participant/compact-done")


def _move_into_context(block: Block, derived: NDArray[np.int64], thread: Thread) -> None:
    """Moves all messages of a sub-agent's file into its context; its user is the parent agent."""
    columns, strings, sets = block.columns, block.strings, block.to_sets
    columns["context"][derived] = strings.intern(thread.identifier)
    # In a sub-agent's file, the parent agent writes in the user's place.
    told_by = participants_of(block, derived)
    renamed = {told_by.agent: _SUB_AGENT, _USER: told_by.agent} if told_by is not None else {}
    senders = columns["sender"][derived]
    for old, new in ((strings.find(old), new) for old, new in renamed.items()):
        if old:
            columns["sender"][derived[senders == old]] = strings.intern(new)
    recipients = columns["to_set"][derived]
    for to in np.unique(recipients).tolist():
        changed = tuple(renamed.get(name) or name for name in sets[to])
        if changed != sets[to]:
            columns["to_set"][derived[recipients == to]] = sets.intern(changed)
