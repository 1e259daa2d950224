"""`explain-filter`: prints the compiled form of a display filter, or its error."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.cli.arguments import Json
from inspector.cli.opening import compiled, faults_shown
from inspector.cli.printing import dump, echo, print_line
from inspector.filters import compile_filter, explain
from inspector.filters.explain import explain_as_data
from inspector.tables.filter_to_sql import condition_of


def explain_filter_command(
    display_filter: Annotated[str, typer.Argument(metavar="FILTER", help="Display filter, quoted for the shell.")],
    context: Annotated[str, typer.Option("--context", help="Path of the context for $context.")] = "",
    as_json: Json = False,
    as_sql: Annotated[
        bool, typer.Option("--sql", help="Print it as a SQL condition for the table messages of `query`.")
    ] = False,
) -> None:
    """Explain a display filter: its parts, their types and values, and the cost of each."""
    if as_sql:
        with faults_shown(display_filter):
            print_line(condition_of(compile_filter(display_filter, selected_context=context or None)))
        return
    filter_ = compiled(display_filter, selected_context=context or None)
    if as_json:
        echo(dump(explain_as_data(filter_)))
        return
    for line in explain(filter_).splitlines():
        print_line(line)
