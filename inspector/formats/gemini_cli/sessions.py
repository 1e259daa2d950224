"""Finds sessions of Gemini CLI: `tmp/<project>/chats/session-<time>-<id prefix>.jsonl`, before 0.40 `.json`.

Sub-agents have files below `chats/<session>/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.gemini_cli import FORMAT
from inspector.formats.gemini_cli.reader import asked_in
from inspector.sources.agent_sessions.files import Listing, home_in, read_ends
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import Member, ReadCache, named_session, oldest_first

_CHATS = "chats"
"""Folder of a project's sessions."""
_LINES = ".jsonl"
_NAME = re.compile(r"session-.*-([0-9a-f]{8})\.jsonl?$")


class _Message(msgspec.Struct, gc=False):
    type: str = ""
    content: Any = None
    model: str | None = None


class _Document(msgspec.Struct, gc=False):
    messages: list[_Message] = []


_message = msgspec.json.Decoder(_Message)
_document = msgspec.json.Decoder(_Document)


def folder(environment: Mapping[str, str]) -> Path:
    """Returns the home folder of Gemini CLI."""
    return home_in(environment) / ".gemini"


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
    """Reads prompt and model from the ends of a session's file. A `.json` longer than one end gives neither."""
    head, tail = read_ends(str(session.path))
    for message in _messages_in(session.path, head, tail):
        session.model = message.model or session.model
        if message.type == "user":
            session.prompt = session.prompt or asked_in(message.content)


def _messages_in(path: Path, head: list[bytes], tail: list[bytes]) -> Iterator[_Message]:
    if path.name.endswith(".json"):
        try:
            yield from _document.decode(b"\n".join((*head, *tail))).messages
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return
    for line in (*head, *tail):
        try:
            yield _message.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue


def files_of_session(path: Path, listing: Listing, seen: ReadCache) -> list[Member] | None:
    """Returns the files of a session and its sub-agents, in a folder named by its id; None for other files."""
    del seen  # each file is read once
    if path.is_dir() or path.parent.name != _CHATS or path.is_symlink():
        return None
    session = named_session(str(path))
    # The id comes from the file and must not lead out of its folder.
    if session is None or "/" in session or session in ("", ".", ".."):
        return [Member(path)]
    folder = path.with_name(session)
    found = [] if folder.is_symlink() else oldest_first(listing.files(str(folder)))
    agents = [
        Member(Path(one.path), session, named_session(one.path) or one.name.removesuffix(_LINES))
        for one in found
        if one.name.endswith(_LINES)
    ]
    return [Member(path), *agents]


SESSIONS = SessionFinder(folder=folder, candidates=candidates, complete=complete, files=files_of_session)
