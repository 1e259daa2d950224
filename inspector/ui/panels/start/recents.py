"""Texts of recent files and connections, without opening them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from stat import S_ISDIR
from typing import TYPE_CHECKING

from inspector.base.targets import is_session, target_path
from inspector.present import formats
from inspector.settings import ConnectionSettings, NamedConnection, RecentFacts
from inspector.survey import is_survey

if TYPE_CHECKING:
    from inspector.engine.requests.agent_sessions import NewSession

KINDS_BY_NAME = {"envelope-history.jsonl": "gateway log", "capability-decisions.jsonl": "capability decisions"}
"""File names used by only one program."""

KINDS_BY_SUFFIX = {".ctxcap": "recorded capture"}
"""Suffixes of our own formats."""

GONE = "file not found"
"""Detail of a moved or removed file."""


@dataclass(frozen=True)
class Recent:
    """One row of the list."""

    title: str
    detail: str
    """File size, number of messages and date, or address and space."""
    icon: str
    """Name for `icons.icon`."""
    tooltip: str
    """The whole path or address."""
    there: bool = True
    """False if the file is missing."""


def recent_file(path: str, now: datetime, known: RecentFacts | None = None) -> Recent:
    """Returns the row of a recent file. Only reads its size from the file system; a folder has none.

    Args:
        path: absolute, or of a session (`base.targets`).
        now: local time.
        known: facts from the last time it was open.
    """
    file = target_path(path)
    title = f"{file.parent.name}/{file.name}" if file.parent.name else file.name
    title = (known.title if known is not None else "") or title
    kind = KINDS_BY_NAME.get(file.name) or KINDS_BY_SUFFIX.get(file.suffix.lower(), "")
    kind = "session" if is_session(path) else "survey" if is_survey(file) else kind
    icon = "ri.record-circle-line" if file.suffix.lower() in KINDS_BY_SUFFIX else "recording"
    try:
        facts = file.stat()
    except (OSError, ValueError):
        return Recent(title, GONE, icon, path, there=False)
    words = [kind, "" if S_ISDIR(facts.st_mode) else formats.size(facts.st_size).replace(".0 ", " ")]
    if known is not None:
        words.insert(1, formats.count_of(known.messages, "message"))
        words.append(formats.day_words(known.first_ns / 1e9, now) if known.first_ns is not None else "")
    return Recent(title, ", ".join(word for word in words if word), icon, path)


def new_session(session: NewSession, now: datetime) -> Recent:
    """Returns the row of a session: its title; agent, project and age."""
    when = "running" if session.is_running else formats.day_words(session.modified_s, now)
    detail = " · ".join(filter(None, (session.program, session.project, when)))
    return Recent(session.title, detail, "sessions", f"{session.title}\n{session.path}")


def recent_connection(connection: ConnectionSettings) -> Recent:
    """Returns the row of a connection: by name if it has one, else by address."""
    detail = f"space {connection.space}" if connection.space else "gateway"
    if isinstance(connection, NamedConnection):
        detail = f"{connection.url}, {detail}"
        return Recent(connection.name, detail, "connect", f"{connection.name}\n{detail}")
    return Recent(connection.url, detail, "connect", connection.url)
