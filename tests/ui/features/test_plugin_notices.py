"""A window says which part of a plug-in failed, and why."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.formats import guards
from inspector.formats.guards import Trip
from inspector.settings import Settings, save_settings
from inspector.ui.app.application import Application
from tests.builders import document_of, envelope
from tests.plugins import loaded, plugin_file
from tests.ui.windows import run_in_window, window_on

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
    assert len(guards.watchers) == 1
    notice = window.notices.notice("plugin-failed")
    assert notice is not None
    assert "check toy-check is switched off for this log: it raised ValueError: no surface." in notice.accessibleName()
    window.notices.dismiss("plugin-failed")
    guards.note_trips([Trip("plug-in toy, check toy-check", "again")])
    qtbot.wait(50)
    assert window.notices.notice("plugin-failed") is None
    guards.note_trips([Trip("plug-in toy, field toy.n", "it raised KeyError")])
    qtbot.waitUntil(lambda: window.notices.notice("plugin-failed") is not None)
    window.plugin_notices.stop()
    assert guards.watchers == []
