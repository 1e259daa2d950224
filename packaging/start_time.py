"""From starting a program to its painted window on a display, seen from outside: works for a package as for source.

    python packaging/start_time.py COMMAND [ARGUMENT]...

The display is an Xvfb of its own whose picture lies in a file: the clock stops when the middle of it is painted.
"""

from __future__ import annotations

import json
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_STARTS = 7
_WIDTH, _HEIGHT = 1280, 800
_LONGEST_S = 20.0


def start_once(command: list[str], environment: dict[str, str], picture: mmap.mmap) -> float:
    """Seconds until the window is painted."""
    # A line of pixels a third down the screen: the program's window covers it, and has more than one colour there.
    place = len(picture) - _WIDTH * (_HEIGHT - _HEIGHT // 3) * 4
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        program = subprocess.Popen(
            command, env={**environment, "CONTEXT_INSPECTOR_HOME": home}, stdout=subprocess.DEVNULL
        )  # fmt: skip
        try:
            while len(set(memoryview(picture[place : place + _WIDTH * 4]).cast("I"))) < 3:
                if time.perf_counter() - began > _LONGEST_S or program.poll() is not None:
                    sys.exit("no window was painted")
                time.sleep(0.002)
            return time.perf_counter() - began
        finally:
            program.kill()
            program.wait()
            while len(set(memoryview(picture[place : place + _WIDTH * 4]).cast("I"))) > 1:
                time.sleep(0.01)  # until its window is gone


def main() -> None:
    """Start so many times after a first one that only warms the caches; print one JSON object."""
    command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        read, write = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{_WIDTH}x{_HEIGHT}x24", "-fbdir", folder,
             "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(write)
        with os.fdopen(read) as numbers:
            display = f":{numbers.readline().strip()}"
        try:
            with (Path(folder) / "Xvfb_screen0").open("rb") as file:
                picture = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                # Its own instance each time: a running one would be asked to open the window.
                environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
                found = [start_once(command, environment, picture) for _ in range(_STARTS + 1)][1:]
        finally:
            server.terminate()
            server.wait()
    print(json.dumps({"start_s": statistics.median(found), "best_s": min(found), "worst_s": max(found)}))


if __name__ == "__main__":
    main()
