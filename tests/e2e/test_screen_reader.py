"""The real window as a screen reader has it: roles, names, and what can be done, over AT-SPI on a bus of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.settings.model import Display, Settings
from inspector.settings.store import FILE_NAME, save_settings
from tests.e2e.screen import virtual_display

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


pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a screen reader learned of the program."""
    missing = _missing()
    if missing:
        pytest.skip(missing)
    home = tmp_path_factory.mktemp("home")
    (home / "config").mkdir()
    # The log opens on its messages, with the panes beside them.
    save_settings(Settings(display=Display(show_first="messages")), home / "config" / FILE_NAME)
    with virtual_display() as display:
        environment = {
            **os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "CONTEXT_INSPECTOR_HOME": str(home),
        }  # fmt: skip
        done = subprocess.run(
            ["dbus-run-session", "--", PYTHON, str(READER), sys.executable, "-m", "inspector", str(CAPTURE)],
            env=environment, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    if "name org.a11y.Bus was not provided" in done.stderr:
        pytest.skip("no bus of screen readers can be had here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def nameless(widgets: list[dict[str, Any]]) -> list[str]:
    """Roles of what the keyboard reaches and nothing is said of."""
    return [one["role"] for one in widgets if one["reachable"] and not one["name"].strip()]


def test_what_can_have_the_keyboard_has_a_name(learned: dict[str, Any]) -> None:
    assert nameless(learned["widgets"]) == []


def test_the_parts_of_the_window_are_what_they_are_called(learned: dict[str, Any]) -> None:
    there = {(one["role"], one["name"]) for one in learned["widgets"]}
    expected = {
        ("frame", "Context Inspector"), ("menu bar", "Menu bar"), ("tool bar", "Tool bar"),
        ("status bar", "Status bar"), ("push button", "Open a log (Ctrl+O)"), ("text", "Display filter"),
        ("table", "Messages"), ("list", "Contexts"), ("list", "Participants"), ("check box", "Everything"),
        ("text", "Find context"), ("push button", "1 problem"),
    }  # fmt: skip
    assert expected - there == set()
    assert learned["menus"] == ["File", "Edit", "View", "Go", "Capture", "Analyze", "Window", "Help"]


def test_cells_are_read(learned: dict[str, Any]) -> None:
    assert learned["rows"] == 141, "161 messages, of which the frames of a stream share a row"
    assert learned["cells"] == ["1", "system/join"]


def test_a_filter_is_written_and_applied_by_the_keyboard(learned: dict[str, Any]) -> None:
    assert learned["written"] == 'kind == "chat"'
    assert learned["rows_filtered"] == 9


def test_a_preset_is_pressed(learned: dict[str, Any]) -> None:
    assert learned["rows_pressed"] == 60, "the preset Main only shows the main context"
    assert learned["checked"]


def test_the_palette_finds_what_is_done_by_a_dialog(learned: dict[str, Any]) -> None:
    assert learned["found"][0] == "Go to No. or id, Go, Ctrl+G"
    assert learned["selected"] == [6]
    assert learned["cell"] == "7"


def test_the_tabs_of_the_details_are_turned(learned: dict[str, Any]) -> None:
    assert learned["tabs"] == ["Overview", "Tree", "Raw", "Related", "Lifecycle", "Findings"]


def test_a_menu_leads_to_the_settings_which_are_walked(learned: dict[str, Any]) -> None:
    assert {"Open a log...", "Connect to a gateway...", "Settings...", "Quit"} <= set(learned["file_menu"])
    assert learned["pages"] == ["Presets", "Highlight rules", "Keys", "Display"]
    assert nameless(learned["settings"]) == []


def test_dialogs_have_words_for_everything_and_close_by_the_keyboard(learned: dict[str, Any]) -> None:
    assert set(learned["dialogs"]) == {"Connect to a gateway", "Columns", "Keys"}
    assert [nameless(inside) for inside in learned["dialogs"].values()] == [[], [], []]


def test_the_tab_key_goes_from_one_seen_and_named_control_to_the_next(learned: dict[str, Any]) -> None:
    stops = learned["stops"]
    assert len({(one["role"], one["name"]) for one in stops}) == len(stops) == 12
    assert [one for one in stops if not one["name"] or not one["shown"] or min(one["size"]) < 10] == []


def test_the_conversation_is_read_as_articles_with_headings(learned: dict[str, Any]) -> None:
    assert set(learned["articles"]) == {"section"}
    assert {role for role, _name in learned["headings"]} == {"heading"}
    assert all(name for _role, name in learned["headings"])
    assert learned["first_article"].startswith(learned["headings"][0][1])
