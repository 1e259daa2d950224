"""The lookup over all agents: the newest sessions, completed from the ends of their files."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from operator import attrgetter

from inspector.sources.agent_sessions import claude_code, codex, copilot_cli, gemini_cli, open_code, vs_code
from inspector.sources.agent_sessions.files import MOST_ENTRIES, Listing
from inspector.sources.agent_sessions.session import AgentSession, Lookup

NEWEST = 500
"""Sessions completed when nothing else is asked for: each costs two reads."""
_CHILDREN = 20
"""Files of sub-agents read for each session asked for, at most: only a file tells whose it is."""
_LEAST_CHILDREN = 2_000
_SHORTEST_PREFIX = 4
_FRESH_S = 60.0
"""A file written so lately is taken for one of a session that runs, where no process is named."""


_PROGRAMS = {one.PROGRAM: one for one in (claude_code, codex, gemini_cli, copilot_cli, open_code, vs_code)}


class SessionNameError(ValueError):
    """Several sessions, or none, go by what was given; the text is a sentence."""


def find_sessions(environment: Mapping[str, str] = os.environ, newest: int = NEWEST) -> Lookup:
    """The newest sessions of agents on this machine.

    Reads at most 64 kB from each end of a file. To be called in a thread: some hundred sessions take a second.

    Args:
        environment: `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `XDG_DATA_HOME` and `HOME` say where the agents' folders are.
        newest: sessions listed, at most.
    """
    found, everything = _all_of(environment)
    found.sessions, children = _completed(everything, newest)
    found.total = len(everything) - children
    return found


def _all_of(environment: Mapping[str, str]) -> tuple[Lookup, list[AgentSession]]:
    """Where was looked, and every session by its file alone, the newest first; also those that others started."""
    found = Lookup()
    everything: list[AgentSession] = []
    for program in _PROGRAMS.values():
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
    """The session written to last.

    Raises:
        SessionNameError: there is none.
    """
    lookup = find_sessions(environment, newest=1)
    if not lookup.sessions:
        raise SessionNameError(f"There are no sessions of agents in {' or '.join(map(str, lookup.folders))}.")
    return lookup.sessions[0]


def session_named(text: str, environment: Mapping[str, str] = os.environ) -> AgentSession:
    """The session whose id begins with a text, as far as its file's name tells of it.

    Raises:
        SessionNameError: none does, or several do.
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
    """The newest that are no sub-agents, completed, and how many sub-agents were met."""
    sessions: list[AgentSession] = []
    spawned: list[tuple[str, AgentSession]] = []
    for session in everything:
        if len(sessions) >= newest or len(spawned) >= max(newest * _CHILDREN, _LEAST_CHILDREN):
            break
        parent = _PROGRAMS[session.program].complete(session)
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
    """Add sub-agents to the session at the top of their chain; parents may be sub-agents, or circles of them."""
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
