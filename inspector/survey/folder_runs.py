"""Logs of a folder as rows of the table of runs: as far as the ends of each file state facts about its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from inspector.document.source_list import resolve_choices
from inspector.document.source_set import SourceChoice, is_log_name
from inspector.formats import registry
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.format import TrafficKind
from inspector.formats.line_reading import read_line_as
from inspector.msp import is_session_document
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.sources.agent_sessions.files import Listing, read_ends
from inspector.sources.agent_sessions.line_files import LINES
from inspector.sources.agent_sessions.lookup import session_finders
from inspector.sources.agent_sessions.session import AgentSession
from inspector.sources.conversion_table import HEAD_BYTES, converter_for, store_at
from inspector.sources.run_members import run_facts, session_format
from inspector.survey.file_runs import row_of_run
from inspector.survey.run_places import RunPlace, find_runs

MANY = 10
"""Number of logs from which a folder may be a table of runs: fewer are read as one document."""
_LISTED_ENTRIES, _LISTED_LEVELS = 20_000, 6
_SAMPLED = 8
"""Number of logs whose formats decide the kind of a folder."""
_END_BYTES = 16 << 10
_FIRST_LINES = 20

FolderKind = Literal["sessions", "evaluations", "logs"]
"""Kind of a folder, by the logs in it; the settings have a choice for each."""
_KINDS: dict[TrafficKind, FolderKind] = {TrafficKind.TRANSCRIPT: "sessions", TrafficKind.EVALUATION: "evaluations"}


class LogFolder(NamedTuple):
    """A folder with many logs.

    Attributes:
        kind: by most of its logs.
        logs: number of logs, also of sub-agents.
    """

    kind: FolderKind
    logs: int


def log_folder_at(path: Path) -> LogFolder | None:
    """Returns a folder with many logs; None for other paths, and for folders that are one log or session."""
    if not path.is_dir() or path.is_symlink() or store_at(path) is not None or is_session_document(path):
        return None
    own = path.parent / f"{path.name}{LINES}"
    # The folder of one session has the logs of its sub-agents.
    if own.is_file() or path.name in {finder.agents_folder for finder in session_finders().values()}:
        return None
    files = (one for one in Listing(_LISTED_ENTRIES).files(str(path), _LISTED_LEVELS) if is_log_name(one.name))
    logs = sorted(one.path for one in files)
    if len(logs) < MANY:
        return None
    formats = [registry.format_named(name) for name in map(_format_of, logs[:: max(1, len(logs) // _SAMPLED)])]
    kinds: list[FolderKind] = [_KINDS.get(one.traffic, "logs") if one is not None else "logs" for one in formats]
    kind = max(set(kinds), key=kinds.count)
    # The parts of a rotated log are one log.
    if kind == "logs" and len(resolve_choices(SourceChoice(Path(log)) for log in logs)) == 1:
        return None
    return LogFolder(kind, len(logs))


class FolderRows(NamedTuple):
    """Rows of a folder's runs.

    Attributes:
        rows: values by column.
        sessions: paths of agents' sessions, which open with their sub-agents.
    """

    rows: list[dict[str, Any]]
    sessions: frozenset[str]


def rows_of_folder(path: Path) -> FolderRows:
    """Returns the rows of a folder's runs.

    Raises:
        PlaceError: the folder has no logs, or cannot be listed.
    """
    rows: list[dict[str, Any]] = []
    sessions: set[str] = set()
    for place in find_runs([str(path)]):
        log = Path(place.path)
        row: dict[str, Any] = {
            "run": place.path,
            "path": place.path,
            "size": place.size,
            "modified": place.modified,
            "files": 1,
        }
        if not log.is_file():  # a run in a file with several
            rows.append(row)
            continue
        name = _format_of(place.path)
        row["format"] = name or None
        if name in session_finders():
            sessions.add(place.path)
            row |= _session_facts(name, log, place)
        else:
            row |= _stated_facts(log)
        rows.append(row | _times(place.path, row))
    return FolderRows(rows, frozenset(sessions))


def _session_facts(name: str, log: Path, place: RunPlace) -> dict[str, Any]:
    session = AgentSession(name, log.stem, log, place.modified / 1e9, place.size)
    session_finders()[name].complete(session)
    models = [mask_text(session.model)] if session.model else []
    return {"title": mask_text(session.name)[:_LONGEST_TITLE] or None, "models": models, "messages": session.messages}


_LONGEST_TITLE = 300


def _stated_facts(log: Path) -> dict[str, Any]:
    try:
        found = list(run_facts(log))
    except (OSError, NotConvertedError):
        return {}
    known = row_of_run(str(log), found[0]) if len(found) == 1 else {}
    return {key: one for key, one in known.items() if one is not None and key != "run"}


def _times(path: str, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the times of the first and last line with one, if the file states no times."""
    if row.get("first") is not None:
        return {}
    head, tail = read_ends(path, _END_BYTES)
    first = _first_time(head[:_FIRST_LINES])
    last = _first_time([*head, *tail][: -_FIRST_LINES - 1 : -1])
    if first is None or last is None or last < first:
        return {"first": first}
    return {"first": first, "last": last, "duration": (last - first) / 1e9}


def _first_time(lines: list[bytes]) -> int | None:
    for line in lines:
        record = read_line_as(line.strip())[0]
        for time in (record.time_ns, *(message.time_ns for message in record.derived_messages)):
            if time != NO_TIME:
                return time
    return None


def _format_of(path: str) -> str:
    """Returns the name of a log's format, of a document or by its first lines; "" if it is unknown."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return ""
    if name := session_format(Path(path), head):
        return name
    converter = converter_for(head)
    if converter is not None:
        return converter.container or ""
    found = (read_line_as(line.strip())[1] for line in head.split(b"\n")[:_FIRST_LINES] if line.strip())
    return next((name for name in found if name is not None), "")
