"""Finds messages present both in a session's file and in a recording of its model's wire (docs/protocols.md 19).

RULE: a call is identified by its id and tool, its result by its call. In a session and on a wire, or on two wires, they
are one message: later occurrences are copies of the first. A gap of more than ten minutes makes it another call. A call
in a request's history is the one that it repeats, also if the client wrote its arguments in another form. A result that
the client replaced within a conversation, such as a cleared one, is no copy.

RULE: servers that count their calls give equal ids (`call_1`) in different conversations. Such an id is one call within
a conversation on wires, elsewhere on wires with equal arguments; in a session and on a wire within a minute.

RULE: a text occurs once in each representation, in a session and on a wire. The same text in the other representation
is a copy of the nearest unmatched occurrence in time. A model request's repeated history is always a copy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.call_ids import is_generic
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex

MAX_COPY_GAP_NS = 600_000_000_000
"""Nanoseconds; a larger gap makes a repeated id another call."""
_APART_COUNTED_NS = 60_000_000_000
"""The same of an id that a server counts."""
_APART_TAPS_NS = 5_000_000_000
"""Nanoseconds between two recordings of one exchange, for an id that a server counts."""
_MAX_UNMATCHED, _MAX_SAME_TEXT = 4096, 64
"""Limit of unmatched texts (at least half are kept), and of occurrences of one text."""
_MAX_CALLS_PER_ID = 8
"""Limit of distinct calls with one id: the first and the latest."""
# Keeps results apart from calls with the same id.
_RESULT_SALT = 0x9E3779B97F4A7C15
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class NewMessages:
    """New messages of transcripts and wires.

    Attributes:
        rows: (n,) ascending, after all earlier ones.
        call_hashes: (n,) hashes of the call's id, or of the result's call; NO_HASH.
        are_results: (n,) True if they answer a call.
        text_hashes: (n,) hashes of their text; NO_HASH for messages without a copy elsewhere, or matched by id only.
        are_new: (n,) True if the model produces it here, False for repeated history.
        given: (n,) hashes of a call's arguments; NO_HASH if unknown.
    """

    rows: NDArray[np.int64]
    call_hashes: NDArray[np.uint64]
    are_results: NDArray[np.bool_]
    text_hashes: NDArray[np.uint64]
    are_new: NDArray[np.bool_]
    given: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _MessageFacts:
    """Times, sources, conversations, formats and tools of messages."""

    times: NDArray[np.int64]
    sources: NDArray[Any]
    spaces: NDArray[Any]
    protocols: NDArray[Any]
    tools: NDArray[Any]
    wires: Collection[int]
    names: Sequence[str]

    def is_on_wire(self, row: int) -> bool:
        """Returns True if the message is from a wire recording."""
        return int(self.protocols[row]) in self.wires

    def is_same_call(self, row: int, before: int, *, new: bool, generic: bool, equal: bool) -> bool:
        """Returns True if two calls with one id and tool are the same.

        Args:
            row, before: the messages, the later one first.
            new: as in `NewMessages`, of the later one.
            generic: other conversations may have equal ids.
            equal: the arguments are known to be equal.
        """
        wire, other = self.is_on_wire(row), self.is_on_wire(before)
        if not wire and not other:
            return False  # copies among sessions need more evidence than equal ids
        # Without both times the calls count as simultaneous.
        apart = abs(int(self.times[row]) - int(self.times[before])) if self._are_timed(row, before) else 0
        # A request repeats its whole history, at any later time.
        history = wire and not new
        if not (wire and other):
            # A counted id, such as call_1, repeats in each conversation, so it must be close in
            # time.
            return history or apart <= (_APART_COUNTED_NS if generic else MAX_COPY_GAP_NS)
        if history:
            return equal or not generic or self.spaces[row] == self.spaces[before]
        # One source records each call once.
        if self.sources[row] == self.sources[before]:
            return False
        return apart <= MAX_COPY_GAP_NS if not generic else equal and apart <= _APART_TAPS_NS

    def _are_timed(self, *rows: int) -> bool:
        return NO_TIME not in (int(self.times[row]) for row in rows)

    def place(self, row: int) -> tuple[int, int]:
        """Returns the source and the conversation of a message."""
        return int(self.sources[row]), int(self.spaces[row])

    def is_one_result(self, row: int, before: int, *, new: bool) -> bool:
        """Returns True if two results of one call are the same; `new` as in `NewMessages`, of the later one."""
        wire = self.is_on_wire(row)
        return (wire and not new) or (self.sources[row] != self.sources[before] and (wire or self.is_on_wire(before)))

    def have_same_tool(self, row: int, before: int) -> bool:
        """Returns True if two calls name the same tool, with or without its server, or one names none."""
        one, other = int(self.tools[row]), int(self.tools[before])
        return (
            one == other
            or not one
            or not other
            or _name_without_server(self.names[one]) == _name_without_server(self.names[other])
        )


class SessionWireCopies:
    """Calls, results and texts that occurred so far."""

    def __init__(self) -> None:
        self._known = HashIndex()  # calls and results that are no copies
        self._calls: dict[int, list[int]] = {}  # calls by repeated id
        self._call_of: dict[tuple[int, int, int], int] = {}  # the call meant, by source, conversation, repeated id
        self._given: dict[tuple[int, int], int] = {}  # call by id and arguments
        self._results: dict[tuple[int, int], int] = {}  # results by repeated id and call
        self._on_wires: dict[tuple[int, int, int], None] = {}  # results on wires by conversation, id and call
        self._open: dict[int, list[tuple[int, bool, int]]] = {}  # by text: row, on a wire, time
        self._both: dict[int, int] = {}  # first row by text that occurred in both representations

    def find_originals(
        self,
        new_messages: NewMessages,
        columns: Mapping[str, NDArray[Any]],
        wires: Collection[int],
        names: Sequence[str],
    ) -> NDArray[np.int64]:
        """Returns (n,) the earlier message that each copies, or NO_ROW. Call once per message, in order.

        Args:
            new_messages: the new messages.
            columns: of all messages so far, these included: `time_ns`, `source`, `space`, `protocol`, `target`.
            wires: values of `protocol` for wire recordings.
            names: strings of the values of `target`.
        """
        seen = _MessageFacts(
            columns["time_ns"],
            columns["source"],
            columns["space"],
            columns["protocol"],
            columns["target"],
            wires,
            names,
        )
        found = np.full(len(new_messages.rows), NO_ROW, np.int64)
        calls = np.flatnonzero(new_messages.call_hashes != NO_HASH)
        if len(calls):
            found[calls] = self._copies_by_id(new_messages, calls, seen)
        for place in np.flatnonzero(new_messages.text_hashes != NO_HASH).tolist():
            row = int(new_messages.rows[place])
            if found[place] != NO_ROW:
                self._note_both(int(new_messages.text_hashes[place]), int(found[place]))
                continue
            wire = seen.is_on_wire(row)
            any_time = wire and not new_messages.are_new[place]
            time_ns = int(seen.times[row])
            found[place] = self._match_text(
                int(new_messages.text_hashes[place]), row, time_ns, wire=wire, any_time=any_time
            )
        return found

    def _copies_by_id(self, new_messages: NewMessages, places: NDArray[np.int64], seen: _MessageFacts) -> list[int]:
        """Returns the same for calls and results, one by one: a later one may copy an earlier one of these."""
        keys = np.where(
            new_messages.are_results[places],
            new_messages.call_hashes[places] ^ np.uint64(_RESULT_SALT),
            new_messages.call_hashes[places],
        )
        # One search for all: most ids are new.
        known = self._known.latest_rows(keys, np.full(len(keys), np.iinfo(np.int64).max)).tolist()
        latest: dict[int, int] = {}
        found: list[int] = []
        for place, key, before in zip(places.tolist(), keys.tolist(), known, strict=True):
            row, new = int(new_messages.rows[place]), bool(new_messages.are_new[place])
            before = max(before, latest.get(key, NO_ROW))
            if new_messages.are_results[place]:
                of = self._original_result(row, key, before, seen, new=new)
            else:
                of = self._original_call(row, key, before, seen, new=new, given=int(new_messages.given[place]))
            if of == NO_ROW:
                latest[key] = row
            found.append(of)
        originals = np.array(found) == NO_ROW
        self._known.add(keys[originals], new_messages.rows[places][originals].astype(np.uint32))
        return found

    def _original_call(self, row: int, key: int, before: int, seen: _MessageFacts, *, new: bool, given: int) -> int:
        """Returns the call repeated by this one; `before` is the latest with its id."""
        found = self._same_call(row, key, before, seen, new=new, given=given) if before != NO_ROW else NO_ROW
        # A second call with a used id: from here on, results need the call they belong to.
        if found == NO_ROW and before != NO_ROW:
            known = self._calls.get(key, [before])
            if len(known) == 1:
                result = self._known.latest_rows(np.array([key ^ _RESULT_SALT], np.uint64), np.array([row])).item()
                if result != NO_ROW:
                    _set_limited(self._results, (key, known[0]), result)
            # Bounded, since some clients use one id for every call.
            _set_limited(self._calls, key, [known[0], *known[1:][2 - _MAX_CALLS_PER_ID :], row])
        if key in self._calls:
            _set_limited(self._call_of, (*seen.place(row), key), row if found == NO_ROW else found)
        if given != NO_HASH and (key, given) not in self._given:
            _set_limited(self._given, (key, given), row if found == NO_ROW else found)
        return found

    def _same_call(self, row: int, key: int, before: int, seen: _MessageFacts, *, new: bool, given: int) -> int:
        equal = self._given.get((key, given), NO_ROW) if given != NO_HASH else NO_ROW
        calls = dict.fromkeys((equal, *reversed(self._calls.get(key, [before]))))
        calls.pop(NO_ROW, None)
        alike = [one for one in calls if seen.have_same_tool(row, one)]
        alike.sort(key=lambda one: seen.spaces[one] != seen.spaces[row])  # of one conversation first
        for one in alike:
            if seen.is_same_call(row, one, new=new, generic=is_generic(key), equal=one == equal):
                return one
        return NO_ROW

    def _original_result(self, row: int, key: int, before: int, seen: _MessageFacts, *, new: bool) -> int:
        """Returns the result repeated by this one; `before` is the latest with its id."""
        call = key ^ _RESULT_SALT
        known = self._calls.get(call)
        made = self._call_of.get((*seen.place(row), call), known[0]) if known is not None else NO_ROW
        if known is not None:
            before = self._results.get((call, made), NO_ROW)
        is_replaced = seen.is_on_wire(row) and self._has_occurred((int(seen.spaces[row]), call, made))
        if before != NO_ROW and not is_replaced and seen.is_one_result(row, before, new=new):
            return before
        if known is not None:
            _set_limited(self._results, (call, made), row)
        return NO_ROW

    def _has_occurred(self, result: tuple[int, int, int]) -> bool:
        """Returns True if a conversation on a wire had another text for this result, and notes the result."""
        # The same text again is found by its identity (`Transcripts.find_originals`).
        if result in self._on_wires:
            return True
        _set_limited(self._on_wires, result, None)
        return False

    def _note_both(self, words: int, row: int) -> None:
        _set_limited(self._both, words, row)

    def _match_text(self, words: int, row: int, time_ns: int, *, wire: bool, any_time: bool) -> int:
        """Matches a text with its occurrence in the other representation; NO_ROW leaves this one unmatched."""
        waiting = self._open.pop(words, [])
        others = [one for one in waiting if one[1] != wire and (any_time or _are_near(one[2], time_ns))]
        found = NO_ROW
        if others:
            # Equal texts repeat; the nearest one in time is the most likely copy.
            nearest = min(others, key=lambda one: (abs(one[2] - time_ns), one[0]))
            waiting.remove(nearest)
            found = nearest[0]
            self._note_both(words, found)
        elif any_time and words in self._both:  # history sent again in another conversation
            found = self._both[words]
        else:
            waiting = [*waiting, (row, wire, time_ns)][-_MAX_SAME_TEXT:]
        if waiting:
            _set_limited(self._open, words, waiting)
        return found


def _set_limited(held: dict[_K, _V], key: _K, value: _V) -> None:
    """Sets a value; evicts the older half above the limit."""
    if len(held) >= _MAX_UNMATCHED:
        for oldest in [*islice(held, _MAX_UNMATCHED // 2)]:
            del held[oldest]
    held[key] = value


def _name_without_server(tool: str) -> str:
    """Returns a tool's name without the server prefix that clients add."""
    return re.split(r"__|[./:]", tool)[-1].casefold()


def _are_near(one: int, other: int) -> bool:
    return NO_TIME in (one, other) or abs(one - other) <= MAX_COPY_GAP_NS
