"""Finds the newest sessions of all agents and completes them from the ends of their files."""

from __future__ import annotations

import functools
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter

from inspector.formats import registry
from inspector.formats.format import load
from inspector.formats.table import FORMATS
from inspector.sources.agent_sessions.files import MOST_ENTRIES, Listing
from inspector.sources.agent_sessions.session import AgentSession, Lookup, SessionFinder

MAX_SESSIONS = 5_000
"""Default number of completed sessions; each costs two reads, and 5,000 take a second."""
_SEARCHED = 2_000
"""Limit in characters of a prompt's searched beginning."""
_CHILDREN = 20
"""Limit of sub-agent files read per requested session; only a file names its parent."""
_LEAST_CHILDREN = 2_000
_SHORTEST_PREFIX, _SHORT = 4, 13
_FRESH_S = 60.0
"""Age in seconds below which a file's session counts as running if no process is known."""


@functools.cache
def session_finders() -> dict[str, SessionFinder]:
    """Returns the finders of all programs, by name of the format. Loads them with the first call."""
    return {one.name: load(one.sessions) for one in FORMATS if one.sessions}


class SessionNameError(ValueError):
    """A name matches several sessions or none; the text is a sentence."""


def find_sessions(
    environment: Mapping[str, str] = os.environ, newest: int = MAX_SESSIONS, words: str = ""
) -> Lookup:  # fmt: skip
    """Returns the newest agent sessions on this machine.

    Reads at most 64 kB from each end of a file. Call it in a thread: 5,000 sessions take a second.

    Args:
        environment: variables that locate the agents' folders, as `HOME`.
        newest: limit of sessions.
        words: only sessions with all of these words, as `matches_words`.
    """
    found, everything = _all_of(environment)
    found.listed = everything
    sessions, children = _completed(everything, len(everything) if words else newest)
    found.sessions = [one for one in sessions if matches_words(search_text(one), words)][:newest] if words else sessions
    found.total = len(everything) - children
    return found


def search_text(session: AgentSession) -> str:
    """Returns the text of a session that a search covers, without differences of case."""
    texts = (session.title, session.prompt[:_SEARCHED], session.project, session.model, session.identifier)
    return " ".join((*texts, program_of(session))).casefold()


def matches_words(text: str, words: str) -> bool:
    """Returns True if a text of `search_text` contains all words."""
    return all(word in text for word in words.casefold().split())


def program_of(session: AgentSession) -> str:
    """Returns the name of the program that wrote a session."""
    found = registry.format_named(session.program)
    return found.product if found is not None else session.program


def short_names(lookup: Lookup) -> dict[str, str]:
    """Returns beginnings of ids that name one session each, by id, for commands: `session:ID`."""
    counts = Counter(one.identifier[:_SHORT] for one in lookup.listed)
    ids = (one.identifier for one in lookup.sessions)
    return {one: one[:_SHORT] if counts[one[:_SHORT]] < 2 else one for one in ids}


def _all_of(environment: Mapping[str, str]) -> tuple[Lookup, list[AgentSession]]:
    """Returns the searched folders, and every session by its file alone, newest first; includes spawned ones."""
    found = Lookup()
    everything: list[AgentSession] = []
    for program in session_finders().values():
        first, *others = program.folders(environment)
        listing = Listing()
        own: list[AgentSession] = []
        for root in dict.fromkeys((first, *(other for other in others if other.is_dir()))):
            found.folders.append(root)
            own += program.candidates(root, listing)
        everything += _newest_copies(own)
        if listing.exhausted:
            found.notices.append(f"{first} holds more than {MOST_ENTRIES:,} files: the rest was not looked at.")
        if listing.unreadable:
            others = len(listing.unreadable) - 1
            more = f" (and {others} more)" if others else ""
            found.notices.append(f"{listing.unreadable[0]}{more} cannot be read: may you read it?")
    found.folders = list(dict.fromkeys(found.folders))
    everything.sort(key=attrgetter("modified"), reverse=True)
    return found, everything


def _newest_copies(sessions: list[AgentSession]) -> Iterable[AgentSession]:
    """Returns the sessions without older copies: programs that change their storage leave the old files."""
    kept: dict[str, AgentSession] = {}
    for session in sessions:
        known = kept.get(session.identifier)
        if known is None or session.modified > known.modified:
            kept[session.identifier] = session
    return kept.values()


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
        if exact:
            places = ", ".join(str(one.path) for one in exact[:3])
            raise SessionNameError(f"{len(exact)} sessions have the id {text!r}: {places}. Open one by its path.")
        raise SessionNameError(f"{len(fitting)} sessions begin with {text!r}: {few}. Give more of the id.")
    where = " and ".join(map(str, lookup.folders))
    short = "" if len(text) >= _SHORTEST_PREFIX else f" (at least {_SHORTEST_PREFIX} characters of its id are needed)"
    raise SessionNameError(f"No session begins with {text!r}{short}. Looked in {where}.")


def _completed(everything: list[AgentSession], newest: int) -> tuple[list[AgentSession], int]:
    """Returns the newest completed sessions, without sub-agents, and the number of sub-agents found."""
    sessions: list[AgentSession] = []
    spawned: list[tuple[str, AgentSession]] = []
    by_id = {(one.program, one.identifier): one for one in everything}
    seen: set[int] = set()
    for session in everything:
        if len(sessions) >= newest or len(spawned) >= max(newest * _CHILDREN, _LEAST_CHILDREN):
            break
        current: AgentSession | None = session
        # The parent of a sub-agent comes at its place: it waits in silence while the sub-agent writes.
        while current is not None and id(current) not in seen:
            seen.add(id(current))
            parent = session_finders()[current.program].complete(current)
            if parent is None:
                sessions.append(current)
                break
            spawned.append((parent, current))
            current = by_id.get((current.program, parent))
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
