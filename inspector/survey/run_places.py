"""Finds runs: splits paths, folders, globs and object store addresses into one place per run.

RULE: a named file is a run, whatever its name; in a folder only files with a log's name are. Files of another run are
not runs: a gateway's decisions, sub-agents of a session, spawned threads. Links are not followed, and hidden files are
skipped.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.base.optional_dependencies import FLEET
from inspector.document.source_set import is_log_name
from inspector.formats.file_conversion import NotConvertedError
from inspector.sources.agent_sessions.files import Listing
from inspector.sources.agent_sessions.lookup import session_finders
from inspector.sources.run_members import run_facts
from inspector.sources.transcript_files import repeated_files

_DECISIONS = "capability-decisions.jsonl"
_GATEWAY = "envelope-history.jsonl"
_LINES = ".jsonl"
_ARCHIVES = ("", ".gz", ".zst")
_MAGIC = "*?["


class PlaceError(Exception):
    """A path cannot be searched for runs; the text is the reason."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Place of one run.

    Attributes:
        path: file path or address of its log, as given or found.
        size, modified: total bytes and last change of its files, in nanoseconds since 1970; 0 if a store has no time.
        beside: addresses of its other files in a store; on disk the reader finds them.
    """

    path: str
    size: int
    modified: int
    beside: tuple[str, ...] = ()

    @property
    def is_remote(self) -> bool:
        return is_address(self.path)


def is_address(path: str) -> bool:
    """Returns True for an address that fsspec reads, such as `s3://bucket/logs`."""
    return "://" in path


def find_runs(paths: Iterable[str], leave_out: Path | None = None) -> list[RunPlace]:
    """Returns the runs at some paths, without duplicates, sorted by path.

    Args:
        paths: files, folders, globs and addresses.
        leave_out: a folder to skip: that of the survey itself.

    Raises:
        PlaceError: a path has no logs, or cannot be listed.
    """
    found: dict[str, RunPlace] = {}
    for path in paths:
        here = list(_remote_runs(path) if is_address(path) else _local_runs(path, leave_out))
        if not here:
            raise PlaceError(f"There are no logs at {path}.")
        # Folders and globs may overlap; each run counts once.
        found.update((one.path, one) for one in here)
    return [found[path] for path in sorted(found)]


# On disk


def _local_runs(path: str, leave_out: Path | None) -> Iterator[RunPlace]:
    if os.path.lexists(path):
        yield from _runs_at(path, leave_out)
    elif any(sign in path for sign in _MAGIC):
        for one in sorted(glob.glob(path, recursive=True)):  # noqa: PTH207 - a pattern may be absolute
            yield from _runs_at(one, leave_out)
    else:
        raise PlaceError(f"There is nothing at {path}.")


def _runs_at(path: str, leave_out: Path | None) -> Iterator[RunPlace]:
    if not Path(path).is_dir():
        yield from _runs_of_file(path)
        return
    # No limit here: the list of sessions in the window has one.
    listing = Listing(1 << 30)
    # Kept for the whole walk: each file of a spawned thread names only its direct parent.
    parents: dict[str, str] = {}
    for folder, below, names in os.walk(path, onerror=_raise_unlisted if _is_unreadable(path) else None):
        if leave_out is not None and Path(folder).absolute() == leave_out.absolute():
            # `os.walk` does not enter folders removed from its list.
            below.clear()
            continue
        yield from _in_folder(Path(folder), names, listing, parents)


def _runs_of_file(path: str, others: Iterable[Path] = ()) -> Iterator[RunPlace]:
    """Yields the run of a log, or each run of a file with several."""
    place, names = _local_place(path, others), list[str]()
    if Path(path).is_file():
        # Damage is found again, and reported, when a run is read.
        with contextlib.suppress(OSError, NotConvertedError):
            for facts in run_facts(Path(path)):
                names.append(facts.name)
    if len(names) < 2:
        yield place
    else:
        yield from (replace(place, path=f"{path}/{name}") for name in names)


def _is_unreadable(path: str) -> bool:
    return not os.access(path, os.R_OK | os.X_OK)


def _raise_unlisted(error: OSError) -> None:
    raise PlaceError(f"{error.filename} cannot be listed: {error.strerror or error}.")


def _in_folder(folder: Path, names: list[str], listing: Listing, parents: dict[str, str]) -> Iterator[RunPlace]:
    logs = sorted(name for name in names if is_log_name(name))
    if not logs or _is_below_session(folder):
        return
    belonging: dict[str, list[Path]] = {}
    decisions = _decisions(logs)
    for name in logs:
        if name.startswith(_GATEWAY):
            belonging[name] = [folder / one for one in logs if one in decisions]
    for finder in session_finders().values():
        belonging |= finder.spawned_files(folder, logs, listing, parents)
    others = {one for each in belonging.values() for one in each}
    others |= {folder / name for name in repeated_files(folder, logs)}
    for name in logs:
        path = folder / name
        # Links could lead to the same run twice, or out of the folder.
        if path not in others and not path.is_symlink() and path.is_file():
            yield from _runs_of_file(str(path), belonging.get(name, ()))


def _decisions(names: Iterable[str]) -> set[str]:
    """Returns names of decision files, if their gateway's log is there too."""
    names = set(names)
    if not any(_GATEWAY + end in names for end in _ARCHIVES):
        return set()
    return {_DECISIONS + end for end in _ARCHIVES}


