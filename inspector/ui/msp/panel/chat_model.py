"""Rows and item model of a conversation, with texts for screen readers."""

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
from inspector.present.wire_text import safe_line
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.msp.panel.texts import end_words, label_of, visibility_words, when_words

if TYPE_CHECKING:
    from inspector.msp.objects import Message, Session, Subsession

RowKind = Literal["inherited", "title", "parent", "own", "end", "summary"]
"""Line about the inherited part, head of the parent's messages, a parent's message, an own message, the end, and the
summary.
"""

PARENT_MESSAGES = 20
"""Maximum of earlier parent messages above the sub-session's."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the conversation."""

    kind: RowKind
    message: Message | None = None


class ChatRows:
    """The rows of one sub-session.

    Attributes:
        sub: the sub-session; None for no rows.
        expanded: True if messages of the parent are shown.
        opens: True if the parent has messages.
        around: the last parent messages before the sub-session was opened; empty unless expanded.
        earlier: number of parent messages before them.
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
        """Row of the first own message."""
        return len(self._head)

    @property
    def own_count(self) -> int:
        return self._count

    def grown(self) -> int:
        """Adds appended messages and returns their number."""
        came = len(self._own) - self._count
        self._count += max(0, came)
        return max(0, came)

    def sizes(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns characters and line breaks of own messages, each (stop - start,) int64. Each text is read once."""
        known = len(self._letters)
        if known < stop and self.sub is not None:
            texts = [content_text(data.get("content")) for data in self.sub.items[known:stop]]
            letters = np.fromiter(map(len, texts), np.int64, len(texts))
            breaks = np.fromiter((text.count("\n") for text in texts), np.int64, len(texts))
            self._letters = np.concatenate((self._letters, letters))
            self._breaks = np.concatenate((self._breaks, breaks))
        return self._letters[start:stop], self._breaks[start:stop]

    def row_of(self, message: Message) -> int:
        """Returns the row of a message, or -1. Searches from the end."""
        # New messages are the usual target.
        for row in range(self._count - 1, -1, -1):
            if self._own[row].data is message.data:
                return row + len(self._head)
        for row, one in enumerate(self._head):
            if one.message is not None and one.message.data is message.data:
                return row
        return -1


def around(sub: Subsession) -> tuple[Sequence[Message], int]:
    """Returns the last parent messages before a sub-session was opened, and the number of messages before them.

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
_MAX_ACCESSIBLE = 4_000
"""Maximum of characters per message for screen readers."""


class ChatModel(QAbstractListModel):
    """The conversation of one sub-session.

    Attributes:
        rows: the rows.
        inherited: text of the line about the inherited part.
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
        return accessible_text(self.rows, self.rows[index.row()], self.inherited)

    def row(self, row: int) -> Row | None:
        """Returns a row, or None out of range."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def show(self, sub: Subsession | None, *, expanded: bool = False) -> None:
        """Shows another conversation, or rebuilds the same one."""
        self.beginResetModel()
        self.rows = ChatRows(sub, expanded=expanded)
        self.endResetModel()

    def take_in(self) -> bool:
        """Inserts rows for appended messages. Returns False if there are none."""
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
        row = self.rows.row_of(message)
        if row >= 0:
            self.dataChanged.emit(self.index(row), self.index(row))

    def say_inherited(self, words: str) -> None:
        if words != self.inherited:
            self.inherited = words
            if self.rows.sub is not None:
                at = self.index(self.rows.own_start - 1)
                self.dataChanged.emit(at, at)


def title_words(rows: ChatRows) -> str:
    """Returns the head of the parent's messages."""
    sub = rows.sub
    if sub is None or sub.parent is None:
        return ""
    count = formats.count_of(len(rows.around), "message")
    words = f"{label_of(sub.parent)}: {count} from before this sub-session"
    return f"{words}, {rows.earlier:,} earlier not shown" if rows.earlier else words


def accessible_text(rows: ChatRows, row: Row, inherited: str) -> str:
    """Returns the text of a row for screen readers."""
    message = row.message
    if message is not None:
        where = visibility_words(message, row.kind)
        before = "parent chat, " if row.kind == "parent" else ""
        when = when_words(message.time_ns, message.owner.created_ns)
        parts = (f"{before}{safe_line(message.role, 40) or 'no role'}", when, where)
        return f"{', '.join(filter(None, parts))}: {safe_line(message.content, _MAX_ACCESSIBLE) or 'empty'}"
    if rows.sub is None:
        return ""
    match row.kind:
        case "inherited":
            reach = "hide" if rows.expanded else "show"
            return f"{inherited}; Enter to {reach} the messages of the parent chat" if rows.opens else inherited
        case "title":
            return title_words(rows)
        case "end":
            return end_words(rows.sub)
        case _:
            return f"summary: {safe_line(rows.sub.summary or '', _MAX_ACCESSIBLE)}"
