"""Data classes for an agent session, the result of a lookup, and the part of a format that finds sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.sources.agent_sessions.files import Listing
    from inspector.sources.transcript_files import Member, ReadCache


@dataclass(slots=True)
class AgentSession:
    """One session, from the ends of its file. Texts are as written: neither masked nor escaped."""

    program: str
    """Name of its format."""
    identifier: str
    path: Path
    """The session's own file; files of sub-agents are beside or below it. A session in a database is a path below it.
    """
    modified: float
    """Last change in seconds since the epoch, including files of sub-agents."""
    size: int
    """Bytes, including files of sub-agents."""
    project: str = ""
    """Working folder; empty if unknown."""
    title: str = ""
    prompt: str = ""
    """First prompt of the user, if it is near an end of the file."""
    model: str = ""
    running: bool = False
    sub_agents: int = 0
    messages: int | None = None
    """Number of messages, if the program states it."""

    @property
    def name(self) -> str:
        """The title, else the first prompt, as in `document.session_titles`; "" if both are unknown."""
        return self.title or self.prompt


@dataclass(slots=True)
class Lookup:
    """Result of a lookup: sessions, newest first, the searched folders, and omissions."""

    sessions: list[AgentSession] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    """Searched folders, existing or not."""
    total: int = 0
    """Number of all sessions; more than listed if only the newest were requested."""
    notices: list[str] = field(default_factory=list)
    """Omissions with reasons, one sentence each."""
    listed: list[AgentSession] = field(default_factory=list)
    """All sessions and sub-agents by their places, whether in `sessions` or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFinder:
    """Finds a program's sessions, and all files of one, as declared by `Format.sessions`. Never raises OSError.

    Attributes:
        folders: returns the program's folders for an environment, the usual one first.
        candidates: yields the sessions in one of them, from file names and places alone.
        complete: adds details from the ends of a session's file; returns the id of its parent session, if any. An
            unnamed parent is "".
        files: returns the files of a session with sub-agents, or of a folder with such sessions, sessions first. None
            for other paths, and for sessions without sub-agents in files of their own.
        spawned_files: returns the files of a folder's sub-agents in the same or other folders, by name of the session's
            file. Takes the folder, the names of its logs, a listing, and a cache of parents by path.
        agents_folder: name of the folder of sub-agents below a session's folder; "" without one.
    """

    folders: Callable[[Mapping[str, str]], Sequence[Path]]
    candidates: Callable[[Path, Listing], Iterator[AgentSession]]
    complete: Callable[[AgentSession], str | None]
    files: Callable[[Path, Listing, ReadCache], list[Member] | None] = lambda *_: None
    spawned_files: Callable[[Path, list[str], Listing, dict[str, str]], dict[str, list[Path]]] = lambda *_: {}
    agents_folder: str = ""
