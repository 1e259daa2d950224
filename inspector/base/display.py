"""Whether there is a display to show a window on, found out before Qt is asked: without one Qt ends the program."""

from __future__ import annotations

import os
import re
import socket
import sys

_LIMIT_S = 3.0
_X11_PORT = 6000
_NAMED = re.compile(r"(?P<host>[^:/]*|.*/unix):(?P<number>\d{1,4})(?:\.\d+)?")


def has_display() -> bool:
    """Whether a display is named: always but on a Unix without one."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def is_within_reach() -> bool:
    """Whether the display that is named answers; True where that is for Qt to say."""
    if sys.platform in ("win32", "darwin") or os.environ.get("WAYLAND_DISPLAY"):
        return True
    if os.environ.get("QT_QPA_PLATFORM", "xcb").partition(":")[0] != "xcb":
        return True
    named = _NAMED.fullmatch(os.environ.get("DISPLAY", ""))
    if named is None:  # written in a way we do not know
        return True
    number = int(named["number"])
    if named["host"] and not named["host"].endswith("/unix"):
        return _answers(socket.AF_INET, (named["host"], _X11_PORT + number))
    path = f"/tmp/.X11-unix/X{number}"  # where X11 has it
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
