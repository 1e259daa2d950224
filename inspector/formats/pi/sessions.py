"""Finds sessions: `agent/sessions/<project>/<time>_<id>.jsonl`, of OpenClaw `agents/<agent>/sessions/<id>.jsonl`.

Sub-agents of oh-my-pi have files in a folder beside the session with the name of its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.entry_builders import text_of
from inspector.formats.pi import FORMAT
from inspector.formats.pi.reader import DELIVERY
from inspector.sources.agent_sessions.files import Found, Listing
from inspector.sources.agent_sessions.line_files import LINES, LineFacts, complete_from_lines
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import Member, ReadCache, named_session, oldest_first

_TITLES = ("title", "title_change", "session_info")
_AGENTS = "agents"
"""Folder of OpenClaw, with a folder for each agent."""


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Any = None
    model: str | None = None
    provider: str | None = None


class _Entry(msgspec.Struct, gc=False):
    type: str = ""
    cwd: str | None = None
    title: str | None = None
    name: str | None = None
    message: _Message | None = None


_entry = msgspec.json.Decoder(_Entry)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folders of Pi's agent and of the programs built on it."""
    home = user_folder(environment)
    chosen = environment.get("PI_CODING_AGENT_DIR")
    state = environment.get("OPENCLAW_STATE_DIR")
    return (
        Path(chosen) if chosen else home / ".pi" / "agent",
        home / ".omp" / "agent",
        (Path(state) if state else home / ".openclaw") / _AGENTS,
    )


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names and places of files; `complete` adds details from the ends of the files."""
    if root.name == _AGENTS:
        for agent, _ in listing.folders(str(root)):
            yield from _sessions_in(str(Path(agent, "sessions")), listing)
        return
    sessions = str(root / "sessions")
    yield from _sessions_in(sessions, listing)
    for project, _ in listing.folders(sessions):
        yield from _sessions_in(project, listing)


def _sessions_in(folder: str, listing: Listing) -> Iterator[AgentSession]:
    own = [found for found in listing.files(folder) if found.name.endswith(LINES)]
    names = {found.name.removesuffix(LINES) for found in own}
    agents = {name: list(listing.files(path)) for path, name in listing.folders(folder) if name in names}
    for found in own:
        yield _session(found, agents.get(found.name.removesuffix(LINES), []))


def _session(found: Found, beside: list[Found]) -> AgentSession:
    agents = [one for one in beside if one.name.endswith(LINES)]
    name = found.name.removesuffix(LINES).rpartition("_")[2]
    return AgentSession(
        FORMAT.name, name, Path(found.path), max(one.modified for one in (found, *agents)),
        sum(one.size for one in (found, *agents)), sub_agents=len(agents),
    )  # fmt: skip


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt and model from the ends of a session's file."""
    complete_from_lines(session, _entry, _facts, titles=tuple(f'"{one}"'.encode() for one in _TITLES))


def _facts(entry: _Entry) -> LineFacts:
    title = (entry.title or entry.name or "") if entry.type in _TITLES else ""
    message = entry.message or _Message()
    prompt = text_of(message.content) if message.role == "user" else ""
    # A copy of an answer for a chat program is of no model.
    model = message.model if message.provider != DELIVERY else None
    return LineFacts(entry.cwd or "", prompt, title=title, model=model or "")


def files_of_session(path: Path, listing: Listing, seen: ReadCache) -> list[Member] | None:
    """Returns the files of a session and of its sub-agents; None without sub-agents in files of their own."""
    del seen  # each file is read once
    folder = path.with_suffix("")
    if path.suffix != LINES or path.is_symlink() or folder.is_symlink() or not folder.is_dir():
        return None
    session = named_session(str(path))
    found = [one for one in oldest_first(listing.files(str(folder))) if one.name.endswith(LINES)]
    if session is None or not found:
        return None
    return [Member(path), *(Member(Path(one.path), session, one.name.removesuffix(LINES)) for one in found)]


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete, files=files_of_session)
