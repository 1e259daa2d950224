"""Data classes for an agent session and for the result of a lookup."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class AgentSession:
    """One session, from the ends of its file. Texts are as written: neither masked nor escaped."""

    program: str
    """Format name: `claude-code`, `codex`, `gemini-cli`, `copilot-cli`, `opencode` or `vscode-chat`."""
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
