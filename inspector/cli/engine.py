"""`engine`: serves documents to a window over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.cli.arguments import fail


def engine_command(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Read requests from standard input and write answers to standard output.")
    ] = False,
    inherited: Annotated[
        int | None,
        typer.Option(
            "--input",
            metavar="NUMBER",
            help="Read documents named - from this inherited file descriptor, on Windows a handle.",
        ),
    ] = None,
) -> None:
    """Serve logs to a window or another program: MessagePack with a length prefix (docs/engine.md)."""
    if not stdio:
        fail("Name the transport: engine --stdio.")
    from inspector.engine.serve import serve_stdio

    serve_stdio(inherited)
