"""The page about every command, made of their own help: `python packaging/commands_page.py > docs/commands.md`."""

# pyright: reportMissingImports=false, reportUnknownParameterType=false
from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, it stands in its own folder
sys.path.insert(0, str(Path(__file__).parents[1] / "packaging"))

from command_tree import PROGRAM, Command, Option, commands

_HEAD = f"""# Command line

`{PROGRAM}` opens the window. With a command it answers in the terminal, without a display, in the same filter
language and with the same figures. How the commands are used is told page by page in the [guide](README.md); filters
are in [filter.md](filter.md).

FILE is any log that the window opens, `-` for standard input. Where input goes on for ever, Ctrl+C ends reading, and
the command answers for the messages read so far. In a checkout the program is `.venv/bin/{PROGRAM}`.

This page is made of the commands' own help: `python packaging/commands_page.py > docs/commands.md`.

## Exit codes

| code | means |
| --- | --- |
| 0 | fine, also when nothing matches |
| 1 | `check --fail-on`: there is a finding of that severity, or a worse one; `diff --exit-code`: the runs differ |
| 2 | bad usage, an unknown field, a bad filter, input that cannot be read, or an answer that cannot be written |
| 70 | an error in the program itself; of `check` also: some checks ended by one |

`tap` ends with the exit code of the server it stands before; see [Tap an MCP server](tap.md).
"""


def page() -> str:
    """The page in Markdown, with a line end at its end."""
    own, window, others = commands()
    contents = [
        "## Commands\n",
        f"- [`{PROGRAM}`](#the-window): {_first(window.help)}",
        *(f"- [`{command.name}`](#{command.name}): {_first(command.help)}" for command in others),
        "",
    ]
    parts = [_HEAD, *contents]
    parts += _section("The window", PROGRAM, window._replace(options=(*window.options, *own.options)))
    for command in others:
        own_options = command.own_options if command.inner else command.options
        parts += _section(command.name, f"{PROGRAM} {command.name}", command._replace(options=own_options))
        for one in command.inner:
            parts += _section(one.name, f"{PROGRAM} {one.name}", one, level=3)
    return "\n".join(parts).rstrip("\n") + "\n"


def _section(title: str, called: str, command: Command, level: int = 2) -> Iterator[str]:
    needed = [f"{one.names[0]} {one.value}" for one in command.options if one.required]
    needed += ["--"] * command.passes_on
    words = [called, *(["[OPTIONS]"] if len(command.options) > len(needed) else []), *needed]
    usage = " ".join([*words, *(one.word for one in command.arguments)])
    yield f"{'#' * level} {title}\n"
    yield f"```\n{usage}\n```\n"
    yield from (f"{paragraph}\n" for paragraph in _paragraphs(command.help))
    rows = [(f"`{one.word}`", _plain(one.help)) for one in command.arguments if one.help]
    rows += [(_names(one), _plain(_about(one))) for one in command.options]
    if rows:
        yield "| argument or option | what it does |\n| --- | --- |"
        yield "".join(f"| {_cell(left)} | {_cell(right)} |\n" for left, right in rows)


def _names(option: Option) -> str:
    return ", ".join(f"`{name} {option.value}`".replace(" `", "`") for name in option.names)


def _about(option: Option) -> str:
    says_it = not option.default or "default" in option.help.lower()
    return option.help if says_it else f"{option.help} Default: {option.default}."


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
