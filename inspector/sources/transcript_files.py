"""Finds the files of a session and its sub-agents, in each agent's layout.

A session of Claude Code is `<id>.jsonl`. Its sub-agents have files `agent-<id>.jsonl` below `<session>/subagents/`, in
older versions beside the session's. `agent-<id>.meta.json` names the origin of one. Sub-agents of Gemini CLI are
`chats/<session>/<agent>.jsonl`. Links are not followed, and text in a file is never used as a path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from inspector.formats.line_reading import read_line_as
from inspector.formats.table import TRANSCRIPT_NAMES
from inspector.sources.agent_sessions.files import Listing, read_ends
from inspector.sources.thread_files import files_of_thread, is_thread

MOST_FILES = 400
"""Limit of files in one document, since each stays open. Beyond it, the newest are read and the rest is counted."""
_MOST_ENTRIES = 20_000
_AGENT, _SUB_AGENTS, _LINES, _FACTS = "agent-", "subagents", ".jsonl", ".meta.json"
_RESULTS = "tool-results"
"""Folder below a session's folder for results that were too long for its file."""
_DEPTH = 3
"""Levels below `subagents`; workflows have folders of their own."""
_JOURNAL = "journal.jsonl"
_CHATS = "chats"
"""Folder of Gemini CLI's sessions."""
_FACTS_BYTES = 64 << 10
_LOOKED_AT = 20
"""Number of first lines used for detection."""


class AgentFacts(msgspec.Struct, gc=False, rename="camel"):
    """Facts from the file beside a sub-agent's file."""

    tool_use_id: str | None = None
    parent_agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None


