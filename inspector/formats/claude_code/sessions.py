"""Finds sessions of Claude Code: `projects/<folder>/<session>.jsonl` below its configuration folder.

Sub-agents have files `agent-<id>.jsonl` below `<session>/subagents/` or, in older versions, beside the session's file.
`agent-<id>.meta.json` names the origin of one.
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

from inspector.formats.claude_code import FORMAT
from inspector.formats.claude_code.derivation import PROGRAM_TEXT_STARTS
from inspector.formats.claude_code.session_folders import RESULTS, SUB_AGENTS
from inspector.formats.clients import user_folder
from inspector.sources.agent_sessions.files import Found, Listing, read_head
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines
from inspector.sources.agent_sessions.session import AgentSession, SessionFinder
from inspector.sources.transcript_files import (
    AgentFacts,
    Member,
    ReadCache,
    named_session,
    oldest_first,
    transcripts_among,
)

_VARIABLE = "CLAUDE_CONFIG_DIR"

_COMMAND = re.compile(r"<command-name>(/[^<]{1,200})</command-name>(?:\s*<command-args>([^<]{0,1000})</command-args>)?")
"""A slash command with its arguments, as tags around the typed text."""
_TITLE_MARKS = (b'-title"', b'"agentName"')
_AGENT = "agent-"
_DEPTH = 3
"""Levels below `subagents`; workflows have folders of their own."""
_LINES, _FACTS = ".jsonl", ".meta.json"
"""Endings of files: records, and facts about a sub-agent."""
_JOURNAL = "journal.jsonl"
_FACTS_BYTES = 64 << 10
_MOST_ENTRIES = 20_000
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
_decode_facts = msgspec.json.Decoder(AgentFacts).decode


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Returns the configuration folders of Claude Code; some versions follow the XDG rules."""
    home, chosen = user_folder(environment), environment.get(_VARIABLE)
    further = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "claude"
    return (Path(chosen),) if chosen else (home / ".claude", further)


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
                FORMAT.name, name, Path(found.path), found.modified, found.size, running=name in running
            )
        _add_below(project, sessions, listing)
        _add_beside(beside, sessions)
        yield from sessions.values()


def complete(session: AgentSession) -> None:
    """Reads project, title, prompt and model from the ends of a session's file. Sub-agents have files of their own."""
    commands: list[str] = []

    def facts(line: _Line) -> LineFacts:
        title, rank = next(((text, rank) for rank, text in _titles(line) if text), ("", 0))
        message = line.message
        if message is None:
            last = (line.last_prompt or "") if line.type == "last-prompt" else ""
            return LineFacts(line.cwd or "", other_prompt=last, title=title, title_rank=rank)
        prompt = ""
        if line.type == "user" and not (line.is_meta or line.is_compact_summary or line.is_sidechain):
            prompt, command = _typed_text(message.content)
            commands.extend(filter(None, (command,)))
        # Messages of the program itself have the model "<synthetic>".
        model = message.model if message.model and not message.model.startswith("<") else ""
        return LineFacts(line.cwd or "", prompt, title=title, model=model, title_rank=rank)

    complete_from_lines(session, _line, facts, titles=_TITLE_MARKS)
    session.prompt = session.prompt or next(iter(commands), "")


def _titles(line: _Line) -> tuple[tuple[int, str | None], ...]:
    """Returns the title in a line with its rank: the user's own title first."""
    # A `summary` is no title: it names a record that may be in another session's file.
    by_type = {"custom-title": (3, line.custom_title), "ai-title": (2, line.ai_title)}
    return (by_type.get(line.type, (1, line.agent_name)),)


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
            for found in listing.files(str(Path(path, SUB_AGENTS)), _DEPTH):
                if found.name.startswith(_AGENT) and found.name.endswith(".jsonl"):
                    _add(session, found)


def _add_beside(beside: list[Found], sessions: dict[str, AgentSession]) -> None:
    """Counts sub-agents with files beside their session's; their first line names it."""
    for found in beside:
        head = read_head(found.path, 8 << 10)
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
        head = read_head(found.path, _PID_BYTES)
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


