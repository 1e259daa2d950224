"""The real window as a screen reader has it: roles, names, and what can be done, over AT-SPI on a bus of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

READER = Path(__file__).with_name("screen_reader.py")
CAPTURE = Path(__file__).parents[1] / "data" / "captures" / "demo-round.ctxcap"
PYTHON = "/usr/bin/python3"
_LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")


def _missing() -> str:
    """What is missing here for the test; empty when nothing is."""
    for program, what in (("Xvfb", "a virtual display for X11"), ("dbus-run-session", "a bus of its own")):
        if shutil.which(program) is None:
            return f"needs {program}, {what}"
    if not any(Path(launcher).exists() for launcher in _LAUNCHERS):
        return "needs at-spi2-core, the bus of screen readers"
    if subprocess.run([PYTHON, "-c", "from gi.repository import Gio"], capture_output=True, check=False).returncode:
        return "needs the system's python3 with gi (python3-gi), which speaks D-Bus"
    return ""


pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What a screen reader learned of the program."""
    missing = _missing()
    if missing:
        pytest.skip(missing)
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[write], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as numbers:
        display = f":{numbers.readline().strip()}"
    environment = {
        **os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb",
        "CONTEXT_INSPECTOR_HOME": str(tmp_path_factory.mktemp("home")),
    }  # fmt: skip
    try:
        done = subprocess.run(
            ["dbus-run-session", "--", PYTHON, str(READER), sys.executable, "-m", "inspector", str(CAPTURE)],
            env=environment, capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
        if "name org.a11y.Bus was not provided" in done.stderr:
            pytest.skip("no bus of screen readers can be had here")
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout.splitlines()[-1])
    finally:
        server.terminate()
        server.wait(timeout=10)


def test_what_can_have_the_keyboard_has_a_name(learned: dict[str, Any]) -> None:
    nameless = [one["role"] for one in learned["widgets"] if one["reachable"] and not one["name"].strip()]
    assert nameless == []


def test_the_parts_of_the_window_are_what_they_are_called(learned: dict[str, Any]) -> None:
    there = {(one["role"], one["name"]) for one in learned["widgets"]}
    expected = {
        ("frame", "Context Inspector"), ("menu bar", "Menu bar"), ("tool bar", "Tool bar"),
        ("status bar", "Status bar"), ("push button", "Open a log (Ctrl+O)"), ("text", "Display filter"),
        ("table", "Messages"), ("table", "Contexts"), ("list", "Participants"), ("check box", "Everything"),
        ("text", "Find context"),
        ("push button", "0 unreadable"),
    }  # fmt: skip
    assert expected - there == set()
    assert learned["menus"] == ["File", "Edit", "View", "Go", "Capture", "Analyze", "Help"]


def test_cells_are_read(learned: dict[str, Any]) -> None:
    assert learned["rows"] == 163
    assert learned["cells"] == ["1", "system/join"]


def test_text_is_written_and_a_button_is_pressed(learned: dict[str, Any]) -> None:
    assert learned["written"] == 'kind == "chat"'
    assert learned["rows_pressed"] == 83, "the preset Main only shows the main context"
    assert learned["checked"]
