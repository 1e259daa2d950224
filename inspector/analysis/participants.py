"""Who takes part: presence, capabilities as announced, reported usage, last words (docs/protocols.md 4, 10, 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.trust import TrustPass
from inspector.capture.capture import Capture
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.protocol.participants import GATEWAY_IDS, patterns, welcomed
from inspector.protocol.times import NO_TIME


@dataclass(frozen=True, slots=True)
class Coming:
    """Somebody came or left.

    Attributes:
        row: the message that says so.
        here: True for a coming.
    """

    row: int
    here: bool


@dataclass(slots=True)
class Participant:
    """One who takes part in a space.

    Attributes:
        space: string id.
        here: True while present, False after leaving, None when nothing was announced.
        capabilities: one pattern a line, as last announced by the gateway; None when never.
        tokens, max_tokens: as last reported by `participant/status`; None when not.
        messages: how many it sent.
        first_ns, last_ns: times of its first and last message, or of its coming; NO_TIME.
        came_ns: when it came the last time, as was announced; NO_TIME.
        left_ns: when it left, NO_TIME while here.
        is_us: this program itself.
        invited: a gateway announced that it was invited; it need not have come.
    """

    name: str
    space: int
    here: bool | None = None
    capabilities: list[str] | None = None
    tokens: int | None = None
    max_tokens: int | None = None
    messages: int = 0
    first_ns: int = NO_TIME
    last_ns: int = NO_TIME
    came_ns: int = NO_TIME
    left_ns: int = NO_TIME
    is_us: bool = False
    invited: bool = False
    status_rows: Sequence[int] = ()
    """Messages with its `participant/status` reports, the last 1,000."""
    ended: Sequence[int] = ()
    """Messages with which it left or came anew, the last 1,000: what it said of itself before holds no more."""
    comings: Sequence[Coming] = ()
    """When it came and left, the last 1,000; saying once more that it is here is no coming."""

    @property
    def since_ns(self) -> int:
        """Since when it is what it is: here, since it came the last time; left, when it left; else first seen."""
        if self.here is None:
            return self.first_ns
        return self.came_ns if self.here else self.left_ns

    def seen_at(self, time_ns: int) -> None:
        """Note a time it was there, if it is one."""
        if time_ns not in (NO_TIME, _NEVER):
            self.first_ns = time_ns if self.first_ns == NO_TIME else min(self.first_ns, time_ns)


_NEVER = 2**63 - 1
_FIRST = itemgetter(0)
_MOST_COMINGS = 1_000
_AT_ONCE_NS = 1_000_000_000
"""A welcome and the presence that tells others of it are one coming."""
_FACTS = ("system/welcome", "system/presence", "participant/status", "system/join")


class ParticipantPass:
    """Participants by (space, name), in the order first seen. Changes no message.

    Attributes:
        ended: processes that are gone: the message that tells, space and name; by message.
    """

    def __init__(self, capture: Capture, trust: TrustPass) -> None:
        self._capture = capture
        self._trust = trust
        self.all: dict[tuple[int, str], Participant] = {}
        self.ended: list[tuple[int, int, str]] = []
        self._speaking: dict[int, Participant | None] = {}  # by space and sender: None for what is nobody
        self._before: dict[int, int] = {}  # of facts of the batch: the message before with the same id
        self._asking: set[int] = set()  # spaces we have joined and not been welcomed to yet

    def feed(self, start: int, stop: int, late: Rows = NO_ROWS) -> None:
        """Take in messages `start` to `stop`.

        Args:
            start, stop: the messages.
            late: earlier ones whose sender is only known by now (`StreamPass`).
        """
        columns, strings = self._capture.columns, self._capture.strings
        wanted = [code for code in map(strings.find, _FACTS) if code is not None]
        facts = np.flatnonzero(np.isin(columns["kind"][start:stop], wanted)) + start
        hashes = columns["id_hash"][facts]
        before = self._capture.ids.latest(hashes, facts) if len(facts) else facts
        self._before = {row: one for row, one in zip(facts.tolist(), before.tolist(), strict=True) if one != NO_ROW}
        # Met and heard of in the order of arrival, so that batches make no difference.
        events: list[tuple[int, int, int]] = [  # message; space; sender or recipient, 0 for a fact
            *self._senders(late),
            *self._senders(slice(start, stop)),
            *((row, 0, 0) for row in facts.tolist()),
            *self._receivers(start, stop),
        ]
        events.sort(key=_FIRST)
        strings = self._capture.strings
        for row, space, person in events:
            if person:
                self._meet(space, strings[person])
            else:
                self._note(row)
        for rows in (late, slice(start, stop)):
            self._count(rows)

    def _meet(self, space: int, name: object) -> Participant | None:
        if not isinstance(name, str) or not name or name in GATEWAY_IDS:
            return None
        found = self.all.get((space, name))
        if found is None:
            found = self.all[space, name] = Participant(name, space)
        return found

    def _pairs(self, rows: slice | Rows) -> NDArray[np.uint64]:
        """(messages,) the space and the sender of each as one number."""
        columns = self._capture.columns
        return columns["space"][rows].astype(np.uint64) << np.uint64(32) | columns["sender"][rows]

    def _senders(self, rows: slice | Rows) -> Iterator[tuple[int, int, int]]:
        """The first message of each who has not sent anything before."""
        keys, first = np.unique(self._pairs(rows), return_index=True)
        for key, place in zip(keys.tolist(), first.tolist(), strict=True):
            if key & 0xFFFFFFFF and key not in self._speaking:
                row = rows.start + place if isinstance(rows, slice) else int(rows[place])
                yield row, key >> 32, key & 0xFFFFFFFF

    def _count(self, rows: slice | Rows) -> None:
        """Note how many messages each sent, and when."""
        keys, inverse, counts = np.unique(self._pairs(rows), return_inverse=True, return_counts=True)
        times = self._capture.columns["time_ns"][rows]
        earliest, latest = np.full(len(keys), _NEVER), np.full(len(keys), NO_TIME, np.int64)
        np.maximum.at(latest, inverse, times)
        np.minimum.at(earliest, inverse, np.where(times == NO_TIME, _NEVER, times))
        speaking, strings = self._speaking, self._capture.strings
        for key, messages, first, last in zip(
            keys.tolist(), counts.tolist(), earliest.tolist(), latest.tolist(), strict=True
        ):
            participant = speaking.get(key)
            if participant is None:
                if key in speaking or not key & 0xFFFFFFFF:
                    continue
                participant = speaking[key] = self._meet(key >> 32, strings[key & 0xFFFFFFFF])
                if participant is None:
                    continue
            participant.messages += messages
            if last > participant.last_ns:
                participant.last_ns = last
            if first < participant.first_ns or participant.first_ns == NO_TIME:
                participant.seen_at(first)

    def _receivers(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """In MCP stdio traffic the other side takes part even before it has said anything."""
        columns = self._capture.columns
        rows = np.flatnonzero(columns["flags"][start:stop] & Flag.RPC) + start
        codes, first = np.unique(columns["to_set"][rows], return_index=True)
        for code, place in zip(codes.tolist(), first.tolist(), strict=True):
            row = int(rows[place])
            for name in self._capture.to_sets[code]:
                yield row, int(columns["space"][row]), self._capture.strings.intern(name)

    def _note(self, row: int) -> None:
        capture = self._capture
        kind = capture.string("kind", row)
        space = int(capture.columns["space"][row])
        sender = capture.string("sender", row)
        payload = capture.records.decoded(row).payload
        if kind == "system/join":
            joined = self._meet(space, sender)
            if joined is not None and capture.flags(row) & Flag.SENT:
                joined.is_us = True
                self._asking.add(space)
        elif kind == "participant/status":
            if capture.true_sender(row) is None and not capture.flags(row) & Flag.REFUSED:
                self._note_usage(self._meet(space, sender), payload, row)
        elif not self._trust.is_gateway(row):
            return
        elif kind == "system/welcome":
            self._note_welcome(space, payload, row)
        else:
            self._note_presence(space, payload, row)

    def _note_welcome(self, space: int, payload: Mapping[str, Any], row: int) -> None:
        others = payload.get("participants")
        here = [welcomed(payload), *(others if isinstance(others, list) else [])]
        here = [{"id": item} if isinstance(item, str) else item for item in here]
        if (space in self._asking or self._is_of_gateways_log(row)) and isinstance(others, list):
            # Nobody told us who left while we were away, nor a log who was there when its gateway was started again:
            # the welcome is the new truth (docs/protocols.md 10).
            self._asking.discard(space)
            named = {item.get("id") for item in here if isinstance(item, Mapping) and isinstance(item.get("id"), str)}
            for (of_space, name), participant in self.all.items():
                if of_space == space and participant.here and name not in named:
                    self._leave(participant, row)
        for name in self._trust.contradicted.get(row, ()):
            if (participant := self.all.get((space, name))) is not None:
                self._leave(participant, row)
        for item in here:
            if isinstance(item, Mapping):
                self._arrive(self._meet(space, item.get("id")), item, row)

    def _is_of_gateways_log(self, row: int) -> bool:
        """Whether it is told as the gateway told it: once, and in its order."""
        return self._capture.string("direction", row) == "outbound"

    def _note_presence(self, space: int, payload: Mapping[str, Any], row: int) -> None:
        item = payload.get("participant")
        item = item if isinstance(item, Mapping) else {"id": item}
        participant = self._meet(space, item.get("id"))
        if payload.get("event") == "leave":
            if participant is not None:
                self._leave(participant, row)
        elif payload.get("event") == "invited":
            if participant is not None:
                participant.invited = True
        else:
            if payload.get("event") == "join" and participant is not None and self._is_new(row):
                self._end(participant, row)
                self._note_again(participant, row)
            self._arrive(participant, item, row)

    def _is_new(self, row: int) -> bool:
        """Whether it is no copy of an earlier message, as logs of several recipients have."""
        before = self._before.get(row)
        return before is None or not self._are_alike(before, row)

    def _are_alike(self, one: int, other: int) -> bool:
        columns = self._capture.columns
        return all(columns[name][one] == columns[name][other] for name in ("sender", "kind", "ts_ns", "size"))

    def _end(self, participant: Participant, row: int) -> None:
        """Its process is gone; what it reported of itself was about that one."""
        participant.tokens = participant.max_tokens = None
        participant.ended = [*participant.ended[-_MOST_COMINGS + 1 :], row]
        self.ended.append((row, participant.space, participant.name))

    def _note_again(self, participant: Participant, row: int) -> None:
        """It joins, and nobody saw it leave: a gateway that was started again tells no departures."""
        time = int(self._capture.columns["time_ns"][row])
        if participant.here and NO_TIME not in (time, participant.came_ns) and time - participant.came_ns > _AT_ONCE_NS:
            participant.comings = [*participant.comings[-_MOST_COMINGS + 1 :], Coming(row, True)]
            participant.came_ns = time

    def _leave(self, participant: Participant, row: int) -> None:
        if participant.here is not False:
            participant.comings = [*participant.comings[-_MOST_COMINGS + 1 :], Coming(row, False)]
            self._end(participant, row)
        participant.here = False
        participant.left_ns = int(self._capture.columns["time_ns"][row])

    def _arrive(self, participant: Participant | None, item: Mapping[str, Any], row: int) -> None:
        if participant is None:
            return
        if not participant.here:
            participant.comings = [*participant.comings[-_MOST_COMINGS + 1 :], Coming(row, True)]
            participant.came_ns = int(self._capture.columns["time_ns"][row])
        participant.here = True
        participant.left_ns = NO_TIME
        participant.seen_at(int(self._capture.columns["time_ns"][row]))
        if isinstance(item.get("capabilities"), list):
            participant.capabilities = patterns(item["capabilities"])

    def _note_usage(self, participant: Participant | None, payload: Mapping[str, Any], row: int) -> None:
        if participant is None:
            return
        tokens, limit = payload.get("tokens"), payload.get("max_tokens")
        if isinstance(tokens, int) and not isinstance(tokens, bool):
            participant.tokens = tokens
        if isinstance(limit, int) and not isinstance(limit, bool):
            participant.max_tokens = limit
        participant.status_rows = [*participant.status_rows[-999:], row]
