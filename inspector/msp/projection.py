"""Projects a session document to rows of a capture: one line each, in order of time; no I/O.

Maps rows to objects and follows edits; `frames` builds the content of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from inspector.msp.document import SessionDocument
from inspector.msp.frames import END_ITEM, FIRST_SNAPSHOT, START_ITEM, frame_of, unread_lines
from inspector.msp.links import Owner
from inspector.msp.objects import Message, Session, Subsession
from inspector.protocol.time_columns import parse_times
from inspector.protocol.timestamps import NO_TIME, parse_text_time

HEADER = b'{"ctxcap":1,"origin":{"source":"msp"}}\n'
"""First line of the projection; marks it as a capture of ours."""

_OWNER_FACTOR = 1 << 32
"""Factor between owner and item in one number."""
_NO_OWNER = -1
"""Owner of unreadable rows."""
_AT_ONCE = 500  # rows of a block; the event loop may run between two blocks
_SAFE_TIME = 10**17
"""Smallest time in nanoseconds; smaller numbers would be read in another unit (`protocol.timestamps`)."""


class Place(NamedTuple):
    """Identity of a row across projections of a document."""

    key: str
    """Key of its session or sub-session."""
    item: int
    """Message index; BEGAN, ENDED, or a snapshot's number below them."""
    message: str | None
    """Id of the message; compared first, since earlier messages may be removed."""


class Projection:
    """Maps rows to objects of a document, with two numbers per row; rows are never renumbered.

    Attributes:
        document: the document.
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
        """Sorted identities of the initial rows, and their row numbers; created on first use."""

    def __len__(self) -> int:
        return len(self._owner)

    # Writing

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """Yields the lines from a row on, in blocks."""
        for first in range(start, len(self), _AT_ONCE):
            yield b"".join([self.line(row) for row in range(first, min(len(self), first + _AT_ONCE))])

    def line(self, row: int) -> bytes:
        """Returns a row's line with its line end."""
        place, item = int(self._owner[row]), int(self._item[row])
        if place == _NO_OWNER:
            return self._unread[item]
        owner = self._owners[place]
        frame = frame_of(owner, item)
        time_ns = int(self._time_ns[row])
        # Without a time, the line is the envelope alone.
        return b'{"t":%d,"dir":"in","frame":%b}\n' % (time_ns, frame) if time_ns >= _SAFE_TIME else frame + b"\n"

    # Edits

    def append_rows(self, touched: Iterable[Owner]) -> int | None:
        """Appends rows for new messages, new owners and closings. O(touched objects).

        Args:
            touched: owners that are new, closed, or have new messages.

        Returns:
            The first new row; None if an owner lost an object, so that a new projection is needed.
        """
        first = len(self)
        new: list[tuple[int, int]] = []
        places: set[int] = set()
        for owner in touched:
            if owner.key not in self._place:
                self._place[owner.key] = len(self._owners)
                self._owners.append(owner)
                self._known.append(0)
                new.append((self._place[owner.key], START_ITEM))
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
                new.append((place, END_ITEM))
        owners, items = zip(*new, strict=True) if new else ((), ())
        times = [_time_of(self._owners[place], item) for place, item in new]
        self._owner = np.append(self._owner, np.array(owners, np.int32))
        self._item = np.append(self._item, np.array(items, np.int32))
        self._time_ns = np.append(self._time_ns, np.array(times, np.int64))
        return first

    def _has_lost(self, place: int, owner: Owner) -> bool:
        known = self._owners[place]
        # Rows are only appended, so a row of an end cannot be taken back.
        opened_again = place in self._ended and not _has_ended(owner)
        return known is not owner or len(owner.items) < self._known[place] or opened_again

    # Queries

    def row_of(self, key: str, item: int = START_ITEM) -> int | None:
        """Returns the row of an owner's message `item`, or of its start (BEGAN) or end (ENDED), if any."""
        place = self._place.get(key)
        if place is None:
            return None
        if self._sorted is None:
            # One number per row, so that a binary search finds owner and item at once.
            what = self._owner.astype(np.int64) * _OWNER_FACTOR + self._item
            order = np.argsort(what, kind="stable")
            self._sorted = what[order], order
        what, order = self._sorted
        at = int(np.searchsorted(what, place * _OWNER_FACTOR + item))
        if at < len(what) and what[at] == place * _OWNER_FACTOR + item:
            return int(order[at])
        # Rows added by edits are few and not in the sorted index.
        found = np.flatnonzero((self._owner[len(what) :] == place) & (self._item[len(what) :] == item))
        return len(what) + int(found[0]) if len(found) else None

    def item_of_row(self, row: int) -> tuple[Owner, int]:
        """Returns the owner of a row, and its message; a start or an end has a negative number."""
        return self._owners[int(self._owner[row])], int(self._item[row])

    def row_of_message(self, message: Message) -> int | None:
        """Returns the row of a message, if any."""
        items = message.owner.items
        # From the end, since edits mostly concern recent messages.
        place = next((n for n in range(len(items) - 1, -1, -1) if items[n] is message.data), None)
        return None if place is None else self.row_of(message.owner.key, place)

    def rows_about(self, asked: Iterable[tuple[str, str | None]]) -> list[int | None]:
        """Returns the rows for problems, each given by owner key and message id."""
        called: dict[str, dict[object, int]] = {}
        return [self._row_about(key, identifier, called) for key, identifier in asked]

    def _row_about(self, key: str, identifier: str | None, called: dict[str, dict[object, int]]) -> int | None:
        place = self._place.get(key)
        if place is None:
            return None
        owner = self._owners[place]
        if identifier is not None:
            if key not in called:  # the last one of several
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
        """Returns the row of a session's snapshot, if any."""
        return self.row_of(key, FIRST_SNAPSHOT - number)

    @property
    def first_unread(self) -> int | None:
        """Returns the first row of unreadable content, if any."""
        found = np.flatnonzero(self._owner == _NO_OWNER)
        return int(found[0]) if len(found) else None

    def _first_of(self, place: int) -> int | None:
        """Returns the first row below a session without an object."""
        below = [self._place[child.key] for child in self._owners[place].children if child.key in self._place]
        found = np.flatnonzero(np.isin(self._owner, below))
        return int(found[0]) if len(found) else None

    def place_at(self, row: int) -> Place | None:
        """Returns the identity of a row with readable content."""
        place, item = int(self._owner[row]), int(self._item[row])
        if place == _NO_OWNER:
            return None
        owner = self._owners[place]
        items = owner.items
        identifier = items[item].get("id") if 0 <= item < len(items) else None
        return Place(owner.key, item, identifier if isinstance(identifier, str) else None)

    def row_at(self, place: Place) -> int | None:
        """Returns the row with an identity, unless it was removed."""
        owner = self._place.get(place.key)
        if owner is None:
            return None
        if place.message is not None:
            items = self._owners[owner].items
            alike = [number for number, item in enumerate(items) if item.get("id") == place.message]
            if not alike:
                return None
            # Ids may be repeated; the nearest message is most likely the same.
            return self.row_of(place.key, min(alike, key=lambda number: abs(number - place.item)))
        return self.row_of(place.key, place.item)

    def message_at(self, row: int) -> Message | None:
        """Returns the message of a row; starts, ends and snapshots have no message."""
        place, item = int(self._owner[row]), int(self._item[row])
        owner = self._owners[place] if place != _NO_OWNER else None
        return Message(owner.items[item], owner) if owner is not None and item >= 0 else None


