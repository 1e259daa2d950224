"""Finds sessions of Crush: `crush.db` in the data folders of the projects that `projects.json` lists."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from inspector.formats.clients import data_folder, user_folder
from inspector.formats.crush import FORMAT
from inspector.formats.crush.conversion import DATABASE
from inspector.formats.databases import open_database, refuse_computed
from inspector.formats.file_conversion import NotConvertedError
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_PROJECTS = "projects.json"
_MOST_BYTES, _MOST_PROJECTS, _MOST_ROWS, _LONGEST_NAME = 4 << 20, 1_000, 10_000, 4_096


class _Project(msgspec.Struct, gc=False):
    path: str = ""
    data_dir: str = ""


class _Projects(msgspec.Struct, gc=False):
    projects: list[_Project] = []


_projects = msgspec.json.Decoder(_Projects)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of Crush's own data."""
    if root := environment.get("CRUSH_GLOBAL_DATA"):
        return (Path(root),)
    if sys.platform == "win32" and not environment.get("XDG_DATA_HOME"):
        local = environment.get("LOCALAPPDATA") or user_folder(environment) / "AppData" / "Local"
        return (Path(local, "crush"),)
    return (data_folder(environment) / "crush",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields the sessions of all listed projects."""
    listed = next((one.path for one in listing.files(str(root)) if one.name == _PROJECTS), None)
    if listed is None:
        return
    try:
        projects = _projects.decode(read_whole(listed, _MOST_BYTES)).projects[:_MOST_PROJECTS]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        listing.unreadable.append(listed)
        return
    seen: set[str] = set()
    for project in projects:
        folder = str(Path(project.path, project.data_dir or ".crush"))
        for found in listing.files(folder) if project.path and folder not in seen else ():
            if found.name == DATABASE:
                try:
                    yield from _in_database(Path(found.path), project.path)
                except (sqlite3.Error, OSError, UnicodeError, NotConvertedError):
                    listing.unreadable.append(found.path)
        seen.add(folder)


def _in_database(path: Path, project: str) -> Iterator[AgentSession]:
    """Yields the newest sessions of a database, without sessions of sub-agents."""
    with closing(open_database(path)) as connection:
        for table in ("sessions", "messages"):
            refuse_computed(connection, table, "Crush")
        asked = (
            f"SELECT substr(CAST(id AS TEXT), 1, {_LONGEST_NAME}), substr(CAST(title AS TEXT), 1, {_LONGEST_NAME}), "
            "updated_at FROM sessions WHERE parent_session_id IS NULL ORDER BY updated_at DESC LIMIT ?"
        )
        rows = connection.execute(asked, (_MOST_ROWS,)).fetchall()
        counts = dict(connection.execute("SELECT session_id, count(*) FROM messages GROUP BY session_id"))
        below = "parent_session_id IN (SELECT id FROM sessions) AND id IN (SELECT session_id FROM messages)"
        asked = f"SELECT parent_session_id, count(*) FROM sessions WHERE {below} GROUP BY parent_session_id"
        agents = dict(connection.execute(asked))
    for name, title, updated in rows:
        modified = updated / 1000 if isinstance(updated, int | float) and updated > 1e11 else updated
        yield AgentSession(
            FORMAT.name, name, path / name, float(modified) if isinstance(modified, int | float) else 0.0, 0, project,
            title or "", sub_agents=agents.get(name, 0), messages=counts.get(name, 0),
        )  # fmt: skip


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=lambda _: None)
