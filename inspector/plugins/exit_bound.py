"""Ends a process although a plug-in's thread or exit function does not end."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

_PATIENCE_S = 5.0
"""Seconds for the end of a process that has run plug-ins."""


def bound_exit(code: object) -> None:
    """Bounds the time until this process ends, if it has run plug-ins. Called at its end.

    Args:
        code: as of SystemExit.
    """
    importing = sys.modules.get("inspector.plugins.importing")
    if importing is not None and importing.run_plugins:
        number = code if isinstance(code, int) else int(code is not None)
        threading.Thread(target=_end, args=(number,), name="bound of the exit", daemon=True).start()


def _end(code: int) -> None:
    time.sleep(_PATIENCE_S)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        sys.stderr.write(f"A plug-in did not end within {_PATIENCE_S:g} s; the program ends without it.\n")
        sys.stderr.flush()
    os._exit(code)
