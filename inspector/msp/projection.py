"""A session document as the rows of a capture: one line each, in the order of time; no I/O.

Which row is what of the document, and how that follows edits; what each says is in frames.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from inspector.msp.document import SessionDocument
from inspector.msp.frames import BEGAN, ENDED, FIRST_SNAPSHOT, frame_of, unread_lines
from inspector.msp.links import Owner
from inspector.msp.objects import Message, Session, Subsession
from inspector.protocol.time_columns import parse_times
from inspector.protocol.times import NO_TIME, written_time

HEADER = b'{"ctxcap":1,"origin":{"source":"msp"}}\n'
"""The first line: what follows is one of our captures."""

_APART = 1 << 32
"""Between what two owners' rows are, as one number."""
_NOBODY = -1
"""Owner of what could not be read."""
_AT_ONCE = 500
_SAFE_TIME = 10**17
"""Smaller numbers would be read in another unit than nanoseconds (`protocol.times`)."""


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
        self._unread = unread_lines(document)
        self._owner, self._item, self._time_ns = _in_order(self._owners, len(self._unread))
        self._ended = {place for place, owner in enumerate(self._owners) if _has_ended(owner)}
        self._known = [len(owner.items) for owner in self._owners]
        self._sorted: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        """Of the rows there were first: what each is, ascending, and its number; made when it is first asked for."""

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
        frame = frame_of(owner, item)
        time_ns = int(self._time_ns[row])
        # A line that bears no time is the envelope alone: nothing is made up for it.
        return b'{"t":%d,"dir":"in","frame":%b}\n' % (time_ns, frame) if time_ns >= _SAFE_TIME else frame + b"\n"

    # Following edits

    def grow(self, touched: Iterable[Owner]) -> int | None:
        """Take in what the document gained at the ends of its lists, and what was closed. O(what was touched).

        Args:
            touched: the owners that gained something, or are new, or were closed.

        Returns:
            The first new row; None when one of them lost something, so that only a new projection will do.
        """
        first = len(self)
        new: list[tuple[int, int]] = []
        places: set[int] = set()
        for owner in touched:
            if owner.key not in self._place:
                self._place[owner.key] = len(self._owners)
                self._owners.append(owner)
                self._known.append(0)
                new.append((self._place[owner.key], BEGAN))
            places.add(self._place[owner.key])
            if self._has_lost(self._place[owner.key], owner):
                return None
        for place in sorted(places):
            owner = self._owners[place]
            known, now = self._known[place], len(owner.items)
            new += ((place, item) for item in range(known, now))
            self._known[place] = now
            if place not in self._ended and _has_ended(owner):
                self._ended.add(place)
                new.append((place, ENDED))
        owners, items = zip(*new, strict=True) if new else ((), ())
        times = [_time_of(self._owners[place], item) for place, item in new]
        self._owner = np.append(self._owner, np.array(owners, np.int32))
        self._item = np.append(self._item, np.array(items, np.int32))
        self._time_ns = np.append(self._time_ns, np.array(times, np.int64))
        return first

    def _has_lost(self, place: int, owner: Owner) -> bool:
        known = self._owners[place]
        opened_again = place in self._ended and not _has_ended(owner)
        return known is not owner or len(owner.items) < self._known[place] or opened_again

    # Asking

    def row_of(self, key: str, item: int = BEGAN) -> int | None:
        """The row of something: of the message number `item` of an owner, of how it began (BEGAN) or ENDED."""
        place = self._place.get(key)
        if place is None:
            return None
        if self._sorted is None:
            what = self._owner.astype(np.int64) * _APART + self._item
            order = np.argsort(what, kind="stable")
            self._sorted = what[order], order
        what, order = self._sorted
        at = int(np.searchsorted(what, place * _APART + item))
        if at < len(what) and what[at] == place * _APART + item:
            return int(order[at])
        found = np.flatnonzero((self._owner[len(what) :] == place) & (self._item[len(what) :] == item))
        return len(what) + int(found[0]) if len(found) else None

    def row_of_message(self, message: Message) -> int | None:
        """The row of a message."""
        items = message.owner.items
        place = next((n for n in range(len(items) - 1, -1, -1) if items[n] is message.data), None)
        return None if place is None else self.row_of(message.owner.key, place)

    def rows_about(self, asked: Iterable[tuple[str, str | None]]) -> list[int | None]:
        """The rows that some problems are about, each given by its owner and the id of the message in it."""
        called: dict[str, dict[object, int]] = {}
        return [self._row_about(key, identifier, called) for key, identifier in asked]

    def _row_about(self, key: str, identifier: str | None, called: dict[str, dict[object, int]]) -> int | None:
        place = self._place.get(key)
        if place is None:
            return None
        owner = self._owners[place]
        if identifier is not None:
            if key not in called:  # of several the last
                ids = (item.get("id") for item in owner.items)
                called[key] = {found: number for number, found in enumerate(ids) if isinstance(found, str)}
            if (number := called[key].get(identifier)) is not None:
                return self.row_of(key, number)
            snapshots = owner.snapshots if isinstance(owner, Session) else []
            found = next((n for n, one in enumerate(snapshots) if one.id == identifier), None)
            if found is not None:
                return self.row_of_snapshot(key, found)
        row = self.row_of(key)
        return row if row is not None else self._first_of(place)

    def row_of_snapshot(self, key: str, number: int) -> int | None:
        """The row of a session's snapshot number `number`."""
        return self.row_of(key, FIRST_SNAPSHOT - number)

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
        items = owner.items
        identifier = items[item].get("id") if 0 <= item < len(items) else None
        return Place(owner.key, item, identifier if isinstance(identifier, str) else None)

    def row_at(self, place: Place) -> int | None:
        """The row that shows the same; None where it is gone."""
        owner = self._place.get(place.key)
        if owner is None:
            return None
        if place.message is not None:
            items = self._owners[owner].items
            alike = [number for number, item in enumerate(items) if item.get("id") == place.message]
            if not alike:
                return None
            return self.row_of(place.key, min(alike, key=lambda number: abs(number - place.item)))
        return self.row_of(place.key, place.item)

    def message_at(self, row: int) -> Message | None:
        """The message of a row; None where it is how something began or ended."""
        place, item = int(self._owner[row]), int(self._item[row])
        owner = self._owners[place] if place != _NOBODY else None
        return Message(owner.items[item], owner) if owner is not None and item >= 0 else None


