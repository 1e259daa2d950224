"""Finds sessions of Copilot CLI: `session-state/<session>/events.jsonl`, before 1.0 `session-state/<session>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.copilot_cli import FORMAT
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.line_files import NO_FACTS, LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_EVENTS = "events.jsonl"
_COUNTED_BYTES = 4 << 20
"""Limit of files whose sub-agents are counted: each file is read as a whole for it."""


class _Context(msgspec.Struct, gc=False):
    cwd: str | None = None


class _Data(msgspec.Struct, gc=False, rename="camel"):
    content: Any = None
    context: _Context | None = None
    cwd: str | None = None
    model: str | None = None
    new_model: str | None = None
    selected_model: str | None = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    data: _Data | None = None


_event = msgspec.json.Decoder(_Event)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of Copilot CLI."""
    own, state = environment.get("COPILOT_HOME"), environment.get("XDG_STATE_HOME")
    usual = user_folder(environment) / ".copilot"
    return (Path(own),) if own else (usual, Path(state, ".copilot")) if state else (usual,)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from their places; `complete` adds details from the ends of the files."""
    states = str(root / "session-state")
    for path, name in listing.folders(states):
        for found in listing.files(path):
            if found.name == _EVENTS:
                yield AgentSession(FORMAT.name, name, Path(found.path), found.modified, found.size)
    yield from sessions_in(FORMAT.name, listing.files(states))


def complete(session: AgentSession) -> None:
    """Reads project, prompt, model and the number of sub-agents from a session's file."""
    complete_from_lines(session, _event, _facts)
    session.sub_agents = read_whole(str(session.path), _COUNTED_BYTES).count(b'"subagent.started"')


def _facts(event: _Event) -> LineFacts:
    data = event.data
    if data is None:
        return NO_FACTS
    project = data.cwd or (data.context.cwd if data.context is not None else None) or ""
    prompt = data.content if event.type == "user.message" and isinstance(data.content, str) else ""
    return LineFacts(project, prompt, model=data.new_model or data.model or data.selected_model or "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
