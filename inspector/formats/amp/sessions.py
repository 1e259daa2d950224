"""Finds threads of Amp: `threads/T-<id>.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from inspector.formats.amp import FORMAT
from inspector.formats.clients import data_folder
from inspector.formats.entry_builders import text_of
from inspector.sources.agent_sessions.files import Listing, read_whole
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_MOST_BYTES = 16 << 20
"""Limit of threads whose facts are read: the order of their members is open, so each is read as a whole."""


class _Usage(msgspec.Struct, gc=False):
    model: str = ""


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: Any = None
    usage: _Usage | None = None


class _Tree(msgspec.Struct, gc=False):
    uri: str = ""


class _Initial(msgspec.Struct, gc=False):
    trees: list[_Tree] = []


class _Environment(msgspec.Struct, gc=False):
    initial: _Initial | None = None


class _Thread(msgspec.Struct, gc=False):
    title: str | None = None
    env: _Environment | None = None
    messages: list[_Message] = []


_thread = msgspec.json.Decoder(_Thread)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the data folder of Amp."""
    chosen = environment.get("AMP_DATA_DIR")
    return (Path(chosen) if chosen else data_folder(environment) / "amp",)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields threads from file names; `complete` adds details from the files."""
    for found in listing.files(str(root / "threads")):
        path = Path(found.path)
        if path.suffix == ".json" and path.stem.startswith("T-"):
            yield AgentSession(FORMAT.name, path.stem, path, found.modified, found.size)


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt, model and the number of messages from a thread."""
    try:
        thread = _thread.decode(read_whole(str(session.path), _MOST_BYTES))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    session.title, session.messages = thread.title or "", len(thread.messages)
    asked = (text_of(one.content) for one in thread.messages if one.role == "user")
    session.prompt = next(filter(None, asked), "")
    models = (one.usage.model for one in reversed(thread.messages) if one.usage is not None)
    session.model = next(filter(None, models), "")
    initial = thread.env.initial if thread.env is not None else None
    trees = initial.trees if initial is not None else []
    session.project = folder_named(trees[0].uri) if trees else ""


def folder_named(uri: str) -> str:
    """Returns the folder of a `file:` address; "" for others."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return unquote(parts.path) if parts.scheme == "file" else ""


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
