"""What a packaged program runs: PyInstaller wants a file, not a module's name."""

import ctypes
import sys

from inspector.__main__ import main

RUNNING = "ContextInspector"
"""What each process holds on Windows until it ends; setup and uninstaller (`AppMutex`) ask to close them first."""

if __name__ == "__main__":
    if sys.platform == "win32":
        ctypes.windll.kernel32.CreateMutexW(None, False, RUNNING)
    # Engine and recorder are started as modules of Python, which is this program.
    if sys.argv[1:3] == ["-m", "inspector"]:
        del sys.argv[1:3]
    main()
