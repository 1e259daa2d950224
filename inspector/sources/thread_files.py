"""Which files of Codex belong together: a thread's, and those of the threads it spawned, wherever in time they began.

A thread's file lies in the folder of the day it began, `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`; that of a
thread it spawned in that of its own day. Only a file's first record says who spawned it.
"""

from __future__ import annotations

from pathlib import Path

from inspector.sources.agent_sessions.codex import name_parts, parent_in
from inspector.sources.agent_sessions.files import Found, Listing

_MOST_LOOKED_AT = 4_000
"""Files whose first record is read to find those of one thread: the earliest after it."""
_LEVELS = 3
"""Of folders below `sessions`: year, month, day."""
_ROOT = "sessions"
NOBODY = ""
"""The parent of a thread that a person began."""


def is_thread(path: Path) -> bool:
    """Whether a file is named as one of Codex."""
    return name_parts(path.name) is not None


def files_of_thread(path: Path, listing: Listing, parents: dict[str, str]) -> list[Path]:
    """A thread's file, and those of all threads that it spawned, and they did, in the order of their beginnings.

    Args:
        path: the thread's.
        listing: what folders are listed with.
        parents: by path, the thread that spawned another, as far as it was read before; what is read now is added.
    """
    own = name_parts(path.name)
    if own is None:
        return [path]
    later = [found for found in _around(path, listing) if found.name > path.name]
    family, members = {own.thread}, [path]
    for found in sorted(later, key=lambda one: one.name)[:_MOST_LOOKED_AT]:
        parts = name_parts(found.name)
        if parts is None or parts.thread in family:  # the same thread, compressed
            continue
        if found.path not in parents:
            parents[found.path] = parent_in(found.path) or NOBODY
        if parents[found.path] in family:
            family.add(parts.thread)
            members.append(Path(found.path))
    return members


def _around(path: Path, listing: Listing) -> list[Found]:
    """The files of all threads, where the file lies in its day's folder; else those beside it."""
    above = path.absolute().parents
    if len(above) > _LEVELS and above[_LEVELS].name == _ROOT:
        return list(listing.files(str(above[_LEVELS]), _LEVELS))
    return list(listing.files(str(path.parent)))
