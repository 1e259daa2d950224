"""Text forms of targets to open: a path, or `session:PATH`, an agent's session with its sub-agents.

The plain path of a session's file opens that file alone (docs/transcripts.md).
"""

from __future__ import annotations

from pathlib import Path

SESSION_PREFIX = "session:"


def is_session(target: str) -> bool:
    """Returns True for a session with the files of its sub-agents."""
    return target.startswith(SESSION_PREFIX)


def session_target(path: Path) -> str:
    """Returns the target of a session with its sub-agents, by its own file."""
    return f"{SESSION_PREFIX}{path.absolute()}"


def target_path(target: str) -> Path:
    """Returns the named file; of a session its own."""
    return Path(target.removeprefix(SESSION_PREFIX))
