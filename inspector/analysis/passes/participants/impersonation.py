"""Detects messages that impersonate the gateway; collects this program's own participant ids.

RULE (docs/protocols.md 2, Spoofing): released gateways let a sender write its own `from`. In a gateway's log the line
of the received message names the true sender (`Capture.logged_sender`). A capture of this program has no such line, but
three facts expose a forgery:

- A gateway sends a welcome only to the participant that it welcomes. A welcome for another one is forged.
- A participant gets no message about its own departure.
- A participant that came and did not leave is named by the next welcome. A contradicting presence is forged.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS, welcomed_participant
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

_WELCOME, _PRESENCE = "system/welcome", "system/presence"


class TrustPass:
    """Finds messages in a gateway's name that are forged.

    Attributes:
        forged: by forged message, the string id of its true sender; 0 if unknown.
        contradicted: by welcome, the participants that it disproves, with the messages that announced them. These
            messages
            were trusted until then, so they are not in `forged`.
        own: ids of this program, by space (string id), in the order of use; the last is in use.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.forged: dict[int, int] = {}
        self.contradicted: dict[int, dict[str, int]] = {}
        self.own: dict[int, dict[str, None]] = {}
        # by source and connection: joined participants, with the message
        self._joined: dict[tuple[int, int], dict[str, int]] = {}
        self._first_incoming: dict[tuple[int, int], int] = {}  # by source and connection: the first incoming message
        self._told = 0

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`."""
        self._note_impostors()
        columns, strings = self._capture.columns, self._capture.strings
        code = columns["kind"][start:stop]
        looked_at = are_any_of(code, [strings.find(kind) or -1 for kind in (_WELCOME, _PRESENCE)])
        looked_at |= (code == (strings.find(kinds.JOIN) or -1)) & (columns["flags"][start:stop] & Flag.SENT.value != 0)
        for row in (np.flatnonzero(looked_at) + start).tolist():
            # Only captures of this program have an origin; a gateway's log names true senders itself.
            if not self._capture.sources[int(columns["source"][row])].origin:
                continue
            if int(columns["flags"][row]) & Flag.SENT.value:
                self._note_own(row, self._capture.string("sender", row))
            elif self.is_gateway(row) and self._capture.string("direction", row) == "in":
                is_welcome = self._capture.string("kind", row) == _WELCOME
                (self._note_welcome if is_welcome else self._note_presence)(row)

    def _note_impostors(self) -> None:
        """Adds messages that a known participant sent in a gateway's name."""
        known = self._capture.impersonations
        start, self._told = self._told, len(known)
        rows, people = (known[name][start:].tolist() for name in ("message", "participant"))
        for row, person in zip(rows, people, strict=True):
            if self._capture.string("sender", row) in GATEWAY_IDS:
                self.forged[row] = person

    def _note_own(self, row: int, name: object) -> None:
        if isinstance(name, str) and name:
            own = self.own.setdefault(int(self._capture.columns["space"][row]), {})
            # Moves the name to the end: the last id is the one in use.
            own.pop(name, None)
            own[name] = None

    def _note_welcome(self, row: int) -> None:
        you = welcomed_participant(self._capture.records.decoded_record(row).payload)
        name = None if you is None else you.get("id")
        own = self._own_ids(row)
        receivers = self._capture.recipients(row)
        # A welcome for this program is also accepted if it is the connection's first message.
        is_ours = (name is None or name in own) and all(receiver in own for receiver in receivers)
        if is_ours or not own or self._is_first(row):
            self._note_own(row, name)
            self._check_joins(row)
        else:
            self.forged[row] = 0

    def _note_presence(self, row: int) -> None:
        """Checks a presence: a departure of this program itself is forged while its connection goes on."""
        payload = self._capture.records.decoded_record(row).payload
        named = payload.get("participant")
        name = named.get("id") if isinstance(named, Mapping) else named
        if not isinstance(name, str):
            return
        came = self._joined.setdefault(self._connection(row), {})
        if payload.get("event") == "join":
            came[name] = row
        elif payload.get("event") == "leave" and came.pop(name, None) is None:
            in_use = next(reversed(self.own.get(int(self._capture.columns["space"][row]), {"": None})))
            if name == in_use:
                self.forged[row] = 0

    def _check_joins(self, row: int) -> None:
        """Compares a welcome with earlier joins: participants that it omits never came."""
        others = self._capture.records.decoded_record(row).payload.get("participants")
        came = self._joined.get(self._connection(row))
        if not came or not isinstance(others, list):
            return
        names = {item.get("id") if isinstance(item, Mapping) else item for item in others if _has_name(item)}
        own = self._own_ids(row)
        # Participants that neither the welcome nor this program accounts for.
        false = {name: joined for name, joined in came.items() if name not in names and name not in own}
        if false:
            self.contradicted[row] = false
            for name in false:
                del came[name]

    def _connection(self, row: int) -> tuple[int, int]:
        columns = self._capture.columns
        return int(columns["source"][row]), int(columns["connection"][row])

    def _own_ids(self, row: int) -> set[str]:
        columns = self._capture.columns
        own = set(self.own.get(int(columns["space"][row]), ()))
        origin = self._capture.sources[int(columns["source"][row])].origin
        about = origin.get("origin", origin)
        name = about.get("participant") if isinstance(about, Mapping) else None
        return own | {name} if isinstance(name, str) and name else own

    def _is_first(self, row: int) -> bool:
        """Tells if a message is the first incoming one of its connection: a gateway may then choose our id."""
        columns = self._capture.columns
        key = self._connection(row)
        first = self._first_incoming.get(key)
        if first is None:
            came = (columns["source"] == key[0]) & (columns["connection"] == key[1])
            came &= columns["direction"] == (self._capture.strings.find("in") or -1)
            first = self._first_incoming[key] = int(np.argmax(came)) if came.any() else NO_ROW
        return row == first

    # Lookup

    def is_gateway(self, row: int) -> bool:
        """Tells if a message has a gateway's name and is not known to be forged."""
        return self._capture.string("sender", row) in GATEWAY_IDS and row not in self.forged

    def is_gateway_or_unsigned(self, row: int) -> bool:
        """Tells if a message is a gateway's or has no sender, like a gateway's errors about unreadable messages."""
        return self._capture.string("sender", row) is None or self.is_gateway(row)

    def former_ids(self, space: int) -> list[str]:
        """Returns the ids of this program in earlier connections to a space, in the order of use."""
        return list(self.own.get(space, ()))[:-1]


def _has_name(item: object) -> bool:
    """Tells if an entry of a welcome has a text as its name."""
    return isinstance(item.get("id") if isinstance(item, Mapping) else item, str)
