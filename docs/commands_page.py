"""The page about every command, made of their own help: `python docs/commands_page.py > docs/commands.md`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, it stands in its own folder

import typer
import typer.main

from inspector.program import app

_PROGRAM = "context-inspector"
_WINDOW = "window"
"""The command that is meant where none is named."""

_HEAD = f"""# Command line

`{_PROGRAM}` opens the window. With a command it answers in the terminal, without a display, in the same filter
language and with the same figures. How the commands are used is told page by page in the [guide](README.md); filters
are in [filter.md](filter.md).

FILE is any log that the window opens, `-` for standard input. Where input goes on for ever, Ctrl+C ends reading, and
the command answers for what came. In a checkout the program is `.venv/bin/{_PROGRAM}`.

This page is made of the commands' own help: `python docs/commands_page.py > docs/commands.md`.

## Exit codes

| code | means |
| --- | --- |
| 0 | fine, also when nothing matches |
| 1 | `check --fail-on`: there is a finding of that severity, or a worse one |
| 2 | bad usage, an unknown field, a bad filter, or input that cannot be read |
| 70 | an error in the program itself |

`tap` ends with the exit code of the server it stands before; see [Tap an MCP server](tap.md).
"""


def page() -> str:
    """The page in Markdown, with a line end at its end."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    shown = {name: command for name, command in commands.items() if not command.hidden}
    window = commands[_WINDOW]
    contents = [
        "## Commands\n",
        f"- [`{_PROGRAM}`](#the-window): {_first(window.help)}",
        *(f"- [`{name}`](#{name}): {_first(command.help)}" for name, command in shown.items()),
        "",
    ]
    parts = [_HEAD, *contents, *_section("The window", "", window, group.params)]
    for name, command in shown.items():
        parts += _section(name, f" {name}", command, [])
    return "\n".join(parts).rstrip("\n") + "\n"


def _section(title: str, name: str, command: Any, more: list[Any]) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in (*command.params, *more) if one.param_type_name == "option" and not one.hidden]
    needed = [f"{one.opts[0]} {_value(one)}" for one in options if one.required]
    needed += (
        ["--"] if command.context_settings.get("allow_interspersed_args") is False else []
    )  # what follows is another's
    words = [f"{_PROGRAM}{name}", *(["[OPTIONS]"] if len(options) > len(needed) else []), *needed]
    usage = " ".join([*words, *map(_word, arguments)])
    yield f"## {title}\n"
    yield f"```\n{usage}\n```\n"
    yield from (f"{paragraph}\n" for paragraph in _paragraphs(command.help))
    rows = [(f"`{_word(one)}`", _plain(one.help)) for one in arguments if one.help]
    rows += [(_names(one), _plain(_about(one))) for one in options]
    if rows:
        yield "| argument or option | what it does |\n| --- | --- |"
        yield "".join(f"| {_cell(left)} | {_cell(right)} |\n" for left, right in rows)


def _word(argument: Any) -> str:
    word = argument.metavar or argument.name.upper()
    several = getattr(_annotation(argument), "__origin__", None) is list or getattr(argument, "nargs", 1) == -1
    many = argument.required and several
    return f"{word}..." if many else word


def _annotation(parameter: Any) -> Any:
    """The type it was declared with; a Typer that uses Click itself keeps what Click makes of that."""
    described = getattr(parameter, "type_descriptor", None)
    return parameter.type if described is None else described.annotation


def _value(option: Any) -> str:
    """What it takes; empty for a switch."""
    if option.is_flag or option.count:
        return ""
    kind: Any = _annotation(option)
    choices: list[Any] = list(kind) if isinstance(kind, EnumType) else list(getattr(kind, "choices", ()))
    number = kind in (int, float) or str(getattr(kind, "name", "")).startswith(("integer", "float"))
    return (
        option.metavar
        or "|".join(str(getattr(one, "value", one)) for one in choices)
        or ("NUMBER" if number else "TEXT")
    )


def _names(option: Any) -> str:
    value = _value(option)
    return ", ".join(f"`{name} {value}`".replace(" `", "`") for name in (*option.opts, *option.secondary_opts))


def _about(option: Any) -> str:
    default = option.default
    said = str(getattr(default, "value", default))
    if default in (None, "", ()) or option.is_flag or callable(default) or "default" in (option.help or "").lower():
        return option.help or ""
    return f"{option.help or ''} Default: {said}."


def _paragraphs(text: str) -> Iterator[str]:
    """The help's paragraphs, each as one line."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        yield _plain(" ".join(paragraph.split()))


def _plain(text: str) -> str:
    """Text in which what Markdown takes for its own is escaped; what stands between backticks is code already."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _first(text: str) -> str:
    return next(_paragraphs(text))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
