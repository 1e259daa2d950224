"""The commands in the order help lists them; those that show a window join them in `inspector/program.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector import version
from inspector.cli.check import check_command
from inspector.cli.contexts import contexts_command
from inspector.cli.explain import explain_filter_command
from inspector.cli.export import export_command
from inspector.cli.listing import list_command
from inspector.cli.model_sees import model_sees_command
from inspector.cli.participants import participants_command
from inspector.cli.record import record_command
from inspector.cli.show import show_command
from inspector.cli.summary import summary_command
from inspector.cli.tap import HELP as TAP_HELP
from inspector.cli.tap import tap_command
from inspector.cli.waste import waste_command

app = typer.Typer(
    name="context-inspector", no_args_is_help=False, add_completion=False, pretty_exceptions_enable=False,
    subcommand_metavar="[FILE | ws://...]... | COMMAND [ARGS]...",
    help="See who thinks what, where, because of what, and what it costs: an inspector for multi-agent workspaces.\n\n"
    "Without a command it opens the window: on each log FILE (- for standard input), with the question how to join the "
    "gateway at each ws:// or wss:// address, or on the start page when nothing is named.",
)  # fmt: skip

app.command("summary")(summary_command)
app.command("list")(list_command)
app.command("contexts")(contexts_command)
app.command("participants")(participants_command)
app.command("model-sees")(model_sees_command)
app.command("waste")(waste_command)
app.command("check")(check_command)
app.command("show")(show_command)
app.command("explain-filter")(explain_filter_command)
app.command("export")(export_command)
app.command("record")(record_command)
app.command("tap", help=TAP_HELP, context_settings={"allow_interspersed_args": False})(tap_command)


@app.callback(invoke_without_command=True)
def _root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        typer.echo(f"context-inspector {version()}")
        raise typer.Exit
