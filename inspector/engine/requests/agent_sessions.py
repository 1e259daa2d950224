"""Sessions of coding agents on this machine, which need no document: the lookup takes a second, so it has a thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from inspector.engine.request import Query, Request, Steps
from inspector.engine.threads import in_thread
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.agent_sessions.lookup import find_sessions as find_sessions
from inspector.sources.agent_sessions.lookup import matches_words as matches_words
from inspector.sources.agent_sessions.lookup import program_of as program_of
from inspector.sources.agent_sessions.lookup import search_text as search_text
from inspector.sources.agent_sessions.session import AgentSession as AgentSession
from inspector.sources.agent_sessions.session import Lookup as Lookup

_LONGEST = 300


class NewSession(msgspec.Struct, frozen=True):
    """A session for the start page. Texts are masked and safe to show.

    Attributes:
        path: its file.
        title: its title, else its first prompt.
        program: name of the agent.
        project: last folder of the working directory; "" if unknown.
        modified_s: last change, in seconds since the Unix epoch.
        is_running: the agent writes to it.
    """

    path: Path
    title: str
    program: str
    project: str
    modified_s: float
    is_running: bool


class NewestSessions(Request[list[NewSession]], frozen=True):
    """The newest sessions of all agents on this machine, newest first."""

    needs_document = False
    count: int = 4


def session_name(session: AgentSession) -> str:
    """Returns the name of a session: its title, else its first prompt."""
    return safe_line(mask_text(session.name[:_LONGEST])) or "No prompt"


def project_name(session: AgentSession) -> str:
    """Returns the last folder of the session's working directory."""
    return safe_line(session.project.rstrip("/\\").replace("\\", "/").rpartition("/")[2])


def _newest(_held: None, asked: NewestSessions) -> Steps[list[NewSession]]:
    found = yield from in_thread(partial(find_sessions, newest=asked.count))
    return [
        NewSession(one.path, session_name(one), program_of(one), project_name(one), one.modified, one.running)
        for one in found.sessions
    ]


QUERIES = (Query(NewestSessions, list[NewSession], _newest),)
