"""`sessions`: lists the sessions of coding agents on this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from inspector.cli.arguments import Json
from inspector.cli.printing import print_array, print_line, printable
from inspector.present.formats import count_of, size
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.sources.agent_sessions.lookup import MAX_SESSIONS, find_sessions, short_names
from inspector.sources.agent_sessions.session import AgentSession, Lookup

_PROMPT = 400
"""Characters of a prompt in JSON; the table has less room."""
_PROGRAM_WIDTH = 13
"""Characters of the longest name of a program with sessions, `factory-droid`."""


def sessions_command(
    as_json: Json = False,
    newest: Annotated[
        int, typer.Option("--newest", metavar="N", min=1, help="Number of sessions, newest first.")
    ] = MAX_SESSIONS,
    search: Annotated[
        str,
        typer.Option(
            "--search", metavar="WORDS",
            help="Only sessions with all of these words in title, first prompt, project, model, agent or id.",
        ),
    ] = "",
) -> None:  # fmt: skip
    """List the sessions that coding agents left on this machine, the newest first."""
    lookup = find_sessions(newest=newest, words=search)
    for notice in lookup.notices:
        typer.echo(printable(notice, 400), err=True)
    if as_json:
        print_array(map(_fields, lookup.sessions))
        return
    if not lookup.sessions:
        print_line(printable(_why_empty(lookup, search), 600))
        return
    names = short_names(lookup)
    width = max(map(len, names.values()))
    for session in lookup.sessions:
        print_line(_row(session, names[session.identifier].ljust(width)))
    _print_rest(lookup, search)


def _why_empty(lookup: Lookup, search: str) -> str:
    if lookup.total:
        return f"None of {count_of(lookup.total, 'session')} contains all of these words: {search}"
    return f"There are no sessions of agents in {' or '.join(map(str, lookup.folders))}."


def _print_rest(lookup: Lookup, search: str) -> None:
    left = lookup.total - len(lookup.sessions)
    if search:
        print_line(f"{len(lookup.sessions):,} of {count_of(lookup.total, 'session')}.")
    elif left > 0:
        print_line(f"{left:,} older ones are not listed: --newest {lookup.total} lists all.")


def _row(session: AgentSession, name: str) -> str:
    when = datetime.fromtimestamp(session.modified).strftime("%Y-%m-%d %H:%M")
    state = "running" if session.running else ""
    agents = count_of(session.sub_agents, "sub-agent") if session.sub_agents else ""
    messages = count_of(session.messages, "message") if session.messages is not None else ""
    # A session in a database has no size of its own.
    facts = [
        fact for fact in (size(session.size) if session.size else "", messages, session.model, agents, state) if fact
    ]
    project, says = mask_text(session.project), mask_text(session.name)
    return (
        f"{when}  {session.program:<{_PROGRAM_WIDTH}}  {printable(name, 80)}  {printable(project, 40)}  "
        f"{printable(says, 70)}  ({printable(', '.join(facts), 120)})"
    )


def _fields(session: AgentSession) -> dict[str, Any]:
    return mask_secrets(
        {
            "id": session.identifier,
            "format": session.program,
            "path": str(session.path),
            "project": session.project or None,
            "title": session.title or None,
            "prompt": session.prompt[:_PROMPT] or None,
            "time": datetime.fromtimestamp(session.modified, UTC).isoformat().replace("+00:00", "Z"),
            "size": session.size,
            "model": session.model or None,
            "running": session.running,
            "sub_agents": session.sub_agents,
            "messages": session.messages,
        }
    )
