"""Finds the files of one document: a session with the files of its sub-agents, or a folder of sessions.

Each format knows the layout of its sub-agents' files (`SessionFinder.files`). Links are not followed, and text in a
file is never used as a path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from inspector.base.open_files import allow_open_files
from inspector.formats import registry
from inspector.formats.line_reading import read_line_as
from inspector.formats.table import FORMATS
from inspector.sources.agent_sessions.files import Found, Listing, read_head
from inspector.sources.agent_sessions.lookup import session_finders

MOST_FILES = 2_000
"""Limit of files in one document, since each stays open; a system may allow fewer.

Beyond it, the newest are read and the rest is counted.
"""
_MOST_ENTRIES = 20_000
_LINES = ".jsonl"
_LOOKED_AT = 20
"""Number of first lines used for detection."""


class AgentFacts(msgspec.Struct, gc=False, rename="camel"):
    """Facts from the file beside a sub-agent's file."""

    tool_use_id: str | None = None
    parent_agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None


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
    head = read_head(str(path))
    return any(read_line_as(line.strip())[1] in registry.groups().transcripts for line in head[:_LOOKED_AT])


def repeated_files(folder: Path, names: Collection[str]) -> set[str]:
    """Returns the files of a folder to leave out: another one has their messages. Never raises.

    Args:
        folder: the folder.
        names: of its files.
    """
    found: set[str] = set()
    for one in FORMATS:
        told = one.repeated_files
        if told is None or told.beside not in names:
            continue
        head = read_head(str(folder / told.beside))[:_LOOKED_AT]
        # A first record may be there before any message.
        if sum(one.read(line.strip()) is not None for line in head) > 1:
            found.update(name for name in names if told.names.fullmatch(name))
    return found


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
    seen = seen if seen is not None else ReadCache()
    for finder in session_finders().values():
        members = finder.files(path, Listing(_MOST_ENTRIES), seen)
        if members is not None:
            return _bounded(members)
    if not path.is_dir():
        return [Member(path)], 0
    found = [one for one in Listing(_MOST_ENTRIES).files(str(path)) if one.name.endswith(_LINES)]
    repeated = repeated_files(path, {one.name for one in found})
    found = [one for one in found if one.name not in repeated]
    return _bounded(transcripts_among((Member(Path(one.path)) for one in oldest_first(found)), seen))


def oldest_first(files: Iterable[Found]) -> list[Found]:
    """Sorts files by the time of their last change, and by path for equal times."""
    return sorted(files, key=lambda one: (one.modified, one.path))


def transcripts_among(members: Iterable[Member], seen: ReadCache) -> list[Member]:
    """Returns the members that are transcripts, without repeated paths."""
    by_path = {member.path: member for member in members}
    # Remembered, since a followed folder is listed every few seconds.
    seen.transcripts.update(one for one in by_path.keys() - seen.transcripts if is_transcript(one))
    return [member for member in by_path.values() if member.path in seen.transcripts]


class _First(msgspec.Struct, gc=False):
    sessionId: str | None = None


_decode_first = msgspec.json.Decoder(_First).decode


def named_session(path: str) -> str | None:
    """Returns the `sessionId` in the first record of a file; None without one."""
    for line in read_head(path)[:1]:
        try:
            return _decode_first(line).sessionId
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
    return None


def _bounded(members: list[Member]) -> tuple[list[Member], int]:
    most = allow_open_files(MOST_FILES)
    kept = members if len(members) <= most else _newest_members(members, most)
    return kept, len(members) - len(kept)


def _newest_members(members: list[Member], most: int) -> list[Member]:
    def modified(member: Member) -> float:
        try:
            return member.path.lstat().st_mtime
        except OSError:
            return 0.0

    # By place, so that the order of the members stays.
    kept = set(sorted(range(len(members)), key=lambda place: modified(members[place]))[-most:])
    return [member for place, member in enumerate(members) if place in kept]
