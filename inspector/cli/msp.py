"""`msp`: edits sessions and sub-sessions in a terminal, on the same core as the window.

Each command reads, edits and saves once. It changes only the edited parts of the file, and never overwrites a
concurrent change.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from inspector.cli.arguments import Json, fail
from inspector.cli.msp_documents import (
    edited,
    name_of,
    owner_of,
    read_document,
    session_of,
    subsession_of,
    text_or_input,
)
from inspector.cli.msp_show import say_message, show_command
from inspector.cli.printing import dump, echo, escape_hostile, print_line, printable
from inspector.msp import (
    CannotEditError,
    Message,
    Session,
    SessionDocument,
    Subsession,
    WouldReplaceError,
    usual_visibility,
)
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text

app = typer.Typer(
    name="msp", add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="Work on sessions and their sub-sessions (Model Subsession Protocol): make, open, write, close, merge.\n\n"
    "FILE is a document of sessions, one file or a folder of them. A command changes only the edited parts, writes the "
    "file completely or not at all, and never overwrites a concurrent change. A sub-session is named by its id, "
    "or by its label if that is unique.",
)  # fmt: skip

File = Annotated[str, typer.Argument(metavar="FILE", help="A document of sessions, or a folder of them.")]
Which = Annotated[str, typer.Argument(metavar="ID", help="The sub-session: its id, or its label.")]
SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="The session, if there are several.")
]
Intent = Annotated[str | None, typer.Option("--intent", metavar="TEXT", help="Purpose of the session.")]
Constraints = Annotated[
    list[str] | None, typer.Option("--constraint", metavar="TEXT", help="A constraint; repeatable.")
]
Decisions = Annotated[list[str] | None, typer.Option("--decision", metavar="TEXT", help="A decision; repeatable.")]
Facts = Annotated[list[str] | None, typer.Option("--fact", metavar="TEXT", help="A fact; repeatable.")]


class Visibility(StrEnum):
    """Audience of a message."""

    main_only = "main_only"
    subsession_only = "subsession_only"
    everywhere = "global"


class What(StrEnum):
    """Kinds of text that can be added to a session."""

    message = "message"
    constraint = "constraint"
    decision = "decision"
    fact = "fact"
    snapshot = "snapshot"


_MAX_OWNERS = 20
_LISTS = {What.constraint: "constraints", What.decision: "decisions", What.fact: "facts"}


def _print_result(sentence: str, values: dict[str, Any], *, as_json: bool) -> None:
    """Prints the result of a command, for people or as JSON."""
    if as_json:
        echo(dump(mask_secrets(values)))
    else:
        print_line(mask_text(sentence))


@app.command("new")
def new_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to create; it must not exist yet.")],
    identifier: Annotated[str, typer.Option("--id", metavar="ID", help="Id of the session. Default: a new one.")] = "",
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="Label of the session.")] = "",
    intent: Intent = None,
    constraint: Constraints = None,
    decision: Decisions = None,
    fact: Facts = None,
    as_json: Json = False,
) -> None:
    """Create a document with one empty session."""
    agreed = {"intent": intent, "constraints": constraint, "decisions": decision, "facts": fact}
    document = SessionDocument.create(Path(file), identifier.strip(), label.strip(), agreed)
    try:
        document.save_as(Path(file))
    except WouldReplaceError:
        fail(escape_hostile(f"{file} already exists: choose another name."))
    except OSError as error:
        fail(escape_hostile(f"{file} cannot be written: {error.strerror or error}."))
    session = document.sessions[0]
    _print_result(f"Made {name_of(session)} in {file}.", {"file": file, "session": session.id}, as_json=as_json)


@app.command("open")
def open_command(
    file: File,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Topic of the sub-session.")],
    below: Annotated[
        str | None,
        typer.Option("--below", metavar="ID", help="Its parent: a session, or another sub-session. Default: the chat."),
    ] = None,
    recent: Annotated[
        int | None, typer.Option("--recent", metavar="N", min=0, help="Number of recent messages to include.")
    ] = None,
    no_sub_context: Annotated[bool, typer.Option("--no-sub-context", help="Exclude the sub-context.")] = False,
    no_snapshots: Annotated[bool, typer.Option("--no-snapshots", help="Exclude the snapshots.")] = False,
    refer: Annotated[
        list[str] | None,
        typer.Option("--refer", metavar="ID", help="Include the summary of a sibling sub-session; repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Open a sub-session, and print its id."""
    if not label.strip():
        fail("A sub-session needs a label.")

    def edit(document: SessionDocument) -> Subsession:
        policy: dict[str, Any] = {}
        if no_sub_context:
            policy["include_sub_context"] = False
        if no_snapshots:
            policy["include_snapshots"] = False
        if recent is not None:
            policy["recent_parent_messages"] = recent
        beside = [subsession_of(document, one) for one in refer or ()]
        sub = document.open_subsession(owner_of(document, below), label.strip(), policy or None)
        for other in beside:
            document.refer_summary(sub, other)
        return sub

    sub = edited(file, edit)
    parent = sub.parent.id if sub.parent is not None else None
    values = {"file": file, "subsession": sub.id, "label": sub.label, "parent": parent}
    _print_result(f"Opened {printable(sub.label, 60)}: {sub.id}", values, as_json=as_json)


