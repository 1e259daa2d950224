"""A session document as the rows of a capture: one line each, in the order of time; no I/O.

Messages are chats from their roles, in the session's main context or in that of their sub-session. How sessions and
sub-sessions began and ended are rows of their own, in the context they were opened from, so that what lies in a
sub-session are exactly its messages. Nothing is read back from these lines: the document is what is edited and saved.

A message names its context by its id alone, as a path of one segment: the row that opened the sub-session, which comes
before, has said where that lies. This is read ten times as fast as an object in each message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.msp.document import SessionDocument
from inspector.msp.numbers import WrittenNumber
from inspector.msp.objects import Message, Session, Subsession, content_text
from inspector.msp.text import UNREAD
from inspector.protocol import msp
from inspector.protocol.paths import normalise
from inspector.protocol.times import NO_TIME, parse_time, parse_times

Owner: TypeAlias = Session | Subsession

BEGAN, ENDED = -1, -2
"""What a row is when it is no message: how its owner began, or ended."""
_SNAPSHOT = -3
"""The first snapshot of a session; further ones count down from here."""

HEADER = b'{"ctxcap":1,"origin":{"source":"msp"}}\n'
"""The first line: what follows is one of our captures."""

_NOBODY = -1
"""Owner of what could not be read."""
_LONGEST_UNREAD = 1 << 16
_AT_ONCE = 500
_SPARE = 31
"""Bytes kept for `,"visibility":"subsession_only"`, so that another value takes the place of the one before."""
_POLICY_SPARE = 160
_SAFE_TIME = 10**17
"""Smaller numbers would be read in another unit than nanoseconds (`protocol.times`)."""
_OWN_FIELDS = frozenset({"id", "role", "content", "visibility", "timestamp"})
_TAKEN = frozenset({"text", "format", "role", "content", "fields"})


class Place(NamedTuple):
    """What a row shows, in a way that another projection of the document understands."""

    key: str
    """Of its session or sub-session."""
    item: int
    """Number of the message; BEGAN, ENDED, or a snapshot's number below them."""
    message: str | None
    """Id of the message, which is looked for first: messages before it may have gone."""


