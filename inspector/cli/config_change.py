"""Shows, confirms and applies a change of an MCP client's configuration, with a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from inspector.cli.arguments import fail
from inspector.cli.printing import escape_hostile, print_line

if TYPE_CHECKING:
    from inspector.tap.install.changes import Change

Yes = Annotated[bool, typer.Option("--yes", help="Make the change without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change without making it.")]


def made(change: Change, *, yes: bool, dry_run: bool) -> bool:
    """Shows a change, asks for confirmation and applies it. Returns True if it was applied."""
    from inspector.tap.install.changes import RefusedError, applied

    print_line(escape_hostile(f"{change.server.file.path}, {change.server.name}:"))
    for line in change.lines:
        print_line(escape_hostile(f"  {line}"))
    if dry_run:
        print_line("Nothing was changed.")
        return False
    if not yes and not typer.confirm("Make this change?"):
        print_line("Nothing was changed.")
        return False
    try:
        backup = applied(change)
    except RefusedError as error:
        fail(escape_hostile(str(error)))
    print_line("The file was created." if backup is None else escape_hostile(f"Changed. Backup: {backup}"))
    for note in change.notes:
        print_line(escape_hostile(note))
    return True
