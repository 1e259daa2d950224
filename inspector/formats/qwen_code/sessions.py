"""Finds sessions of Qwen Code: `projects/<project>/chats/<session>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.entry_builders import text_of
from inspector.formats.qwen_code import FORMAT
from inspector.sources.agent_sessions.files import Listing
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder


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
        yield from sessions_in(FORMAT.name, listing.files(str(Path(project, "chats")), 1))


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt and model from the ends of a session's file."""
    complete_from_lines(session, _record, _facts, titles=(b'"customTitle"',))


def _facts(record: _Record) -> LineFacts:
    prompt = text_of(record.message.parts) if record.type == "user" and record.message is not None else ""
    title = record.system_payload.custom_title if record.system_payload is not None else None
    return LineFacts(record.cwd or "", prompt, title=title or "", model=record.model or "")


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
