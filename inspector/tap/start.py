"""Starts a plain stdio tap without importing the rest of the program, so that the server starts quickly."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.tap.arguments import quick_arguments
from inspector.tap.relay import end_as, run_tap


def start_quickly(words: Sequence[str]) -> None:
    """Runs a tap and ends the process; returns only if the full command line parser is needed."""
    arguments = quick_arguments(words)
    if arguments is not None:
        end_as(run_tap(arguments))
