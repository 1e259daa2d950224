"""Keys, menus and pictures of the pages are those of the window."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from typer.testing import CliRunner

from inspector.cli import app
from inspector.ui.app.screenshot import Shot, take_screenshot
from inspector.ui.input.keys import plain_title
from inspector.ui.window.actions import ACTIONS
from tests.pages import GUIDE, PAGES, ROOT, links, name_of, script

_SAID = {
    "Ctrl+Shift+B": "view.bookkeeping", "Ctrl+J": "view.conversation", "Alt+Home": "view.overview",
    "Shift+N": "conversation.failure_previous", "Ctrl+P": "file.print",
    "Ctrl+B": "view.subsessions", "Ctrl+Shift+O": "file.open_folder", "Ctrl+Shift+N": "subsession.new",
    "Ctrl+Shift+G": "subsession.global", "Ctrl+Shift+Return": "subsession.close",
    "Ctrl+O": "file.open", "Ctrl+K": "file.connect", "Ctrl+V": "file.paste", "Ctrl+S": "file.save",
    "Ctrl+Shift+S": "file.save_as", "Ctrl+Shift+E": "file.export", "Ctrl+Z": "edit.undo", "Ctrl+M": "edit.mark",
    "Ctrl+Shift+M": "edit.comment", "Ctrl+Alt+C": "edit.copy_value", "Ctrl+Shift+C": "edit.copy_json",
    "Ctrl+F": "edit.find", "F3": "edit.find_next", "Shift+F3": "edit.find_previous", "Ctrl+Alt+A": "edit.find_case",
    "Ctrl+Alt+R": "edit.find_pattern", "Ctrl+/": "edit.filter", "Ctrl+Shift+X": "edit.clear_filter",
    "Ctrl+D": "edit.save_preset", "Ctrl+1": "view.contexts", "Ctrl+2": "view.details", "Ctrl+3": "view.findings",
    "Ctrl+4": "analyze.latency", "Ctrl+5": "view.marks", "Ctrl+6": "view.messages", "Ctrl+7": "view.timeline",
    "Ctrl+8": "view.model_sees", "Ctrl+9": "analyze.tokens", "Ctrl+Alt+W": "analyze.waste", "Ctrl+E": "view.expand",
    "Ctrl+Alt+F": "view.facets", "Ctrl+Alt+Q": "analyze.query", "Ctrl+Alt+B": "analyze.select_turn",
    "Ctrl+Alt+V": "analyze.compare_turns",
    "Ctrl+End": "go.last", "Ctrl+]": "go.chain_next", "Ctrl+[": "go.chain_previous", "Ctrl+\\": "go.chain_alone",
    "F8": "go.problem_next", "F7": "go.mark_next", "Shift+F7": "go.mark_previous", "Alt+Down": "go.context_next",
    "Alt+Up": "go.context_previous", "Alt+Shift+Down": "go.participant_next",
    "Alt+Shift+Up": "go.participant_previous", "Alt+Left": "go.back", "Ctrl+G": "go.to",
    "Alt+Right": "go.forward", "Ctrl++": "view.zoom_in", "Ctrl+-": "view.zoom_out", "Ctrl+0": "view.zoom_reset",
    "Ctrl+Down": "go.next", "Ctrl+Up": "go.previous", "Shift+F8": "go.problem_previous",
    "Ctrl+Shift+I": "go.model_sees", "Space": "capture.pause", "Ctrl+Shift+P": "help.palette", "F1": "help.guide",
    "Shift+F1": "help.keys", "Ctrl+Tab": "window.next", "Ctrl+Shift+Tab": "window.previous",
    "Ctrl+PgDown": "window.next", "Ctrl+PgUp": "window.previous", "Ctrl+W": "file.close",
}  # fmt: skip
"""Keys that pages name, and the action each is said to be of."""
_OF_A_WIDGET = {"Ctrl+C", "Ctrl+A", "Ctrl+Space", "Ctrl+Return", "Shift+F10", "Ctrl+,", "Ctrl+Alt+S"}
"""Keys that are no action's, Ctrl+C at a terminal among them; and those of the settings, which go by the system."""
_KEY = re.compile(r"(?<![\w+])((?:(?:Ctrl|Alt|Shift)\+)+(?:[A-Z]\w*|\d|\\\\|\\|[^\s\w*]))|(?<![\w+])(F\d{1,2})(?!\w)")
_ENTRY = re.compile(r"\b(File|Edit|View|Go|Capture|Analyze|Help) > ([A-Z][\w ]+)")
_BY_ID = {action.id: action for action in ACTIONS}


