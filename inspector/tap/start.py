"""`context-inspector tap` without the rest of the program: the server is to run before that could be imported."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.tap.arguments import quick_arguments
from inspector.tap.relay import end_as, run_tap


def start_quickly(words: Sequence[str]) -> None:
    """Run a tap and end the process with it; comes back when the whole command line parser is needed."""
    arguments = quick_arguments(words)
    if arguments is not None:
        end_as(run_tap(arguments))
