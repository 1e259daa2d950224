"""One session of an agent, and what a lookup found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class AgentSession:
    """One session, as far as the ends of its file tell. Texts are as written: nothing is masked or made plain."""

    program: str
    """Name of its format: `claude-code`, `codex`, `gemini-cli`, `copilot-cli`, `opencode` or `vscode-chat`."""
    identifier: str
    path: Path
    """Its own file; its sub-agents' lie beside it or below. Of one in a database as if that were a folder."""
    modified: float
    """When it was last written, in seconds since the epoch, sub-agents' files included."""
    size: int
    """Bytes, with those of its sub-agents."""
    project: str = ""
    """The folder it worked in, empty where it does not say."""
    title: str = ""
    prompt: str = ""
    """What the user asked first, as far as it stands near an end of the file."""
    model: str = ""
    running: bool = False
    sub_agents: int = 0

    @property
    def name(self) -> str:
        """The title, else what was asked first, as `document.session_titles` has it; "" where neither is known."""
        return self.title or self.prompt


@dataclass(slots=True)
class Lookup:
    """What was found, newest first, where it was looked for, and what could not be looked at."""

    sessions: list[AgentSession] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    """Looked at, whether they exist or not."""
    total: int = 0
    """Sessions there are; more than listed where only the newest were asked for."""
    notices: list[str] = field(default_factory=list)
    """What was left out and why, each a sentence."""
