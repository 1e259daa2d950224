"""Checks for a display before Qt starts; Qt aborts without one."""

from __future__ import annotations

import os
import re
import socket
import sys

# A display that is gone must end in a sentence, not in minutes of waiting.
_LIMIT_S = 3.0
_X11_PORT = 6000
_NAMED = re.compile(r"(?P<host>[^:/]*|.*/unix):(?P<number>\d{1,4})(?:\.\d+)?")


def has_display() -> bool:
    """Returns True if a display is configured; always outside Unix."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def is_display_reachable() -> bool:
    """Returns True if the configured display answers, or if only Qt can tell."""
    # These systems have a display as a rule, and Wayland reports errors itself.
    if sys.platform in ("win32", "darwin") or os.environ.get("WAYLAND_DISPLAY"):
        return True
    if os.environ.get("QT_QPA_PLATFORM", "xcb").partition(":")[0] != "xcb":
        return True
    named = _NAMED.fullmatch(os.environ.get("DISPLAY", ""))
    if named is None:  # an unknown notation
        return True
    number = int(named["number"])
    if named["host"] and not named["host"].endswith("/unix"):
        return _answers(socket.AF_INET, (named["host"], _X11_PORT + number))
    path = f"/tmp/.X11-unix/X{number}"  # X11's own place
    # Linux also has sockets by name, without a file.
    return _answers(socket.AF_UNIX, path) or (sys.platform == "linux" and _answers(socket.AF_UNIX, "\0" + path))


def _answers(family: int, address: str | tuple[str, int]) -> bool:
    try:
        if isinstance(address, tuple):
            socket.create_connection(address, _LIMIT_S).close()
        else:
            with socket.socket(family, socket.SOCK_STREAM) as display:
                display.settimeout(_LIMIT_S)
                display.connect(address)
    except OSError:
        return False
    return True
