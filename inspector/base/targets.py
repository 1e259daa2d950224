"""What is opened, as a text: a file's path, an address, or `session:PATH`, an agent's session with its sub-agents.

A session's file named by its path alone is that file alone (docs/transcripts.md).
"""

from __future__ import annotations

from pathlib import Path

SESSION = "session:"


def is_session(target: str) -> bool:
    """Whether a session is meant with the files of its sub-agents."""
    return target.startswith(SESSION)


def session_target(path: Path) -> str:
    """How a session with its sub-agents is named, by its own file."""
    return f"{SESSION}{path.absolute()}"


def path_in(target: str) -> Path:
    """The file that is named; of a session its own."""
    return Path(target.removeprefix(SESSION))
