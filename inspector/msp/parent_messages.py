"""Which messages of a parent come into a sub-session: the recent ones, older global ones, and why others stay.

Source: docs/protocols.md 14, layer 3. What a parent says of its messages is worked out once for all its sub-sessions;
then one of them costs no more than what it is sent. Chronological is by time, stable; a message without a readable time
takes that of the one written before it.
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
from inspector.protocol.times import NO_TIME


class Standing(Enum):
    """Whether a message of the parent may be sent."""

    ELIGIBLE = "eligible"
    ABOVE = "above"
    """Global above the parent: sent, and never counted among the recent ones."""
    MAIN_ONLY = "main_only"
    MISPLACED = "misplaced"
    """`subsession_only` outside a sub-session."""
    UNKNOWN = "unknown"
    """Of a visibility the protocol does not know."""


_STANDINGS = tuple(Standing)
_ELIGIBLE, _ABOVE = _STANDINGS.index(Standing.ELIGIBLE), _STANDINGS.index(Standing.ABOVE)


class ParentMessage(NamedTuple):
    """A message as it stands among those of a parent.

    Attributes:
        ordinal: its place in what its own session or sub-session says, from 0.
        time_ns: when, as far as can be told.
        inside: it was said in a sub-session.
    """

    message: Message
    ordinal: int
    time_ns: int
    standing: Standing
    inside: bool


class ChosenMessages(NamedTuple):
    """What of a parent's messages a sub-session is sent: places among them, ascending.

    Attributes:
        window: the recent ones.
        globals: those sent though they are older, or from above.
        start: where the recent ones begin; what may be sent and stands before is older.
        stop: where those newer than the sub-session begin, if these are kept out.
        copies: the sub-session's own messages that stand in the parent as well.
        doubled: global ones that were sent already.
    """

    window: list[int]
    globals: list[int]
    start: int
    stop: int
    copies: set[int]
    doubled: set[int]


class ParentMessages:
    """The messages of a session, or of a sub-session with others below, as its sub-sessions see them.

    What comes into question stands in chronological order; it stays as it is, whatever is edited.

    Attributes:
        owner: whose they are; None where the parent was not found.
        standings: how many there are of each standing.
    """

    def __init__(
        self,
        own: MessageColumns | None,
        rules: Rules,
        above: Sequence[VisibilityColumn] = (),
        siblings: Sequence[VisibilityColumn] = (),
    ) -> None:
        """Sort them and see what each may do.

        Args:
            own: the parent's own messages.
            rules: how the protocol is read.
            above: those whose global messages come as well and go first where no time tells the order.
            siblings: the same, and go last.
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
        """The number of each place, where these are not the same."""
        if self._others or (own is not None and not own.ordered):
            standing = _joined(len(ahead), _ABOVE, standing, len(behind), _ELIGIBLE)
            everywhere = _joined(len(ahead), 1, everywhere, len(behind), 1)
            times = np.concatenate((_times_of(ahead), times, _times_of(behind)))
            self._order = np.argsort(times, kind="stable")
            standing, everywhere, times = standing[self._order], everywhere[self._order], times[self._order]
        self._standing, self._times = standing, times
        self._eligible = np.flatnonzero(standing == _ELIGIBLE)
        self._globals = np.flatnonzero(everywhere)
        found = np.bincount(standing, minlength=len(_STANDINGS)).tolist()
        self.standings: dict[Standing, int] = dict(zip(_STANDINGS, found, strict=True))

    def __len__(self) -> int:
        return len(self._standing)

    def at(self, place: int) -> ParentMessage:
        """What stands at a place."""
        message, ordinal = self.message_at(place)
        inside = isinstance(message.owner, Subsession)
        return ParentMessage(message, ordinal, self._times.item(place), _STANDINGS[self._standing.item(place)], inside)

    def data(self, place: int) -> dict[str, Any]:
        """The decoded message at a place."""
        return self._items[place] if self._order is None else self.message_at(place)[0].data

    def message(self, place: int) -> Message:
        """The message at a place."""
        return self.message_at(place)[0]

    def times_of(self, places: list[int]) -> list[int]:
        """When what stands at some places was said."""
        return self._times[places].tolist()

    def choose(self, sub: Subsession, wanted: int) -> ChosenMessages:
        """What a sub-session is sent of them.

        Args:
            sub: the sub-session.
            wanted: how many recent ones.
        """
        stop = self._stop(sub)
        copies = set(self._copies(sub))
        window, start = self._window(wanted, stop, copies)
        sent = {identities for place in window for identities in self._identities(place)}
        older: list[int] = []
        doubled: set[int] = set()
        for place in reversed(self._sent_anyway(start, stop)):  # of several with one id the latest counts
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
        """What tells whether two are the same message: the id within one conversation, else the content as well.

        An id is of one conversation; another one may give it to something else.
        """
        message = self.message(place)
        name = message.id
        return () if name is None else ((name, id(message.owner)), (name, message.content))

    def message_at(self, place: int) -> tuple[Message, int]:
        """The message at a place, and its ordinal."""
        number = place if self._order is None else self._order.item(place)
        own = number - self._ahead
        if 0 <= own < self._count and self.owner is not None:
            return Message(self._items[own], self.owner), own
        return self._others[number if own < 0 else number - self._count][:2]

    def _sent_anyway(self, start: int, stop: int) -> list[int]:
        """Places of global messages outside the recent ones that are sent."""
        places = self._globals
        above = self._standing[places] == _ABOVE
        sent = above & (places < stop)
        if self._rules.older_globals:
            sent |= ~above & (places < start)
        return places[sent].tolist()

    def _stop(self, sub: Subsession) -> int:
        """Where what is too new begins: said when the sub-session was opened, or later."""
        if not self._rules.before_opening or sub.created_ns == NO_TIME:
            return len(self)
        return int(np.searchsorted(self._times, sub.created_ns))

    def _copies(self, sub: Subsession) -> Iterator[int]:
        """Places of what the sub-session says itself and stands in the parent as well, as after a merge."""
        for item in sub.items:
            name = item.get("id")
            for number in self._numbers_of(name) if isinstance(name, str) and name else ():
                if self._content(number) == content_text(item.get("content")):
                    yield self._place(number)
        for number, (message, _, _) in enumerate(self._others):
            if message.owner is sub:
                yield self._place(number if number < self._ahead else number + self._count)
        merged = list(self._merged_from(sub.id)) if sub.merged else []
        if merged:
            own = {content_text(item.get("content")) for item in sub.items}
            yield from (self._place(number) for number in merged if self._content(number) in own)

    # By number: those from above, then the parent's own, then those of siblings, as they are written

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
                    place = number if number < self._ahead else number + self._count
                    by_text.setdefault(text, []).append(place)
        return found

    def _content(self, number: int) -> str:
        return self.message(self._place(number)).content

    def _place(self, number: int) -> int:
        return number if self._order is None else self._places.item(number)

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """The place of each number."""
        places = np.empty(len(self), np.intp)
        places[self._order] = np.arange(len(self))
        return places

    def _window(self, wanted: int, stop: int, copies: set[int]) -> tuple[list[int], int]:
        """The recent ones, and where they begin."""
        if wanted <= 0:
            return [], stop
        if self._rules.count_withheld:
            last: list[int] = np.flatnonzero(self._standing[:stop] != _ABOVE)[-wanted:].tolist()
            sent = [place for place in last if self._standing[place] == _ELIGIBLE and place not in copies]
            return sent, last[0] if last else stop
        before = self._eligible[: np.searchsorted(self._eligible, stop)]
        last = before[-wanted - len(copies) :].tolist()
        found = [place for place in last if place not in copies][-wanted:]
        return found, found[0] if found else stop


