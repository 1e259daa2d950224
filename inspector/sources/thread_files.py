"""Finds the files of a Codex thread and of all threads it spawned, on any later day.

A thread's file is in the folder of its first day, `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`; a spawned thread
is in the folder of its own day. Only a file's first record names its parent.
"""

from __future__ import annotations

from pathlib import Path

from inspector.sources.agent_sessions.codex import name_parts, parent_in
from inspector.sources.agent_sessions.files import Found, Listing

_MOST_LOOKED_AT = 4_000
"""Limit of files checked for one thread: the earliest after it."""
_LEVELS = 3
"""Folder levels below `sessions`: year, month, day."""
_ROOT = "sessions"
NO_PARENT = ""
"""Parent of a thread that a person started."""


def is_thread(path: Path) -> bool:
    """Returns True if a file is named like a Codex thread."""
    return name_parts(path.name) is not None


def files_of_thread(path: Path, listing: Listing, parents: dict[str, str]) -> list[Path]:
    """Returns the files of a thread and its descendants, by start time.

    Args:
        path: file of the thread.
        listing: lists the folders.
        parents: cache of parent threads by path; extended.
    """
    own = name_parts(path.name)
    if own is None:
        return [path]
    later = [found for found in _nearby_files(path, listing) if found.name > path.name]
    family, members = {own.thread}, [path]
    for found in sorted(later, key=lambda one: one.name)[:_MOST_LOOKED_AT]:
        parts = name_parts(found.name)
        if parts is None or parts.thread in family:  # the same thread, compressed
            continue
        if found.path not in parents:
            parents[found.path] = parent_in(found.path) or NO_PARENT
        if parents[found.path] in family:
            family.add(parts.thread)
            members.append(Path(found.path))
    return members


def _nearby_files(path: Path, listing: Listing) -> list[Found]:
    """Returns all thread files if the file is in a day's folder, else the files beside it."""
    above = path.absolute().parents
    if len(above) > _LEVELS and above[_LEVELS].name == _ROOT:
        return list(listing.files(str(above[_LEVELS]), _LEVELS))
    return list(listing.files(str(path.parent)))
