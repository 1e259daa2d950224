"""`explain-filter`: what a display filter compiles to, or what is wrong with it."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.cli.opening import compiled
from inspector.cli.printing import say
from inspector.filters import explain


def explain_filter_command(
    display_filter: Annotated[str, typer.Argument(metavar="FILTER", help="Display filter, in quotes of the shell's.")],
    context: Annotated[str, typer.Option("--context", help="The path that $context stands for.")] = "",
) -> None:
    """Say what a display filter compiles to: its parts with their types and values, and what each costs."""
    for line in explain(compiled(display_filter, selected_context=context or None)).splitlines():
        say(line)
