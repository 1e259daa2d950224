"""Messages of sessions and sub-sessions column by column, kept up with the document instead of being read anew.

A list of messages only grows at its end and shrinks there (an edit, and taking it back), so that what was taken in
stands as long as the last object is the same. What changes inside a message, its visibility, has to be told.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from inspector.msp.objects import MERGED_FROM, Message, Session, Subsession, text_of
from inspector.protocol.time_columns import parse_times
from inspector.protocol.times import NO_TIME, written_time

if TYPE_CHECKING:
    from inspector.msp.edits import Edit

MAIN_ONLY, SUBSESSION_ONLY, GLOBAL = "main_only", "subsession_only", "global"
FOR_ALL, FOR_EVERYWHERE, FOR_PARENT, FOR_SUBSESSION, FOR_UNKNOWN = range(5)
"""Visibilities as numbers: none, the protocol's three, and any other word."""
_CODES = {"": FOR_ALL, GLOBAL: FOR_EVERYWHERE, MAIN_ONLY: FOR_PARENT, SUBSESSION_ONLY: FOR_SUBSESSION}
_BLOCK = 4_000
"""Messages between two looks at the clock."""

Item = dict[str, Any]
Owner = Session | Subsession


class VisibilityColumn:
    """Who is shown each message of an owner.

    Attributes:
        owner: whose messages they are.
        items: those taken in; what was handed out before they became fewer stays as it was.
        codes: a visibility each.
        revision: another one after every change.
    """

    def __init__(self, owner: Owner) -> None:
        """Nothing is taken in yet."""
        self.owner = owner
        self.items: list[Item] = []
        self.codes = bytearray()
        self.revision = 0
        self._global_ones: tuple[int, list[tuple[int, int]]] = (-1, [])

    def take_in(self, until: float = inf) -> bool:
        """Go after the owner's messages.

        Args:
            until: a moment by `time.perf_counter`; some are taken in even after it.

        Returns:
            Whether these are all.
        """
        given = self.owner.items
        stands = min(len(self.items), len(given))
        while stands and self.items[stands - 1] is not given[stands - 1]:
            stands -= 1
        if stands < len(self.items):
            self._cut(stands)
            self.revision += 1
        while len(self.items) < len(given):
            self._take(given[len(self.items) : len(self.items) + _BLOCK])
            self.revision += 1
            if time.perf_counter() >= until:
                break
        return len(self.items) == len(given)

    def reread(self, data: Item) -> None:
        """The visibility of a message is another one now."""
        number = self._number_of(data)
        if number is not None:
            self.codes[number] = _code(data)
            self.revision += 1

    def global_ones(self) -> list[tuple[int, int]]:
        """Which of them are global, ascending, and when they were written, else one before them."""
        if self._global_ones[0] != self.revision:
            self._global_ones = self.revision, list(self._find_global_ones())
        return self._global_ones[1]

    def _find_global_ones(self) -> Iterator[tuple[int, int]]:
        seen, before = 0, NO_TIME
        number = self.codes.find(FOR_EVERYWHERE)
        while number >= 0:
            times = (written_time(self.items[place].get("timestamp")) for place in range(number, seen - 1, -1))
            before = next((time_ns for time_ns in times if time_ns != NO_TIME), before)
            yield number, before
            seen, number = number + 1, self.codes.find(FOR_EVERYWHERE, number + 1)

    def _number_of(self, data: Item) -> int | None:
        return next((number for number, item in enumerate(self.items) if item is data), None)

    def _take(self, block: list[Item]) -> None:
        self.codes += bytes(map(_code, block))
        self.items += block

    def _cut(self, stands: int) -> None:
        del self.codes[stands:]
        self.items = self.items[:stands]


class MessageColumns(VisibilityColumn):
    """What sub-sessions ask of their parent's messages.

    Attributes:
        times: when each was written; a message that does not say it has the time of the one before.
        ordered: whether they stand in the order of their times.
        merged_from: which of them a merge wrote, by the id of the sub-session.
    """

    def __init__(self, owner: Owner) -> None:
        """Nothing is taken in yet."""
        super().__init__(owner)
        self.times: NDArray[np.int64] = np.empty(0, np.int64)
        self.ordered = True
        self.merged_from: dict[str, list[int]] = {}
        self._last: dict[str, int] = {}
        self._before: dict[int, int] = {}
        """For a message, the one before it that has the same id."""

    def numbers_of(self, name: str) -> Iterator[int]:
        """Which messages have an id, the latest first."""
        number = self._last.get(name)
        while number is not None:
            yield number
            number = self._before.get(number)

    @override
    def _number_of(self, data: Item) -> int | None:
        name = data.get("id")
        if not isinstance(name, str) or not name:
            return super()._number_of(data)
        return next((number for number in self.numbers_of(name) if self.items[number] is data), None)

    @override
    def _take(self, block: list[Item]) -> None:
        start = len(self.items)
        for number, item in enumerate(block, start):
            name = item.get("id")
            if isinstance(name, str) and name:
                if (before := self._last.get(name)) is not None:
                    self._before[number] = before
                self._last[name] = number
            if MERGED_FROM in item and isinstance(origin := item[MERGED_FROM], str):
                self.merged_from.setdefault(origin, []).append(number)
        times = _filled(_times(block), int(self.times[-1]) if start else NO_TIME)
        self.ordered = self.ordered and (not start or bool(self.times[-1] <= times[0])) and _ascending(times)
        self.times = np.concatenate((self.times, times))
        super()._take(block)

    @override
    def _cut(self, stands: int) -> None:
        for number in range(len(self.items) - 1, stands - 1, -1):
            name, origin = self.items[number].get("id"), self.items[number].get(MERGED_FROM)
            if isinstance(name, str) and name:
                if (before := self._before.pop(number, None)) is None:
                    del self._last[name]
                else:
                    self._last[name] = before
            if isinstance(origin, str):
                self.merged_from[origin].pop()
        self.times = self.times[:stands]
        self.ordered = self.ordered or _ascending(self.times)
        super()._cut(stands)


