"""`export`: messages as JSON Lines, with what each response answers where that is asked for."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.opening import LogFile, asks_for_findings, compiled, fail, opened
from inspector.export import Exported, Manner, export_file, export_to, matching


def export_command(
    file: LogFile,
    output: Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="File to write; - for standard output.")],
    self_contained: Annotated[
        bool,
        typer.Option("--self-contained", help="Add to each response its method, target, the rule, and its request."),
    ] = False,
    display_filter: Annotated[str, typer.Option("-Y", "--filter", help="Display filter.")] = "",
    unmasked: Annotated[bool, typer.Option("--unmasked", help="Write secrets as they are.")] = False,
) -> None:
    """Write messages as JSON Lines, each as it was sent; responses with what they answer, if asked."""
    filter_ = compiled(display_filter)
    manner = Manner(self_contained=self_contained, masked=not unmasked)
    with opened(file, checked=asks_for_findings(filter_)) as document:
        messages = matching(document, filter_)
        try:
            if output == "-":
                deque(export_to(document, messages, sys.stdout.buffer, manner), maxlen=0)
                return
            done: Exported = deque(export_file(document, messages, Path(output), manner), maxlen=1)[0]
        except OSError as error:
            fail(f"{output} cannot be written: {error.strerror or error}.")
    size = f"{done.size_bytes / 1e6:,.1f} MB" if done.size_bytes >= 100_000 else f"{done.size_bytes:,} bytes"
    typer.echo(f"{output}: {done.messages:,} message{'' if done.messages == 1 else 's'}, {size}.", err=True)
