"""`tap`: runs a proxy between an MCP client and its server and records their traffic.

Plain calls over stdio skip this module: `inspector/__main__.py` starts them at once (`inspector/tap/start.py`). This
module has the help, error messages for bad arguments, and the start of taps over HTTP.
"""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.cli.arguments import fail
from inspector.tap.arguments import TapArguments
from inspector.tap.relay import end_as, run_tap

_HELP = (
    "Stand between a client and its server, and record what they say.\n\n"
    "Over stdio: in the client's configuration put `context-inspector tap -o FILE --` before the server's command; "
    "`tap install` does it. Bytes, exit codes and signals pass through untouched. Trouble with FILE is said on "
    "standard error and never reaches the server. Clients start their servers again and again: name a folder "
    "(`-o ~/taps/`), and each start has its own capture.\n\n"
    "Over HTTP: `context-inspector tap --http URL -o FOLDER` says which address to give the client in place of the "
    "server's, the same each time, and passes on until it is ended.\n\n"
    "A model's API: `context-inspector tap --model -- COMMAND` starts a client, such as `claude`, whose calls of a "
    "model pass through the tap for this start; `--http URL --model` for those that take an address.\n\n"
    "The window and all other commands read the captures, also while they grow."
)

OPTIONS = {"help": _HELP, "context_settings": {"allow_interspersed_args": False}}
"""Typer options of the command: words after the server's command belong to the server."""

Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="COMMAND...", help="The server and its arguments; with --model the client."),
]


def tap_command(
    command: Command = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Capture to make; of a folder, a new file in it.")
    ] = "",
    append: Annotated[bool, typer.Option("--append", help="Go on with a capture that exists.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the window on it; it follows live.")] = False,
    http: Annotated[str, typer.Option("--http", metavar="URL", help="Tap the server at this address.")] = "",
    listen: Annotated[
        str,
        typer.Option(
            "--listen", metavar="127.0.0.1:PORT", help="Where the client reaches the tap; else where it did before."
        ),
    ] = "",
    own_token: Annotated[
        bool,
        typer.Option("--own-token", help="The client sends a token in its headers: do not look for a sign-in."),
    ] = False,
    model: Annotated[
        bool, typer.Option("--model", help="Tap the API of a model: of the client that is started, or at --http URL.")
    ] = False,
) -> None:
    """Record the traffic between a client and its server."""
    words = tuple(command or ())
    if not output and model:
        output = _own_folder()
    if not output:
        fail("Name a capture to make, or a folder to make one in, with -o.")
    if http:
        if words or append:
            fail("A server over HTTP is tapped at its address: no command follows it, and no capture is gone on with.")
        from inspector.tap.http.run import HttpTapArguments, run_http_tap

        raise typer.Exit(run_http_tap(HttpTapArguments(http, output, listen, show, own_token, model)))
    if model:
        if not words or append or listen or own_token:
            fail("Name the client to start behind --, or the address of a model's API with --http URL.")
        from inspector.tap.http.model import ModelTapArguments, run_model_tap

        end_as(run_model_tap(ModelTapArguments(output, words, show)))
    if not words:
        fail("Name the server's command behind --, or its address with --http URL.")
    if listen or own_token:
        fail("--listen and --own-token are about a server over HTTP; name its address with --http URL.")
    end_as(run_tap(TapArguments(output, words, append, show)))


def _own_folder() -> str:
    """Returns the default folder for captures of taps."""
    from inspector.base.paths import data_folder

    return f"{data_folder() / 'taps'}/"
