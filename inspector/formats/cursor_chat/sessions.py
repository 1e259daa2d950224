"""Finds chats of the editor Cursor: in the database `state.vscdb` of all workspaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import settings_folder
from inspector.formats.cursor_chat import FORMAT
from inspector.formats.cursor_chat.database import CHATS, DATABASE, TABLE
from inspector.formats.databases import open_database, refuse_computed
from inspector.formats.file_conversion import NotConvertedError
from inspector.sources.agent_sessions.files import Listing
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_MOST_ROWS = 10_000
_MOST_BYTES = 1 << 24
"""Limit of a chat's facts, which may hold all its messages."""


class _ModelConfig(msgspec.Struct, gc=False):
    name: str | None = msgspec.field(default=None, name="modelName")


class _Chat(msgspec.Struct, gc=False):
    name: str | None = None
    text: str | None = None
    created: float | None = msgspec.field(default=None, name="createdAt")
    updated: float | None = msgspec.field(default=None, name="lastUpdatedAt")
    headers: list[Any] | None = msgspec.field(default=None, name="fullConversationHeadersOnly")
    conversation: list[Any] | None = None
    model: _ModelConfig | None = msgspec.field(default=None, name="modelConfig")


_chat = msgspec.json.Decoder(_Chat)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder with Cursor's database."""
    return (settings_folder("Cursor", environment) / "User" / "globalStorage",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields the chats of the database with their details."""
    for found in listing.files(str(root)):
        if found.name == DATABASE:
            try:
                yield from list(_in_database(Path(found.path)))
            except (sqlite3.Error, OSError, UnicodeError, NotConvertedError):
                listing.unreadable.append(found.path)


def _in_database(path: Path) -> Iterator[AgentSession]:
    with closing(open_database(path)) as connection:
        refuse_computed(connection, TABLE, "Cursor")
        asked = f"SELECT key, value FROM {TABLE} WHERE key >= ? AND key < 'composerData;' AND length(value) < ? LIMIT ?"
        for key, value in connection.execute(asked, (CHATS, _MOST_BYTES, _MOST_ROWS)):
            try:
                chat = _chat.decode(value)
            except (msgspec.MsgspecError, UnicodeDecodeError, TypeError):
                continue
            count = len(chat.headers or chat.conversation or ())
            if not count:  # the program makes a chat with each window
                continue
            name = key.removeprefix(CHATS)
            model = chat.model.name if chat.model is not None and chat.model.name != "default" else None
            yield AgentSession(
                FORMAT.name, name, path / name, (chat.updated or chat.created or 0) / 1000, 0, title=chat.name or "",
                prompt=chat.text or "", model=model or "", messages=count,
            )  # fmt: skip


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=lambda _: None)