class Projection:
    """Which row of a capture is what of a document. Two numbers a row; rows are never renumbered.

    Attributes:
        document: what is shown.
    """

    def __init__(self, document: SessionDocument) -> None:
        self.document = document
        self._owners: list[Owner] = [*document.sessions, *document.subsessions]
        self._place = {owner.key: place for place, owner in enumerate(self._owners)}
        self._unread = _unread_lines(document)
        self._owner, self._item, self._time_ns = _in_order(self._owners, len(self._unread))
        self._ended = {place for place, owner in enumerate(self._owners) if _has_ended(owner)}
        self._known = [len(_items(owner)) for owner in self._owners]

    def __len__(self) -> int:
        return len(self._owner)

    # Writing

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """The lines from a row on, some thousand at once."""
        for first in range(start, len(self), _AT_ONCE):
            yield b"".join([self.line(row) for row in range(first, min(len(self), first + _AT_ONCE))])

    def line(self, row: int) -> bytes:
        """One row's line, with its end."""
        place, item = int(self._owner[row]), int(self._item[row])
        if place == _NOBODY:
            return self._unread[item]
        owner = self._owners[place]
        frame = _frame_of(owner, item)
        time_ns = int(self._time_ns[row])
        # A line that bears no time is the envelope alone: nothing is made up for it.
        return b'{"t":%d,"dir":"in","frame":%b}\n' % (time_ns, frame) if time_ns >= _SAFE_TIME else frame + b"\n"

    # Following edits

    def grow(self) -> int | None:
        """Take in what the document gained at the ends of its lists, and what was closed.

        Returns:
            The first new row; None when the document lost something, so that only a new projection will do.
        """
        first = len(self)
        if self._lost():
            return None
        for owner in (*self.document.sessions, *self.document.subsessions):
            if owner.key not in self._place:
                self._place[owner.key] = len(self._owners)
                self._owners.append(owner)
                self._known.append(0)
                self._add(self._place[owner.key], BEGAN)
        for place, owner in enumerate(self._owners):
            known, now = self._known[place], len(_items(owner))
            for item in range(known, now):
                self._add(place, item)
            self._known[place] = now
            if place not in self._ended and _has_ended(owner):
                self._ended.add(place)
                self._add(place, ENDED)
        return first

    def _lost(self) -> bool:
        there = {id(owner) for owner in (*self.document.sessions, *self.document.subsessions)}
        return any(
            id(owner) not in there or len(_items(owner)) < self._known[place]
            or (place in self._ended and not _has_ended(owner))
            for place, owner in enumerate(self._owners)
        )  # fmt: skip

    def _add(self, place: int, item: int) -> None:
        self._owner = np.append(self._owner, np.int32(place))
        self._item = np.append(self._item, np.int32(item))
        self._time_ns = np.append(self._time_ns, np.int64(_time_of(self._owners[place], item)))

    # Asking

    def row_of(self, key: str, item: int = BEGAN) -> int | None:
        """The row of something: of the message number `item` of an owner, of how it began (BEGAN) or ENDED."""
        place = self._place.get(key)
        if place is None:
            return None
        found = np.flatnonzero((self._owner == place) & (self._item == item))
        return int(found[0]) if len(found) else None

    def row_of_message(self, message: Message) -> int | None:
        """The row of a message."""
        items = _items(message.owner)
        place = next((n for n in range(len(items) - 1, -1, -1) if items[n] is message.data), None)
        return None if place is None else self.row_of(message.owner.key, place)

    def row_about(self, key: str, identifier: str | None) -> int | None:
        """The row that a problem of an owner, or of one of its messages, is about."""
        place = self._place.get(key)
        if place is None:
            return None
        owner = self._owners[place]
        if identifier is not None:
            twins = [n for n, item in enumerate(_items(owner)) if item.get("id") == identifier]
            if twins:
                return self.row_of(key, twins[-1])
            snapshots = owner.snapshots if isinstance(owner, Session) else []
            found = next((n for n, one in enumerate(snapshots) if one.id == identifier), None)
            if found is not None:
                return self.row_of_snapshot(key, found)
        row = self.row_of(key)
        return row if row is not None else self._first_of(place)

    def row_of_snapshot(self, key: str, number: int) -> int | None:
        """The row of a session's snapshot number `number`."""
        return self.row_of(key, _SNAPSHOT - number)

    @property
    def first_unread(self) -> int | None:
        """The first row of what could not be read; None where there is none."""
        found = np.flatnonzero(self._owner == _NOBODY)
        return int(found[0]) if len(found) else None

    def _first_of(self, place: int) -> int | None:
        """The first row of whatever was opened from a session that is only named."""
        below = [self._place[child.key] for child in self._owners[place].children if child.key in self._place]
        found = np.flatnonzero(np.isin(self._owner, below))
        return int(found[0]) if len(found) else None

    def place_at(self, row: int) -> Place | None:
        """What a row shows; None for what could not be read."""
        place, item = int(self._owner[row]), int(self._item[row])
        if place == _NOBODY:
            return None
        owner = self._owners[place]
        items = _items(owner)
        identifier = items[item].get("id") if 0 <= item < len(items) else None
        return Place(owner.key, item, identifier if isinstance(identifier, str) else None)

    def row_at(self, place: Place) -> int | None:
        """The row that shows the same; None where it is gone."""
        owner = self._place.get(place.key)
        if owner is None:
            return None
        if place.message is not None:
            items = _items(self._owners[owner])
            alike = [number for number, item in enumerate(items) if item.get("id") == place.message]
            if not alike:
                return None
            return self.row_of(place.key, min(alike, key=lambda number: abs(number - place.item)))
        return self.row_of(place.key, place.item)

    def message_at(self, row: int) -> Message | None:
        """The message of a row; None where it is how something began or ended."""
        place, item = int(self._owner[row]), int(self._item[row])
        owner = self._owners[place] if place != _NOBODY else None
        return Message(_items(owner)[item], owner) if owner is not None and item >= 0 else None


def _items(owner: Owner) -> list[dict[str, Any]]:
    return owner.items


def _has_ended(owner: Owner) -> bool:
    return isinstance(owner, Subsession) and not owner.is_open


def _time_of(owner: Owner, item: int) -> int:
    """The time a row bears: a message's, or when something began or ended."""
    if item >= 0:
        return parse_time(_items(owner)[item].get("timestamp"))
    return owner.closed_ns if item == ENDED and isinstance(owner, Subsession) else owner.created_ns


# Order


_Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""Of some rows: when they stand, the time they bear (NO_TIME for none), and the item."""


def _in_order(owners: Sequence[Owner], unread: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Owner, item and own time of each row, by time; what bears none comes right behind what stands before it."""
    own_times = _times_of([item.get("timestamp") for owner in owners for item in _items(owner)])
    parts: list[_Rows] = [_few([(NO_TIME, NO_TIME, item) for item in range(unread)])]
    read = 0
    for owner in owners:
        parts.append(_rows_of(owner, own_times[read : read + len(_items(owner))]))
        read += len(_items(owner))
    when, own, items = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    places = np.repeat(np.arange(_NOBODY, len(owners), dtype=np.int32), [len(part[0]) for part in parts])
    order = np.argsort(when[unread:], kind="stable") + unread
    order = np.append(order, np.arange(unread))  # what could not be read comes last
    return places[order], items[order], own[order]


def _rows_of(owner: Owner, own: NDArray[np.int64]) -> _Rows:
    """How an owner began, its snapshots, its messages, how it ended: in this order where times are the same."""
    known = own[own != NO_TIME]
    began = owner.created_ns
    if len(known):  # it began before anything was said in it, whatever it says itself
        began = int(known.min()) if began == NO_TIME else min(began, int(known.min()))
    latest = np.maximum.accumulate(np.where(own != NO_TIME, np.arange(len(own)), -1))
    when = np.where(latest >= 0, own[latest], began) if len(own) else own
    before: list[tuple[int, int, int]] = []
    after: list[tuple[int, int, int]] = []
    if isinstance(owner, Session):
        if not owner.implied:
            before.append((began, owner.created_ns, BEGAN))
        times = (one.created_ns for one in owner.snapshots)
        before += [(max(time, began), time, _SNAPSHOT - number) for number, time in enumerate(times)]
    else:
        before.append((began, owner.created_ns, BEGAN))
        if not owner.is_open:
            last = int(when[-1]) if len(when) else began
            after.append((last if owner.closed_ns == NO_TIME else owner.closed_ns, owner.closed_ns, ENDED))
    first, last_ones = _few(before), _few(after)
    return (
        np.concatenate((first[0], when, last_ones[0])),
        np.concatenate((first[1], own, last_ones[1])),
        np.concatenate((first[2], np.arange(len(own), dtype=np.int32), last_ones[2])),
    )


def _few(rows: list[tuple[int, int, int]]) -> _Rows:
    when, own, items = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(when, np.int64), np.array(own, np.int64), np.array(items, np.int32)


def _times_of(values: Sequence[object]) -> NDArray[np.int64]:
    """What `parse_time` makes of each; texts, as they usually are, all at once."""
    if all(isinstance(value, str | None) for value in values):
        return parse_times(cast("Sequence[str | None]", values))
    return np.array([parse_time(value) for value in values], np.int64)


# Lines


def _frame_of(owner: Owner, item: int) -> bytes:
    """The envelope a row is."""
    if item >= 0:
        return _message(owner, _items(owner)[item])
    if isinstance(owner, Subsession):
        return _opened(owner) if item == BEGAN else _closed(owner)
    return _began(owner) if item == BEGAN else _snapshot(owner, _SNAPSHOT - item)


def _unread_lines(document: SessionDocument) -> list[bytes]:
    """What could not be read, each as one line: lines of JSON Lines, whole files, and messages that are no objects."""
    found: list[bytes] = []
    for file in document.files:
        if file.value is UNREAD:
            found.append(_one_line(file.original))
        elif file.lines and UNREAD in file.value:
            texts = [line for line in file.original.splitlines() if line.strip()]
            found += [_one_line(text) for text, value in zip(texts, file.value, strict=False) if value is UNREAD]
    for owner in (*document.sessions, *document.subsessions):
        written = owner.data.get("messages")
        odd = [item for item in written if not isinstance(item, dict)] if isinstance(written, list) else []
        found += [_encoded(item) + b"\n" for item in odd]
    return found


def _one_line(text: bytes) -> bytes:
    return (b" ".join(text[:_LONGEST_UNREAD].split()) or b"(nothing)") + b"\n"


