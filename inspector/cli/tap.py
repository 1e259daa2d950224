"""`tap`: stand between an MCP client and a stdio server and record what they say.

Plain calls do not come here: `inspector/__main__.py` starts them at once (`inspector/tap/start.py`). This is the help
and the words for what was typed wrong.
"""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.tap.arguments import TapArguments
from inspector.tap.relay import end_as, run_tap

_HELP = (
    "Stand between an MCP client and a stdio server, and record what they say.\n\n"
    "In the client's configuration put `context-inspector tap -o FILE --` before the server's command. Bytes, exit "
    "codes and signals pass through untouched. Trouble with FILE is said on standard error and never reaches the "
    "server.\n\n"
    "Clients start their servers again and again: name a folder (`-o ~/taps/`), and each start has its own capture. "
    "The window and all other commands read it, also while it grows."
)

OPTIONS = {"help": _HELP, "context_settings": {"allow_interspersed_args": False}}
"""How the command is declared: words behind the server's are the server's."""

Command = Annotated[list[str], typer.Argument(metavar="COMMAND", help="The server and its arguments.")]


def tap_command(
    command: Command,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Capture to make; of a folder, a new file in it.")
    ],
    append: Annotated[bool, typer.Option("--append", help="Go on with a capture that exists.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the window on it; it follows live.")] = False,
) -> None:
    """Stand between an MCP client and a stdio server, and record what they say."""
    end_as(run_tap(TapArguments(output, tuple(command), append, show)))
