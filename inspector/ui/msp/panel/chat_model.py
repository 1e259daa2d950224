"""Rows and item model of a conversation, with texts for screen readers. Messages are asked as they come into sight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.msp_sessions import (
    ChatMessage,
    ChatMessages,
    MessageRef,
    ReadMessage,
    ShownSubsession,
)
from inspector.present.wire_text import safe_line
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.widgets.asked_rows import AskedRows

RowKind = Literal["inherited", "title", "parent", "own", "end", "summary"]
"""Line about the inherited part, head of the parent's messages, a parent's message, an own message, the end, and the
summary.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the conversation.

    Attributes:
        message: of a parent's or own message; None until it has arrived.
        whole: the user has expanded it.
    """

    kind: RowKind
    message: ChatMessage | None = None
    whole: bool = False

    @property
    def is_message(self) -> bool:
        return self.kind in ("parent", "own")


class ChatRows:
    """The rows of one sub-session.

    Attributes:
        sub: the sub-session; None for no rows.
        expanded: True if messages of the parent are shown.
    """

    def __init__(self, sub: ShownSubsession | None, own: AskedRows[ChatMessage], *, expanded: bool = False) -> None:
        self.sub = sub
        self.expanded = expanded
        self._messages = own
        self._head: tuple[Row, ...] = ()
        self._tail: tuple[Row, ...] = ()
        self._count = 0
        self.whole: dict[MessageRef, str] = {}
        if sub is not None:
            above = (Row("title"), *(Row("parent", message) for message in sub.around)) if expanded else ()
            self._head = (*above, Row("inherited"))
            self._tail = () if sub.is_open else (Row("end"), *((Row("summary"),) if sub.summary else ()))
            self._count = sub.messages

    def __len__(self) -> int:
        return len(self._head) + self._count + len(self._tail)

    def __getitem__(self, row: int) -> Row:
        if row < len(self._head):
            return self._as_read(self._head[row])
        place = row - len(self._head)
        if place < self._count:
            return self._as_read(Row("own", self._messages.row(place)))
        return self._tail[place - self._count]

    def _as_read(self, row: Row) -> Row:
        """Returns a row with the whole text if the user has expanded it."""
        text = self.whole.get(row.message.ref) if row.message is not None and self.whole else None
        if text is None or row.message is None:
            return row
        return replace(row, message=msgspec.structs.replace(row.message, text=text), whole=True)

    @property
    def opens(self) -> bool:
        """True if the parent has messages."""
        return self.sub is not None and self.sub.has_parent_messages

    @property
    def own_start(self) -> int:
        """Row of the first own message."""
        return len(self._head)

    @property
    def own_count(self) -> int:
        return self._count

    def grow(self, sub: ShownSubsession) -> None:
        """Adds appended messages."""
        self.sub, self._count = sub, sub.messages

    def sizes(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns characters and line breaks of own messages, each (stop - start,) int64."""
        if self.sub is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return self.sub.characters[start:stop], self.sub.breaks[start:stop]

    def with_sizes(self, sub: ShownSubsession) -> ShownSubsession:
        """Returns a later state of the sub-session with the sizes of all messages."""
        if self.sub is None or not sub.sized_from:
            return sub
        characters, breaks = self.sizes(0, sub.sized_from)
        return msgspec.structs.replace(
            sub, sized_from=0, characters=np.concatenate((characters, sub.characters)),
            breaks=np.concatenate((breaks, sub.breaks)),
        )  # fmt: skip

    def row_of(self, message: MessageRef) -> int:
        """Returns the row of a message, or -1."""
        if self.sub is not None and message.owner == self.sub.key:
            return len(self._head) + message.number if message.number < self._count else -1
        return next((row for row, one in enumerate(self._head) if one.message and one.message.ref == message), -1)


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

    def __init__(self, client: SessionsClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._own = AskedRows[ChatMessage](client, self._question, self._on_arrived)
        self.rows = ChatRows(None, self._own)
        self.inherited = ""

    def _question(self, start: int, stop: int) -> ChatMessages:
        return ChatMessages(self.rows.sub.key if self.rows.sub is not None else "", start, stop)

    def renew(self) -> None:
        """Has all messages described again as they come into sight."""
        self._own.renew()

    def _on_arrived(self, start: int, stop: int) -> None:
        first, last = self.rows.own_start + start, self.rows.own_start + min(stop, self.rows.own_count) - 1
        if first <= last:
            self.dataChanged.emit(self.index(first), self.index(last))

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

    def show(self, sub: ShownSubsession | None, *, expanded: bool = False) -> None:
        """Shows another conversation, or rebuilds the same one."""
        before = self.rows
        self.beginResetModel()
        self.rows = ChatRows(sub, self._own, expanded=expanded)
        if sub is not None and before.sub is not None and before.sub.key == sub.key:
            self.rows.whole = before.whole
        self._own.clear()
        self.endResetModel()

    def take_in(self, sub: ShownSubsession) -> None:
        """Inserts rows for appended messages, and has changed ones described again."""
        came = sub.messages - self.rows.own_count
        self._own.renew()
        if came > 0:
            at = self.rows.own_start + self.rows.own_count
            self.beginInsertRows(QModelIndex(), at, at + came - 1)
            self.rows.grow(sub)
            self.endInsertRows()
            return
        self.rows.sub = sub
        known = self._own.span
        self._on_arrived(known.start, known.stop)

    def read_whole(self, message: MessageRef) -> None:
        """Reads the whole text of a message, for an act of the user."""
        try:
            self.rows.whole[message] = self._client.answer_now(ReadMessage(message))
        except RequestError:
            self._own.renew()

    def say_inherited(self, words: str) -> None:
        if words != self.inherited:
            self.inherited = words
            if self.rows.sub is not None:
                at = self.index(self.rows.own_start - 1)
                self.dataChanged.emit(at, at)


def accessible_text(rows: ChatRows, row: Row, inherited: str) -> str:
    """Returns the text of a row for screen readers."""
    message, sub = row.message, rows.sub
    if message is not None:
        before = "parent chat, " if row.kind == "parent" else ""
        parts = (f"{before}{safe_line(message.role, 40) or 'no role'}", message.when, message.visibility)
        return f"{', '.join(filter(None, parts))}: {safe_line(message.text, _MAX_ACCESSIBLE) or 'empty'}"
    if sub is None:
        return ""
    match row.kind:
        case "inherited":
            reach = "hide" if rows.expanded else "show"
            return f"{inherited}; Enter to {reach} the messages of the parent chat" if rows.opens else inherited
        case "title":
            return sub.title
        case "end":
            return sub.end
        case "summary":
            return f"summary: {safe_line(sub.summary, _MAX_ACCESSIBLE)}"
        case _:
            return ""
