"""`mcp`: an MCP server over captures, for agents that ask why a run went as it did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.arguments import fail
from inspector.cli.printing import visible


def mcp_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE|FOLDER]...",
            help="What may be asked about: logs, and folders of logs. Nothing else is opened. Default: the sessions "
            "that `sessions` lists.",
        ),
    ] = None,
) -> None:
    """Let agents ask about logs: an MCP server on standard input and output, which only reads.

    Its tools are captures, summary, list, show, chain, check, contexts, model_sees, waste and tokens; answers come in
    pages, with secrets masked.
    """
    for path in paths or ():
        if not path.exists():
            fail(f"{visible(str(path))} cannot be read: there is no such file or folder.")
    from inspector.mcp_server.server import serve

    serve(paths or ())