@app.command("add")
def add_command(
    file: File,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text to add; - reads standard input.")],
    to: Annotated[
        str | None, typer.Option("--to", "-s", metavar="ID", help="A sub-session or a session. Default: the chat.")
    ] = None,
    what: Annotated[What, typer.Option("--as", help="Kind of the text.")] = What.message,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="Role of a message.")] = "user",
    visibility: Annotated[
        Visibility | None, typer.Option("--visibility", help="Audience of a message. Default: as the previous ones.")
    ] = None,
    covers: Annotated[
        str | None, typer.Option("--covers", metavar="A-B", help="Snapshot: messages that it covers, from 1.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add a message to a sub-session or the chat; or a constraint, decision, fact or snapshot to the session."""
    content = text_or_input(text)
    if covers is not None and what is not What.snapshot:
        fail("--covers requires --as snapshot.")
    if what is not What.message and (visibility is not None or role != "user"):
        fail("--role and --visibility require --as message.")
    if not role.strip():
        fail("A message needs a role, such as user or assistant.")
    span = _parse_span(covers)

    def edit(document: SessionDocument) -> dict[str, Any]:
        if what is What.message:
            return _add_message(document, owner_of(document, to), role, content, visibility)
        session = session_of(document, to)
        if what is What.snapshot:
            return {"session": session.id, "snapshot": document.add_snapshot(session, content, span).id}
        name = _LISTS[what]
        there: list[str] = getattr(session, name)
        document.set_sub_context(session, **{name: [*there, content]})
        return {"session": session.id, what.value: len(there) + 1}

    values = {"file": file, **edited(file, edit)}
    where = values.get("subsession") or values.get("session")
    _print_result(f"Added a {what} to {where}.", values, as_json=as_json)


def _add_message(
    document: SessionDocument, owner: Session | Subsession, role: str, content: str, visibility: Visibility | None
) -> dict[str, Any]:
    inside = isinstance(owner, Subsession)
    if visibility is not None:
        _refuse_misplaced(owner, visibility)
    chosen = visibility.value if visibility is not None else usual_visibility(owner)
    message = document.add_message(owner, role, content, chosen)
    return {"subsession" if inside else "session": owner.id, "message": message.id}


def _refuse_misplaced(owner: Session | Subsession, visibility: Visibility) -> None:
    """Exits with an error if a visibility does not fit the owner."""
    inside = isinstance(owner, Subsession)
    if not inside and visibility is Visibility.subsession_only:
        fail("subsession_only is for messages of a sub-session, not of a chat.")
    if inside and visibility is Visibility.main_only:
        fail("main_only is for messages of the chat; use subsession_only in a sub-session.")


def _parse_span(covers: str | None) -> tuple[int, int] | None:
    """Parses a message range such as "1-20" into a half-open range from 0."""
    if covers is None:
        return None
    # Nine digits, since `int` raises an error for more than 4,300.
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", covers.strip())
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        fail(f"{escape_hostile(covers)} is not a range of messages: write it as 1-20.")
    return first - 1, last


@app.command("set")
def set_command(
    file: File,
    intent: Annotated[str, typer.Option("--intent", metavar="TEXT", help="Purpose of the session.")],
    session: SessionOption = None,
    as_json: Json = False,
) -> None:
    """Set the intent of a session."""

    def edit(document: SessionDocument) -> Session:
        found = session_of(document, session)
        document.set_sub_context(found, intent=intent)
        return found

    found = edited(file, edit)
    _print_result(f"The intent of {name_of(found)} is set.", {"file": file, "session": found.id}, as_json=as_json)


@app.command("remove")
def remove_command(
    file: File,
    what: Annotated[What, typer.Argument(metavar="constraint|decision|fact|snapshot", help="Kind of the entry.")],
    which: Annotated[str, typer.Argument(metavar="NO", help="Its number in `msp show`; for a snapshot also its id.")],
    session: SessionOption = None,
    as_json: Json = False,
) -> None:
    """Remove a constraint, decision, fact or snapshot from a session."""
    if what is What.message:
        fail("Messages cannot be removed: a session is a record.")

    def edit(document: SessionDocument) -> Session:
        found = session_of(document, session)
        if what is What.snapshot:
            snapshots = found.snapshots
            ids = [one.id for one in snapshots]
            # An id wins over a number, since ids may be numbers too.
            place = ids.index(which) if which in ids else _parse_index(which, what, len(snapshots))
            document.delete_snapshot(found, snapshots[place])
            return found
        there: list[str] = getattr(found, _LISTS[what])
        place = _parse_index(which, what, len(there))
        document.set_sub_context(found, **{_LISTS[what]: [*there[:place], *there[place + 1 :]]})
        return found

    found = edited(file, edit)
    values = {"file": file, "session": found.id}
    _print_result(f"Removed {what} {which} from {name_of(found)}.", values, as_json=as_json)


def _parse_index(which: str, what: What, count: int) -> int:
    number = int(which) if re.fullmatch(r"\d{1,9}", which) else 0
    if not 1 <= number <= count:
        fail(escape_hostile(f"There is no {what} {which}: the session has {count:,}."))
    return number - 1


@app.command("refer")
def refer_command(
    file: File,
    which: Which,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The sibling sub-session with the summary.")],
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Remove the reference.")] = False,
    as_json: Json = False,
) -> None:
    """Include the summary of a sibling sub-session, without a merge."""

    def edit(document: SessionDocument) -> Subsession:
        sub = subsession_of(document, which)
        if withdraw:
            gone = other in sub.policy.include_summaries  # the other sub-session may no longer exist
            document.withdraw_summary(sub, other if gone else subsession_of(document, other).id)
        else:
            document.refer_summary(sub, subsession_of(document, other))
        return sub

    sub = edited(file, edit)
    verb = "refers no longer" if withdraw else "refers"
    values = {"file": file, "subsession": sub.id, "include_summaries": sub.policy.include_summaries}
    _print_result(f"{name_of(sub)} {verb} to the summary of {printable(other, 60)}.", values, as_json=as_json)


@app.command("close")
def close_command(
    file: File,
    which: Which,
    summary: Annotated[
        str | None, typer.Option("--summary", metavar="TEXT", help="The summary; - reads standard input.")
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Write the summary into the parent's messages.")] = False,
    discard: Annotated[
        bool, typer.Option("--discard", help="Close it without a summary; the messages stay for the record.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Close a sub-session, with a summary."""
    if discard and (summary is not None or append):
        fail("--discard and --summary cannot be combined.")
    if append and summary is None:
        fail("--append requires --summary TEXT.")
    text = text_or_input(summary) if summary is not None else None

    def edit(document: SessionDocument) -> Subsession:
        sub = subsession_of(document, which)
        if discard:
            document.discard_subsession(sub)
        else:
            document.close_subsession(sub, text, append_to_parent=append)
        return sub

    sub = edited(file, edit)
    values = {"file": file, "subsession": sub.id, "status": sub.status}
    _print_result(f"{'Discarded' if discard else 'Closed'} {name_of(sub)}.", values, as_json=as_json)


@app.command("merge")
def merge_command(
    file: File,
    which: Which,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes without writing.")] = False,
    as_json: Json = False,
) -> None:
    """Write the summary and the global messages of a closed sub-session into its parent, once."""
    if dry_run:
        _preview_merge(file, which, as_json=as_json)
        return

    def edit(document: SessionDocument) -> Subsession:
        sub = subsession_of(document, which)
        document.merge_subsession(sub)
        return sub

    sub = edited(file, edit)
    parent = sub.parent.id if sub.parent is not None else None
    values = {"file": file, "subsession": sub.id, "parent": parent}
    _print_result(f"Merged {name_of(sub)} into {parent}.", values, as_json=as_json)


def _preview_merge(file: str, which: str, *, as_json: bool) -> None:
    document = read_document([file])
    sub = subsession_of(document, which)
    try:
        messages = document.preview_merge(sub)
    except CannotEditError as error:
        fail(escape_hostile(mask_text(str(error))))
    parent = sub.parent.id if sub.parent is not None else None
    if as_json:
        told = [{"role": one.role, "content": one.content, "visibility": one.visibility} for one in messages]
        echo(dump(mask_secrets({"file": file, "subsession": sub.id, "parent": parent, "messages": told})))
        return
    print_line(
        mask_text(f"{name_of(sub)} would add {count_of(len(messages), 'message')} to {parent}; no file was written.")
    )
    for message in messages:
        say_message(message)


@app.command("visibility")
def visibility_command(
    file: File,
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="Id of the message.")],
    visibility: Annotated[Visibility, typer.Argument(help="Its new audience.")],
    of: Annotated[
        str | None,
        typer.Option("--of", "-s", metavar="ID", help="Session or sub-session of the message, if several have its id."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set the visibility of a message: global, or only its own conversation."""

    def edit(document: SessionDocument) -> Message:
        owners = [owner_of(document, of)] if of is not None else [*document.sessions, *document.subsessions]
        found = [one for owner in owners for one in owner.messages if one.id == message]
        if len(found) > 1:
            names = ", ".join(name_of(one.owner) for one in found[:_MAX_OWNERS])
            fail(f"{len(found):,} messages have the id {escape_hostile(message)}: choose with --of, one of {names}.")
        if not found:
            fail(f"There is no message {escape_hostile(message)}; `msp show FILE -s ID` shows the ids.")
        _refuse_misplaced(found[0].owner, visibility)
        document.set_visibility(found[0], visibility.value)
        return found[0]

    changed = edited(file, edit)
    key = "subsession" if isinstance(changed.owner, Subsession) else "session"
    values = {"file": file, key: changed.owner.id, "message": changed.id, "visibility": visibility.value}
    _print_result(
        f"{printable(message, 60)} of {name_of(changed.owner)} is {visibility.value}.", values, as_json=as_json
    )


@app.command("policy")
def policy_command(
    file: File,
    which: Which,
    recent: Annotated[
        int | None, typer.Option("--recent", metavar="N", min=0, help="Number of recent messages to include.")
    ] = None,
    sub_context: Annotated[
        bool | None, typer.Option("--sub-context/--no-sub-context", help="Include the sub-context.")
    ] = None,
    snapshots: Annotated[bool | None, typer.Option("--snapshots/--no-snapshots", help="Include the snapshots.")] = None,
    as_json: Json = False,
) -> None:
    """Change the parts of its parent that a sub-session includes."""
    wanted = {
        "include_sub_context": sub_context, "include_snapshots": snapshots, "recent_parent_messages": recent,
    }  # fmt: skip
    changes: dict[str, bool | int] = {name: value for name, value in wanted.items() if value is not None}
    if not changes:
        fail("Name a change: --recent N, --sub-context, --no-sub-context, --snapshots or --no-snapshots.")

    def edit(document: SessionDocument) -> Subsession:
        sub = subsession_of(document, which)
        document.set_policy(sub, **changes)
        return sub

    sub = edited(file, edit)
    values = {"file": file, "subsession": sub.id, "context_policy": sub.policy.data}
    _print_result(f"Changed the context policy of {name_of(sub)}.", values, as_json=as_json)


@app.command("reopen")
def reopen_command(file: File, which: Which, as_json: Json = False) -> None:
    """Reopen a closed or discarded sub-session. A merged one stays closed."""

    def edit(document: SessionDocument) -> Subsession:
        sub = subsession_of(document, which)
        document.reopen_subsession(sub)
        return sub

    sub = edited(file, edit)
    values = {"file": file, "subsession": sub.id, "status": sub.status}
    _print_result(f"Reopened {name_of(sub)}.", values, as_json=as_json)


app.command("show")(show_command)
