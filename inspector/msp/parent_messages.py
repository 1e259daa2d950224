"""Selects parent messages for a sub-session: recent ones and older global ones, with reasons for the rest.

Source: docs/protocols.md 14, layer 3. Work on a parent's messages is shared by all its sub-sessions, so the cost per
sub-session is that of its selection. Chronological order is by time, stable; a message without a readable time takes
that of the previous one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.msp.message_columns import FOR_EVERYWHERE, MessageColumns, VisibilityColumn
from inspector.msp.objects import MERGED_FROM, Message, Session, Subsession, content_text
from inspector.msp.rules import Rules
from inspector.protocol.timestamps import NO_TIME


class Eligibility(Enum):
    """Eligibility of a parent message."""

    ELIGIBLE = "eligible"
    ABOVE = "above"
    """Global above the parent: sent, but not counted as recent."""
    MAIN_ONLY = "main_only"
    MISPLACED = "misplaced"
    """`subsession_only` outside a sub-session."""
    UNKNOWN = "unknown"
    """Its visibility is unknown to the protocol."""


_STANDINGS = tuple(Eligibility)
_ELIGIBLE, _ABOVE_CODE = _STANDINGS.index(Eligibility.ELIGIBLE), _STANDINGS.index(Eligibility.ABOVE)


class ParentMessage(NamedTuple):
    """A message in the order of a parent's messages.

    Attributes:
        ordinal: index among its owner's messages.
        time_ns: its time, if known, else the previous one.
        inside: it belongs to a sub-session.
    """

    message: Message
    ordinal: int
    time_ns: int
    standing: Eligibility
    inside: bool


class ChosenMessages(NamedTuple):
    """Selection of a parent's messages: places, ascending.

    Attributes:
        window: the recent ones.
        globals: global ones sent although older, or from above.
        start: start of the recent ones; eligible messages before it are older.
        stop: start of messages newer than the sub-session, if these are excluded.
        copies: own messages of the sub-session that are in the parent too.
        doubled: global ones that were already selected.
    """

    window: list[int]
    globals: list[int]
    start: int
    stop: int
    copies: set[int]
    doubled: set[int]


class ParentMessages:
    """Messages of a session or sub-session in the view of its sub-sessions.

    Candidates are in chronological order. Independent of later edits.

    Attributes:
        owner: None if the parent was not found.
        standings: number of messages by standing.
    """

    def __init__(
        self,
        own: MessageColumns | None,
        rules: Rules,
        above: Sequence[VisibilityColumn] = (),
        siblings: Sequence[VisibilityColumn] = (),
    ) -> None:
        """Sorts the messages and determines their eligibility.

        Args:
            own: the parent's own messages.
            rules: reading of the protocol.
            above: owners whose global messages are included, first at equal times.
            siblings: the same, last at equal times.
        """
        self.owner: Session | Subsession | None = own.owner if own is not None else None
        self._rules = rules
        self._own = own
        self._items: list[dict[str, Any]] = own.items if own is not None else []
        self._count = len(self._items)
        ahead, behind = list(_globals_of(above)), list(_globals_of(siblings))
        self._ahead = len(ahead)
        self._others = ahead + behind
        codes = np.frombuffer(bytes(own.codes) if own is not None else b"", np.uint8)
        standing = _table(rules, inside=isinstance(self.owner, Subsession))[codes]
        everywhere = codes == FOR_EVERYWHERE
        times = own.times if own is not None else np.empty(0, np.int64)
        self._order: NDArray[np.intp] | None = None
        """Message number by place, if different."""
        if self._others or (own is not None and not own.ordered):
            standing = _join_columns(len(ahead), _ABOVE_CODE, standing, len(behind), _ELIGIBLE)
            everywhere = _join_columns(len(ahead), 1, everywhere, len(behind), 1)
            times = np.concatenate((_times_of(ahead), times, _times_of(behind)))
            # Stable, so that messages of equal time stay in file order.
            self._order = np.argsort(times, kind="stable")
            standing, everywhere, times = standing[self._order], everywhere[self._order], times[self._order]
        self._standing, self._times = standing, times
        self._eligible = np.flatnonzero(standing == _ELIGIBLE)
        self._globals = np.flatnonzero(everywhere)
        found = np.bincount(standing, minlength=len(_STANDINGS)).tolist()
        self.standings: dict[Eligibility, int] = dict(zip(_STANDINGS, found, strict=True))

    def __len__(self) -> int:
        return len(self._standing)

    def message_facts(self, place: int) -> ParentMessage:
        message, ordinal = self.message_at(place)
        inside = isinstance(message.owner, Subsession)
        return ParentMessage(message, ordinal, self._times.item(place), _STANDINGS[self._standing.item(place)], inside)

    def data(self, place: int) -> dict[str, Any]:
        """Returns the decoded message at a place."""
        return self._items[place] if self._order is None else self.message_at(place)[0].data

    def message(self, place: int) -> Message:
        return self.message_at(place)[0]

    def times_of(self, places: list[int]) -> list[int]:
        return self._times[places].tolist()

    def select_messages(self, sub: Subsession, wanted: int) -> ChosenMessages:
        """Selects messages for a sub-session.

        Args:
            sub: the sub-session.
            wanted: number of recent messages.
        """
        stop = self._opening_place(sub)
        copies = set(self._copies(sub))
        window, start = self._recent_window(wanted, stop, copies)
        sent = {identities for place in window for identities in self._identities(place)}
        older: list[int] = []
        doubled: set[int] = set()
        for place in reversed(self._extra_globals(start, stop)):  # of several with one id the latest counts
            if place in copies:
                continue
            identities = self._identities(place)
            if sent.isdisjoint(identities):
                sent.update(identities)
                older.append(place)
            else:
                doubled.add(place)
        return ChosenMessages(window, older[::-1], start, stop, copies, doubled)

    def _identities(self, place: int) -> tuple[tuple[str, str | int], ...]:
        """Returns keys that identify copies of a message: its id and owner, and its id and content.

        An id belongs to one conversation; another one may reuse it.
        """
        message = self.message(place)
        name = message.id
        return () if name is None else ((name, id(message.owner)), (name, message.content))

    def message_at(self, place: int) -> tuple[Message, int]:
        """Returns the message at a place, and its ordinal."""
        number = place if self._order is None else self._order.item(place)
        own = number - self._ahead
        if 0 <= own < self._count and self.owner is not None:
            return Message(self._items[own], self.owner), own
        return self._others[number if own < 0 else number - self._count][:2]

    def _extra_globals(self, start: int, stop: int) -> list[int]:
        """Returns places of global messages outside the recent ones that are sent."""
        places = self._globals
        above = self._standing[places] == _ABOVE_CODE
        sent = above & (places < stop)
        if self._rules.older_globals:
            sent |= ~above & (places < start)
        return places[sent].tolist()

    def _opening_place(self, sub: Subsession) -> int:
        """Returns the start of messages after the opening of the sub-session."""
        if not self._rules.before_opening or sub.created_ns == NO_TIME:
            return len(self)
        return int(np.searchsorted(self._times, sub.created_ns))

    def _copies(self, sub: Subsession) -> Iterator[int]:
        """Yields places of the sub-session's own messages in the parent, as after a merge."""
        for item in sub.items:
            name = item.get("id")
            for number in self._numbers_of(name) if isinstance(name, str) and name else ():
                if self._content(number) == content_text(item.get("content")):
                    yield self._place_of_number(number)
        for number, (message, _, _) in enumerate(self._others):
            if message.owner is sub:
                yield self._place_of_number(number if number < self._ahead else number + self._count)
        merged = list(self._merged_from(sub.id)) if sub.merged else []
        if merged:
            own = {content_text(item.get("content")) for item in sub.items}
            yield from (self._place_of_number(number) for number in merged if self._content(number) in own)

    # Numbers: messages from above, then the parent's own, then those of siblings, in file order.

    def _numbers_of(self, name: str) -> Iterator[int]:
        if self._own is not None:
            yield from (self._ahead + own for own in self._own.numbers_of(name) if own < self._count)
        yield from self._others_by("id").get(name, ())

    def _merged_from(self, name: str) -> Iterator[int]:
        if self._own is not None:
            yield from (self._ahead + own for own in self._own.merged_from.get(name, ()) if own < self._count)
        yield from self._others_by(MERGED_FROM).get(name, ())

    def _others_by(self, member: str) -> dict[str, list[int]]:
        return self._by_member[member] if self._others else {}

    @cached_property
    def _by_member(self) -> dict[str, dict[str, list[int]]]:
        found: dict[str, dict[str, list[int]]] = {"id": {}, MERGED_FROM: {}}
        for number, (message, _, _) in enumerate(self._others):
            for member, by_text in found.items():
                text = message.data.get(member)
                if isinstance(text, str):
                    # The parent's own messages are numbered in between.
                    place = number if number < self._ahead else number + self._count
                    by_text.setdefault(text, []).append(place)
        return found

    def _content(self, number: int) -> str:
        return self.message(self._place_of_number(number)).content

    def _place_of_number(self, number: int) -> int:
        return number if self._order is None else self._places_by_number.item(number)

    @cached_property
    def _places_by_number(self) -> NDArray[np.intp]:
        places = np.empty(len(self), np.intp)
        places[self._order] = np.arange(len(self))
        return places

    def _recent_window(self, wanted: int, stop: int, copies: set[int]) -> tuple[list[int], int]:
        """Returns the recent messages, and their start."""
        if wanted <= 0:
            return [], stop
        if self._rules.count_withheld:
            last: list[int] = np.flatnonzero(self._standing[:stop] != _ABOVE_CODE)[-wanted:].tolist()
            sent = [place for place in last if self._standing[place] == _ELIGIBLE and place not in copies]
            return sent, last[0] if last else stop
        before = self._eligible[: np.searchsorted(self._eligible, stop)]
        # As many more as copies could be among them, so that enough remain.
        last = before[-wanted - len(copies) :].tolist()
        found = [place for place in last if place not in copies][-wanted:]
        return found, found[0] if found else stop


