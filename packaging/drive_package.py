"""Uses the installed program on a display, as its user and a screen reader would. Run by `test_package.sh`.

    dbus-run-session -- python3 drive_package.py CAPTURE DOCUMENT

For the system's own python3 of a clean system; beside this file lie those of tests/e2e that speak to the bus.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from atspi import Bus, Thing, until  # pyright: ignore[reportMissingImports]
from screen_reader import Window, filter_it, turn_tabs, use_palette  # pyright: ignore[reportMissingImports]

_TYPE = "application/x-context-inspector-capture"
_ENTRY = "context-inspector.desktop"
_SCREEN = Path("/tmp/screen")
_NEEDED_S = 25.0


def told(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def check(what: str, found: object, expected: object) -> None:
    """End with a sentence when something is not as expected."""
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")


def check_file_types(capture: Path) -> None:
    """Captures are ours, and JSON is not."""
    check("file type of a capture", told("xdg-mime", "query", "filetype", str(capture)), _TYPE)
    check("program for captures", told("xdg-mime", "query", "default", _TYPE), _ENTRY)
    check("the same, as GIO has it", _ENTRY in told("gio", "mime", _TYPE), True)
    check("program for JSON", told("xdg-mime", "query", "default", "application/json"), "")


def show_messages_first() -> None:
    """Saves the user's setting that logs open on their messages, with the panes beside them."""
    folder = Path.home() / ".config" / "context-inspector"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text('{"version": 2, "display": {"show_first": "messages"}}', "utf-8")


def running() -> list[str]:
    """Numbers of its processes."""
    starts = "^/usr/bin/context-inspector|^/usr/lib/context-inspector|^context-inspector"
    found = subprocess.run(["pgrep", "-f", starts], capture_output=True, text=True, check=False)
    return found.stdout.split()


def see_sub_sessions(window: Window, document: Path) -> None:
    """A second start hands a document with sub-sessions to the program that runs; what one sees is counted."""
    bus = window.bus
    subprocess.run(["context-inspector", str(document)], check=True, timeout=_NEEDED_S)

    def its_window() -> Thing | None:
        windows = bus.children(window.program)
        return next((one for one in windows if bus.find("push button", document.name, one)), None)

    other = until("the window of the document", its_window)
    window.wait("menu item", "Sub-sessions", other)  # once the document is read
    window.choose("View", "Sub-sessions", other)
    window.wait("label", "285 tokens, estimate (cl100k_base)", other)


def take_picture(name: str) -> None:
    """Keep what the screen shows."""
    time.sleep(1.0)  # until it is painted
    shutil.copy(_SCREEN / "Xvfb_screen0", f"/tmp/{name}.xwd")


def main() -> None:
    """Open, use, take pictures, quit."""
    capture, document = map(Path, sys.argv[1:])
    _SCREEN.mkdir()
    os.environ |= {"DISPLAY": ":77", "XDG_CURRENT_DESKTOP": "GNOME", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    check_file_types(capture)
    show_messages_first()
    # A desktop gives each user such a folder; by it a second start finds the first.
    runtime = Path("/tmp/runtime")
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    server = subprocess.Popen(
        ["Xvfb", ":77", "-screen", "0", "1280x800x24", "-fbdir", str(_SCREEN), "-nolisten", "tcp"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until("the display", lambda: Path("/tmp/.X11-unix/X77").exists())
        opened = subprocess.Popen(["xdg-open", str(capture)])
        window = Window(Bus())
        check("rows, of which frames of a stream share one", window.rows, 141)
        check("a cell", window.cell(0, 4), "system/join")
        used = filter_it(window)
        check("messages of the filter", (used["rows_filtered"], used["rows_pressed"]), (9, 60))
        check("a message gone to", use_palette(window)["cell"], "7")
        check("tabs", turn_tabs(window)["tabs"][:2], ["Overview", "Tree"])
        take_picture("window")
        see_sub_sessions(window, document)
        take_picture("sub-sessions")
        window.choose("File", "Quit")
        until("its end", lambda: not running())
        opened.wait(timeout=_NEEDED_S)
        check("what xdg-open says", opened.returncode, 0)
    finally:
        server.terminate()
        server.wait(timeout=10)


if __name__ == "__main__":
    main()
