"""Finds sessions of Codex: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`; archived ones are in one folder.

Newer versions compress them (`.jsonl.zst`); of two copies, the plain one is read. A thread spawned by another one is
its sub-agent, not a session. Its file is in the folder of its own day, and only a file's first record names its parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from inspector.formats.codex import FORMAT
from inspector.formats.codex.client import home_folder
from inspector.formats.codex.derivation import MACHINE
from inspector.sources.agent_sessions.files import Found, Listing, read_head
from inspector.sources.agent_sessions.line_files import NO_FACTS, LineFacts, complete_from_lines
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import Member, ReadCache

_NAME = re.compile(r"rollout-.*?-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl(\.zst)?$")
_FIRST_BYTES = 64 << 10
_MOST_LOOKED_AT = 4_000
"""Limit of files checked for one thread: the earliest after it."""
_LEVELS = 3
"""Folder levels below `sessions`: year, month, day."""
_ROOT = "sessions"
_FOLDERS = ((_ROOT, _LEVELS), ("archived_sessions", 0))
"""Folders, and levels of folders below each."""
_NO_PARENT = ""
"""Parent of a thread that a person started."""


class _Payload(msgspec.Struct, gc=False):
    type: str = ""
    role: str = ""
    cwd: str | None = None
    model: str | None = None
    message: Any = None
    content: Any = None
    source: Any = None
    parent_thread_id: str | None = None


class _Line(msgspec.Struct, gc=False):
    type: str = ""
    payload: _Payload | None = None
    role: str = ""
    content: Any = None


_line = msgspec.json.Decoder(_Line)


class _NameParts(NamedTuple):
    """Facts in a file name."""

    thread: str
    packed: bool


def _name_parts(name: str) -> _NameParts | None:
    """Parses the name of a thread's file; None for other files."""
    match = _NAME.match(name)
    return _NameParts(match[1], match[2] is not None) if match is not None else None


def _parent_in(path: str) -> str | None:
    """Returns the parent thread of a thread from its first record, if it names one."""
    head = read_head(path, _FIRST_BYTES)
    try:
        line = _line.decode(head[0]) if head else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if line is None or line.type != "session_meta" or line.payload is None:
        return None
    return _parent_of(line.payload)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields threads from file names; `complete` adds details from the ends of the files."""
    plain: dict[str, AgentSession] = {}
    for name, depth in _FOLDERS:
        for found in listing.files(str(root / name), depth):
            name = _name_parts(found.name)
            if name is None:
                continue
            identifier = name.thread
            # The plain copy is the current one; compression happens afterwards.
            if identifier in plain and (name.packed or not plain[identifier].path.name.endswith(".zst")):
                continue
            plain[identifier] = AgentSession(FORMAT.name, identifier, Path(found.path), found.modified, found.size)
    yield from plain.values()


def complete(session: AgentSession) -> str | None:
    """Reads project, prompt and model from the ends of a thread's file. Returns the id of its parent thread, if any.

    A review's sub-agent does not name its parent: the id is "".
    """
    described: list[_Payload] = []  # later ones are from a fork or resumption

    def facts(line: _Line) -> LineFacts:
        payload = line.payload
        if payload is None:
            return LineFacts(prompt=_typed_text(line.role, line.content))
        if line.type == "session_meta":
            described.append(payload)
            return LineFacts(payload.cwd or "") if len(described) == 1 else NO_FACTS
        if line.type == "turn_context":
            return LineFacts(payload.cwd or "", model=payload.model or "")
        if payload.type == "user_message" and isinstance(payload.message, str):
            return LineFacts(prompt=_without_machine_text(payload.message))
        return (
            LineFacts(prompt=_typed_text(payload.role, payload.content)) if line.type == "response_item" else NO_FACTS
        )

    complete_from_lines(session, _line, facts, model=b'"turn_context"')
    return _parent_of(described[0]) if described else None


def _parent_of(payload: _Payload) -> str | None:
    source = payload.source
    if not isinstance(source, dict) or "subagent" not in source:
        return payload.parent_thread_id
    spawn = source["subagent"]
    spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    named = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    return named if isinstance(named, str) else payload.parent_thread_id or ""


def _typed_text(role: str, content: object) -> str:
    """Returns the text that a person typed; empty for text of the program."""
    if role != "user" or not isinstance(content, list):
        return ""
    for block in content:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str) and _without_machine_text(text):
            return text
    return ""


def _without_machine_text(text: str) -> str:
    return "" if text.startswith(MACHINE) else text


def files_of_session(path: Path, listing: Listing, seen: ReadCache) -> list[Member] | None:
    """Returns the files of a thread and its descendants, by start time; None for other files."""
    if _name_parts(path.name) is None:
        return None
    return [Member(one) for one in _files_of_thread(path, listing, seen.sessions)]


def spawned_files(folder: Path, names: list[str], listing: Listing, parents: dict[str, str]) -> dict[str, list[Path]]:
    """Returns the files of each thread's descendants, by name of the thread's file."""
    threads = (name for name in names if _name_parts(name) is not None)
    return {name: _files_of_thread(folder / name, listing, parents)[1:] for name in threads}


def _files_of_thread(path: Path, listing: Listing, parents: dict[str, str]) -> list[Path]:
    """Returns the files of a thread and its descendants, by start time.

    Args:
        path: file of the thread.
        listing: lists the folders.
        parents: cache of parent threads by path; extended.
    """
    own = _name_parts(path.name)
    if own is None:
        return [path]
    later = [found for found in _nearby_files(path, listing) if found.name > path.name]
    family, members = {own.thread}, [path]
    for found in sorted(later, key=lambda one: one.name)[:_MOST_LOOKED_AT]:
        parts = _name_parts(found.name)
        if parts is None or parts.thread in family:  # the same thread, compressed
            continue
        if found.path not in parents:
            parents[found.path] = _parent_in(found.path) or _NO_PARENT
        if parents[found.path] in family:
            family.add(parts.thread)
            members.append(Path(found.path))
    return members


def _nearby_files(path: Path, listing: Listing) -> list[Found]:
    """Returns all thread files if the file is in a day's folder, else the files beside it."""
    above = path.absolute().parents
    if len(above) > _LEVELS and above[_LEVELS].name == _ROOT:
        return list(listing.files(str(above[_LEVELS]), _LEVELS))
    return list(listing.files(str(path.parent)))


SESSIONS = SessionFinder(
    folders=lambda environment: (home_folder(environment),),
    candidates=candidates,
    complete=complete,
    files=files_of_session,
    spawned_files=spawned_files,
)
