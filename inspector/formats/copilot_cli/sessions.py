"""Finds sessions of Copilot CLI: `session-state/<session>/events.jsonl`, before 1.0 `session-state/<session>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.copilot_cli import FORMAT
from inspector.sources.agent_sessions.files import Listing, home_in, read_ends
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_EVENTS = "events.jsonl"


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


def folder(environment: Mapping[str, str]) -> Path:
    """Returns the home folder of Copilot CLI."""
    return home_in(environment) / ".copilot"


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from their places; `complete` adds details from the ends of the files."""
    states = str(root / "session-state")
    for path, name in listing.folders(states):
        for found in listing.files(path):
            if found.name == _EVENTS:
                yield AgentSession(FORMAT.name, name, Path(found.path), found.modified, found.size)
    for found in listing.files(states):
        if found.name.endswith(".jsonl"):
            yield AgentSession(
                FORMAT.name, found.name.removesuffix(".jsonl"), Path(found.path), found.modified, found.size
            )


def complete(session: AgentSession) -> None:
    """Reads project, prompt, model and the number of sub-agents from the ends of a session's file."""
    head, tail = read_ends(str(session.path))
    for line in (*head, *tail):
        try:
            event = _event.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        data = event.data
        if data is None:
            continue
        session.project = session.project or data.cwd or (data.context.cwd if data.context is not None else None) or ""
        session.model = data.new_model or data.model or data.selected_model or session.model
        if event.type == "user.message" and isinstance(data.content, str):
            session.prompt = session.prompt or data.content
        session.sub_agents += event.type == "subagent.started"


SESSIONS = SessionFinder(folder=folder, candidates=candidates, complete=complete)
