"""Finds sessions of OpenCode: rows of `opencode.db`, in older versions `storage/session/<project>/<session>.json`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.opencode import FORMAT
from inspector.formats.opencode.conversion import DATABASE, open_database, refuse_computed
from inspector.sources.agent_sessions.files import Listing, home_in, read_ends
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_VARIABLE = "XDG_DATA_HOME"

_LONGEST_NAME = 4_096
_MOST_ROWS = 10_000
_STEPS, _MOST_STEPS = 10_000, 2_000
"""SQLite instructions between two progress checks, and the limit of checks."""


class _Session(msgspec.Struct, gc=False, rename={"parent": "parentID"}):
    directory: str = ""
    title: str = ""
    parent: str | None = None


_session = msgspec.json.Decoder(_Session)


def folder(environment: Mapping[str, str]) -> Path:
    """Returns the data folder of OpenCode."""
    return Path(environment.get(_VARIABLE) or home_in(environment) / ".local" / "share") / "opencode"


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions: from a database with all details, from a file with the ones in its name."""
    database = next((found for found in listing.files(str(root)) if found.name == DATABASE), None)
    if database is not None:
        try:
            yield from _in_database(Path(database.path))
        except (sqlite3.Error, OSError, UnicodeError, NotConvertedError):
            listing.unreadable.append(database.path)
    for project, _ in listing.folders(str(root / "storage" / "session")):
        for found in listing.files(project):
            if found.name.endswith(".json"):
                name = found.name.removesuffix(".json")
                yield AgentSession(FORMAT.name, name, Path(found.path), found.modified, found.size)


def _in_database(path: Path) -> Iterator[AgentSession]:
    """Yields the newest sessions of a database, each with its number of spawned sessions."""
    looks = iter(range(_MOST_STEPS))
    with closing(open_database(path)) as connection:
        connection.set_progress_handler(lambda: next(looks, None) is None, _STEPS)
        refuse_computed(connection, "session")
        texts = ("id", "parent_id", "directory", "title")
        named = ", ".join(f"iif(typeof({one}) = 'text', substr({one}, 1, {_LONGEST_NAME}), NULL)" for one in texts)
        asked = f"SELECT {named}, time_updated FROM session ORDER BY time_updated DESC LIMIT ?"
        rows = connection.execute(asked, (_MOST_ROWS,)).fetchall()
    started: dict[object, int] = {}
    known = {row[0] for row in rows}
    for _, parent, *_ in rows:
        started[parent] = started.get(parent, 0) + 1
    for name, parent, directory, title, updated in rows:
        if isinstance(name, str) and (parent is None or parent not in known):
            modified = updated / 1000 if isinstance(updated, int | float) else 0.0
            project, name_given = (one if isinstance(one, str) else "" for one in (directory, title))
            yield AgentSession(
                FORMAT.name, name, path / name, modified, 0, project, name_given, sub_agents=started.get(name, 0)
            )


def complete(session: AgentSession) -> str | None:
    """Reads project and title from a session's file. Returns the id of its parent session, if any."""
    if session.path.suffix != ".json":
        return None
    head, _ = read_ends(str(session.path))
    try:
        found = _session.decode(b"\n".join(head))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    session.project, session.title = found.directory, found.title
    return found.parent


SESSIONS = SessionFinder(folder=folder, candidates=candidates, complete=complete)
