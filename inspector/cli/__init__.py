"""The second front end: the same questions from a script, with the same filter and the same answers (docs/design.md 5).

No Qt. Exit codes: 0 fine (also when nothing matches), 1 findings at or above the level asked for, 2 bad
usage, unknown field, bad filter or unreadable input.
"""

from __future__ import annotations

from inspector.cli.commands import app

__all__ = ["app"]
