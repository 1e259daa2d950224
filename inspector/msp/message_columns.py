"""Columns of messages by session and sub-session, updated incrementally.

A list of messages only grows and shrinks at its end (by an edit and its undo). So read entries stay valid as long as
the last object is the same. Callers must report changes inside a message, of its visibility.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from inspector.base.slices import SlicedWork, run_to_end
from inspector.msp.objects import MERGED_FROM, Message, Session, Subsession, text_of
from inspector.protocol.time_columns import parse_times
from inspector.protocol.timestamps import NO_TIME, parse_text_time

if TYPE_CHECKING:
    from inspector.msp.edits import Edit

MAIN_ONLY, SUBSESSION_ONLY, GLOBAL = "main_only", "subsession_only", "global"
FOR_ALL, FOR_EVERYWHERE, FOR_PARENT, FOR_SUBSESSION, FOR_UNKNOWN = range(5)
"""Visibility codes: none, the protocol's three, and any other word."""
_CODES = {"": FOR_ALL, GLOBAL: FOR_EVERYWHERE, MAIN_ONLY: FOR_PARENT, SUBSESSION_ONLY: FOR_SUBSESSION}
_BLOCK = 4_000
"""Messages read in one step."""

Item = dict[str, Any]
Owner = Session | Subsession


class VisibilityColumn:
    """Visibility of each message of an owner.

    Attributes:
        owner: the owner of the messages.
        items: messages read so far; earlier references to the list stay valid when it shrinks.
        codes: one visibility code per message.
        revision: increases with every change.
    """

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.items: list[Item] = []
        self.codes = bytearray()
        self.revision = 0
        self._global_ones: tuple[int, list[tuple[int, int]]] = (-1, [])

    def update(self) -> None:
        """Reads the owner's new messages."""
        run_to_end(self.update_steps())

    def update_steps(self) -> SlicedWork[None]:
        """Reads the owner's new messages, a block in a step."""
        given = self.owner.items
        stands = min(len(self.items), len(given))
        while stands and self.items[stands - 1] is not given[stands - 1]:
            stands -= 1
        if stands < len(self.items):
            self._truncate(stands)
            self.revision += 1
        while len(self.items) < len(given):
            self._append_block(given[len(self.items) : len(self.items) + _BLOCK])
            self.revision += 1
            yield

    def update_visibility(self, data: Item) -> None:
        """Updates a message's visibility."""
        number = self._number_of(data)
        if number is not None:
            self.codes[number] = _code(data)
            self.revision += 1

    def global_ones(self) -> list[tuple[int, int]]:
        """Returns indices of global messages, ascending, each with its time, or the last time before it."""
        if self._global_ones[0] != self.revision:
            self._global_ones = self.revision, list(self._find_global_ones())
        return self._global_ones[1]

    def _find_global_ones(self) -> Iterator[tuple[int, int]]:
        # Only stretches between global messages are searched, so each message is visited once.
        seen, before = 0, NO_TIME
        number = self.codes.find(FOR_EVERYWHERE)
        while number >= 0:
            times = (parse_text_time(self.items[place].get("timestamp")) for place in range(number, seen - 1, -1))
            before = next((time_ns for time_ns in times if time_ns != NO_TIME), before)
            yield number, before
            seen, number = number + 1, self.codes.find(FOR_EVERYWHERE, number + 1)

    def _number_of(self, data: Item) -> int | None:
        return next((number for number, item in enumerate(self.items) if item is data), None)

    def _append_block(self, block: list[Item]) -> None:
        self.codes += bytes(map(_code, block))
        self.items += block

    def _truncate(self, stands: int) -> None:
        del self.codes[stands:]
        # A new list: readers keep the old one, which must not shrink under them.
        self.items = self.items[:stands]


