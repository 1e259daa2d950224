"""The `context-inspector` command line: analyses of the window for scripts, with the same filters and results.

No Qt. Exit codes: 0 for success (also without a match) and 1 for findings at or above `--fail-on`. 2 stands for bad
usage, an unknown field, a bad filter or unreadable input (docs/design.md 5).
"""

from __future__ import annotations

from inspector.cli.commands import app

__all__ = ["app"]
