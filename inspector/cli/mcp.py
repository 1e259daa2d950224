"""`mcp`: runs an MCP server over captures for agents that debug other agents, and installs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.arguments import fail
from inspector.cli.config_change import DryRun, Yes, made
from inspector.cli.printing import escape_hostile
from inspector.cli.tap_install import CLIENT_NAMES


def mcp_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE|FOLDER]...",
            help="Logs and folders of logs that agents may read. No other file is opened. Default: the sessions "
            "that `sessions` lists.",
        ),
    ] = None,
) -> None:
    """Let agents analyze logs: run a read-only MCP server on standard input and output.

    Its tools are captures, summary, list, show, chain, check, contexts, model_sees, waste and tokens. Answers come in
    pages, with secrets masked.
    """
    for path in paths or ():
        if not path.exists():
            fail(f"{escape_hostile(str(path))} cannot be read: there is no such file or folder.")
    from inspector.mcp_server.server import serve

    serve(paths or ())


def mcp_install_command(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help=CLIENT_NAMES)],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE|FOLDER]...", help="Logs and folders that agents may read. Default: as for `mcp`."
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name in the client's configuration.")] = "context-inspector",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Configuration file, instead of the client's own.")
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Add this program to the configuration of an MCP client, so that the client can start `mcp`.

    Nothing else in the file is changed. The change is shown first, and the file is backed up beside it.
    """
    from inspector.tap.install.adding import planned_entry
    from inspector.tap.install.changes import RefusedError
    from inspector.tap.install.clients import client_named

    known = client_named(client)
    if known is None:
        fail(escape_hostile(f"{client} is not a known client. Known: {CLIENT_NAMES}"))
    for path in paths or ():
        if not path.exists():
            fail(f"{escape_hostile(str(path))} cannot be read: there is no such file or folder.")
    try:
        change = planned_entry(known, name, ["mcp", *(str(path.absolute()) for path in paths or ())], file)
    except RefusedError as error:
        fail(escape_hostile(str(error)))
    made(change, yes=yes, dry_run=dry_run)
