"""`msp show`: prints the sessions of a document with their sub-sessions, or one of them with its messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from inspector.cli.arguments import Json
from inspector.cli.msp_documents import name_of, owner_of, read_document, say_problems
from inspector.cli.printing import MOST_LISTED, dump, echo, print_line, printable
from inspector.msp import Message, Rules, Session, SessionDocument, Subsession, covered_words
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text

_LISTS = (("Constraints", "constraints"), ("Decisions", "decisions"), ("Facts", "facts"))
_WIDTH = 100
_MAX_INDENT = 20
"""Deepest indentation of a line, in steps."""


def show_command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Documents of sessions, or a folder; - for standard input.")
    ],
    one: Annotated[
        str | None,
        typer.Option("--session", "-s", metavar="ID", help="Show one session or sub-session with its messages."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show sessions with their agreements, snapshots and sub-sessions; or one of them with its messages."""
    document = read_document(files)
    owner = owner_of(document, one) if one is not None else None
    say_problems(document)
    if as_json:
        echo(dump(mask_secrets(_as_json(document) if owner is None else _with_messages(owner))))
        return
    if owner is not None:
        _print_owner(owner)
        return
    for number, session in enumerate(document.sessions):
        if number:
            print_line("")
        _print_session(session)


# JSON output


def _as_json(document: SessionDocument) -> dict[str, Any]:
    return {
        "sessions": [_session(session) for session in document.sessions],
        "subsessions": [_subsession(sub) for sub in document.subsessions],
    }


def _session(session: Session) -> dict[str, Any]:
    return {
        "id": session.id or session.key,
        "label": session.label,
        "created_at": session.data.get("created_at"),
        "sub_context": {
            "intent": session.intent, "constraints": session.constraints,
            "decisions": session.decisions, "facts": session.facts,
        },
        "snapshots": [
            {"id": one.id, "covers_messages": one.covers, "created_at": one.data.get("created_at"),
             "content": one.content}
            for one in session.snapshots
        ],
        "message_count": len(session.messages),
    }  # fmt: skip


def _subsession(sub: Subsession) -> dict[str, Any]:
    return {
        "id": sub.id or sub.key,
        "parent": None if sub.parent is None else sub.parent.id or sub.parent.key,
        "label": sub.label,
        "status": _status(sub),
        "created_at": sub.data.get("created_at"),
        "closed_at": sub.data.get("closed_at"),
        "merged": sub.merged,
        "summary_appended": sub.summarized,
        "summary": sub.summary,
        "context_policy": sub.policy.data,
        "message_count": len(sub.messages),
    }


def _with_messages(owner: Session | Subsession) -> dict[str, Any]:
    found = _subsession(owner) if isinstance(owner, Subsession) else _session(owner)
    messages = [
        {"id": one.id, "role": one.role, "content": one.content, "visibility": one.visibility,
         "timestamp": one.data.get("timestamp")}
        for one in owner.messages
    ]  # fmt: skip
    return {**found, "messages": messages}


def _status(sub: Subsession) -> str:
    return "open" if sub.is_open else "discarded" if sub.discarded else "closed"


# Text output


def _print_session(session: Session) -> None:
    nothing = ", not defined in this file" if session.implied else ""
    print_line(f"{name_of(session)}: {count_of(len(session.messages), 'message')}{nothing}")
    _print_agreements(session)
    below = list(_descendants(session))
    if below:
        print_line("  Sub-sessions")
    for sub, depth in below[:MOST_LISTED]:
        _print_subsession(sub, "  " * min(depth, _MAX_INDENT))
    if len(below) > MOST_LISTED:
        print_line(f"    and {len(below) - MOST_LISTED:,} more; --json prints all.")


def _print_agreements(session: Session) -> None:
    if session.intent:
        print_line(f"  Intent: {_line(session.intent)}")
    for title, name in _LISTS:
        items: list[str] = getattr(session, name)
        if items:
            print_line(f"  {title}")
        for number, item in enumerate(items, 1):
            print_line(f"  {number:>5}  {_line(item)}")
    snapshots = session.snapshots
    if snapshots:
        print_line("  Snapshots")
    for number, snapshot in enumerate(snapshots, 1):
        covers = covered_words(snapshot, Rules())
        print_line(f"  {number:>5}  {f'{covers}: ' if covers else ''}{_line(snapshot.content)}")


def _descendants(session: Session) -> Iterator[tuple[Subsession, int]]:
    """Yields sub-sessions in tree order, with their depth from 1."""
    # Without recursion: a file may nest sub-sessions deeper than Python's stack.
    waiting = [(sub, 1) for sub in reversed(session.children)]
    while waiting:
        sub, depth = waiting.pop()
        yield sub, depth
        waiting += [(child, depth + 1) for child in reversed(sub.children)]


def _print_subsession(sub: Subsession, indent: str) -> None:
    state = _status(sub)
    if sub.merged:
        state += ", merged"
    elif sub.summarized:
        state += ", summary appended to the parent"
    print_line(f"  {indent}{name_of(sub)}: {state}, {count_of(len(sub.messages), 'message')}")
    if sub.summary:
        print_line(f"  {indent}  {_line(sub.summary)}")
    if names := sub.policy.include_summaries:
        print_line(f"  {indent}  refers to {_line(', '.join(names[:MOST_LISTED]))}")


def _print_owner(owner: Session | Subsession) -> None:
    if isinstance(owner, Session):
        print_line(f"{name_of(owner)}: {count_of(len(owner.messages), 'message')}")
        _print_agreements(owner)
    else:
        _print_subsession(owner, "")
    messages = owner.messages
    # The newest messages, as a chat is read.
    for message in messages[-MOST_LISTED:]:
        say_message(message)
    if len(messages) > MOST_LISTED:
        print_line(f"  and {len(messages) - MOST_LISTED:,} before them; --json prints all.")


def say_message(message: Message) -> None:
    seen = f" [{printable(mask_text(message.visibility), 20)}]" if message.visibility else ""
    name, role = printable(mask_text(message.id or ""), 20), printable(mask_text(message.role), 12)
    print_line(f"  {name:<20} {role:<10}{seen} {_line(message.content)}")


def _line(text: str) -> str:
    return printable(mask_text(text), _WIDTH)
