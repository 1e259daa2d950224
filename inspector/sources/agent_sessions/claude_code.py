"""Finds sessions of Claude Code: `projects/<folder>/<session>.jsonl` below its configuration folder.

Sub-agents have files below `<session>/subagents/` or, in older versions, beside the session's file.
`sessions/<pid>.json` lists the running sessions.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.claude_code.derivation import PROGRAM_TEXT_STARTS
from inspector.sources.agent_sessions.files import Found, Listing, read_ends
from inspector.sources.agent_sessions.session import AgentSession

PROGRAM = "claude-code"
VARIABLE = "CLAUDE_CONFIG_DIR"

_COMMAND = re.compile(r"<command-name>(/[^<]{1,200})</command-name>(?:\s*<command-args>([^<]{0,1000})</command-args>)?")
"""A slash command with its arguments, as tags around the typed text."""
_AGENT = "agent-"
_SUB_AGENTS = "subagents"
_DEPTH = 3
"""Levels below `subagents`; workflows have folders of their own."""
_PID_BYTES = 16 << 10
_MOST_PIDS = 1_000


class _Message(msgspec.Struct, gc=False):
    content: Any = None
    model: str | None = None


class _Line(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    message: _Message | None = None
    cwd: str | None = None
    session_id: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_sidechain: bool | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
    agent_name: str | None = None


class _Running(msgspec.Struct, gc=False, rename="camel"):
    pid: int = 0
    session_id: str = ""


_line = msgspec.json.Decoder(_Line)
_running = msgspec.json.Decoder(_Running)


def folder(environment: Mapping[str, str]) -> Path:
    """Returns the configuration folder of Claude Code."""
    return Path(environment.get(VARIABLE) or Path.home() / ".claude")


def candidates(root: Path, listing: Listing) -> Iterator[AgentSession]:
    """Yields sessions from file names and places; `complete` adds details from the ends of the files."""
    running = _running_sessions(root, listing)
    for project, _ in listing.folders(str(root / "projects")):
        beside: list[Found] = []
        sessions: dict[str, AgentSession] = {}
        for found in listing.files(project):
            if not found.name.endswith(".jsonl"):
                continue
            if found.name.startswith(_AGENT):
                beside.append(found)
                continue
            name = found.name.removesuffix(".jsonl")
            sessions[name] = AgentSession(
                PROGRAM, name, Path(found.path), found.modified, found.size, running=name in running
            )
        _add_below(project, sessions, listing)
        _add_beside(beside, sessions)
        yield from sessions.values()


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt and model from the ends of a session's file. Sub-agents have files of their own."""
    head, tail = read_ends(str(session.path))
    titles: dict[str, str] = {}
    command = ""
    for data in (*head, *tail):
        try:
            line = _line.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        session.project = session.project or line.cwd or ""
        titles |= {key: text for key, text in _titles(line).items() if text}
        message = line.message
        if message is None:
            continue
        # Messages of the program itself have the model "<synthetic>".
        if message.model and not message.model.startswith("<"):
            session.model = message.model
        if line.type == "user" and not (line.is_meta or line.is_compact_summary or line.is_sidechain):
            text, name = _typed_text(message.content)
            session.prompt, command = session.prompt or text, command or name
    session.prompt = session.prompt or titles.get("prompt") or command
    # The user's own title first.
    session.title = titles.get("custom") or titles.get("ai") or titles.get("agent") or ""


def _titles(line: _Line) -> dict[str, str | None]:
    match line.type:
        case "custom-title":
            return {"custom": line.custom_title}
        case "ai-title":
            return {"ai": line.ai_title}
        case "last-prompt":
            return {"prompt": line.last_prompt}
        case _:
            # A `summary` is no title: it names a record that may be in another session's file.
            return {"agent": line.agent_name}


def _typed_text(content: object) -> tuple[str, str]:
    """Returns the text that a person typed, and its slash command; both empty for text of the program or a tool."""
    if isinstance(content, str):
        return _split_command(content)
    if isinstance(content, list):
        for block in content:
            text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
            if isinstance(text, str) and any(parts := _split_command(text)):
                return parts
    return "", ""


def _split_command(text: str) -> tuple[str, str]:
    if not text.startswith(PROGRAM_TEXT_STARTS):
        return text, ""
    command = _COMMAND.search(text, 0, 4_000)
    return "", " ".join(filter(None, command.groups())) if command else ""


def _add_below(project: str, sessions: dict[str, AgentSession], listing: Listing) -> None:
    """Counts sub-agents with files below their session's folder."""
    for path, name in listing.folders(project):
        session = sessions.get(name)
        if session is not None:
            for found in listing.files(str(Path(path, _SUB_AGENTS)), _DEPTH):
                if found.name.startswith(_AGENT) and found.name.endswith(".jsonl"):
                    _add(session, found)


def _add_beside(beside: list[Found], sessions: dict[str, AgentSession]) -> None:
    """Counts sub-agents with files beside their session's; their first line names it."""
    for found in beside:
        head, _ = read_ends(found.path, 8 << 10)
        try:
            session = sessions.get(_line.decode(head[0]).session_id or "") if head else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if session is not None:
            _add(session, found)


def _add(session: AgentSession, found: Found) -> None:
    session.sub_agents += 1
    session.size += found.size
    # A session waits in silence while a sub-agent works.
    session.modified = max(session.modified, found.modified)


def _running_sessions(root: Path, listing: Listing) -> set[str]:
    running: set[str] = set()
    for count, found in enumerate(listing.files(str(root / "sessions"))):
        if count >= _MOST_PIDS:
            break
        if not found.name.endswith(".json") or found.size > _PID_BYTES:
            continue
        head, _ = read_ends(found.path, _PID_BYTES)
        try:
            one = _running.decode(b"\n".join(head))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if one.session_id and _process_exists(one.pid):
            running.add(one.session_id)
    return running


def _process_exists(pid: int) -> bool:
    """Returns True if a process with this number exists."""
    if not 0 < pid < 1 << 31:
        return False
    if sys.platform == "win32":  # there, signal 0 would end the process
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(0x1000, False, pid)
        if handle:
            kernel.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
