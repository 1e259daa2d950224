"""The program's commands as their help describes them: for the man page, the completions and the page in docs/."""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumType
from typing import Any, NamedTuple

import typer.main

from inspector.startup.program import app

PROGRAM = "context-inspector"
_WINDOW = "window"
"""The command that is meant when none is named."""


class Argument(NamedTuple):
    """An argument of a command."""

    word: str
    help: str


class Option(NamedTuple):
    """An option of a command."""

    names: tuple[str, ...]
    value: str
    """What it takes; empty when it is a switch."""
    choices: tuple[str, ...]
    help: str
    default: str
    """As help would say it; empty where there is none to say."""
    required: bool


class Command(NamedTuple):
    """A command, as its help describes it."""

    name: str
    help: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    passes_on: bool
    """What follows its options is another's."""
    inner: tuple[Command, ...] = ()
    """Commands of a command, each by its whole name, as `msp new`; its options are all of theirs, and its own."""
    own_options: tuple[Option, ...] = ()
    """Of a command that has others those it takes itself."""


def commands() -> tuple[Command, Command, list[Command]]:
    """The program itself, the window it opens without a command, and the commands in the order help lists them."""
    group: Any = typer.main.get_command(app)
    # A command may be imported only when it is asked for by its name; none needs to know from where it is asked.
    found = {name: group.get_command(None, name) for name in group.list_commands(None)}
    shown = {name: _described(name, command) for name, command in found.items() if not command.hidden}
    for name in [name for name in shown if " " in name]:
        outer = name.partition(" ")[0]
        shown[outer] = _with_inner(shown[outer], shown.pop(name))
    return _described(PROGRAM, group), _described(_WINDOW, found[_WINDOW]), list(shown.values())


def _with_inner(command: Command, inner: Command) -> Command:
    """A command that does something by itself, with another one of two words."""
    own = command.own_options if command.inner else command.options
    options = {one.names: one for one in (*command.options, *inner.options)}
    return command._replace(options=tuple(options.values()), inner=(*command.inner, inner), own_options=own)


def _described(name: str, command: Any) -> Command:
    if name != PROGRAM and (found := getattr(command, "commands", None)):
        inner = tuple(_described(f"{name} {one}", found[one]) for one in found)
        options = {one.names: one for each in inner for one in each.options}
        argument = Argument("COMMAND", f"One of {', '.join(found)}.")
        return Command(name, (command.help or "").strip(), (argument,), tuple(options.values()), False, inner)
    arguments = (one for one in command.params if one.param_type_name == "argument")
    options = (one for one in command.params if one.param_type_name == "option" and not one.hidden)
    return Command(
        name, (command.help or "").strip(), tuple(map(_argument, arguments)), tuple(map(_option, options)),
        command.context_settings.get("allow_interspersed_args") is False,
    )  # fmt: skip


def _argument(argument: Any) -> Argument:
    word = argument.metavar or argument.name.upper()
    several = getattr(_annotation(argument), "__origin__", None) is list or getattr(argument, "nargs", 1) == -1
    ending = "..." if argument.required and several and not word.endswith("...") else ""
    return Argument(word + ending, (argument.help or "").strip())


def _option(option: Any) -> Option:
    choices = tuple(_choices(_annotation(option)))
    switch = option.is_flag or option.count
    value = "" if switch else option.metavar or "|".join(choices) or _kind(_annotation(option))
    default = "" if switch or callable(option.default) or option.default in (None, "", ()) else option.default
    names = (*option.opts, *option.secondary_opts)
    words = str(getattr(default, "value", default))
    return Option(names, value, choices, (option.help or "").strip(), words, bool(option.required))


def _annotation(parameter: Any) -> Any:
    """The type it was declared with; a Typer that uses Click itself keeps what Click makes of that."""
    described = getattr(parameter, "type_descriptor", None)
    return parameter.type if described is None else described.annotation


def _choices(kind: Any) -> Iterator[str]:
    for one in kind if isinstance(kind, EnumType) else getattr(kind, "choices", ()):
        yield str(getattr(one, "value", one))


def _kind(annotation: Any) -> str:
    number = annotation in (int, float) or str(getattr(annotation, "name", "")).startswith(("integer", "float"))
    return "NUMBER" if number else "TEXT"
