"""Options that several commands share, and the error exit. Imports little, so that commands start quickly."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, NoReturn, get_type_hints

import typer

from inspector.base.idle_time import IDLE_AFTER_S
from inspector.protocol.escaped_text import escape_hostile

LogFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Any readable log; - for standard input; session:ID for a session that `sessions` lists. "
        "Several logs, or a folder of logs, are merged in the order of time.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ToolAliasTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--tool-alias",
        metavar="NAME=NAME",
        help="Two names of one tool, such as 'mcp__rune__*=*' for names prefixed by a proxy; repeatable.",
    ),
]


class CollapseOrder(StrEnum):
    """Order in which pending results collapse."""

    oldest = "oldest"
    newest = "newest"


Collapses = Annotated[
    CollapseOrder, typer.Option("--collapses", help="Result that a consumption collapses if several are pending.")
]
IdleAfter = Annotated[
    int | None,
    typer.Option(
        "--idle-after", metavar="SECONDS", min=1, help=f"Time until a context is idle. Default: {IDLE_AFTER_S}."
    ),
]
ReadAs = Annotated[
    str | None,
    typer.Option(
        "--read-as", metavar="FORMAT",
        help="Read the log in this format, without detection. An unknown name lists all formats.",
    ),
]  # fmt: skip
FormatFile = Annotated[
    str | None,
    typer.Option(
        "--format-file", metavar="TOML",
        help="Read the log in the format that this file declares; `context-inspector formats new` writes one.",
    ),
]  # fmt: skip
PriceFile = Annotated[
    str | None,
    typer.Option(
        "--prices", metavar="FILE",
        help="Prices of model tokens: lines as in Settings > Prices, or a price list in LiteLLM's format. Default: "
        "the prices in the settings, and for other models the built-in list.",
    ),
]  # fmt: skip
MemoryLimit = Annotated[
    int,
    typer.Option(
        "--memory", metavar="MB", min=0,
        help="Stop reading when the messages use this much memory. Default: half of the free memory.",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """Options of a command that decide how logs are read and judged; each field is one option."""

    tool_alias: ToolAliasTexts = None
    collapses: Collapses = CollapseOrder.oldest
    idle_after: IdleAfter = None
    memory: MemoryLimit = 0
    read_as: ReadAs = None
    format_file: FormatFile = None
    prices: PriceFile = None


AS_USUAL = Reading()
JUDGED = ("tool_alias", "collapses", "memory", "read_as", "format_file")
"""Fields of `Reading` that most commands offer."""


def takes_reading(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replaces the last parameter of a command, its `Reading`, by options for some of its fields.

    Args:
        names: fields to offer as options; the others keep their defaults.
    """

    def made(command: Callable[..., None]) -> Callable[..., None]:
        written = inspect.signature(command, eval_str=True)
        # `include_extras` keeps `Annotated`, where the options are declared.
        hints = get_type_hints(Reading, include_extras=True)
        own = [one for one in written.parameters.values() if one.annotation is not Reading]
        options = [
            own[0].replace(name=name, annotation=hint, default=getattr(AS_USUAL, name))
            for name, hint in hints.items() if name in names
        ]  # fmt: skip

        @wraps(command)
        def called(**given: Any) -> None:
            reading = Reading(**{name: given.pop(name) for name in names})
            command(**given, reading=reading)

        # Typer reads this signature instead of the command's own parameters.
        signature = written.replace(parameters=[*own, *options])
        called.__dict__["__signature__"] = signature
        called.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
        return called

    return made


def fail(sentence: str) -> NoReturn:
    """Prints an error and exits with code 2."""
    typer.echo(escape_hostile(sentence), err=True)
    raise typer.Exit(2)
