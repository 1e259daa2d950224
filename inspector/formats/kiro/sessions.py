"""Finds sessions of Kiro's command line: `sessions/cli/<session>.jsonl`, with facts in `<session>.json` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.kiro import FORMAT
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines, sessions_in
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_MOST_BYTES = 16 << 20


class _ModelInfo(msgspec.Struct, gc=False):
    model_id: str = ""


class _ModelState(msgspec.Struct, gc=False):
    model_info: _ModelInfo | None = None


class _State(msgspec.Struct, gc=False):
    rts_model_state: _ModelState | None = None


class _Facts(msgspec.Struct, gc=False):
    cwd: str = ""
    title: str | None = None
    parent_session_id: str | None = None
    session_state: _State | None = None


class _Block(msgspec.Struct, gc=False):
    kind: str = ""
    data: Any = None


class _Message(msgspec.Struct, gc=False):
    content: list[_Block] = []


class _Line(msgspec.Struct, gc=False):
    kind: str = ""
    data: _Message | None = None


_facts = msgspec.json.Decoder(_Facts)
_line = msgspec.json.Decoder(_Line)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the home folder of Kiro."""
    return (Path(environment.get("KIRO_HOME") or user_folder(environment) / ".kiro"),)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names of files; `complete` adds details from the files beside them."""
    yield from sessions_in(FORMAT.name, listing.files(str(root / "sessions" / "cli")))


def complete(session: AgentSession) -> str | None:
    """Reads project, title and model from the file beside a session, and the prompt. Returns its parent's id if any."""
    data = read_whole(str(session.path.with_suffix(".json")), _MOST_BYTES)
    try:
        found = _facts.decode(data) if data else _Facts()
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    session.project, session.title = found.cwd, found.title or ""
    state = found.session_state.rts_model_state if found.session_state is not None else None
    session.model = state.model_info.model_id if state is not None and state.model_info is not None else ""
    complete_from_lines(session, _line, _prompt_in)
    return found.parent_session_id


def _prompt_in(line: _Line) -> LineFacts:
    blocks = line.data.content if line.kind == "Prompt" and line.data is not None else []
    texts = (block.data for block in blocks if block.kind == "text" and isinstance(block.data, str))
    return LineFacts(prompt=next(texts, ""))


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
