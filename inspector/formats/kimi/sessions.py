"""Finds sessions of Kimi CLI and Kimi Code, a folder each: `sessions/<project>/<session>`.

Kimi CLI writes `wire.jsonl` there, Kimi Code `agents/<agent>/wire.jsonl`: one file for `main` and one per sub-agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.entry_builders import text_of
from inspector.formats.kimi import FORMAT
from inspector.sources.agent_sessions.files import Found, Listing
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import Member, ReadCache

_FILE, _AGENTS, _MAIN = "wire.jsonl", "agents", "main"


class _Payload(msgspec.Struct, gc=False):
    user_input: Any = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    payload: _Payload | None = None


class _Record(msgspec.Struct, gc=False):
    type: str = ""
    cwd: str | None = None
    model: str | None = None
    input: Any = None
    message: _Event | None = None


_record = msgspec.json.Decoder(_Record)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folders of Kimi Code and Kimi CLI."""
    home = user_folder(environment)
    code, cli = environment.get("KIMI_CODE_HOME"), environment.get("KIMI_SHARE_DIR")
    return Path(code) if code else home / ".kimi-code", Path(cli) if cli else home / ".kimi"


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names and places of files; `complete` adds details from the ends of the files."""
    for project, _ in listing.folders(str(root / "sessions")):
        for folder, name in listing.folders(project):
            agents = _agents(Path(folder), listing)
            own = next((found for agent, found in agents if agent in ("", _MAIN)), None)
            if own is not None:
                found = [one for _, one in agents]
                yield AgentSession(
                    FORMAT.name, name, Path(own.path), max(one.modified for one in found),
                    sum(one.size for one in found), sub_agents=len(found) - 1,
                )  # fmt: skip


def complete(session: AgentSession) -> None:
    """Reads folder, prompt and model from the ends of a session's file."""
    complete_from_lines(session, _record, _facts)


def _facts(record: _Record) -> LineFacts:
    prompt = record.input if record.type == "turn.prompt" else None
    if record.message is not None and record.message.type == "TurnBegin" and record.message.payload is not None:
        prompt = record.message.payload.user_input
    return LineFacts(record.cwd or "", text_of(prompt) if prompt else "", model=record.model or "")


def _agents(folder: Path, listing: Listing) -> list[tuple[str, Found]]:
    """Returns the files of a session by agent, the main one first; that of Kimi CLI has no name."""
    found = [("", one) for one in listing.files(str(folder)) if one.name == _FILE]
    for path, name in listing.folders(str(folder / _AGENTS)):
        found += [(name, one) for one in listing.files(path) if one.name == _FILE]
    return sorted(found, key=lambda one: (one[0] not in ("", _MAIN), one[1].modified, one[1].path))


def files_of_session(path: Path, listing: Listing, _seen: ReadCache) -> list[Member] | None:
    """Returns the files of a session of Kimi Code with all its agents; None for other paths."""
    is_agent = path.name == _FILE and path.parent.parent.name == _AGENTS
    folder = path.parent.parent.parent if is_agent else path
    if not (folder / _AGENTS).is_dir() or (folder / _AGENTS).is_symlink():
        return None
    found = [(agent, one) for agent, one in _agents(folder, listing) if agent]
    return [
        Member(Path(one.path), folder.name, None if agent == _MAIN else agent) for agent, one in found
    ] or None  # fmt: skip


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete, files=files_of_session)
