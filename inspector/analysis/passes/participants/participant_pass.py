"""Tracks participants: presence, announced capabilities, reported usage, last times (docs/protocols.md 4, 10, 12)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.ids_by_space import UNKNOWN
from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.analysis.passes.participants.participant_table import (
    GONE,
    PRESENT,
    Participant,
    ParticipantTable,
)
from inspector.protocol.participants import capability_lines, welcomed_participant
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

__all__ = ["Participant", "ParticipantPass"]

_by_message = itemgetter(0)
_SAME_JOIN_NS = 1_000_000_000
"""Limit between a welcome and its presence to others, in nanoseconds; within it they are one join."""
_REFUSED = Flag.REFUSED.value
_FACT_KINDS = ("system/welcome", "system/presence", "participant/status", "system/join")


class ParticipantPass:
    """Participants by (space, name), in the order first seen. Changes no message.

    Attributes:
        all: the participants.
    """

    def __init__(self, capture: Capture, trust: TrustPass) -> None:
        self._capture = capture
        self._trust = trust
        self.all = ParticipantTable(capture.strings)
        self._ending_rows, self._ending_numbers = array("i"), array("i")  # messages, and participant numbers
        self._before: dict[int, int] = {}  # for facts of the batch: the earlier message with the same id
        self._joining_spaces: set[int] = set()  # spaces that this program joined, without a welcome so far

    def feed(self, start: int, stop: int, late: Rows = NO_ROWS) -> None:
        """Processes messages `start` to `stop`.

        Args:
            start, stop: the messages.
            late: earlier messages that only now got a sender (`StreamPass`).
        """
        columns, strings = self._capture.columns, self._capture.strings
        wanted = [code for code in map(strings.find, _FACT_KINDS) if code is not None]
        facts = np.flatnonzero(are_any_of(columns["kind"][start:stop], wanted)) + start
        hashes = columns["id_hash"][facts]
        before = self._capture.ids.latest_rows(hashes, facts) if len(facts) else facts
        self._before = {row: one for row, one in zip(facts.tolist(), before.tolist(), strict=True) if one != NO_ROW}
        # Handled in the order of arrival, so that the division into batches makes no difference.
        # message; space; string id of sender or recipient, or minus the kind of a fact
        events: list[tuple[int, int, int]] = [
            *self._senders(late),
            *self._senders(slice(start, stop)),
            *self._facts(facts),
            *self._receivers(start, stop),
        ]
        events.sort(key=_by_message)
        for row, space, what in events:
            if what > 0:
                self.all.find_or_add(space, strings[what])
            else:
                self._note(row, space, strings[-what])
        for rows in (late, slice(start, stop)):
            self._count_messages(rows)

    def ended_since(self, first: int) -> tuple[Rows, NDArray[np.int64]]:
        """Returns ended processes from number `first` on: the messages, and space << 32 | string id of the name."""
        numbers = np.array(self._ending_numbers[first:], np.int64)
        return np.array(self._ending_rows[first:], np.int64), self.all.keys_of(numbers)

    def _senders(self, rows: slice | Rows) -> Iterator[tuple[int, int, int]]:
        """Yields the first message of each unknown sender."""
        columns = self._capture.columns
        spaces, senders = columns["space"][rows], columns["sender"][rows]
        new = np.flatnonzero((self.all.find_all(spaces, senders) == UNKNOWN) & (senders != 0))
        keys, first = np.unique(spaces[new].astype(np.int64) << 32 | senders[new], return_index=True)
        for key, place in zip(keys.tolist(), new[first].tolist(), strict=True):
            row = rows.start + place if isinstance(rows, slice) else int(rows[place])
            yield row, key >> 32, key & 0xFFFFFFFF

    def _facts(self, rows: Rows) -> Iterator[tuple[int, int, int]]:
        columns = self._capture.columns
        kinds = (-columns["kind"][rows].astype(np.int64)).tolist()
        return zip(rows.tolist(), columns["space"][rows].tolist(), kinds, strict=True)

    def _count_messages(self, rows: slice | Rows) -> None:
        """Counts messages per sender, and records their times."""
        columns = self._capture.columns
        numbers = self.all.find_all(columns["space"][rows], columns["sender"][rows])
        somebody = numbers != UNKNOWN
        self.all.count(numbers[somebody], columns["time_ns"][rows][somebody])

    def _receivers(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yields recipients in MCP stdio traffic: they take part even before they send a message."""
        columns = self._capture.columns
        rows = np.flatnonzero(columns["flags"][start:stop] & Flag.RPC) + start
        codes, first = np.unique(columns["to_set"][rows], return_index=True)
        for code, place in zip(codes.tolist(), first.tolist(), strict=True):
            row = int(rows[place])
            for name in self._capture.to_sets[code]:
                yield row, int(columns["space"][row]), self._capture.strings.intern(name)

    def _note(self, row: int, space: int, kind: str) -> None:
        capture = self._capture
        payload = capture.records.decoded_record(row).payload
        if kind == "system/join":
            joined = self.all.find_or_add(space, capture.string("sender", row))
            if joined != UNKNOWN and capture.flags_of(row) & Flag.SENT:
                self.all.is_us[joined] = True
                self._joining_spaces.add(space)
        elif kind == "participant/status":
            if capture.logged_sender(row) is None and not int(capture.columns["flags"][row]) & _REFUSED:
                self._note_usage(self.all.find_or_add(space, capture.string("sender", row)), payload, row)
        elif not self._trust.is_gateway(row):
            return
        elif kind == "system/welcome":
            self._note_welcome(space, payload, row)
        else:
            self._note_presence(space, payload, row)

    def _note_welcome(self, space: int, payload: Mapping[str, Any], row: int) -> None:
        others = payload.get("participants")
        here = [welcomed_participant(payload), *(others if isinstance(others, list) else [])]
        here = [{"id": item} if isinstance(item, str) else item for item in here]
        if (space in self._joining_spaces or self._is_of_gateways_log(row)) and isinstance(others, list):
            # Departures while this program was away are unknown, and a log has none from before a restart of its
            # gateway. The welcome is the new truth (docs/protocols.md 10).
            self._joining_spaces.discard(space)
            named = {item.get("id") for item in here if isinstance(item, Mapping) and isinstance(item.get("id"), str)}
            for number in self.all.present_in(space):
                if self.all.name(number) not in named:
                    self._mark_gone(number, row)
        for name in self._trust.contradicted.get(row, ()):
            if (number := self.all.find(space, name)) != UNKNOWN:
                self._mark_gone(number, row)
        for item in here:
            if isinstance(item, Mapping):
                self._mark_present(self.all.find_or_add(space, item.get("id")), item, row)

    def _is_of_gateways_log(self, row: int) -> bool:
        """Tells if a message is a gateway's own record: each exists once and in its order."""
        return self._capture.string("direction", row) == "outbound"

    def _note_presence(self, space: int, payload: Mapping[str, Any], row: int) -> None:
        item = payload.get("participant")
        item = item if isinstance(item, Mapping) else {"id": item}
        number = self.all.find_or_add(space, item.get("id"))
        if number == UNKNOWN:
            return
        match payload.get("event"):
            case "leave":
                self._mark_gone(number, row)
            case "invited":
                self.all.is_invited[number] = True
            case event:
                # Each join that is no copy begins a new process, so the former one has ended.
                if event == "join" and self._is_new(row):
                    self._end_process(number, row)
                    self._note_repeated_join(number, row)
                self._mark_present(number, item, row)

    def _is_new(self, row: int) -> bool:
        """Tells if a message is no copy of an earlier one, as in the logs of several recipients."""
        before = self._before.get(row)
        return before is None or not self._are_alike(before, row)

    def _are_alike(self, one: int, other: int) -> bool:
        columns = self._capture.columns
        return all(columns[name][one] == columns[name][other] for name in ("sender", "kind", "ts_ns", "size"))

    def _end_process(self, number: int, row: int) -> None:
        """Records the end of a process, and drops the usage that it had reported."""
        # A new process starts with an unknown usage.
        self.all.tokens.set_number(number, None)
        self.all.max_tokens.set_number(number, None)
        self.all.endings.add(number, row)
        self._ending_rows.append(row)
        self._ending_numbers.append(number)

    def _note_repeated_join(self, number: int, row: int) -> None:
        """Records a join without a departure before it: a restarted gateway reports no departures."""
        time, came_ns = int(self._capture.columns["time_ns"][row]), self.all.joined_ns[number]
        if self.all.here[number] == PRESENT and NO_TIME not in (time, came_ns) and time - came_ns > _SAME_JOIN_NS:
            self.all.presence_changes.add(number, row << 1 | True)
            self.all.joined_ns[number] = time

    def _mark_gone(self, number: int, row: int) -> None:
        if self.all.here[number] != GONE:
            self.all.presence_changes.add(number, row << 1)
            self._end_process(number, row)
        self.all.here[number] = GONE
        self.all.left_ns[number] = int(self._capture.columns["time_ns"][row])

    def _mark_present(self, number: int, item: Mapping[str, Any], row: int) -> None:
        if number == UNKNOWN:
            return
        time = int(self._capture.columns["time_ns"][row])
        if self.all.here[number] != PRESENT:
            self.all.presence_changes.add(number, row << 1 | True)
            self.all.joined_ns[number] = time
        self.all.here[number] = PRESENT
        self.all.left_ns[number] = NO_TIME
        self.all.note_time(number, time)
        if isinstance(item.get("capabilities"), list):
            self.all.announce(number, capability_lines(item["capabilities"]))

    def _note_usage(self, number: int, payload: Mapping[str, Any], row: int) -> None:
        if number == UNKNOWN:
            return
        for name, reported in (("tokens", self.all.tokens), ("max_tokens", self.all.max_tokens)):
            value = payload.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                reported.set_number(number, value)
        self.all.statuses.add(number, row)
