"""Finds chat sessions of VS Code: `User/workspaceStorage/<workspace>/chatSessions/<session>.json` or `.jsonl`.

Windows without a folder keep them in `User/globalStorage/emptyWindowChatSessions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from inspector.formats.clients import editor_folders
from inspector.formats.vscode_chat import FORMAT
from inspector.sources.agent_sessions.files import END_BYTES, Listing, read_ends, read_whole
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder

_SUFFIXES = (".json", ".jsonl")
_TEXT = rb'"((?:[^"\\]|\\.){1,2000})"'
_TITLE = re.compile(rb'"customTitle"\s*:\s*' + _TEXT + rb'|"k"\s*:\s*\["customTitle"\]\s*,\s*"v"\s*:\s*' + _TEXT)
_PROMPT = re.compile(rb'"message"\s*:\s*\{\s*(?:"parts"\s*:\s*\[[^\]]{0,4000}\]\s*,\s*)?"text"\s*:\s*' + _TEXT)
_MODEL = re.compile(rb'"modelId"\s*:\s*' + _TEXT)


class _Workspace(msgspec.Struct, gc=False):
    folder: str | None = None


_workspace = msgspec.json.Decoder(_Workspace)
_text = msgspec.json.Decoder(str)


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the user folders of VS Code and of the editors built on it."""
    return editor_folders(environment)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from file names; `complete` adds details from the ends of the files."""
    workspaces = (path for path, _ in listing.folders(str(root / "workspaceStorage")))
    chats = (*(Path(one, "chatSessions") for one in workspaces), root / "globalStorage" / "emptyWindowChatSessions")
    for folder in chats:
        for found in listing.files(str(folder)):
            path = Path(found.path)
            if path.suffix in _SUFFIXES:
                yield AgentSession(FORMAT.name, path.stem, path, found.modified, found.size)


def complete(session: AgentSession) -> None:
    """Reads title, prompt and model from the ends of a session's file, and the project from `workspace.json`."""
    head, tail = read_ends(str(session.path))
    for data in (b"\n".join(head), b"\n".join(tail)):
        session.title = _last_match(_TITLE, data) or session.title
        session.prompt = session.prompt or _first_match(_PROMPT, data)
        session.model = _last_match(_MODEL, data) or session.model
    workspace = read_whole(str(session.path.parent.parent / "workspace.json"), END_BYTES)
    try:
        named = _workspace.decode(workspace).folder if workspace else None
        session.project = unquote(urlsplit(named).path) if named is not None else ""
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return


def _first_match(pattern: re.Pattern[bytes], data: bytes) -> str:
    """Returns the first match, or ""."""
    match = pattern.search(data)
    return _decoded(match) if match is not None else ""


def _last_match(pattern: re.Pattern[bytes], data: bytes) -> str:
    """Returns the last match, or ""."""
    found = [*pattern.finditer(data)]
    match = found[-1] if found else None
    return _decoded(match) if match is not None else ""


def _decoded(match: re.Match[bytes]) -> str:
    found = next(group for group in match.groups() if group is not None)
    try:
        return _text.decode(b'"' + found + b'"') if found else ""
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


SESSIONS = SessionFinder(folders=folders, candidates=candidates, complete=complete)
