"""Sessions of Codex: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, archived ones flat.

Newer versions compress them (`.jsonl.zst`); where both lie there, the plain one is read. Threads that another one
spawned are its sub-agents, and no sessions of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from inspector.protocol.formats.codex.meanings import MACHINE
from inspector.sources.agent_sessions.files import Listing, read_ends
from inspector.sources.agent_sessions.session import AgentSession

PROGRAM = "codex"
VARIABLE = "CODEX_HOME"

_NAME = re.compile(r"rollout-.*?-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl(\.zst)?$")
_FIRST_BYTES = 64 << 10
_FOLDERS = (("sessions", 3), ("archived_sessions", 0))
"""With how many levels of folders below."""


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


def folder(environment: Mapping[str, str]) -> Path:
    """Where Codex has its files."""
    return Path(environment.get(VARIABLE) or Path.home() / ".codex")


class NameParts(NamedTuple):
    """What a file's name says."""

    thread: str
    packed: bool


def name_parts(name: str) -> NameParts | None:
    """What the name of a thread's file says; None for other files."""
    match = _NAME.match(name)
    return NameParts(match[1], match[2] is not None) if match is not None else None


def parent_in(path: str) -> str | None:
    """The thread that spawned the one whose file this is, by its first record; None where nobody did, or none says."""
    head, _ = read_ends(path, _FIRST_BYTES)
    try:
        line = _line.decode(head[0]) if head else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if line is None or line.type != "session_meta" or line.payload is None:
        return None
    return _parent_of(line.payload)


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Every thread's file with what its name tells; `complete` adds what its ends tell."""
    plain: dict[str, AgentSession] = {}
    for name, depth in _FOLDERS:
        for found in listing.files(str(root / name), depth):
            name = name_parts(found.name)
            if name is None:
                continue
            identifier = name.thread
            if identifier in plain and (name.packed or not plain[identifier].path.name.endswith(".zst")):
                continue
            plain[identifier] = AgentSession(PROGRAM, identifier, Path(found.path), found.modified, found.size)
    yield from plain.values()


def complete(session: AgentSession) -> str | None:
    """Read the ends of a thread's file for project, prompt and model; the id of the thread that spawned it, if one did.

    A review's sub-agent names none: its parent is "".
    """
    head, tail = read_ends(str(session.path))
    parent: str | None = None
    described = False
    for data in (*head, *tail):
        try:
            line = _line.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        payload = line.payload
        if payload is None:
            session.prompt = session.prompt or _typed(line.role, line.content)
            continue
        if line.type == "session_meta" and not described:  # a later one is of a fork or a resumption
            described = True
            session.project = payload.cwd or ""
            parent = _parent_of(payload)
        elif line.type == "turn_context":
            session.model = payload.model or session.model
            session.project = session.project or payload.cwd or ""
        elif payload.type == "user_message" and isinstance(payload.message, str):
            session.prompt = session.prompt or _plain(payload.message)
        elif line.type == "response_item":
            session.prompt = session.prompt or _typed(payload.role, payload.content)
    return parent


def _parent_of(payload: _Payload) -> str | None:
    source = payload.source
    if not isinstance(source, dict) or "subagent" not in source:
        return payload.parent_thread_id
    spawn = source["subagent"]
    spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    named = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    return named if isinstance(named, str) else payload.parent_thread_id or ""


def _typed(role: str, content: object) -> str:
    """What a person typed, empty for what the program put there."""
    if role != "user" or not isinstance(content, list):
        return ""
    for block in content:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str) and _plain(text):
            return text
    return ""


def _plain(text: str) -> str:
    return "" if text.startswith(MACHINE) else text
