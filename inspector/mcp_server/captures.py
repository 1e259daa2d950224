"""Lists and opens the logs and sessions that the server may read, and caches the last few.

The fence: a log must be one of the given files, or lie in one of the given folders. Without any, only sessions of
agents that `sessions` lists are allowed. Paths are resolved before they are checked, and links inside folders are not
followed. A list of sources in a folder must not name files outside of it. An opened file is compared with the file on
disk by descriptor, since another program may swap files while they are read.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspector.base.network_shares import share_of
from inspector.base.targets import SESSION_PREFIX, is_session
from inspector.document.source_list import is_source_list, read_source_list
from inspector.engine.log import Log
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.requests.log_facts import ListSources, SourceFacts
from inspector.formats.table import FILE_SUFFIXES
from inspector.mcp_server.fence import PrivateCopy, identity_inside
from inspector.protocol.secrets.masking import MASK, mask_secrets, mask_text
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources.agent_sessions.lookup import SessionNameError, find_sessions, newest_session, session_named
from inspector.sources.conversion_table import store_at

LAST = "last"
"""Name of the session written to last."""
# A document of a large log takes 150 to 250 MB (docs/design.md).
_MAX_OPEN = 4
# An allowed folder may be a home or a checkout with `node_modules`.
_MAX_ENTRIES = 20_000
_MAX_DEPTH = 8
_MAX_PROMPT, _MAX_SESSIONS = 200, 500
_EXTENSIONS = (".jsonl", ".json", ".ndjson", ".log", *FILE_SUFFIXES, ".gz", ".zst")


class _ReadByNameError(Exception):
    """A log was opened by name, so another file may have been read."""


class CaptureNameError(ValueError):
    """A log cannot be opened; the text is a sentence with the reason and advice."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A log that can be opened.

    Attributes:
        name: argument for the tools.
        modified: time of the last write, in seconds since the epoch.
        size: bytes on disk.
        about: facts that need no reading of the log, as JSON.
    """

    name: str
    modified: float
    size: int
    about: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        when = datetime.fromtimestamp(self.modified, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        # A masked name opens the log as well, if it fits no other one.
        return {"capture": mask_text(self.name), "modified": when, "bytes": self.size, **self.about}


class Captures:
    """The logs inside the fence; used by one thread at a time.

    Args:
        paths: allowed files and folders; empty for the sessions of agents on this machine.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._roots = [path.resolve() for path in paths]
        self._open: OrderedDict[Path, tuple[tuple[int, ...], Log]] = OrderedDict()

    def listed(self) -> list[Listed]:
        """Returns the logs, the newest first."""
        found = list(self._sessions() if not self._roots else self._files())
        return sorted(found, key=lambda one: one.modified, reverse=True)

    def log(self, name: str | None) -> Log:
        """Opens a log by name and reads it to its present end; without a name, the only log.

        Raises:
            CaptureNameError: if there is no such log, or it is outside the fence or unreadable.
        """
        path, together = self._resolve(name)
        try:
            # Before reading: a write during the reading then makes the cache entry stale.
            state = _state_of(path)
            known = self._open.get(path)
            if known is not None and known[0] == state:
                self._open.move_to_end(path)
                return known[1]
            self._close_log(path)
            if is_source_list(path):
                self._check_sources(path, (part for one in read_source_list(path) for part in (one.path, *one.parts)))
            log = _read(path, together=together)
            try:
                sources = log.answer_to(ListSources())
                self._check_sources(path, (source.path for source in sources))
                self._check_opened(path, sources)
            except _ReadByNameError:
                log.close()
                log = self._read_copy(path)
            except BaseException:
                log.close()
                raise
        except CaptureNameError:
            raise
        except UnknownFormatError as error:
            raise CaptureNameError(str(error)) from None
        except OSError as error:
            raise CaptureNameError(f"{path.name} cannot be read: {error.strerror or error}.") from None
        except (ValueError, RuntimeError) as error:  # null bytes in names, circular links
            raise CaptureNameError(f"{path.name} cannot be read: {error}.") from None
        self._open[path] = state, log
        # Oldest first: OrderedDict keeps the order of use.
        while len(self._open) > _MAX_OPEN:
            self._close_log(next(iter(self._open)))
        return log

    def close(self) -> None:
        for path in list(self._open):
            self._close_log(path)

    def _close_log(self, path: Path) -> None:
        known = self._open.pop(path, None)
        if known is not None:
            known[1].close()

    def _resolve(self, name: str | None) -> tuple[Path, bool]:
        """Returns the path of a log, and True if it is a session with its sub-agents' files.

        Raises:
            CaptureNameError: if there is no such log, or it is outside the fence.
        """
        if name is None:
            if len(self._roots) == 1 and self._roots[0].is_file():
                return self._roots[0], False
            raise CaptureNameError("Name a capture: `captures` lists them.")
        unknown = CaptureNameError(f"There is no capture {name[:200]}: `captures` lists them.")
        if name == LAST or is_session(name):
            try:
                path = self._session(name)
            except CaptureNameError as error:
                # Its sentence tells ids and places of sessions outside the fence.
                raise (unknown if self._roots else error) from None
            if self._roots and not self._is_allowed(path):
                raise unknown
            return path, True
        fitting = [one.name for one in self._files() if mask_text(one.name) == name] if MASK in name else []
        if len(fitting) == 1:
            name = fitting[0]
        for root in () if share_of(name) else self._roots:
            with suppress(OSError, ValueError, RuntimeError):  # an invalid file name, or circular links
                path = (root / name if root.is_dir() else root.parent / name).resolve()
                if (path.is_file() or path.is_dir()) and self._is_allowed(path):
                    return path, False
        raise unknown

    def _session(self, name: str) -> Path:
        try:
            return (
                newest_session() if name == LAST else session_named(name.removeprefix(SESSION_PREFIX))
            ).path.resolve()
        except SessionNameError as error:
            raise CaptureNameError(str(error)) from None

    def _is_allowed(self, path: Path) -> bool:
        return any(path == root or (root.is_dir() and path.is_relative_to(root)) for root in self._roots)

    def _check_sources(self, path: Path, sources: Iterable[Path]) -> None:
        """Checks that a log inside a folder has no source outside of the fence; a file given by name may have any.

        Raises:
            CaptureNameError: if a source is outside.
        """
        asked_for = not self._roots or (path in self._roots and path.is_file())
        if not asked_for and not all(self._is_allowed(source.resolve()) for source in sources):
            raise CaptureNameError(f"{path.name} refers to files outside of the allowed files and folders.")

    def _root_of(self, path: Path) -> Path | None:
        """Returns the allowed folder that contains a file; None for a file given by name, and for sessions."""
        if path in self._roots:
            return None
        return next((root for root in self._roots if root.is_dir() and path.is_relative_to(root)), None)

    def _check_opened(self, path: Path, sources: Sequence[SourceFacts]) -> None:
        """Checks that the opened files really lie in the folder: a link may have replaced one after the first check.

        Raises:
            CaptureNameError: if a file lies elsewhere.
            _ReadByNameError: if a file was opened by name, so that this cannot be verified.
        """
        if self._root_of(path) is None:
            return
        for source in sources:
            place = source.path.resolve()
            root = self._root_of(place)
            if root is None:
                continue  # given by name: `_check_sources` allows it
            if source.is_fed:
                if path.is_file() and not is_source_list(path):
                    # Opened by name, it may be another file by now, so it is read again from a copy.
                    raise _ReadByNameError
            elif source.identity != identity_inside(root, place):
                raise CaptureNameError(f"{path.name} changed while it was read. Try again.")

    def _read_copy(self, path: Path) -> Log:
        """Reads a log that needs a file name, such as an archive or a database, from a private copy."""
        root = self._root_of(path)
        assert root is not None
        copy = PrivateCopy(root, path)
        try:
            # SQLite keeps the newest pages in this file until it writes them back.
            copy.take_beside(root, path.with_name(f"{path.name}-wal"))
            return _read(copy.path, together=False)
        finally:
            copy.close()  # the data is in a spool by now

    def _sessions(self) -> Iterator[Listed]:
        for one in find_sessions(newest=_MAX_SESSIONS).sessions:
            about = {
                "program": one.program, "project": one.project, "prompt": one.prompt[:_MAX_PROMPT], "model": one.model,
                "running": one.running, "sub_agents": one.sub_agents,
            }  # fmt: skip
            yield Listed(f"{SESSION_PREFIX}{one.identifier}", one.modified, one.size, mask_secrets(about))

    def _files(self) -> Iterator[Listed]:
        left = _MAX_ENTRIES
        for root in self._roots:
            if root.is_file():
                yield _file(root, root.name)
                continue
            for path in _files_below(root):
                left -= 1
                if left < 0:
                    return
                if path.name.lower().endswith(_EXTENSIONS):
                    yield _file(path, path.relative_to(root).as_posix())


def _file(path: Path, name: str) -> Listed:
    found = path.stat()
    return Listed(name, found.st_mtime, found.st_size, {})


def _files_below(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yields files in a folder and its subfolders, without links; unreadable folders are skipped."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False) and depth < _MAX_DEPTH:
            yield from _files_below(Path(entry.path), depth + 1)


def _state_of(path: Path) -> tuple[int, ...]:
    """Returns a key that changes if a log, or any file in the folder beside a session, is written to."""
    store = store_at(path)
    if store is not None:
        files = [*store.files(), *_files_below(store.path)]
    else:
        files = [path, *_files_below(path if path.is_dir() else path.with_suffix(""))]
    return tuple(number for file in files for number in _file_state(file))


def _file_state(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: Path, *, together: bool) -> Log:
    # The window spreads slow checks over idle time; an answer must have all findings.
    return Log.read([Target(path, is_session=together)], OpenOptions(checked=True))