def _has_ended(owner: Owner) -> bool:
    return isinstance(owner, Subsession) and not owner.is_open


def _time_of(owner: Owner, item: int) -> int:
    """Returns the time of a row: of a message, a start or an end."""
    if item >= 0:
        return parse_text_time(owner.items[item].get("timestamp"))
    return owner.closed_ns if item == END_ITEM and isinstance(owner, Subsession) else owner.created_ns


# Order


_Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""Columns of rows: sort time, own time (NO_TIME if absent), and item."""


def _in_order(owners: Sequence[Owner], unread: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Returns owner, item and own time of each row, in order of time; rows without a time follow the previous one."""
    own_times = _times_of([item.get("timestamp") for owner in owners for item in owner.items])
    parts: list[_Rows] = [_row_columns([(NO_TIME, NO_TIME, item) for item in range(unread)])]
    read = 0
    for owner in owners:
        parts.append(_rows_of(owner, own_times[read : read + len(owner.items)]))
        read += len(owner.items)
    when, own, items = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    places = np.repeat(np.arange(_NO_OWNER, len(owners), dtype=np.int32), [len(part[0]) for part in parts])
    order = np.argsort(when[unread:], kind="stable") + unread
    order = np.append(order, np.arange(unread))  # unreadable content comes last
    return places[order], items[order], own[order]


def _rows_of(owner: Owner, own: NDArray[np.int64]) -> _Rows:
    """Returns rows of an owner: start, snapshots, messages, end; in this order at equal times."""
    known = own[own != NO_TIME]
    began = owner.created_ns
    if len(known):  # the start comes before all messages, whatever its own time says
        began = int(known.min()) if began == NO_TIME else min(began, int(known.min()))
    # A message without a time is placed by the last known time before it.
    latest = np.maximum.accumulate(np.where(own != NO_TIME, np.arange(len(own)), -1))
    when = np.where(latest >= 0, own[latest], began) if len(own) else own
    before: list[tuple[int, int, int]] = []
    after: list[tuple[int, int, int]] = []
    if isinstance(owner, Session):
        if not owner.implied:
            before.append((began, owner.created_ns, START_ITEM))
        times = (one.created_ns for one in owner.snapshots)
        before += [(max(time, began), time, FIRST_SNAPSHOT - number) for number, time in enumerate(times)]
    else:
        before.append((began, owner.created_ns, START_ITEM))
        if not owner.is_open:
            last = int(when[-1]) if len(when) else began
            # With different clocks, it may be closed before it was opened; the end row still follows the start.
            after.append(
                (last if owner.closed_ns == NO_TIME else max(owner.closed_ns, began), owner.closed_ns, END_ITEM)
            )
    first, last_ones = _row_columns(before), _row_columns(after)
    return (
        np.concatenate((first[0], when, last_ones[0])),
        np.concatenate((first[1], own, last_ones[1])),
        np.concatenate((first[2], np.arange(len(own), dtype=np.int32), last_ones[2])),
    )


def _row_columns(rows: list[tuple[int, int, int]]) -> _Rows:
    when, own, items = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(when, np.int64), np.array(own, np.int64), np.array(items, np.int32)


def _times_of(values: Sequence[object]) -> NDArray[np.int64]:
    """Applies `written_time` to each value; texts, the usual case, all at once."""
    if all(isinstance(value, str | None) for value in values):
        return parse_times(cast("Sequence[str | None]", values))
    return np.array([parse_text_time(value) for value in values], np.int64)
