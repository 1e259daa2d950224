"""Finds sessions of Gemini CLI: `tmp/<project>/chats/session-<time>-<id prefix>.jsonl`, before 0.40 `.json`.

Sub-agents have files below `chats/<session>/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.clients import user_folder
from inspector.formats.gemini_cli import FORMAT
from inspector.formats.gemini_cli.reader import asked_in
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.line_files import LINES, LineFacts, complete_from_lines
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import Member, ReadCache, named_session, oldest_first

_CHATS = "chats"
"""Folder of a project's sessions."""
_MOST_BYTES = 16 << 20
"""Limit of documents whose facts are read."""
_NAME = re.compile(r"session-.*-([0-9a-f]{8})\.jsonl?$")


class _Message(msgspec.Struct, gc=False):
    type: str = ""
    content: Any = None
    model: str | None = None


class _Document(msgspec.Struct, gc=False):
    messages: list[_Message] = []


_message = msgspec.json.Decoder(_Message)
_document = msgspec.json.Decoder(_Document)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the folder of Gemini CLI, and that of its sandbox on macOS."""
    home = Path(environment.get("GEMINI_CLI_HOME") or user_folder(environment))
    return home / ".gemini", home / ".cache" / ".gemini"


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from names and places of files; `complete` adds details from the ends of the files."""
    for project, name in listing.folders(str(root / "tmp")):
        chats = str(Path(project, _CHATS))
        agents = {folder: list(listing.files(path)) for path, folder in listing.folders(chats)}
        for found in listing.files(chats):
            match = _NAME.match(found.name)
            if match is None:
                continue
            own = [one for folder, files in agents.items() if folder.startswith(match[1]) for one in files]
            yield AgentSession(
                FORMAT.name, match[1], Path(found.path), max([found.modified, *(one.modified for one in own)]),
                found.size + sum(one.size for one in own), project=name, sub_agents=len(own),
            )  # fmt: skip


def complete(session: AgentSession) -> None:
    """Reads prompt and model from a session's file: a document as a whole, of lines both ends."""
    if session.path.suffix == LINES:
        complete_from_lines(session, _message, _facts)
        return
    try:
        messages = _document.decode(read_whole(str(session.path), _MOST_BYTES)).messages
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    facts = [_facts(message) for message in messages]
    session.prompt = next(filter(None, (one.prompt for one in facts)), "")
    session.model = next(filter(None, (one.model for one in reversed(facts))), "")
    session.messages = len(messages)


def _facts(message: _Message) -> LineFacts:
    return LineFacts(prompt=asked_in(message.content) if message.type == "user" else "", model=message.model or "")


def files_of_session(path: Path, listing: Listing, seen: ReadCache) -> list[Member] | None:
    """Returns the files of a session and its sub-agents, in a folder named by its id; None for other files."""
    del seen  # each file is read once
    if path.is_dir() or path.parent.name != _CHATS or path.is_symlink():
        return None
    session = named_session(str(path))
    # The id comes from the file and must not lead out of its folder.
    if session is None or "/" in session or session in ("", ".", ".."):
        return None
    folder = path.with_name(session)
    found = [] if folder.is_symlink() else oldest_first(listing.files(str(folder)))
    agents = [
        Member(Path(one.path), session, named_session(one.path) or one.name.removesuffix(LINES))
        for one in found
        if one.name.endswith(LINES)
    ]
    return [Member(path), *agents] if agents else None


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete, files=files_of_session)
