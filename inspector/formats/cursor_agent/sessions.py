"""Finds transcripts of Cursor's agent: `projects/<project>/agent-transcripts/<session>/<session>.jsonl`.

Older versions have no folder of the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.cursor_agent import FORMAT
from inspector.formats.cursor_agent.reader import typed_text
from inspector.sources.agent_sessions.files import Listing
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder


class _Message(msgspec.Struct, gc=False):
    content: Any = None


class _Record(msgspec.Struct, gc=False):
    role: str = ""
    message: _Message | None = None


_record = msgspec.json.Decoder(_Record)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of Cursor's agent."""
    chosen = environment.get("CURSOR_DATA_DIR")
    return (Path(chosen) if chosen else user_folder(environment) / ".cursor",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields transcripts from names and places of files."""
    for project, name in listing.folders(str(root / "projects")):
        yield from sessions_in(FORMAT.name, listing.files(str(Path(project, "agent-transcripts")), 1), name)


def complete(session: AgentSession) -> None:
    """Reads the prompt from a transcript, which names no project and no model."""
    complete_from_lines(session, _record, _facts)


def _facts(record: _Record) -> LineFacts:
    asked = record.message is not None and record.role == "user"
    return LineFacts(prompt=typed_text(record.message.content) if asked and record.message is not None else "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
