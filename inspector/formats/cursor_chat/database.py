"""Converts chats in Cursor's database `state.vscdb`: a line for a chat, and one for each of its messages.

Since 2025 a chat (`composerData`) has the ids of its messages (`bubbleId`), each a row of the table `cursorDiskKV`.
Before, the table `ItemTable` had all chats of a workspace as one value.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.formats.cursor_chat.reader import COMPOSER_KEY, MODEL, NAME, USER
from inspector.formats.databases import (
    DatabaseConversion,
    ReadLimit,
    SessionDatabase,
    is_database,
    open_database,
    refuse_computed,
    table_names,
)
from inspector.formats.entry_builders import decoded_object
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.tolerant_encoder import to_json

DATABASE = "state.vscdb"
CHATS, MESSAGES = "composerData:", "bubbleId:"
"""Beginnings of keys."""
TABLE, _OLD_TABLE = "cursorDiskKV", "ItemTable"
_OLD_CHATS, _TABS = "composer.composerData", "workbench.panel.aichat.view.aichat.chatdata"
_FACTS = (
    "name",
    "createdAt",
    "lastUpdatedAt",
    "status",
    "unifiedMode",
    "usageData",
    "modelConfig",
    "contextTokensUsed",
)


def has_chats(path: Path) -> bool:
    """Returns True for a database with chats of Cursor. Raises OSError."""
    if not is_database(path):
        return False
    try:
        connection = open_database(path)
    except sqlite3.Error:
        return False
    try:
        tables = table_names(connection)
        if TABLE in tables and next(_values(connection, CHATS), None) is not None:
            return True
        old = "SELECT 1 FROM ItemTable WHERE key IN (?, ?)"
        return _OLD_TABLE in tables and connection.execute(old, (_OLD_CHATS, _TABS)).fetchone() is not None
    except (sqlite3.Error, UnicodeError):
        return False
    finally:
        connection.close()


def _values(connection: sqlite3.Connection, beginning: str) -> Iterator[tuple[str, object]]:
    """Yields the rows with keys of a beginning that ends with a colon, in the order written."""
    asked = f"SELECT key, value FROM {TABLE} WHERE key >= ? AND key < ? AND value IS NOT NULL ORDER BY rowid"
    yield from connection.execute(asked, (beginning, beginning[:-1] + ";"))


def store_of(path: Path) -> SessionDatabase | None:
    """Returns the database that a path names, if it is one; a chat is a path below it."""
    return SessionDatabase(path, NAME, _lines).find_database(has_sessions=has_chats)


def _lines(read: DatabaseConversion, connection: sqlite3.Connection, limit: ReadLimit) -> Iterator[bytes]:
    tables = table_names(connection) & {TABLE, _OLD_TABLE}
    for table in tables:
        refuse_computed(connection, table, "Cursor")
    found: dict[str, dict[str, Any] | None] = {}
    if _OLD_TABLE in tables:
        found |= _old_chats(connection, limit)
    if TABLE in tables:
        # Messages may outlive their chat.
        found |= dict.fromkeys(name for name in _chat_names(connection) if name not in found)
    wanted = read.session
    chosen = {name: chat for name, chat in found.items() if wanted in (None, name)}
    if not chosen and wanted is not None:
        raise NotConvertedError(f"it has no chat {wanted}")
    for number, (name, known) in enumerate(chosen.items(), 1):
        chat = known if known is not None else _chat(connection, limit, name)
        bubbles = mappings_in(chat.get("conversation")) or list(_bubbles(connection, limit, name, chat, tables))
        read.progress = (number, len(chosen))
        if not bubbles:  # the program makes a chat with each window
            continue
        facts = {key: chat[key] for key in _FACTS if key in chat}
        yield to_json({COMPOSER_KEY: name, "composer": facts}) + b"\n"
        for bubble in bubbles:
            yield to_json({COMPOSER_KEY: name, "bubble": bubble}) + b"\n"


def _chat_names(connection: sqlite3.Connection) -> Iterator[str]:
    for beginning in (CHATS, MESSAGES):
        asked = f"SELECT key FROM {TABLE} WHERE key >= ? AND key < ? ORDER BY rowid"
        for (key,) in connection.execute(asked, (beginning, beginning[:-1] + ";")):
            yield str(key).split(":")[1]


def _chat(connection: sqlite3.Connection, limit: ReadLimit, name: str) -> dict[str, Any]:
    row = connection.execute(f"SELECT value FROM {TABLE} WHERE key = ?", (CHATS + name,)).fetchone()
    return _object(limit, name, row[0]) if row is not None else {}


def _bubbles(
    connection: sqlite3.Connection, limit: ReadLimit, name: str, chat: Mapping[str, Any], tables: set[str]
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yields the messages of a chat in its order, then others with its id."""
    if TABLE not in tables:
        return
    beginning = f"{MESSAGES}{name}:"
    held = {key.removeprefix(beginning): _object(limit, key, one) for key, one in _values(connection, beginning)}
    headers = mappings_in(chat.get("fullConversationHeadersOnly"))
    order = [one for header in headers if isinstance(one := header.get("bubbleId"), str)]
    for identifier in dict.fromkeys((*order, *held)):
        if bubble := held.get(identifier):
            yield {"bubbleId": identifier, **bubble}


def _object(limit: ReadLimit, key: str, value: object) -> dict[str, Any]:
    raw = value.encode("utf-8", "replace") if isinstance(value, str) else value if isinstance(value, bytes) else b""
    limit.count((key, raw))
    return decoded_object(raw) or {}


def _old_chats(connection: sqlite3.Connection, limit: ReadLimit) -> dict[str, dict[str, Any]]:
    """Returns the chats of a workspace as older versions stored them, by id."""
    asked = "SELECT key, value FROM ItemTable WHERE key IN (?, ?)"
    rows = {key: _object(limit, key, value) for key, value in connection.execute(asked, (_OLD_CHATS, _TABS))}
    chats = mappings_in(rows.get(_OLD_CHATS, {}).get("allComposers"))
    found = {str(one.get("composerId")): dict(one) for one in chats if one.get("conversation")}
    for tab in mappings_in(rows.get(_TABS, {}).get("tabs")):
        bubbles = [_of_tab(one) for one in mappings_in(tab.get("bubbles"))]
        found[str(tab.get("tabId"))] = {"name": text_or_none(tab.get("chatTitle")), "conversation": bubbles}
    return found


def _of_tab(bubble: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a message of a tab as newer versions have it."""
    kind = {"user": USER, "ai": MODEL}.get(str(bubble.get("type")), bubble.get("type"))
    known = {"bubbleId": bubble.get("id"), "type": kind, "text": bubble.get("text") or bubble.get("rawText")}
    model = text_or_none(bubble.get("modelType"))
    mentioned = mapping_or_empty(bubble.get("timingInfo"))
    return {**known, **({"modelInfo": {"modelName": model}} if model else {}), "timingInfo": mentioned}
