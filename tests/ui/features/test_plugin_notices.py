"""A window says which part of a plug-in failed, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox
from pytestqt.qtbot import QtBot

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.formats import guards
from inspector.formats.guards import Trip
from inspector.settings import Settings, save_settings
from inspector.ui.app.application import Application
from inspector.ui.widgets.buttons import LinkButton
from tests.builders import document_of, envelope, lines_of
from tests.plugins import plugin_file
from tests.ui.engines import in_engine, loaded
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, until, window_on

CODE = """
from inspector.plugin import Check
def find(messages, memory):
    raise ValueError("no surface")
CHECKS = [Check(code="toy-check", severity="note", title="T", sentence="S", matters="M", fix="F", find=find)]
"""


pytestmark = pytest.mark.usefixtures("no_plugins_left")


def test_a_start_loads_plugins_and_names_unused_ones(qapp: QApplication) -> None:
    good, old = plugin_file("toy", CODE), plugin_file("old", "CHECKS = []\n")
    plugin_file("old", "CHECKS = [1]\n")
    save_settings(Settings(plugins=[good, old]))

    async def steps(application: Application) -> None:
        window = application.new_window()
        assert "toy-check" not in CHECK_BY_CODE  # the first picture does not wait for code of plug-ins
        await window.prepare()
        assert "toy-check" in CHECK_BY_CODE
        changed = "it has changed since it was switched on; switch it on again to run it"
        assert application.notice == f"The plug-in old is not used: {changed}."
        shown = window.notices.notice("message")
        assert shown is not None
        assert application.notice in shown.accessibleName()

    run_in_window(qapp, steps)


def test_failures_are_shown_once_each(application: Application, qtbot: QtBot) -> None:
    loaded(plugin_file("toy", CODE))
    window = window_on(application, document_of(envelope("chat", {"text": "hello"})))
    qtbot.waitUntil(lambda: window.notices.notice("plugin-failed") is not None)
    notice = window.notices.notice("plugin-failed")
    assert notice is not None
    assert "check toy-check is switched off for this log: it raised ValueError: no surface." in notice.accessibleName()
    window.notices.dismiss("plugin-failed")
    client = panes_of(window).client
    client.state_changed.emit()
    assert window.notices.notice("plugin-failed") is None
    in_engine(client, lambda _document: guards.note_trips([Trip("plug-in toy, field toy.n", "it raised KeyError")]))
    qtbot.waitUntil(lambda: (client.state_changed.emit(), window.notices.notice("plugin-failed") is not None)[1])


def test_a_plugin_switched_on_is_offered_to_an_open_log(qapp: QApplication, tmp_path: Path) -> None:
    plugin_file("toy", CODE)
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope("chat", {"text": "hello"})))

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(path)
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        window.settings_editing.open("plugins")
        await until(lambda: window.findChild(QCheckBox, "plugin0") is not None, "the page of plug-ins")
        box = child(window, QCheckBox, "plugin0")
        box.click()
        notice = window.notices.notice("plugins-switched")
        assert notice is not None
        box.click()
        assert window.notices.notice("plugins-switched") is None
        box.click()
        notice = window.notices.notice("plugins-switched")
        assert notice is not None
        link = next(one for one in notice.findChildren(LinkButton) if one.label == "Reopen")
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)
        await until(lambda: window not in application.windows, "the end of the old window")
        (other,) = application.windows
        await until(lambda: other.panes is not None and not other.opening.reading, "the log")
        await until(lambda: other.notices.notice("plugin-failed") is not None, "the check of the plug-in")
        assert other.notices.notice("plugins-switched") is None

    run_in_window(qapp, steps)
