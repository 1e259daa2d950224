"""Converts OpenCode's sessions to lines of its export format, from a database or a folder of small files.

A session is converted with its spawned sessions. A whole place is converted root by root, each with its spawned
sessions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from inspector.formats.databases import (
    ReadLimit,
    converted,
    database_files,
    has_tables,
    refuse_computed,
)
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.opencode.reader import LABEL, ROOT_KEY, UNDONE_KEY, first_undone_part
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import is_too_large
from inspector.protocol.tolerant_encoder import to_json

DATABASE = "opencode.db"
_TABLES = ("session", "message", "part")
_COLUMNS = {
    "session": ("id",),
    "message": ("id", "session_id", "data"),
    "part": ("id", "message_id", "session_id", "data"),
}
_MOST_FILES = 1_000_000
_MAX_FILE = 1 << 28
"""Limit in bytes of a file in the folder."""


class SessionStore(NamedTuple):
    """A place with sessions, and the id of one of them; None for all."""

    path: Path
    session: str | None = None

    @property
    def is_database(self) -> bool:
        """Returns True for a database, False for a folder."""
        return self.path.is_file()

    @property
    def container(self) -> str:
        return LABEL

    def files(self) -> list[Path]:
        return database_files(self.path)

    def conversion(self) -> OpenCodeConversion:
        return OpenCodeConversion(self)


def has_sessions(path: Path) -> bool:
    """Returns True for a database of OpenCode. Raises OSError."""
    return has_tables(path, _COLUMNS)


def store_of(path: Path) -> SessionStore | None:
    """Returns the place that a path names, if it is one.

    A session in a database is a path below it: `opencode.db/ses_1`.
    """
    try:
        if path.is_dir():
            folder = next((one for one in (path, path / "storage") if _is_storage(one)), None)
            database = path / DATABASE
            if has_sessions(database):
                return SessionStore(database)
            return SessionStore(folder) if folder is not None else None
        if path.is_file():
            if has_sessions(path):
                return SessionStore(path)
            storage = path.parent.parent.parent
            if path.suffix == ".json" and path.parent.parent.name == "session" and _is_storage(storage):
                return SessionStore(storage, _identifier(_read(path)) or path.stem)
            return None
        return SessionStore(path.parent, path.name) if has_sessions(path.parent) else None
    except OSError:
        return None


def _is_storage(folder: Path) -> bool:
    return (folder / "message").is_dir() and ((folder / "part").is_dir() or (folder / "session").is_dir())


class OpenCodeConversion:
    """Converts the sessions of a place to lines, each with the sessions it spawned, by time.

    Attributes:
        progress: sessions read, and their total.
    """

    def __init__(self, place: SessionStore) -> None:
        self._place = place
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        if not self._place.is_database:
            yield from self._lines_of(_Folder(self._place.path))
            return
        yield from converted(
            self._place.path, lambda connection, limit: self._lines_of(_Database(connection, limit))
        )  # fmt: skip

    def _lines_of(self, kept: _Sessions) -> Iterator[bytes]:
        sessions = kept.sessions()
        below: dict[str, list[str]] = {}
        for name, info in sessions.items():
            parent = info.get("parentID")
            if isinstance(parent, str) and parent in sessions and parent != name:
                below.setdefault(parent, []).append(name)
        children = {child for found in below.values() for child in found}
        wanted = self._place.session
        if wanted is not None and wanted not in sessions:
            raise NotConvertedError(f"it has no session {wanted}")
        roots = [name for name in sessions if name not in children] if wanted is None else [wanted]
        self.progress = (0, len(roots))
        for number, root in enumerate(sorted(roots, key=lambda name: _created_time(sessions[name])), 1):
            members, undone = _members(root, below), dict[str, str]()
            for name in members:
                above = {ROOT_KEY: root} if name != root else {}
                yield _line({"info": dict(sessions[name]), "messages": [], **above})
            told = [
                (_created_time(info), str(info.get("id")), info) for name in members for info in kept.messages(name)
            ]
            for _, identifier, info in sorted(told, key=lambda one: one[:2]):
                above = {ROOT_KEY: root} if info.get("sessionID") != root else {}
                parts = kept.parts(str(info.get("sessionID")), identifier)
                yield _line({"info": dict(info), "parts": parts, **above})
                if (first := first_undone_part(sessions[str(info.get("sessionID"))], {identifier: parts})) is not None:
                    undone[str(info.get("sessionID"))] = first
            for name, first in undone.items():
                above = {ROOT_KEY: root} if name != root else {}
                yield _line({"info": dict(sessions[name]), "messages": [], UNDONE_KEY: first, **above})
            self.progress = (number, len(roots))


class _Sessions(Protocol):
    """Storage of sessions."""

    def sessions(self) -> dict[str, dict[str, Any]]:
        """Returns facts about each session, by id."""
        ...

    def messages(self, session: str) -> Iterator[dict[str, Any]]:
        """Yields the messages of a session, without their parts."""
        ...

    def parts(self, session: str, message: str) -> list[Any]:
        """Returns the parts of a message, in order; the session must be the last one requested."""
        ...


class _Folder:
    """`session/PROJECT/ID.json`, `message/SESSION/ID.json`, `part/MESSAGE/ID.json`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = _MOST_FILES

    def sessions(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for project in self._entries(self._folder / "session"):
            for path in self._entries(project):
                info = _read(path)
                if (name := _identifier(info)) is not None:
                    found[name] = info
        for folder in self._entries(self._folder / "message"):
            found.setdefault(folder.name, {"id": folder.name, "title": folder.name})
        return found

    def messages(self, session: str) -> Iterator[dict[str, Any]]:
        for path in self._entries(self._folder / "message" / session):
            info = _read(path)
            if isinstance(info.get("role"), str):
                yield {"id": path.stem, **info, "sessionID": session}

    def parts(self, session: str, message: str) -> list[Any]:
        del session
        return [part for path in self._entries(self._folder / "part" / message) if (part := _read(path))]

    def _entries(self, folder: Path) -> Iterator[Path]:
        """Yields the entries of a folder by name, without links and within the file limit."""
        # Names come from files and could point outside of the folder.
        if "/" in folder.name or folder.name in ("", ".", "..") or not folder.is_dir() or folder.is_symlink():
            return
        for path in sorted(folder.iterdir()):
            self._left -= 1
            if self._left < 0:
                raise NotConvertedError(f"it holds more than {_MOST_FILES:,} files")
            if not path.is_symlink() and (path.is_dir() or path.suffix == ".json"):
                yield path


class _Database:
    """Tables `session`, `message` and `part`; the latter two have their content as JSON in `data`."""

    def __init__(self, connection: sqlite3.Connection, limit: ReadLimit) -> None:
        """Checks for computed values.

        Args:
            connection: connection to the database.
            limit: of the bytes read.

        Raises:
            NotConvertedError: it has computed values.
        """
        self._connection = connection
        for table in _TABLES:
            refuse_computed(connection, table, "OpenCode")
        self._count = limit.count
        self._parts: dict[str, list[Any]] = {}

    def sessions(self) -> dict[str, dict[str, Any]]:
        cursor = self._connection.execute("SELECT * FROM session")
        names = [column[0] for column in cursor.description]
        found: dict[str, dict[str, Any]] = {}
        for row in cursor:
            self._count(row)
            columns = dict(zip(names, row, strict=True))
            name = columns.get("id")
            if not isinstance(name, str):
                continue
            info = {_RENAMED.get(key, key): one for key, one in columns.items() if isinstance(one, str | int | float)}
            times = {one: columns[f"time_{one}"] for one in ("created", "updated") if f"time_{one}" in columns}
            found[name] = {**info, "id": name, "time": times}
        return found

    def messages(self, session: str) -> Iterator[dict[str, Any]]:
        self._parts = {**self._parts, **self._parts_of(session)}
        asked = "SELECT id, time_created, data FROM message WHERE session_id = ?"
        for identifier, created, data in self._connection.execute(asked, (session,)):
            self._count((identifier, data))
            info = _object(data)
            if info:
                yield {"time": {"created": created}, **info, "id": identifier, "sessionID": session}

    def _parts_of(self, session: str) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        asked = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id"
        for identifier, message, data in self._connection.execute(asked, (session,)):
            self._count((identifier, message, data))
            found.setdefault(str(message), []).append({**_object(data), "id": identifier})
        return found

    def parts(self, session: str, message: str) -> list[Any]:
        del session
        return self._parts.pop(message, [])


_RENAMED = {"parent_id": "parentID", "project_id": "projectID"}


def _members(root: str, below: Mapping[str, list[str]]) -> list[str]:
    """Returns a session and all its descendants; cycles are cut."""
    found, waiting = [root], [root]
    known = {root}
    while waiting:
        for child in below.get(waiting.pop(), ()):
            # Strange data may name a session as its own ancestor.
            if child not in known:
                known.add(child)
                found.append(child)
                waiting.append(child)
    return found


def _created_time(info: Mapping[str, Any]) -> float:
    times = info.get("time")
    value = times.get("created") if isinstance(times, Mapping) else None
    return value if isinstance(value, int | float) else 0


def _read(path: Path) -> dict[str, Any]:
    """Reads a small JSON file; returns an empty dict if it is not valid."""
    with path.open("rb") as file:
        data = file.read(_MAX_FILE + 1)
    return _object(data) if len(data) <= _MAX_FILE else {}


def _object(data: object) -> dict[str, Any]:
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    try:
        value = decode_json(raw) if isinstance(raw, bytes) and not is_too_large(raw) else None
    except NotAnObjectError:
        return {}
    return value if isinstance(value, dict) else {}


def _identifier(info: Mapping[str, Any]) -> str | None:
    found = info.get("id")
    return found if isinstance(found, str) and found else None


def _line(value: dict[str, Any]) -> bytes:
    return to_json(value) + b"\n"
