"""What is asked of a tap, and a quick look at the command line that spares a start the whole program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TapArguments(NamedTuple):
    """What `context-inspector tap` was asked."""

    output: str
    """File to make, or a folder to make one in."""
    command: tuple[str, ...]
    """The server and its arguments."""
    append: bool = False
    """Go on with a capture that exists."""
    show: bool = False
    """Open the window on it."""


def quick_arguments(words: Sequence[str]) -> TapArguments | None:
    """What plain words after `tap` ask for; None where the whole command line parser is needed, for help or trouble."""
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
