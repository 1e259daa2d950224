"""`plugins`: lists plug-ins, and switches them on and off."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from inspector.base.own_stdout import keep_stdout_for_results
from inspector.cli.arguments import Json, fail
from inspector.cli.printing import dump, echo, escape_hostile, print_line
from inspector.plugins import loading
from inspector.plugins.discovery import plugins_folder
from inspector.plugins.loading import PluginState
from inspector.settings.model import SwitchedPlugin
from inspector.settings.store import load_settings, save_settings, settings_path

app = typer.Typer(
    name="plugins", add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="List plug-ins, and switch them on and off.\n\n"
    "A plug-in is code that runs with your rights: formats, checks, fields and payload views from a file in the folder "
    "of plug-ins, or from an installed package. None runs before you switch it on, and a changed one has to be "
    "switched on again.",
)  # fmt: skip
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The plug-in; file:NAME or package:NAME if there are two of a name.")
]


def load_plugins() -> None:
    """Loads the plug-ins that the settings switch on, and says which fail."""
    if not settings_path().exists():
        return
    _load(load_settings().settings.plugins)
    for sentence in loading.troubles():
        typer.echo(escape_hostile(sentence), err=True)


def _load(switched: list[SwitchedPlugin]) -> None:
    """Loads plug-ins; whatever they write beside `sys.stdout` does not mix with the results of a command."""
    if switched:
        keep_stdout_for_results()
    loading.load(switched)


@app.command("list")
def list_command(as_json: Json = False) -> None:
    """List all plug-ins: version, what each adds, where it comes from, and its last error."""
    stored = load_settings().settings.plugins
    _load(stored)
    states = loading.states(stored)
    if as_json:
        echo(dump([_as_json(one) for one in states]))
        return
    for state in states:
        switch = "on" if state.is_on else "off"
        adds = ", ".join(state.adds) or "nothing known"
        version = f" {state.version}" if state.version else ""
        print_line(escape_hostile(f"{switch:<4} {state.name}{version}: {adds}  ({state.origin}, {state.place or '-'})"))
        if state.trouble:
            print_line(escape_hostile(f"     {state.trouble[:1].upper()}{state.trouble[1:]}."))
    if not states:
        print_line(escape_hostile(f"There are no plug-ins, neither in {plugins_folder()} nor in installed packages."))


@app.command("enable")
def enable_command(name: Name) -> None:
    """Switch a plug-in on: its code runs when a log is opened, with your rights."""
    loaded = load_settings()
    if loaded.message is not None:
        fail(escape_hostile(loaded.message))
    settings = loaded.settings
    state = _named(name, loading.states(settings.plugins))
    if state.found is None or state.found.trouble:
        fail(escape_hostile(f"The plug-in {state.name} cannot be used: {state.trouble}."))
    keep_stdout_for_results()
    settings.plugins = loading.switch(settings.plugins, state, on=True)
    now = next(one for one in loading.states(settings.plugins) if (one.name, one.origin) == (state.name, state.origin))
    if now.trouble:
        fail(escape_hostile(f"The plug-in {state.name} stays off: {now.trouble}."))
    save_settings(settings)
    print_line(escape_hostile(f"{state.name} is on. It adds: {', '.join(now.adds) or 'nothing'}."))


@app.command("disable")
def disable_command(name: Name) -> None:
    """Switch a plug-in off."""
    loaded = load_settings()
    if loaded.message is not None:
        fail(escape_hostile(loaded.message))
    settings = loaded.settings
    state = _named(name, loading.states(settings.plugins))
    settings.plugins = loading.switch(settings.plugins, state, on=False)
    save_settings(settings)
    print_line(escape_hostile(f"{state.name} is off."))


def _named(name: str, states: list[PluginState]) -> PluginState:
    """Finds a plug-in by NAME, file:NAME or package:NAME; exits without one, or with several."""
    origin, colon, rest = name.partition(":")
    named = [one for one in states if one.name == name or (colon and (one.origin, one.name) == (origin, rest))]
    if not named:
        known = ", ".join(one.name for one in states)
        there = f" There are: {known}." if known else f" There are none; put a file into {plugins_folder()}."
        fail(escape_hostile(f"There is no plug-in {name}.{there}"))
    if len(named) > 1:
        fail(escape_hostile(f"There are two plug-ins {name}. Name file:{name} or package:{name}."))
    return named[0]


def _as_json(state: PluginState) -> dict[str, Any]:
    return {
        "name": state.name, "origin": state.origin, "version": state.version or None, "on": state.is_on,
        "adds": list(state.adds), "place": state.place or None, "error": state.trouble or None,
    }  # fmt: skip
