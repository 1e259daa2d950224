"""Keeps standard output for the results of commands, when code of others runs in this process."""

from __future__ import annotations

import io
import os
import sys

_is_kept = False


def keep_stdout_for_results() -> None:
    """Moves `sys.stdout` to a private copy of its descriptor; descriptor 1 becomes standard error.

    Output that bypasses `sys.stdout`, also of child processes, then no longer mixes with results.
    Does nothing if `sys.stdout` was replaced, or is closed.
    """
    global _is_kept
    out = sys.stdout
    if _is_kept or not isinstance(out, io.TextIOWrapper) or sys.stderr is None:
        return
    try:
        if (out.fileno(), sys.stderr.fileno()) != (1, 2):
            return
        out.flush()
        private = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError):  # closed
        return
    _is_kept = True
    sys.stdout = io.TextIOWrapper(
        os.fdopen(private, "wb"),
        encoding=out.encoding, errors=out.errors, newline="", line_buffering=out.line_buffering,
    )  # fmt: skip
