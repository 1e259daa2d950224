"""Finds sessions of OpenCode: rows of `opencode.db`, in older versions `storage/session/<project>/<session>.json`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from inspector.formats.clients import data_folder
from inspector.formats.databases import open_database, refuse_computed
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.opencode import FORMAT
from inspector.sources.agent_sessions.files import END_BYTES, Listing, read_whole
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_DATABASES = re.compile(r"opencode(-\w+)?\.db")
"""Databases of the program and of its channels, as `opencode-dev.db`."""
_LONGEST_NAME = 4_096
_MOST_ROWS = 10_000
_STEPS, _MOST_STEPS = 10_000, 2_000
"""SQLite instructions between two progress checks, and the limit of checks."""


class _Session(msgspec.Struct, gc=False, rename={"parent": "parentID"}):
    directory: str = ""
    title: str = ""
    parent: str | None = None


class _Part(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    synthetic: bool = False


_part = msgspec.json.Decoder(_Part)
_LONGEST_PART = 1 << 16
_FIRST_PARTS = """
    SELECT part.session_id, substr(part.data, 1, ?) FROM part
    JOIN (SELECT min(id) AS first FROM message GROUP BY session_id) ON part.message_id = first ORDER BY part.id
"""

_session = msgspec.json.Decoder(_Session)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the data folder of OpenCode, which is the same on every system."""
    return (data_folder(environment) / "opencode",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions: from databases with all details, from a file with the ones in its name."""
    known: set[str] = set()
    for database in listing.files(str(root)):
        if _DATABASES.fullmatch(database.name):
            try:
                kept = list(_in_database(Path(database.path)))
            except (sqlite3.Error, OSError, UnicodeError, NotConvertedError):
                listing.unreadable.append(database.path)
                continue
            yield from kept
            known |= {one.identifier for one in kept}
    for project, _ in listing.folders(str(root / "storage" / "session")):
        for found in listing.files(project):
            if found.name.endswith(".json"):
                name = found.name.removesuffix(".json")
                if name not in known:  # OpenCode leaves the files that it has imported
                    yield AgentSession(FORMAT.name, name, Path(found.path), found.modified, found.size)


def _in_database(path: Path) -> Iterator[AgentSession]:
    """Yields the newest sessions of a database, each with its number of spawned sessions."""
    looks = iter(range(_MOST_STEPS))
    with closing(open_database(path)) as connection:
        connection.set_progress_handler(lambda: next(looks, None) is None, _STEPS)
        refuse_computed(connection, "session", "OpenCode")
        texts = ("id", "parent_id", "directory", "title")
        named = ", ".join(f"iif(typeof({one}) = 'text', substr({one}, 1, {_LONGEST_NAME}), NULL)" for one in texts)
        asked = f"SELECT {named}, time_updated FROM session ORDER BY time_updated DESC LIMIT ?"
        rows = connection.execute(asked, (_MOST_ROWS,)).fetchall()
        counts, prompts = _message_counts(connection), _first_prompts(connection)
    started: dict[object, int] = {}
    known = {row[0] for row in rows}
    for _, parent, *_ in rows:
        started[parent] = started.get(parent, 0) + 1
    for name, parent, directory, title, updated in rows:
        if isinstance(name, str) and (parent is None or parent not in known):
            modified = updated / 1000 if isinstance(updated, int | float) else 0.0
            project, name_given = (one if isinstance(one, str) else "" for one in (directory, title))
            yield AgentSession(
                FORMAT.name, name, path / name, modified, 0, project, name_given, prompts.get(name, ""),
                sub_agents=started.get(name, 0), messages=counts.get(name),
            )  # fmt: skip


def _message_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Returns the number of messages by session; empty without a usual table of them."""
    try:
        refuse_computed(connection, "message", "OpenCode")
        return dict(connection.execute("SELECT session_id, count(*) FROM message GROUP BY session_id"))
    except (sqlite3.Error, NotConvertedError):
        return {}


def _first_prompts(connection: sqlite3.Connection) -> dict[str, str]:
    """Returns the texts of the first messages by session; empty without the usual tables of them."""
    found: dict[str, str] = {}
    try:
        for table in ("message", "part"):
            refuse_computed(connection, table, "OpenCode")
        for session, data in connection.execute(_FIRST_PARTS, (_LONGEST_PART,)):
            try:
                part = _part.decode(data) if isinstance(data, str) else _Part()
            except msgspec.MsgspecError:
                continue
            if part.type == "text" and not part.synthetic:
                found.setdefault(session, part.text)
    except (sqlite3.Error, NotConvertedError):
        return found
    return found


def complete(session: AgentSession) -> str | None:
    """Reads project and title from a session's file. Returns the id of its parent session, if any."""
    if session.path.suffix != ".json":
        return None
    try:
        found = _session.decode(read_whole(str(session.path), END_BYTES))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    session.project, session.title = found.directory, found.title
    return found.parent


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
