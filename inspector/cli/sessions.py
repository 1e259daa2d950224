"""`sessions`: lists the sessions of coding agents on this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from inspector.cli.arguments import Json
from inspector.cli.printing import print_array, print_line, printable
from inspector.present.formats import count_of, size
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.sources.agent_sessions.lookup import MAX_SESSIONS, find_sessions
from inspector.sources.agent_sessions.session import AgentSession, Lookup

_PROMPT = 400
"""Characters of a prompt in JSON; the table has less room."""


def sessions_command(
    as_json: Json = False,
    newest: Annotated[
        int, typer.Option("--newest", metavar="N", min=1, help="Number of sessions, newest first.")
    ] = MAX_SESSIONS,
) -> None:
    """List the sessions that coding agents left on this machine, the newest first."""
    lookup = find_sessions(newest=newest)
    for notice in lookup.notices:
        typer.echo(printable(notice, 400), err=True)
    if as_json:
        print_array(map(_fields, lookup.sessions))
        return
    if not lookup.sessions:
        print_line(printable(f"There are no sessions of agents in {' or '.join(map(str, lookup.folders))}.", 600))
        return
    for session in lookup.sessions:
        print_line(_row(session))
    _print_rest(lookup)


def _print_rest(lookup: Lookup) -> None:
    left = lookup.total - len(lookup.sessions)
    if left > 0:
        print_line(f"{left:,} older ones are not listed: --newest {lookup.total} lists all.")


def _row(session: AgentSession) -> str:
    when = datetime.fromtimestamp(session.modified).strftime("%Y-%m-%d %H:%M")
    state = "running" if session.running else ""
    agents = count_of(session.sub_agents, "sub-agent") if session.sub_agents else ""
    facts = [fact for fact in (size(session.size), session.model, agents, state) if fact]
    project, says = mask_text(session.project), mask_text(session.name)
    return (
        f"{when}  {session.program:<11}  {printable(session.identifier[:13], 13)}  {printable(project, 40)}  "
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
        }
    )