class KnownMessages:
    """Columns of the owners that were asked for; they hold under any rules."""

    def __init__(self) -> None:
        """None yet."""
        self._parents: dict[int, MessageColumns] = {}
        self._others: dict[int, VisibilityColumn] = {}

    def parent(self, owner: Owner, until: float = inf) -> MessageColumns:
        """The columns of an owner, taken in further; all of it unless there is a moment to stop at."""
        found = self._parents.get(id(owner))
        if found is None:
            found = self._parents[id(owner)] = MessageColumns(owner)
        found.take_in(until)
        return found

    def other(self, owner: Owner) -> VisibilityColumn:
        """Who is shown the messages of an owner."""
        found = self._others.get(id(owner))
        if found is None:
            found = self._others[id(owner)] = VisibilityColumn(owner)
        found.take_in()
        return found

    def look_at(self, owner: Owner, until: float) -> bool:
        """Take in who is shown the messages of an owner; whether there is time for more. O(1) once that was done."""
        found = self._others.get(id(owner))
        if found is not None and len(found.items) == len(owner.items):
            return True
        if found is None:
            found = self._others[id(owner)] = VisibilityColumn(owner)
        done = found.take_in(until)
        if done:
            found.global_ones()
        return done and time.perf_counter() < until

    def having(self, owner: Owner, ids: set[str]) -> set[str]:
        """Which of some ids messages of an owner have. O(ids) where its columns are known, else O(messages)."""
        found = self._parents.get(id(owner))
        if found is not None and len(found.items) + _BLOCK >= len(owner.items):
            found.take_in()
            return {name for name in ids if any(True for _ in found.numbers_of(name))}
        try:
            return ids.intersection(map(itemgetter("id"), owner.items))  # a third of the time
        except (KeyError, TypeError):  # there is a message without an id, or with an odd one
            return ids.intersection(text_of(item, "id") for item in owner.items)

    def global_in(self, owners: Iterable[Owner]) -> int:
        """How many messages of some owners are global."""
        return sum(self.other(owner).codes.count(FOR_EVERYWHERE) for owner in owners)

    def follow(self, edit: Edit) -> None:
        """Take an edit in: what came or went is seen anyway."""
        if not edit.key:
            self.forget()
        elif edit.kind == "visibility" and edit.message is not None:
            self.reread(edit.message)

    def reread(self, message: Message) -> None:
        """The visibility of a message is another one now."""
        for columns in (self._parents, self._others):
            found = columns.get(id(message.owner))
            if found is not None:
                found.reread(message.data)

    def forget(self, owner: Owner | None = None) -> None:
        """Read the messages of an owner anew; None for all."""
        for columns in (self._parents, self._others):
            if owner is None:
                columns.clear()
            else:
                columns.pop(id(owner), None)


def above_of(owner: Owner) -> Iterator[Owner]:
    """What lies above one, its parent first; ends where they lie in each other."""
    seen = {id(owner)}
    while isinstance(owner, Subsession) and owner.parent is not None and id(owner.parent) not in seen:
        owner = owner.parent
        seen.add(id(owner))
        yield owner


def _code(item: Item) -> int:
    written = item.get("visibility")
    return _CODES.get(written, FOR_UNKNOWN) if isinstance(written, str) else FOR_ALL


def _times(block: list[Item]) -> NDArray[np.int64]:
    written = [item.get("timestamp") for item in block]
    if set(map(type, written)) <= {str, type(None)}:
        return parse_times(written)  # a tenth of the time
    return np.fromiter(map(written_time, written), np.int64, len(written))


def _filled(times: NDArray[np.int64], before: int) -> NDArray[np.int64]:
    """What is no time takes the one before."""
    known = times != NO_TIME
    if known.all():
        return times
    last = np.maximum.accumulate(np.where(known, np.arange(len(times)), -1))
    return np.where(last >= 0, times[last], before)


def _ascending(times: NDArray[np.int64]) -> bool:
    return bool((times[1:] >= times[:-1]).all())