def files_of_session(path: Path, listing: Listing, seen: ReadCache) -> list[Member] | None:
    """Returns the files of a session and its sub-agents, or of a folder with sub-agents; None for other paths."""
    if not path.is_dir():
        members = _of_session(path, _agents_beside(path.parent, listing, seen), listing)
        return members if len(members) > 1 else None
    own = path.parent / (path.name + _LINES)  # "/" has no name
    if any((path / one).is_dir() for one in (SUB_AGENTS, RESULTS)) and own.is_file() and not own.is_symlink():
        return _of_session(own, {}, listing)
    return _of_folder(path, listing, seen)


def spawned_files(folder: Path, names: list[str], listing: Listing, parents: dict[str, str]) -> dict[str, list[Path]]:
    """Returns the sub-agents' files beside their sessions', by name of the session's file."""
    del listing, parents  # only the files beside are read
    if not any(name.startswith(_AGENT) for name in names):
        return {}
    beside = _agents_beside(folder, Listing(_MOST_ENTRIES), ReadCache())
    found = {f"{session}{_LINES}": [one.path for one in agents] for session, agents in beside.items()}
    return {name: agents for name, agents in found.items() if name in names}


def _of_folder(path: Path, listing: Listing, seen: ReadCache) -> list[Member] | None:
    """Returns all sessions of a folder with sub-agents, oldest first; None without sub-agents."""
    files = [found for found in listing.files(str(path)) if found.name.endswith(_LINES)]
    sessions = [one for one in oldest_first(files) if not one.name.startswith(_AGENT)]
    beside = _agents_beside(path, listing, seen)
    found = [m for one in sessions for m in _of_session(Path(one.path), beside, listing)]
    known = {member.path for member in found}
    # Sub-agents whose session is gone are still worth reading.
    alone = [agent for agents in beside.values() for agent in agents if agent.path not in known]
    for folder, name in listing.folders(str(path)):
        alone += [m for m in _agents_below(Path(folder), name, listing) if m.path not in known]
    if (path / SUB_AGENTS).is_dir():
        alone += [member for member in _agents_below(path, path.name, listing) if member.path not in known]
    if path.name == SUB_AGENTS:
        alone += _agents(path, path.parent.name, listing)
    if len(found) == len(sessions) and not alone:
        return None
    return transcripts_among((*found, *alone), seen)


def _of_session(path: Path, beside: dict[str, list[Member]], listing: Listing) -> list[Member]:
    """Returns the files of a session and its sub-agents."""
    name = path.name.removesuffix(_LINES)
    return [Member(path), *_agents_below(path.with_name(name), name, listing), *beside.get(name, ())]


def _agents_below(folder: Path, session: str, listing: Listing) -> list[Member]:
    return _agents(folder / SUB_AGENTS, session, listing) if (folder / SUB_AGENTS).is_dir() else []


def _agents(folder: Path, session: str, listing: Listing) -> list[Member]:
    if folder.is_symlink():
        return []
    found = oldest_first(listing.files(str(folder), _DEPTH))
    return [_agent(Path(f.path), session) for f in found if f.name.endswith(_LINES) and f.name != _JOURNAL]


def _agents_beside(folder: Path, listing: Listing, seen: ReadCache) -> dict[str, list[Member]]:
    """Returns sub-agent files beside their sessions', by session; under "" if they name none."""
    found: dict[str, list[Member]] = {}
    for one in oldest_first(listing.files(str(folder))):
        if one.name.startswith(_AGENT) and one.name.endswith(_LINES):
            session = seen.sessions.get(one.path) or named_session(one.path)
            if session is not None:
                seen.sessions[one.path] = session
            found.setdefault(session or "", []).append(_agent(Path(one.path), session))
    return found


def _agent(path: Path, session: str | None) -> Member:
    name = path.name.removesuffix(_LINES)
    agent = name.removeprefix(_AGENT) if name.startswith(_AGENT) else None
    return Member(path, session, agent, _facts(path.with_name(name + _FACTS)))


def _facts(path: Path) -> AgentFacts | None:
    """Returns valid facts from beside a sub-agent's file, if any."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _FACTS_BYTES:
            return None
        return _decode_facts(path.read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


SESSIONS = SessionFinder(
    folders=folders,
    candidates=candidates,
    complete=complete,
    files=files_of_session,
    spawned_files=spawned_files,
    agents_folder=SUB_AGENTS,
)
