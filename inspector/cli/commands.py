"""The table of commands, in the order of the help.

Commands that show a window join in `inspector/startup/program.py`. A command's module is imported when it is called, so
that no command, and not the window, waits for imports of another.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typing_extensions import override

from inspector import version
from inspector.formats.declared.folder import register_folder
from inspector.protocol.escaped_text import escape_hostile


class _Place(NamedTuple):
    """Location of a command: `inspector.cli.<module>.<function>`, or a `typer.Typer` for a group of commands."""

    module: str
    function: str


COMMANDS: dict[str, _Place] = {
    "summary": _Place("summary", "summary_command"),
    "steps": _Place("steps", "steps_command"),
    "list": _Place("listing", "list_command"),
    "contexts": _Place("contexts", "contexts_command"),
    "participants": _Place("participants", "participants_command"),
    "model-sees": _Place("model_sees", "model_sees_command"),
    "waste": _Place("waste", "waste_command"),
    "diff": _Place("diff", "diff_command"),
    "bisect": _Place("bisect", "bisect_command"),
    "merged-context": _Place("merged_context", "merged_context_command"),
    "msp": _Place("msp", "app"),
    "check": _Place("check", "check_command"),
    "show": _Place("show", "show_command"),
    "query": _Place("query", "query_command"),
    "explain-filter": _Place("explain", "explain_filter_command"),
    "export": _Place("export", "export_command"),
    "survey": _Place("survey", "survey_command"),
    "slice": _Place("slice", "slice_command"),
    "sessions": _Place("sessions", "sessions_command"),
    "formats": _Place("declared_formats", "app"),
    "record": _Place("record", "record_command"),
    "tap": _Place("tap", "tap_command"),
    "mcp": _Place("mcp", "mcp_command"),
    "guide": _Place("guide", "guide_command"),
    "mcp install": _Place("mcp", "mcp_install_command"),
    "tap install": _Place("tap_install", "install_command"),
    "tap uninstall": _Place("tap_install", "uninstall_command"),
    "tap list": _Place("tap_install", "list_command"),
    "engine": _Place("engine", "engine_command"),
    "plugins": _Place("plugins", "app"),
}
"""Commands without a window by name."""


_WITHOUT_LOGS = frozenset({"plugins", "guide", "tap", "sessions", "record"})
_HELP = {"--help", "-h"}


class _Commands(TyperGroup):
    """Command group that imports a command on first use.

    Typer bundles Click in some versions and not in others, so Click's types have no stable name: they are `Any` here.
    """

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS, *super().list_commands(ctx)]

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolves a command of one or two words, such as `tap` and `tap install`."""
        both = " ".join(args[:2])
        return super().resolve_command(ctx, [both, *args[2:]] if both in COMMANDS else args)

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Loads plug-ins before the module of a command that reads logs: modules see the fields when imported."""
        if args and args[0] in COMMANDS and args[0] not in _WITHOUT_LOGS and not _HELP & {*args}:
            import_module("inspector.cli.plugins").load_plugins()
        return super().parse_args(ctx, args)

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) if cmd_name in COMMANDS else super().get_command(ctx, cmd_name)


@cache  # reading a signature takes longer than most commands on a small log, and a process may resolve several
def _command(name: str) -> Any:
    """Builds the Click command of a function or group."""
    module = import_module(f"inspector.cli.{COMMANDS[name].module}")
    found = getattr(module, COMMANDS[name].function)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    options: dict[str, Any] = getattr(module, "OPTIONS", {})
    # Typer builds a command only as part of an app, so each gets an app of its own.
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, **options)(found)
    return typer.main.get_command(alone)


app = typer.Typer(
    name="context-inspector", cls=_Commands, no_args_is_help=False, add_completion=False,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["--help", "-h"]},
    subcommand_metavar="[FILE | ws://...]... | COMMAND [ARGS]...",
    help="See what your agents did, why, and what it cost: an inspector for multi-agent workspaces.\n\n"
    "Without a command it opens the window: on each log FILE (- for standard input), with the Connect dialog for each "
    "ws:// or wss:// address, or on the start page without arguments. A window that is already open "
    "opens them.\n\n"
    "The window's options: --together, --runs, --new-window, --standalone, --theme, --tool-alias, --developer; "
    "`context-inspector window --help` explains them.",
)  # fmt: skip


@app.callback(invoke_without_command=True)
def _root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        typer.echo(f"context-inspector {version()}")
        raise typer.Exit
    for file in register_folder():
        if file.problem:
            typer.echo(escape_hostile(file.problem), err=True)
