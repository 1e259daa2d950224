"""Arguments of a tap, and a fast parser that avoids importing the whole command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TapArguments(NamedTuple):
    """Arguments of `context-inspector tap`."""

    output: str
    """File to create, or a folder to create one in."""
    command: tuple[str, ...]
    """The server's command and its arguments."""
    append: bool = False
    """Append to an existing capture."""
    show: bool = False
    """Open the window on the capture."""


def quick_arguments(words: Sequence[str]) -> TapArguments | None:
    """Parses plain arguments of `tap`; returns None if the full parser is needed, for help or errors."""
    output, append, show = "", False, False
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        if word == "--append":
            append = True
        elif word == "--open":
            show = True
        elif word in ("-o", "--output") and rest:
            output = rest.pop(0)
        elif word.startswith("--output="):
            output = word.partition("=")[2]
        else:
            return None
    return TapArguments(output, tuple(rest), append, show) if output and rest else None