_decode_facts = msgspec.json.Decoder(AgentFacts).decode


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a document of several.

    Attributes:
        path: its path.
        session: session of its records; None if the records name it.
        agent: id of the sub-agent.
        facts: facts about the sub-agent.
    """

    path: Path
    session: str | None = None
    agent: str | None = None
    facts: AgentFacts | None = None


def is_transcript(path: Path) -> bool:
    """Returns True if the first lines of a file are of a transcript. Never raises."""
    head, _ = read_ends(str(path))
    return any(read_line_as(line.strip())[1] in TRANSCRIPT_NAMES for line in head[:_LOOKED_AT])


@dataclass(slots=True)
class ReadCache:
    """Cache of earlier reads.

    Attributes:
        sessions: by path, the session named in a sub-agent's file, or a thread's parent.
        transcripts: files known as transcripts.
    """

    sessions: dict[str, str] = field(default_factory=dict)
    transcripts: set[Path] = field(default_factory=set)


def members_of(path: Path, seen: ReadCache | None = None) -> tuple[list[Member], int]:
    """Returns the files of a session or folder, sessions first, and the number of files left out.

    Args:
        path: a session's file, the folder of a project, or a session's folder with its file beside it. Without
            transcripts the result is empty.
        seen: cache of earlier reads; extended.
    """
    listing, seen = Listing(_MOST_ENTRIES), seen if seen is not None else ReadCache()
    if is_thread(path):
        return _bounded([Member(one) for one in files_of_thread(path, listing, seen.sessions)])
    if not path.is_dir() and path.parent.name == _CHATS and not path.is_symlink():
        return _bounded(_of_chat(path, listing))
    if not path.is_dir():
        return _bounded(_of_session(path, _agents_beside(path.parent, listing, seen), listing))
    own = path.parent / (path.name + _LINES)  # "/" has no name
    if any((path / one).is_dir() for one in (_SUB_AGENTS, _RESULTS)) and own.is_file() and not own.is_symlink():
        return _bounded(_of_session(own, {}, listing))
    return _bounded(_of_folder(path, listing, seen))


def _of_folder(path: Path, listing: Listing, seen: ReadCache) -> list[Member]:
    """Returns all sessions of a folder, oldest first."""
    files = [found for found in listing.files(str(path)) if found.name.endswith(_LINES)]
    sessions = [f for f in sorted(files, key=lambda f: f.modified) if not f.name.startswith(_AGENT)]
    beside = _agents_beside(path, listing, seen)
    found = [m for one in sessions for m in _of_session(Path(one.path), beside, listing)]
    known = {member.path for member in found}
    # Sub-agents whose session is gone are still worth reading.
    alone = [agent for agents in beside.values() for agent in agents if agent.path not in known]
    for folder, name in listing.folders(str(path)):
        alone += [m for m in _agents_below(Path(folder), name, listing) if m.path not in known]
    if (path / _SUB_AGENTS).is_dir():
        alone += [member for member in _agents_below(path, path.name, listing) if member.path not in known]
    if path.name == _SUB_AGENTS:
        alone += _agents(path, path.parent.name, listing)
    members = {member.path: member for member in (*found, *alone)}
    # Remembered, since a followed folder is listed every few seconds.
    seen.transcripts.update(one for one in members.keys() - seen.transcripts if is_transcript(one))
    return [member for member in members.values() if member.path in seen.transcripts]


def _of_session(path: Path, beside: dict[str, list[Member]], listing: Listing) -> list[Member]:
    """Returns the files of a session and its sub-agents."""
    name = path.name.removesuffix(_LINES)
    return [Member(path), *_agents_below(path.with_name(name), name, listing), *beside.get(name, ())]


def _of_chat(path: Path, listing: Listing) -> list[Member]:
    """Returns the files of a Gemini CLI session and its sub-agents; the latter are in a folder named by its id."""
    session = _session_of(str(path))
    # The id comes from the file and must not lead out of its folder.
    if session is None or "/" in session or session in ("", ".", ".."):
        return [Member(path)]
    folder = path.with_name(session)
    found = [] if folder.is_symlink() else sorted(listing.files(str(folder)), key=lambda f: (f.modified, f.path))
    agents = [
        Member(Path(one.path), session, _session_of(one.path) or one.name.removesuffix(_LINES))
        for one in found
        if one.name.endswith(_LINES)
    ]
    return [Member(path), *agents]


def _agents_below(folder: Path, session: str, listing: Listing) -> list[Member]:
    return _agents(folder / _SUB_AGENTS, session, listing) if (folder / _SUB_AGENTS).is_dir() else []


def _agents(folder: Path, session: str, listing: Listing) -> list[Member]:
    if folder.is_symlink():
        return []
    found = sorted(listing.files(str(folder), _DEPTH), key=lambda f: (f.modified, f.path))
    return [_agent(Path(f.path), session) for f in found if f.name.endswith(_LINES) and f.name != _JOURNAL]


def agents_beside(folder: Path) -> dict[str, list[Member]]:
    """Returns sub-agent files beside their sessions', by session; under "" if they name none."""
    return _agents_beside(folder, Listing(_MOST_ENTRIES), ReadCache())


def _agents_beside(folder: Path, listing: Listing, seen: ReadCache) -> dict[str, list[Member]]:
    """As `agents_beside`, with caches."""
    found: dict[str, list[Member]] = {}
    for one in listing.files(str(folder)):
        if one.name.startswith(_AGENT) and one.name.endswith(_LINES):
            session = seen.sessions.get(one.path) or _session_of(one.path)
            if session is not None:
                seen.sessions[one.path] = session
            found.setdefault(session or "", []).append(_agent(Path(one.path), session))
    return found


class _First(msgspec.Struct, gc=False):
    sessionId: str | None = None


_decode_first = msgspec.json.Decoder(_First).decode


def _session_of(path: str) -> str | None:
    """Returns the session that a sub-agent's first record names."""
    for line in read_ends(path)[0][:1]:
        try:
            return _decode_first(line).sessionId
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
    return None


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


def _bounded(members: list[Member]) -> tuple[list[Member], int]:
    kept = members if len(members) <= MOST_FILES else _newest_members(members)
    return kept, len(members) - len(kept)


def _newest_members(members: list[Member]) -> list[Member]:
    def modified(member: Member) -> float:
        try:
            return member.path.lstat().st_mtime
        except OSError:
            return 0.0

    # By place, so that the order of the members stays.
    kept = set(sorted(range(len(members)), key=lambda place: modified(members[place]))[-MOST_FILES:])
    return [member for place, member in enumerate(members) if place in kept]
