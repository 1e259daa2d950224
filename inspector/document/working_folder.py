"""Finds the working folder, the git branch and the program version that the first records of a session name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

_FOLDERS = ("cwd", "working_dir", "workingDirectory", "working_directory", "workdir")
_BRANCHES = ("gitBranch", "git_branch", "branch")
_VERSIONS = ("cli_version", "cliVersion", "version")
"""Members with the version of the program, if they are beside the folder."""
_VERSION = re.compile(r"\d{1,6}\.\d{1,6}[\w.+-]{0,40}")
_SPOKEN = {"message", "content", "messages", "arguments", "input", "output", "text"}
"""Members with words of a user or a model, which may name anything."""
_MOST_LINES, _MOST_MESSAGES, _MOST_BYTES, _MOST_DEPTH = 12, 64, 1 << 17, 3


class WorkingFolder(NamedTuple):
    """A folder, its branch and the version of the program, as written; "" if unknown."""

    folder: str = ""
    branch: str = ""
    version: str = ""


def working_folder_of(capture: Capture) -> WorkingFolder:
    """Returns the working folder of a log's first session, by its first 12 records; of other logs an empty one."""
    folder = branch = version = ""
    for value in _first_records(capture):
        for inner in _objects_in(value, _MOST_DEPTH):
            named = _first_text(inner, _FOLDERS)
            folder = folder or named
            version = version or (_version(inner) if named else "")
            branch = branch or _first_text(inner, _BRANCHES)
        if folder and branch:
            break
    return WorkingFolder(folder, branch if folder else "", version)


def _version(value: dict[str, Any]) -> str:
    found = _first_text(value, _VERSIONS)
    return found if _VERSION.fullmatch(found) else ""


def _first_records(capture: Capture) -> Iterator[Any]:
    columns, seen = capture.columns, set[tuple[int, int]]()
    for row in range(min(len(capture), _MOST_MESSAGES)):
        place = int(columns["source"][row]), int(columns["offset"][row])
        derived = int(columns["flags"][row]) & Flag.DERIVED.value
        if not derived or place in seen or columns["length"][row] > _MOST_BYTES:
            continue
        seen.add(place)
        if len(seen) > _MOST_LINES:
            return
        try:
            yield decode_json(capture.records.read_line_of(row))
        except (NotAnObjectError, OSError):
            continue


def _objects_in(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Yields an object and the objects in its members, without words of a user or a model."""
    if isinstance(value, dict):
        yield value
        if depth:
            for key, member in value.items():
                if key not in _SPOKEN:
                    yield from _objects_in(member, depth - 1)


def _first_text(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if isinstance(found := value.get(key), str) and found), "")
