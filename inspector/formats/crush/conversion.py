"""Converts the database of Crush, `crush.db`, to lines: each session with its sub-agents' sessions, in order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.formats.crush.reader import AGENT_KEY, CHILD, CHILDREN_KEY, NAME, SESSION_KEY
from inspector.formats.databases import (
    DatabaseConversion,
    ReadLimit,
    SessionDatabase,
    has_tables,
    refuse_computed,
    rows_of,
)
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import is_too_large
from inspector.protocol.tolerant_encoder import to_json

DATABASE = "crush.db"
_TABLES, _PLACE = ("sessions", "messages"), "place"
_ALL = f"*, rowid AS {_PLACE}"
_COLUMNS = {"sessions": ("id", "parent_session_id"), "messages": ("session_id", "role", "parts")}


def has_sessions(path: Path) -> bool:
    """Returns True for a database of Crush. Raises OSError."""
    return has_tables(path, _COLUMNS)


def store_of(path: Path) -> SessionDatabase | None:
    """Returns the database that a path names, if it is one."""
    return SessionDatabase(path, NAME, _lines).find_database(has_sessions=has_sessions, name=DATABASE)


def _lines(read: DatabaseConversion, connection: sqlite3.Connection, limit: ReadLimit) -> Iterator[bytes]:
    for table in _TABLES:
        refuse_computed(connection, table, "Crush")
    sessions = {str(row["id"]): row for row in rows_of(connection, "sessions", limit, columns=_ALL)}
    tree = _tree(sessions)
    wanted = read.session
    if wanted is not None and wanted not in sessions:
        raise NotConvertedError(f"it has no session {wanted}")
    for number, (root, children) in enumerate(tree.items() if wanted is None else ((wanted, tree.get(wanted, [])),), 1):
        yield from _session_lines(connection, limit, sessions, root, children)
        read.progress = (number, len(tree))


def _tree(sessions: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Returns the sessions that no other started, each with all that it, or one of these, started."""
    tree: dict[str, list[str]] = {}
    roots: dict[str, str] = {}
    for name in sessions:
        path, seen = [name], {name}
        while (parent := sessions[path[-1]].get("parent_session_id")) in sessions and parent not in roots:
            if parent in seen:  # strange data may name a session as its own ancestor
                break
            path.append(str(parent))
            seen.add(path[-1])
        root = roots.get(str(parent), path[-1])
        roots |= dict.fromkeys(path, root)
        below = tree.setdefault(root, [])
        if root != name:
            below.append(name)
    return tree


def _session_lines(
    connection: sqlite3.Connection, limit: ReadLimit, sessions: Mapping[str, Mapping[str, Any]], root: str,
    children: list[str],
) -> Iterator[bytes]:  # fmt: skip
    by_call = {
        child.rpartition(CHILD)[2]: {"session": child, "title": sessions[child].get("title")} for child in children
    }
    messages = [
        (name, row) for name in (root, *children) for row in rows_of(connection, "messages", limit, name, columns=_ALL)
    ]
    yield _line(root, root, {"session": sessions[root]}, {})
    begun = {root}
    # Rows are numbered as they are written, also within a second.
    for name, row in sorted(messages, key=lambda one: one[1][_PLACE]):
        if name not in begun:
            begun.add(name)
            yield _line(root, name, {"session": sessions[name]}, {})
        message = {key: one for key, one in row.items() if key not in (_PLACE, "session_id")}
        message["parts"] = parts = _decoded(row.get("parts"))
        data = [mapping_or_empty(part.get("data")) for part in mappings_in(parts)]
        calls = [call for one in data if (call := text_or_none(one.get("id")) or text_or_none(one.get("tool_call_id")))]
        yield _line(root, name, {"message": message}, {call: by_call[call] for call in calls if call in by_call})


def _line(root: str, name: str, content: Mapping[str, Any], children: Mapping[str, Any]) -> bytes:
    own = {AGENT_KEY: name} if name != root else {}
    return (
        to_json({SESSION_KEY: root, **own, **content, **({CHILDREN_KEY: dict(children)} if children else {})}) + b"\n"
    )


def _decoded(data: object) -> Any:
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else b""
    try:
        # Parts are an array, which is decoded as a member.
        found = decode_json(b'{"parts":' + raw + b"}") if raw and not is_too_large(raw) else None
    except NotAnObjectError:
        return data
    return found.get("parts") if isinstance(found, dict) else data