def _globals_of(columns: Sequence[VisibilityColumn]) -> Iterator[tuple[Message, int, int]]:
    """Global messages with their place in what their owner says, and when."""
    for column in columns:
        for number, time_ns in column.global_ones():
            yield Message(column.items[number], column.owner), number, time_ns


def _times_of(found: list[tuple[Message, int, int]]) -> NDArray[np.int64]:
    return np.array([time_ns for _, _, time_ns in found], np.int64)


def _joined(ahead: int, first: int, own: NDArray[Any], behind: int, last: int) -> NDArray[Any]:
    return np.concatenate((np.full(ahead, first, own.dtype), own, np.full(behind, last, own.dtype)))


def _table(rules: Rules, *, inside: bool) -> NDArray[np.uint8]:
    """What a message may do, by the number of its visibility.

    RULE: below a sub-session its `subsession_only` messages are like any other: they leak to no parent.
    """
    standings = (
        Standing.ELIGIBLE,
        Standing.ELIGIBLE,
        Standing.ELIGIBLE if rules.include_main_only else Standing.MAIN_ONLY,
        Standing.ELIGIBLE if inside or rules.include_misplaced else Standing.MISPLACED,
        Standing.ELIGIBLE if rules.include_misplaced else Standing.UNKNOWN,
    )
    return np.array([_STANDINGS.index(one) for one in standings], np.uint8)
