"""Opening the window on the file a tap writes, apart from client and server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable


def open_window(path: str, say: Callable[[str], None]) -> subprocess.Popen[bytes] | None:
    """Start the window as a process of its own: no pipe, no terminal and no group shared with the tap."""
    if sys.platform not in ("win32", "darwin") and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        say(
            "There is no display to open the window on. An MCP client may keep DISPLAY from its servers: "
            f'name it under "env", or open {path} yourself.'
        )
        return None
    frozen = bool(getattr(sys, "frozen", False))
    words = [sys.executable, *(() if frozen else ("-m", "inspector")), "window", "--standalone", path]
    # The numbers of DETACHED_PROCESS and CREATE_NEW_PROCESS_GROUP, which only Windows' module names.
    flags = 0x8 | 0x200 if sys.platform == "win32" else 0
    null = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            words, stdin=null, stdout=null, stderr=null, start_new_session=True, creationflags=flags
        )
    except OSError as error:
        say(f"The window cannot be opened: {error.strerror or error}. The capture is {path}.")
        return None
