"""Finds sessions of Qwen Code: `projects/<project>/chats/<session>.jsonl`.

Background sub-agents have files `projects/<project>/subagents/<session>/agent-<id>.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.entry_builders import text_of
from inspector.formats.qwen_code import FORMAT
from inspector.sources.agent_sessions.files import Found, Listing
from inspector.sources.agent_sessions.line_files import LINES, LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import Member, ReadCache, oldest_first

_CHATS, _SUB_AGENTS, _AGENT = "chats", "subagents", "agent-"


class _Content(msgspec.Struct, gc=False):
    parts: Any = None


class _Payload(msgspec.Struct, gc=False, rename="camel"):
    custom_title: str | None = None


class _Record(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    cwd: str | None = None
    model: str | None = None
    message: _Content | None = None
    system_payload: _Payload | None = None


_record = msgspec.json.Decoder(_Record)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of Qwen Code's sessions."""
    chosen = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
    return (Path(chosen) if chosen else user_folder(environment) / ".qwen",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names and places of files; `complete` adds details from the ends of the files."""
    for project, _ in listing.folders(str(root / "projects")):
        for session in sessions_in(FORMAT.name, listing.files(str(Path(project, _CHATS)), 1)):
            agents = _agents(session.path, listing)
            session.sub_agents = len(agents)
            session.size += sum(one.size for one in agents)
            session.modified = max([session.modified, *(one.modified for one in agents)])
            yield session


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt and model from the ends of a session's file."""
    complete_from_lines(session, _record, _facts, titles=(b'"customTitle"',))


def _facts(record: _Record) -> LineFacts:
    prompt = text_of(record.message.parts) if record.type == "user" and record.message is not None else ""
    title = record.system_payload.custom_title if record.system_payload is not None else None
    return LineFacts(record.cwd or "", prompt, title=title or "", model=record.model or "")


def _agents(session: Path, listing: Listing) -> list[Found]:
    """Returns the files of a session's background sub-agents, oldest first."""
    folder = session.parent.parent / _SUB_AGENTS / session.stem
    if session.parent.name != _CHATS or folder.is_symlink():
        return []
    return oldest_first(
        one for one in listing.files(str(folder)) if one.name.startswith(_AGENT) and one.name.endswith(LINES)
    )


def files_of_session(path: Path, listing: Listing, _seen: ReadCache) -> list[Member] | None:
    """Returns the files of a session with background sub-agents; None for other paths."""
    agents = [Path(one.path) for one in _agents(path, listing)]
    return (
        [Member(path), *(Member(one, path.stem, one.stem.removeprefix(_AGENT)) for one in agents)] if agents else None
    )


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete, files=files_of_session)
