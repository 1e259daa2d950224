"""The rows of a conversation: what stands where, for Qt and for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.msp.objects import content_text
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.msp.panel.words import end_words, label_of, visibility_words, when_words

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


_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
_ROOT = QModelIndex()
_SPOKEN = 4_000
"""Characters of a message that screen readers are given."""


class ChatModel(QAbstractListModel):
    """The conversation of one sub-session.

    Attributes:
        rows: what stands where.
        inherited: the words of the line about what is inherited.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows = ChatRows()
        self.inherited = ""

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role not in _ROLES or not index.isValid():
            return None
        return spoken(self.rows, self.rows[index.row()], self.inherited)

    def row(self, row: int) -> Row | None:
        """What stands in a row; None where there is none."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def show(self, sub: Subsession | None, *, expanded: bool = False) -> None:
        """Show another conversation, or the same anew."""
        self.beginResetModel()
        self.rows = ChatRows(sub, expanded=expanded)
        self.endResetModel()

    def take_in(self) -> bool:
        """Messages came at the end: show them too; whether there are any."""
        rows = self.rows
        came = 0 if rows.sub is None else len(rows.sub.messages) - rows.own_count
        if came <= 0:
            return False
        at = rows.own_start + rows.own_count
        self.beginInsertRows(QModelIndex(), at, at + came - 1)
        rows.grown()
        self.endInsertRows()
        return True

    def renew(self, message: Message) -> None:
        """Something about a message is different."""
        row = self.rows.row_of(message)
        if row >= 0:
            self.dataChanged.emit(self.index(row), self.index(row))

    def say_inherited(self, words: str) -> None:
        """Say something else in the line about what is inherited."""
        if words != self.inherited:
            self.inherited = words
            if self.rows.sub is not None:
                at = self.index(self.rows.own_start - 1)
                self.dataChanged.emit(at, at)


def title_words(rows: ChatRows) -> str:
    """The head of what the parent said before."""
    sub = rows.sub
    if sub is None or sub.parent is None:
        return ""
    count = formats.count_of(len(rows.around), "message")
    words = f"{label_of(sub.parent)}: {count} from before this sub-session"
    return f"{words}, {rows.earlier:,} earlier not shown" if rows.earlier else words


def spoken(rows: ChatRows, row: Row, inherited: str) -> str:
    """What a screen reader says of a row."""
    message = row.message
    if message is not None:
        where = visibility_words(message, row.kind)
        before = "parent chat, " if row.kind == "parent" else ""
        when = when_words(message.time_ns, message.owner.created_ns)
        parts = (f"{before}{plain(message.role, 40) or 'no role'}", when, where)
        return f"{', '.join(filter(None, parts))}: {plain(message.content, _SPOKEN) or 'empty'}"
    if rows.sub is None:
        return ""
    match row.kind:
        case "inherited":
            reach = "hide" if rows.expanded else "show"
            return f"{inherited}; Return to {reach} the messages of the parent chat" if rows.opens else inherited
        case "title":
            return title_words(rows)
        case "end":
            return end_words(rows.sub)
        case _:
            return f"summary: {plain(rows.sub.summary or '', _SPOKEN)}"
