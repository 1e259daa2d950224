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
    "Record the traffic between a client and its server.\n\n"
    "Over stdio: in the client's configuration put `context-inspector tap -o FILE --` before the server's command; "
    "`tap install` does it. Bytes, exit codes and signals pass through untouched. Errors with FILE are printed on "
    "standard error and never reach the server. Clients restart their servers often: name a folder "
    "(`-o ~/taps/`), so that each start has its own capture.\n\n"
    "Over HTTP: `context-inspector tap --http URL -o FOLDER` prints the address that replaces the server's in the "
    "client, the same each time, and runs until it is stopped.\n\n"
    "A model API: `context-inspector tap --model -- COMMAND` starts a client with its model calls routed "
    "through the tap; use `--http URL --model` for clients with a setting for the address.\n\n"
    "The window and all other commands read the captures, also while they are written."
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
        str, typer.Option("-o", "--output", metavar="FILE", help="Capture to create, or a folder for a new one.")
    ] = "",
    append: Annotated[bool, typer.Option("--append", help="Append to an existing capture.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the window on the capture, live.")] = False,
    http: Annotated[str, typer.Option("--http", metavar="URL", help="Tap the server at this address.")] = "",
    listen: Annotated[
        str,
        typer.Option("--listen", metavar="127.0.0.1:PORT", help="Address for the client. Default: the same as before."),
    ] = "",
    own_token: Annotated[
        bool,
        typer.Option("--own-token", help="The client sends its own token: skip the sign-in check."),
    ] = False,
    model: Annotated[
        bool, typer.Option("--model", help="Tap a model API: of the started client, or at --http URL.")
    ] = False,
) -> None:
    """Record the traffic between a client and its server."""
    words = tuple(command or ())
    if not output and model:
        output = _own_folder()
    if not output:
        fail("Name a capture or a folder with -o.")
    if http:
        if words or append:
            fail("An HTTP tap takes no command and cannot append to an existing capture.")
        from inspector.tap.http.run import HttpTapArguments, run_http_tap

        raise typer.Exit(run_http_tap(HttpTapArguments(http, output, listen, show, own_token, model)))
    if model:
        if not words or append or listen or own_token:
            fail("Name the client after --, or the address of a model API with --http URL.")
        from inspector.tap.http.model import ModelTapArguments, run_model_tap

        end_as(run_model_tap(ModelTapArguments(output, words, show)))
    if not words:
        fail("Name the server's command after --, or its address with --http URL.")
    if listen or own_token:
        fail("--listen and --own-token require --http URL.")
    end_as(run_tap(TapArguments(output, words, append, show)))


def _own_folder() -> str:
    """Returns the default folder for captures of taps."""
    from inspector.base.paths import data_folder

    return f"{data_folder() / 'taps'}/"
