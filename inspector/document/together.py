"""Several logs as one document: which files these are, and those of them that grow.

Opened in the order of their names, whatever order they were named in: so the document is the same.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

from inspector.capture.capture import Capture
from inspector.capture.decisions import FILE_NAME
from inspector.capture.sources import SourceFile
from inspector.sources.follow import FollowedLog
from inspector.sources.inputs import is_stream, open_source

MOST_FILES = 400
"""Of one document: each is kept open."""
_LOGS = re.compile(r"\.(jsonl|ndjson|json|log|ctxcap|har)(\.\d+)?(\.gz|\.zst)?$", re.IGNORECASE)
_ARCHIVES = ("", ".gz", ".zst")
_LOGS_FOLDER = "logs"
"""Where participants' logs lie beside a gateway's."""


def logs_in(folder: Path) -> list[Path]:
    """The logs that lie in a folder, and in `logs` in it, by their names; hidden ones and links are left out.

    What a gateway decided is read with the log beside it, and is no source of its own there.
    """
    found: list[Path] = []
    for where in (folder, folder / _LOGS_FOLDER):
        with contextlib.suppress(OSError):  # not there, or not to be listed
            found += [path for path in where.iterdir() if _is_log(path)]
    return sorted(found)


def _is_log(path: Path) -> bool:
    named = not path.name.startswith(".") and _LOGS.search(path.name) is not None
    return named and not path.is_symlink() and path.is_file() and not _annotates(path)


def _annotates(path: Path) -> bool:
    if path.name not in {FILE_NAME + end for end in _ARCHIVES}:
        return False
    return any((path.parent / ("envelope-history.jsonl" + end)).is_file() for end in _ARCHIVES)


class LogsTogether:
    """The logs of one document.

    Attributes:
        sources: what is read, in the order of the capture's sources.
        followed: of these, the logs that are followed beside the first.
        trouble: what could not be read, as a sentence; None.
    """

    def __init__(self, paths: Sequence[Path], capture: Capture) -> None:
        """Open the files; what cannot be opened is left out.

        Raises:
            OSError: none can be read.
        """
        self.sources: list[SourceFile] = []
        self.followed: dict[int, FollowedLog] = {}
        self.trouble: str | None = None
        chosen = sorted(set(paths), key=lambda path: (path.name, str(path)))
        if len(chosen) > MOST_FILES:
            self.trouble = f"Of more than {MOST_FILES} files the first {MOST_FILES} are read."
            del chosen[MOST_FILES:]
        names = _names(chosen)
        failed: OSError | None = None
        for path, name in zip(chosen, names, strict=True):
            try:
                source = open_source(path, name)
            except OSError as error:
                failed = failed or error
                self.trouble = f"{path.name} cannot be read: {error.strerror or error}."
                continue
            capture.add_source(source)
            self.sources.append(source)
        if not self.sources:
            raise failed or FileNotFoundError(2, "there is nothing to read")

    def follow(self) -> None:
        """Follow the files beside the first."""
        for place, source in enumerate(self.sources[1:], 1):
            if source.feed is None and source.elements is None:
                try:
                    self.followed[place] = FollowedLog(source)
                except OSError as error:
                    self.trouble = f"{source.name} is not followed: {error.strerror or error}."

    def update(self) -> list[SourceFile]:
        """Make readable what has come; no source is new by itself."""
        for log in self.followed.values():
            log.update()
        return []

    def close(self) -> None:
        """Follow nothing any more."""
        for log in self.followed.values():
            log.close()
        self.followed.clear()


def _names(paths: Sequence[Path]) -> list[str | None]:
    """What tells files apart: their names, and where several have one, with their folders'."""
    names = [path.name for path in paths]
    return [None if is_stream(path) or names.count(path.name) == 1 else _with_folder(path, paths) for path in paths]


def _with_folder(path: Path, paths: Sequence[Path]) -> str:
    """As many of a file's last folders as tell it from those of its name."""
    alike = [other.absolute().parts for other in paths if other.name == path.name and other != path]
    own = path.absolute().parts
    for count in range(2, len(own) + 1):
        if all(own[-count:] != other[-count:] for other in alike):
            return "/".join(own[-count:])
    return str(path)