def _message(owner: Owner, data: dict[str, Any]) -> bytes:
    content, role = data.get("content"), data.get("role")
    text = content if isinstance(content, str) else content_text(content)
    rest: dict[str, Any] = {}
    if not data.keys() <= _OWN_FIELDS:
        rest = {key: value for key, value in data.items() if key not in _OWN_FIELDS and key not in _TAKEN}
        hidden = {key: value for key, value in data.items() if key in _TAKEN and key not in _OWN_FIELDS}
        if hidden:
            rest["fields"] = hidden
    if content is not None and content is not text:
        rest["content"] = content
    if "role" in data:
        rest["role"] = role
    seen = b',"visibility":' + _encoded(data["visibility"]) if "visibility" in data else b""
    more = b"," + _encoded(rest)[1:] if rest else b"}"
    payload = b'{"text":%b%b,"format":"markdown"%b' % (_encoded(text), seen.ljust(_SPARE), more)
    context = owner.key if isinstance(owner, Subsession) else None
    sender = role if isinstance(role, str) else ""
    return _envelope(_space(owner), data.get("id"), data.get("timestamp"), sender, "chat", context, payload)


def _began(session: Session) -> bytes:
    left_out = ("messages", "summary_snapshots")
    payload = {**_without(session.data, left_out), "label": session.label}
    return _structure(msp.SESSION, session, session, session.data.get("created_at"), _encoded(payload))


def _snapshot(session: Session, number: int) -> bytes:
    snapshot = session.snapshots[number]
    payload = {**snapshot.data, "text": snapshot.content}
    name = f"{session.key}:{snapshot.id or number + 1}"
    return _structure(msp.SNAPSHOT, session, session, snapshot.data.get("created_at"), _encoded(payload), name=name)


def _opened(sub: Subsession) -> bytes:
    """How a sub-session began. What its end changed is left to the row of that."""
    left_out = ("messages", "closed_at", "summary", "context_policy", "status", "subsession_id")
    payload = {"subsession_id": sub.key, **_without(sub.data, left_out), "label": sub.label}
    if "status" in sub.data:
        payload["status"] = sub.data["status"] if sub.is_open else "open"
    written = sub.data.get("context_policy")
    policy = b',"context_policy":' + _encoded(written) if "context_policy" in sub.data else b""
    encoded = _encoded(payload)[:-1] + policy.ljust(_POLICY_SPARE) + b"}"
    return _structure(msp.OPENED, sub, sub.parent or sub, sub.data.get("created_at"), encoded)


def _closed(sub: Subsession) -> bytes:
    status = msp.DISCARDED if sub.discarded else sub.status if sub.status not in ("", "open", "active") else "closed"
    payload = {"subsession_id": sub.key, "label": sub.label, "status": status}
    payload |= {key: sub.data[key] for key in ("closed_at", "summary") if sub.data.get(key) is not None}
    return _structure(msp.CLOSED, sub, sub.parent or sub, sub.data.get("closed_at"), _encoded(payload))


def _structure(kind: str, about: Owner, within: Owner, ts: object, payload: bytes, *, name: str | None = None) -> bytes:
    context = within.key if isinstance(within, Subsession) and within is not about else None
    return _envelope(_space(about), f"{kind}:{name or about.key}", ts, "", kind, context, payload)


def _without(data: Mapping[str, Any], left_out: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in left_out}


def _space(owner: Owner) -> str:
    session = owner if isinstance(owner, Session) else owner.session
    return session.key if session is not None else ""


def _envelope(
    space: str, identifier: object, ts: object, sender: str, kind: str, context: str | None, payload: bytes
) -> bytes:
    parts = [b'{"protocol":"msp"']
    if space:
        parts += (b',"space":', _encoded(space))
    if identifier is not None:
        parts += (b',"id":', _encoded(identifier))
    if ts is not None:
        parts += (b',"ts":', _encoded(ts))
    if sender:
        parts += (b',"from":', _encoded(sender))
    parts += (b',"kind":', _encoded(kind))
    if context is not None:
        # What would be no path, or something else than an id, is written as the object that can say it.
        plain = normalise(context) and not context.startswith("\0")
        parts += (b',"context":', _encoded(context if plain else {"id": context}))
    return b"".join((*parts, b',"payload":', payload, b"}"))


def _number(value: object) -> object:
    """What msgspec does not know: a number as it is written, as a text where a reader would refuse it."""
    if isinstance(value, WrittenNumber):
        return msgspec.Raw(value.text.encode()) if isfinite(value) else value.text
    raise NotImplementedError


_encode = msgspec.json.Encoder(enc_hook=_number).encode


def _encoded(value: object) -> bytes:
    """A value as JSON on one line, whatever was decoded into it."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError, RecursionError, ValueError):
        try:
            return json.dumps(value, separators=(",", ":")).encode()
        except (RecursionError, ValueError):
            return b'"nested too deeply to show"'
