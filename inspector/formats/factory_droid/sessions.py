"""Finds sessions of Factory's droid: `sessions/<project>/<session>.jsonl`, in older versions without a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.factory_droid import FORMAT
from inspector.formats.factory_droid.reader import typed_text
from inspector.sources.agent_sessions.files import Listing
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Any = None
    model: str | None = None


class _Record(msgspec.Struct, gc=False):
    type: str = ""
    title: str | None = None
    cwd: str | None = None
    message: _Message | None = None


_record = msgspec.json.Decoder(_Record)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of Factory's programs."""
    home = environment.get("FACTORY_HOME_OVERRIDE")
    return ((Path(home) if home else user_folder(environment)) / ".factory",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Returns sessions from names and places of files; `complete` adds details from the ends of the files."""
    return sessions_in(FORMAT.name, listing.files(str(root / "sessions"), 1))


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt and model from the ends of a session's file."""
    complete_from_lines(session, _record, _facts, titles=(b'"session_start"',))


def _facts(record: _Record) -> LineFacts:
    message = record.message or _Message()
    prompt = typed_text(message.content) if message.role == "user" else ""
    return LineFacts(record.cwd or "", prompt, title=record.title or "", model=message.model or "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