class MessageColumns(VisibilityColumn):
    """Message columns for the sub-sessions of an owner.

    Attributes:
        times: time of each message; without one, the time of the previous message.
        ordered: the times are ascending.
        merged_from: indices of messages that a merge wrote, by sub-session id.
    """

    def __init__(self, owner: Owner) -> None:
        super().__init__(owner)
        self.times: NDArray[np.int64] = np.empty(0, np.int64)
        self.ordered = True
        self.merged_from: dict[str, list[int]] = {}
        self._last: dict[str, int] = {}
        self._before: dict[int, int] = {}
        """Index of the previous message with the same id, by index."""

    def numbers_of(self, name: str) -> Iterator[int]:
        """Yields indices of messages with an id, latest first."""
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
    def _append_block(self, block: list[Item]) -> None:
        start = len(self.items)
        for number, item in enumerate(block, start):
            name = item.get("id")
            if isinstance(name, str) and name:
                if (before := self._last.get(name)) is not None:
                    self._before[number] = before
                self._last[name] = number
            if MERGED_FROM in item and isinstance(origin := item[MERGED_FROM], str):
                self.merged_from.setdefault(origin, []).append(number)
        times = _fill_unknown(_times(block), int(self.times[-1]) if start else NO_TIME)
        self.ordered = self.ordered and (not start or bool(self.times[-1] <= times[0])) and _ascending(times)
        self.times = np.concatenate((self.times, times))
        super()._append_block(block)

    @override
    def _truncate(self, stands: int) -> None:
        for number in range(len(self.items) - 1, stands - 1, -1):
            name, origin = self.items[number].get("id"), self.items[number].get(MERGED_FROM)
            if isinstance(name, str) and name:
                # Restores the index as it was before the removed message.
                if (before := self._before.pop(number, None)) is None:
                    del self._last[name]
                else:
                    self._last[name] = before
            if isinstance(origin, str):
                self.merged_from[origin].pop()
        self.times = self.times[:stands]
        # The removed messages may have been the only ones out of order.
        self.ordered = self.ordered or _ascending(self.times)
        super()._truncate(stands)


class MessageColumnCache:
    """Cache of columns by owner; independent of the rules."""

    def __init__(self) -> None:
        self._parents: dict[int, MessageColumns] = {}
        self._others: dict[int, VisibilityColumn] = {}

    def parent_columns(self, owner: Owner) -> MessageColumns:
        """Returns the columns of an owner, updated."""
        found = self._parent(owner)
        found.update()
        return found

    def _parent(self, owner: Owner) -> MessageColumns:
        found = self._parents.get(id(owner))
        if found is None:
            found = self._parents[id(owner)] = MessageColumns(owner)
        return found

    def visibility_column(self, owner: Owner) -> VisibilityColumn:
        """Returns the visibility column of an owner, updated."""
        found = self._other(owner)
        found.update()
        return found

    def _other(self, owner: Owner) -> VisibilityColumn:
        found = self._others.get(id(owner))
        if found is None:
            found = self._others[id(owner)] = VisibilityColumn(owner)
        return found

    def prepare(self, parent: Owner, others: Iterable[Owner]) -> SlicedWork[None]:
        """Updates the columns of a parent and the visibility columns of others. O(1) for each that is complete."""
        yield from self._parent(parent).update_steps()
        for owner in others:
            found = self._other(owner)
            if len(found.items) < len(owner.items):
                yield from found.update_steps()
                found.global_ones()

    def existing_ids(self, owner: Owner, ids: set[str]) -> set[str]:
        """Returns the ids that messages of an owner have. O(ids) with known columns, else O(messages)."""
        found = self._parents.get(id(owner))
        if found is not None and len(found.items) + _BLOCK >= len(owner.items):
            found.update()
            return {name for name in ids if any(True for _ in found.numbers_of(name))}
        try:
            return ids.intersection(map(itemgetter("id"), owner.items))  # three times as fast as the general way
        except (KeyError, TypeError):  # a message has no id, or an unhashable one
            return ids.intersection(text_of(item, "id") for item in owner.items)

    def global_in(self, owners: Iterable[Owner]) -> int:
        """Returns the number of global messages of some owners."""
        return sum(self.visibility_column(owner).codes.count(FOR_EVERYWHERE) for owner in owners)

    def on_edit(self, edit: Edit) -> None:
        """Follows an edit; added and removed messages are noticed anyway."""
        if not edit.key:
            self.drop()
        elif edit.kind == "visibility" and edit.message is not None:
            self.update_visibility(edit.message)

    def update_visibility(self, message: Message) -> None:
        """Updates a message's visibility in all columns."""
        for columns in (self._parents, self._others):
            found = columns.get(id(message.owner))
            if found is not None:
                found.update_visibility(message.data)

    def drop(self, owner: Owner | None = None) -> None:
        """Drops the columns of an owner; None for all."""
        for columns in (self._parents, self._others):
            if owner is None:
                columns.clear()
            else:
                columns.pop(id(owner), None)


def ancestors_of(owner: Owner) -> Iterator[Owner]:
    """Yields the ancestors of an owner, parent first; stops at a cycle."""
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
        return parse_times(written)  # ten times as fast
    return np.fromiter(map(parse_text_time, written), np.int64, len(written))


def _fill_unknown(times: NDArray[np.int64], before: int) -> NDArray[np.int64]:
    """Fills unknown times with the previous known one."""
    known = times != NO_TIME
    if known.all():
        return times
    last = np.maximum.accumulate(np.where(known, np.arange(len(times)), -1))
    return np.where(last >= 0, times[last], before)


def _ascending(times: NDArray[np.int64]) -> bool:
    return bool((times[1:] >= times[:-1]).all())