def _globals_of(columns: Sequence[VisibilityColumn]) -> Iterator[tuple[Message, int, int]]:
    """Yields global messages with index and time."""
    for column in columns:
        for number, time_ns in column.global_ones():
            yield Message(column.items[number], column.owner), number, time_ns


def _times_of(found: list[tuple[Message, int, int]]) -> NDArray[np.int64]:
    return np.array([time_ns for _, _, time_ns in found], np.int64)


def _join_columns(ahead: int, first: int, own: NDArray[Any], behind: int, last: int) -> NDArray[Any]:
    return np.concatenate((np.full(ahead, first, own.dtype), own, np.full(behind, last, own.dtype)))


def _table(rules: Rules, *, inside: bool) -> NDArray[np.uint8]:
    """Returns the standing by visibility code.

    RULE: below a sub-session, its `subsession_only` messages are like any other: they reach no parent.
    """
    standings = (
        Eligibility.ELIGIBLE,
        Eligibility.ELIGIBLE,
        Eligibility.ELIGIBLE if rules.include_main_only else Eligibility.MAIN_ONLY,
        Eligibility.ELIGIBLE if inside or rules.include_misplaced else Eligibility.MISPLACED,
        Eligibility.ELIGIBLE if rules.include_misplaced else Eligibility.UNKNOWN,
    )
    return np.array([_STANDINGS.index(one) for one in standings], np.uint8)
