"""Finds sessions of Grok Build: `sessions/<project>/<session>/updates.jsonl`, with facts in `summary.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.grok_build import FORMAT
from inspector.formats.grok_build.voice import content_words
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_MOST_BYTES = 1 << 20
_UPDATES = "updates.jsonl"


class _Info(msgspec.Struct, gc=False):
    cwd: str = ""


class _Summary(msgspec.Struct, gc=False):
    info: _Info | None = None
    generated_title: str | None = None
    session_summary: str | None = None
    current_model_id: str | None = None
    parent_session_id: str | None = None


class _Update(msgspec.Struct, gc=False, rename={"sort": "sessionUpdate"}):
    sort: str = ""
    content: Any = None


class _Params(msgspec.Struct, gc=False):
    update: _Update | None = None


class _Line(msgspec.Struct, gc=False):
    params: _Params | None = None


_summary = msgspec.json.Decoder(_Summary)
_line = msgspec.json.Decoder(_Line)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the home folder of Grok Build."""
    return (Path(environment.get("GROK_HOME") or user_folder(environment) / ".grok"),)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names of files; `complete` adds details from the files beside them."""
    for found in listing.files(str(root / "sessions"), 2):
        if found.name == _UPDATES:
            path = Path(found.path)
            yield AgentSession(FORMAT.name, path.parent.name, path, found.modified, found.size, "")


def complete(session: AgentSession) -> str | None:
    """Reads project, title and model from the file beside a session, and the prompt. Returns its parent's id if any."""
    data = read_whole(str(session.path.with_name("summary.json")), _MOST_BYTES)
    try:
        found = _summary.decode(data) if data else _Summary()
    except (msgspec.MsgspecError, UnicodeDecodeError):
        found = _Summary()
    session.project = found.info.cwd if found.info is not None else ""
    session.title = found.generated_title or found.session_summary or ""
    session.model = found.current_model_id or ""
    complete_from_lines(session, _line, _prompt_in)
    return found.parent_session_id


def _prompt_in(line: _Line) -> LineFacts:
    update = line.params.update if line.params is not None else None
    if update is None or update.sort != "user_message_chunk":
        return LineFacts()
    return LineFacts(prompt=content_words(update.content))


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
