"""Finds the newest sessions of all agents and completes them from the ends of their files."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from operator import attrgetter

from inspector.formats.format import load
from inspector.formats.table import FORMATS
from inspector.sources.agent_sessions.files import MOST_ENTRIES, Listing
from inspector.sources.agent_sessions.session import AgentSession, Lookup, SessionFinder

MAX_SESSIONS = 500
"""Default number of completed sessions; each costs two reads."""
_CHILDREN = 20
"""Limit of sub-agent files read per requested session; only a file names its parent."""
_LEAST_CHILDREN = 2_000
_SHORTEST_PREFIX = 4
_FRESH_S = 60.0
"""Age in seconds below which a file's session counts as running if no process is known."""


@functools.cache
def session_finders() -> dict[str, SessionFinder]:
    """Returns the finders of all programs, by name of the format. Loads them with the first call."""
    return {one.name: load(one.sessions) for one in FORMATS if one.sessions}


class SessionNameError(ValueError):
    """A name matches several sessions or none; the text is a sentence."""


def find_sessions(environment: Mapping[str, str] = os.environ, newest: int = MAX_SESSIONS) -> Lookup:
    """Returns the newest agent sessions on this machine.

    Reads at most 64 kB from each end of a file. Call it in a thread: some hundred sessions take a second.

    Args:
        environment: variables that locate the agents' folders, as `HOME`.
        newest: limit of sessions.
    """
    found, everything = _all_of(environment)
    found.sessions, children = _completed(everything, newest)
    found.total = len(everything) - children
    return found


def _all_of(environment: Mapping[str, str]) -> tuple[Lookup, list[AgentSession]]:
    """Returns the searched folders, and every session by its file alone, newest first; includes spawned ones."""
    found = Lookup()
    everything: list[AgentSession] = []
    for program in session_finders().values():
        root = program.folder(environment)
        found.folders.append(root)
        listing = Listing()
        everything += program.candidates(root, listing)
        if listing.exhausted:
            found.notices.append(f"{root} holds more than {MOST_ENTRIES:,} files: the rest was not looked at.")
        if listing.unreadable:
            others = len(listing.unreadable) - 1
            more = f" (and {others} more)" if others else ""
            found.notices.append(f"{listing.unreadable[0]}{more} cannot be read: may you read it?")
    everything.sort(key=attrgetter("modified"), reverse=True)
    return found, everything


def newest_session(environment: Mapping[str, str] = os.environ) -> AgentSession:
    """Returns the session last written to.

    Raises:
        SessionNameError: there is none.
    """
    lookup = find_sessions(environment, newest=1)
    if not lookup.sessions:
        raise SessionNameError(f"There are no sessions of agents in {' or '.join(map(str, lookup.folders))}.")
    return lookup.sessions[0]


def session_named(text: str, environment: Mapping[str, str] = os.environ) -> AgentSession:
    """Returns the session whose id, as in its file name, begins with a text.

    Raises:
        SessionNameError: no session or several sessions match.
    """
    lookup, sessions = _all_of(environment)
    exact = [one for one in sessions if one.identifier == text]
    fitting = exact or [one for one in sessions if len(text) >= _SHORTEST_PREFIX and one.identifier.startswith(text)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        few = ", ".join(one.identifier for one in fitting[:3])
        raise SessionNameError(f"{len(fitting)} sessions begin with {text!r}: {few}. Give more of the id.")
    where = " and ".join(map(str, lookup.folders))
    short = "" if len(text) >= _SHORTEST_PREFIX else f" (at least {_SHORTEST_PREFIX} characters of its id are needed)"
    raise SessionNameError(f"No session begins with {text!r}{short}. Looked in {where}.")


def _completed(everything: list[AgentSession], newest: int) -> tuple[list[AgentSession], int]:
    """Returns the newest completed sessions, without sub-agents, and the number of sub-agents found."""
    sessions: list[AgentSession] = []
    spawned: list[tuple[str, AgentSession]] = []
    for session in everything:
        if len(sessions) >= newest or len(spawned) >= max(newest * _CHILDREN, _LEAST_CHILDREN):
            break
        parent = session_finders()[session.program].complete(session)
        if parent is None:
            sessions.append(session)
        else:
            spawned.append((parent, session))
    _give_to_parents(sessions, spawned)
    now = time.time()
    for session in sessions:
        session.running = session.running or 0 <= now - session.modified < _FRESH_S
    return sessions, len(spawned)


def _give_to_parents(sessions: list[AgentSession], spawned: list[tuple[str, AgentSession]]) -> None:
    """Adds sub-agents to the session at the root of their chain. Parents may be sub-agents, or form cycles."""
    above = {child.identifier: parent for parent, child in spawned}
    roots = {one.identifier: one for one in sessions}
    for parent, child in spawned:
        passed = {child.identifier}
        while parent in above and parent not in passed:
            passed.add(parent)
            parent = above[parent]
        root = roots.get(parent)
        if root is not None:
            root.sub_agents += 1
            root.size += child.size
            root.modified = max(root.modified, child.modified)
    sessions.sort(key=attrgetter("modified"), reverse=True)
