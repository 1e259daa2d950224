"""What a packaged program runs: PyInstaller wants a file, not a module's name."""

import ctypes
import os
import sys
from collections.abc import MutableMapping

from inspector.__main__ import main

RUNNING = "ContextInspector"
"""What each process holds on Windows until it ends; setup and uninstaller (`AppMutex`) ask to close them first."""


def restore_environment(environment: MutableMapping[str, str]) -> None:
    """Removes the variables of the bundle, so that other programs started from here load their own libraries."""
    for name in [one for one in environment if one.startswith("_PYI_")]:
        del environment[name]
    for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    if (before := environment.pop("LD_LIBRARY_PATH_ORIG", None)) is not None:
        environment["LD_LIBRARY_PATH"] = before


if __name__ == "__main__":
    if getattr(sys, "frozen", False):
        restore_environment(os.environ)
    if sys.platform == "win32":
        ctypes.windll.kernel32.CreateMutexW(None, False, RUNNING)
    # Engine and recorder are started as modules of Python, which is this program.
    if sys.argv[1:3] == ["-m", "inspector"]:
        del sys.argv[1:3]
    main()
