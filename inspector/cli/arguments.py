"""What commands take alike, and how they end when something is wrong with it; nothing of the program is imported."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NoReturn

import typer

LogFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Any readable log; - for standard input; session:ID for one that `sessions` lists, with its sub-agents. "
        "Several, or a folder of logs, are read as one, in the order of time.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ToolAliasTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--tool-alias",
        metavar="NAME=NAME",
        help="Two names of one tool, such as 'mcp__rune__*=*' for names a proxy prefixes; repeated.",
    ),
]


class CollapseOrder(StrEnum):
    """Which result collapses where several wait."""

    oldest = "oldest"
    newest = "newest"


Collapses = Annotated[
    CollapseOrder, typer.Option("--collapses", help="Which result a consumption collapses where several wait.")
]
IdleAfter = Annotated[
    int | None, typer.Option("--idle-after", metavar="SECONDS", min=1, help="When contexts are idle. Default: 30.")
]
ReadAs = Annotated[
    str | None,
    typer.Option(
        "--read-as", metavar="FORMAT",
        help="Read the log as one format, whatever its lines look like, as `envelopes`, `wrapped` or `claude-code`.",
    ),
]  # fmt: skip
PriceFile = Annotated[
    str | None,
    typer.Option(
        "--prices", metavar="FILE",
        help="What tokens of models cost: lines as in Settings > Prices, or a price list in LiteLLM's shape. Default: "
        "the prices of the settings.",
    ),
]  # fmt: skip
MemoryLimit = Annotated[
    int,
    typer.Option(
        "--memory", metavar="MB", min=0,
        help="Read no further when the messages take so many MB, and say so. Default: half of what is free.",
    ),
]  # fmt: skip


def fail(sentence: str) -> NoReturn:
    """Say what is wrong and end with exit code 2."""
    typer.echo(sentence, err=True)
    raise typer.Exit(2)