def _has_ended(owner: Owner) -> bool:
    return isinstance(owner, Subsession) and not owner.is_open


def _time_of(owner: Owner, item: int) -> int:
    """The time a row bears: a message's, or when something began or ended."""
    if item >= 0:
        return written_time(owner.items[item].get("timestamp"))
    return owner.closed_ns if item == ENDED and isinstance(owner, Subsession) else owner.created_ns


# Order


_Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""Of some rows: when they stand, the time they bear (NO_TIME for none), and the item."""


def _in_order(owners: Sequence[Owner], unread: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Owner, item and own time of each row, by time; what bears none comes right behind what stands before it."""
    own_times = _times_of([item.get("timestamp") for owner in owners for item in owner.items])
    parts: list[_Rows] = [_few([(NO_TIME, NO_TIME, item) for item in range(unread)])]
    read = 0
    for owner in owners:
        parts.append(_rows_of(owner, own_times[read : read + len(owner.items)]))
        read += len(owner.items)
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
        before += [(max(time, began), time, FIRST_SNAPSHOT - number) for number, time in enumerate(times)]
    else:
        before.append((began, owner.created_ns, BEGAN))
        if not owner.is_open:
            last = int(when[-1]) if len(when) else began
            # By clocks that differ it may have closed before it opened; its end comes behind its beginning.
            after.append((last if owner.closed_ns == NO_TIME else max(owner.closed_ns, began), owner.closed_ns, ENDED))
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
    """What `written_time` makes of each; texts, as they usually are, all at once."""
    if all(isinstance(value, str | None) for value in values):
        return parse_times(cast("Sequence[str | None]", values))
    return np.array([written_time(value) for value in values], np.int64)