def _is_below_session(folder: Path) -> bool:
    """Returns True for a folder of sub-agents whose session file exists."""
    for here in (folder, *folder.parents):
        if here.name in _agents_folders():
            return (here.parent.parent / f"{here.parent.name}{_LINES}").is_file()
    return False


@functools.cache
def _agents_folders() -> tuple[str, ...]:
    """Returns the names of folders of sub-agents below a session's folder."""
    return tuple(finder.agents_folder for finder in session_finders().values() if finder.agents_folder)


def _local_place(path: str, others: Iterable[Path] = ()) -> RunPlace:
    own = [Path(path.removesuffix(_LINES)) / name for name in _agents_folders()] if path.endswith(_LINES) else []
    size = modified = 0
    for one in (Path(path), *others, *(file for folder in own if folder.is_dir() for file in folder.rglob("*"))):
        with contextlib.suppress(OSError):  # the reader reports the error
            facts = one.stat()
            size, modified = size + facts.st_size, max(modified, facts.st_mtime_ns)
    return RunPlace(path, size, modified)


# Object stores and other fsspec file systems


def _remote_runs(address: str) -> Iterator[RunPlace]:
    if missing := FLEET.missing_message(address):
        raise PlaceError(missing)
    # Optional: part of the extra `fleet`.
    from fsspec.core import url_to_fs

    try:
        store, root = url_to_fs(address)
        if any(sign in root for sign in _MAGIC):
            found = store.glob(root, detail=True)
        elif store.isfile(root):
            found = {root: store.info(root)}
            yield _stored_place(store, root, found[root], [])
            return
        else:
            found = store.find(root, detail=True)
    except Exception as error:  # each store has its own errors
        raise PlaceError(f"{address} cannot be listed: {reason_of(error)}.") from error
    files = {name: facts for name, facts in found.items() if facts.get("type", "file") == "file"}
    for name in sorted(files):
        folder, _, own = name.rpartition("/")
        beside = [other for other in files if other.rpartition("/")[0] == folder]
        # Decision files belong to the gateway's log beside them.
        if not is_log_name(own) or own in _decisions(one.rpartition("/")[2] for one in beside):
            continue
        sessions = (name.rpartition(f"/{agents}/") for agents in _agents_folders())
        if any(below and f"{session}{_LINES}" in files for session, below, _ in sessions):
            continue
        yield _stored_place(store, name, files[name], [one for one in files if _goes_with(name, one)])


def _goes_with(log: str, other: str) -> bool:
    """Returns True if a file of a store belongs to a log: a gateway's decisions or a session's sub-agents."""
    folder, _, name = log.rpartition("/")
    if name.startswith(_GATEWAY):
        return other.startswith(f"{folder}/{_DECISIONS}")
    own = tuple(f"{log.removesuffix(_LINES)}/{agents}/" for agents in _agents_folders())
    return name.endswith(_LINES) and other.startswith(own)


def _stored_place(store: object, name: str, facts: dict[str, object], beside: list[str]) -> RunPlace:
    address: str = store.unstrip_protocol(name)  # type: ignore[attr-defined] - a file system of fsspec
    # Each store names the time of the last change differently.
    modified = facts.get("LastModified") or facts.get("mtime") or facts.get("last_modified")
    stamp = getattr(modified, "timestamp", None)
    seconds = stamp() if stamp is not None else modified if isinstance(modified, int | float) else 0
    others = tuple(store.unstrip_protocol(one) for one in sorted(beside))  # type: ignore[attr-defined] - as above
    size = facts.get("size")
    return RunPlace(address, size if isinstance(size, int) else 0, int(seconds * 1e9), others)


def reason_of(error: BaseException) -> str:
    """Returns the message of an error on one line, or its type if it has none."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    words = " ".join(str(error).split()).rstrip(".")
    return words[:300] or type(error).__name__
