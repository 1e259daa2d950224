"""`guide`: prints pages of the guide in the terminal."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer

from inspector.cli.arguments import fail
from inspector.cli.printing import echo, print_line, printable
from inspector.present.guide import page_named, pages, search, text_of

_MAX_SUGGESTIONS = 5


def guide_command(
    page: Annotated[str, typer.Argument(metavar="[PAGE]", help="Name of a page, such as first-steps.")] = "",
) -> None:
    """Print a page of the guide; without PAGE, list the pages."""
    try:
        if not page:
            _list_pages()
            return
        found = page_named(page)
        if found is None:
            near = ", ".join(one.name for one, _ in search(page)[:_MAX_SUGGESTIONS])
            hint = f" These pages mention it: {near}." if near else " `context-inspector guide` lists the pages."
            fail(f"The guide has no page {printable(page, 60)}.{hint}")
        echo(text_of(found).rstrip("\n"))
    except OSError as error:
        fail(f"The guide cannot be read: {error}")


def _list_pages() -> None:
    width = max(len(page.name) for page in pages())
    for group, members in groupby(pages(), key=lambda page: page.group):
        if group:
            print_line("")
            print_line(f"{group}:")
        for page in members:
            print_line(f"  {page.name:{width}}  {page.title}")
