"""Finds sessions of goose: rows of `sessions/sessions.db`, in older versions `sessions/<session>.jsonl`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import data_folder
from inspector.formats.databases import open_database, refuse_computed
from inspector.formats.entry_builders import text_of
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.goose import FORMAT
from inspector.formats.goose.conversion import DATABASE
from inspector.protocol.timestamps import parse_text_time
from inspector.sources.agent_sessions.files import Listing, read_head
from inspector.sources.agent_sessions.line_files import LINES, LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_LONGEST_NAME = 4_096
_MOST_ROWS = 10_000
_LONGEST_PROMPT = 1 << 16
_FIRST_PROMPTS = """
    SELECT session_id, substr(CAST(content_json AS TEXT), 1, ?) FROM messages
    WHERE rowid IN (SELECT min(rowid) FROM messages WHERE role = 'user' GROUP BY session_id)
"""


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Any = None


_message = msgspec.json.Decoder(_Message)


class _Header(msgspec.Struct, gc=False):
    working_dir: str = ""
    description: str = ""
    message_count: int | None = None


_header = msgspec.json.Decoder(_Header)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of goose's sessions."""
    if root := environment.get("GOOSE_PATH_ROOT"):
        return (Path(root, "data", "sessions"),)
    if sys.platform == "win32" and (settings := environment.get("APPDATA")):
        return (Path(settings, "Block", "goose", "data", "sessions"),)
    return (data_folder(environment) / "goose" / "sessions",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions: from the database with all details, from a file with the ones in its name."""
    files = list(listing.files(str(root)))
    kept: list[AgentSession] = []
    for found in files:
        if found.name == DATABASE:
            try:
                kept = list(_in_database(Path(found.path)))
            except (sqlite3.Error, OSError, UnicodeError, NotConvertedError):
                listing.unreadable.append(found.path)
    yield from kept
    known = {one.identifier for one in kept}  # goose leaves the files that it has imported
    yield from (one for one in sessions_in(FORMAT.name, files) if one.identifier not in known)


def _in_database(path: Path) -> Iterator[AgentSession]:
    """Yields the newest sessions of a database."""
    with closing(open_database(path)) as connection:
        for table in ("sessions", "messages"):
            refuse_computed(connection, table, "goose")
        columns = {row[1] for row in connection.execute("PRAGMA table_info(sessions)")}
        texts = ("id", "working_dir", "description", *(one for one in ("name",) if one in columns), "updated_at")
        named = ", ".join(f"substr(CAST({one} AS TEXT), 1, {_LONGEST_NAME})" for one in texts)
        asked = f"SELECT {named} FROM sessions ORDER BY updated_at DESC LIMIT ?"
        rows = connection.execute(asked, (_MOST_ROWS,)).fetchall()
        counts = dict(connection.execute("SELECT session_id, count(*) FROM messages GROUP BY session_id"))
        prompts = dict(connection.execute(_FIRST_PROMPTS, (_LONGEST_PROMPT,)))
    for name, project, *titles, updated in rows:
        modified = parse_text_time(updated) / 1e9 if isinstance(updated, str) else 0.0
        title = next((one for one in reversed(titles) if one), "")
        yield AgentSession(
            FORMAT.name, str(name), path / str(name), modified, 0, project or "", title, _typed_text(prompts.get(name)),
            messages=counts.get(name, 0),
        )  # fmt: skip


def _typed_text(content: object) -> str:
    try:
        return text_of(msgspec.json.decode(content)) if isinstance(content, str) else ""
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""


def complete(session: AgentSession) -> None:
    """Reads project, title and the number of messages from the header of a session's file."""
    if session.path.suffix != LINES:
        return
    head = read_head(str(session.path))
    try:
        found = _header.decode(head[0]) if head else _Header()
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    session.project, session.title, session.messages = found.working_dir, found.description, found.message_count
    if not session.title:
        complete_from_lines(session, _message, _facts)


def _facts(message: _Message) -> LineFacts:
    return LineFacts(prompt=text_of(message.content) if message.role == "user" else "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
