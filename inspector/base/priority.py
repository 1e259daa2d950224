"""Lowers the priority of child processes, so that a window gets the processor when it needs it. Imports little."""

from __future__ import annotations

import os
from contextlib import suppress


def lower_priority(pid: int, nice: int) -> None:
    """Lowers the priority of a new process; its later threads and children inherit it.

    Args:
        pid: of the process.
        nice: niceness above this process. Windows has none: nothing changes there.
    """
    if not hasattr(os, "setpriority"):
        return
    with suppress(OSError):  # it has ended already
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + nice)
