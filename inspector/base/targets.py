"""Text forms of targets to open: a path, or `session:PATH`, an agent's session with its sub-agents.

A folder of logs is one document or a table of runs: `document:PATH` and `runs:PATH` state which; its plain path leaves
the choice to the settings.

The plain path of a session's file opens that file alone (docs/transcripts.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

SESSION_PREFIX = "session:"
FolderView = Literal["document", "runs"]
"""Form of a folder of logs in a window."""
FOLDER_VIEWS: tuple[FolderView, ...] = ("document", "runs")
SOURCES_SUFFIX = ".ctxsources"
"""Suffix of a list of sources to open together."""


def is_session(target: str) -> bool:
    """Returns True for a session with the files of its sub-agents."""
    return target.startswith(SESSION_PREFIX)


def session_file(target: str) -> Path | None:
    """Returns the file that a session's target names; None for the id of a session."""
    path = target_path(target)
    try:
        return path.absolute() if path.is_absolute() or path.is_file() else None
    except OSError:  # longer than a name of a file may be
        return None


def session_target(path: Path) -> str:
    """Returns the target of a session with its sub-agents, by its own file."""
    return f"{SESSION_PREFIX}{path.absolute()}"


def folder_target(path: Path, view: FolderView) -> str:
    """Returns the target of a folder that opens as one document or as a table of runs."""
    return f"{view}:{path.absolute()}"


def folder_view(target: str) -> FolderView | None:
    """Returns the stated form of a folder, if any."""
    return next((view for view in FOLDER_VIEWS if target.startswith(f"{view}:")), None)


def target_path(target: str) -> Path:
    """Returns the named file or folder; of a session its own file."""
    view = folder_view(target)
    return Path(target.removeprefix(SESSION_PREFIX if view is None else f"{view}:"))
