"""The file that starts this program again: the interpreter, the packaged program, or its AppImage."""

from __future__ import annotations

import os
import sys


def program_file() -> str:
    """Returns the path to start. The files of an AppImage are mounted only while it runs, so it is its own path."""
    image, mount = os.environ.get("APPIMAGE", ""), os.environ.get("APPDIR", "")
    return image if image and mount and sys.executable.startswith(f"{mount}/") else sys.executable
