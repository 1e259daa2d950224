"""What stands in the conversation of a sub-session, row by row: what it inherits, its messages, how it ended.

No object is made per message: a row is asked for when it is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.msp.objects import content_text
from inspector.protocol.times import NO_TIME

if TYPE_CHECKING:
    from inspector.msp.objects import Message, Session, Subsession

RowKind = Literal["inherited", "title", "parent", "own", "end", "summary"]
"""The line about what is inherited, the head of the parent's messages, one of them, an own message, how it ended, and
with which summary."""

PARENT_MESSAGES = 20
"""So many messages of the parent are shown at most above those of the sub-session."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row."""

    kind: RowKind
    message: Message | None = None


class ChatRows:
    """The rows of one sub-session.

    Attributes:
        sub: whose conversation it is; None for no rows.
        expanded: whether messages of the parent are shown.
        opens: whether there are any.
        around: messages of the parent from before the sub-session was opened, the last ones; none unless expanded.
        earlier: how many more there are.
    """

    def __init__(self, sub: Subsession | None = None, *, expanded: bool = False) -> None:
        self.sub = sub
        self.expanded = expanded
        self.around: Sequence[Message] = ()
        self.earlier = 0
        self.opens = sub is not None and sub.parent is not None and len(sub.parent.messages) > 0
        self._own: Sequence[Message] = ()
        self._head: tuple[Row, ...] = ()
        self._tail: tuple[Row, ...] = ()
        if sub is not None:
            if expanded:
                self.around, self.earlier = around(sub)
            self._own = sub.messages
            above = (Row("title"), *(Row("parent", message) for message in self.around)) if expanded else ()
            self._head = (*above, Row("inherited"))
            self._tail = () if sub.is_open else (Row("end"), *((Row("summary"),) if sub.summary else ()))
        self._count = len(self._own)
        self._letters = np.zeros(0, np.int64)
        self._breaks = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._head) + self._count + len(self._tail)

    def __getitem__(self, row: int) -> Row:
        if row < len(self._head):
            return self._head[row]
        place = row - len(self._head)
        if place < self._count:
            return Row("own", self._own[place])
        return self._tail[place - self._count]

    @property
    def own_start(self) -> int:
        """The row of the first message of its own."""
        return len(self._head)

    @property
    def own_count(self) -> int:
        """How many messages of its own there are."""
        return self._count

    def grown(self) -> int:
        """Take in messages that came since at the end; how many."""
        came = len(self._own) - self._count
        self._count += max(0, came)
        return max(0, came)

    def sizes(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Letters and line ends of own messages: each (stop - start,) int64. Each text is looked at once."""
        known = len(self._letters)
        if known < stop and self.sub is not None:
            texts = [content_text(data.get("content")) for data in self.sub.items[known:stop]]
            letters = np.fromiter(map(len, texts), np.int64, len(texts))
            breaks = np.fromiter((text.count("\n") for text in texts), np.int64, len(texts))
            self._letters = np.concatenate((self._letters, letters))
            self._breaks = np.concatenate((self._breaks, breaks))
        return self._letters[start:stop], self._breaks[start:stop]

    def row_of(self, message: Message) -> int:
        """The row of a message; -1 where it is not shown. The last ones are looked at first."""
        for row in range(self._count - 1, -1, -1):
            if self._own[row].data is message.data:
                return row + len(self._head)
        for row, one in enumerate(self._head):
            if one.message is not None and one.message.data is message.data:
                return row
        return -1


def around(sub: Subsession) -> tuple[Sequence[Message], int]:
    """The last messages of the parent from before a sub-session was opened, and how many there are before them.

    O(messages of the parent since then).
    """
    parent: Session | Subsession | None = sub.parent
    if parent is None:
        return (), 0
    messages = parent.messages
    end, opened = len(messages), sub.created_ns
    while opened != NO_TIME and end > 0 and messages[end - 1].time_ns > opened:
        end -= 1
    start = max(0, end - PARENT_MESSAGES)
    return [messages[place] for place in range(start, end)], start