@pytest.mark.parametrize("page", GUIDE, ids=name_of)
def test_keys_are_those_of_the_actions(page: Path) -> None:
    for found in _KEY.findall(page.read_text(encoding="utf-8")):
        key = (found[0] or found[1]).replace("\\\\", "\\").replace("+Enter", "+Return")
        if key not in _OF_A_WIDGET:
            assert key in _SAID, f"{key} is no action's, or is missing above"
            assert key in _BY_ID[_SAID[key]].keys


@pytest.mark.parametrize("page", GUIDE, ids=name_of)
def test_menus_have_the_entries_named(page: Path) -> None:
    titles = {
        (plain_title(one.menu), plain_title(title).rstrip(".")) for one in ACTIONS for title in (one.title, one.submenu)
        if title
    }  # fmt: skip
    for menu, words in _ENTRY.findall(page.read_text(encoding="utf-8")):
        assert any(menu == known and words.startswith(title) for known, title in titles), f"{menu} > {words}"


def test_every_picture_is_made_by_the_script_and_shown_on_a_page() -> None:
    screenshots = script("packaging/screenshots.py")
    declared = {picture.file for picture in screenshots.PICTURES}
    declared |= {screenshots.TAP_DIALOG, screenshots.DECLARE_DIALOG}
    there = {
        name_of(path) for folder in ("docs/pictures", "resources/screenshots") for path in (ROOT / folder).iterdir()
    }
    shown = {name_of((page.parent / link).resolve()) for page in PAGES for link in links(page) if link.endswith(".png")}
    assert declared == there
    assert there <= shown


def test_the_logs_of_pictures_are_there() -> None:
    assert all((ROOT / picture.log).exists() for picture in script("packaging/screenshots.py").PICTURES)


def test_what_a_picture_selects_its_filter_shows(qapp: QApplication, tmp_path: Path) -> None:
    filtered = [picture for picture in script("packaging/screenshots.py").PICTURES if "-Y" in picture.options]
    assert filtered
    for picture in filtered:
        options = dict(zip(picture.options, picture.options[1:], strict=False))
        lines = CliRunner().invoke(app, ["list", str(ROOT / picture.log), "-Y", options["-Y"], "-e", "no"])
        assert options["--select"] in lines.stdout.split()
        shot = Shot(
            str(ROOT / picture.log), str(tmp_path / "x.png"), f"! ({options['-Y']})", int(options["--select"]), None,
            800, 600, "light", hints=False, expand=False, view=None, panel=None, tool_aliases=(),
        )  # fmt: skip
        sentence = f"Message {options['--select']} does not match the filter; select one that does."
        assert take_screenshot(shot) == sentence


@pytest.mark.parametrize(("name", "reason"), [
    ("gone/x.png", "cannot be written: No such file or directory; choose another folder or name."),
    ("x.xyz", "cannot be written; end its name with .png."),
])  # fmt: skip
def test_a_screenshot_that_cannot_be_written_says_why(
    qapp: QApplication, tmp_path: Path, name: str, reason: str
) -> None:
    log = ROOT / script("packaging/screenshots.py").PICTURES[0].log
    shot = Shot(
        str(log), str(tmp_path / name), "", None, None, 800, 600, "light", hints=False, expand=False, view=None,
        panel=None, tool_aliases=(),
    )  # fmt: skip
    assert take_screenshot(shot) == f"{tmp_path / name} {reason}"
    assert not any(tmp_path.iterdir())


def test_pictures_take_little_room() -> None:
    sizes = [path.stat().st_size for path in (ROOT / "docs/pictures").iterdir()]
    assert max(sizes) < 150_000
