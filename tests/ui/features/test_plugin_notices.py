"""A window says which part of a plug-in failed, and why."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector.base import guards
from inspector.base.guards import Trip
from inspector.ui.app.application import Application
from tests.builders import document_of, envelope
from tests.plugins import loaded, plugin_file
from tests.ui.windows import window_on

CODE = """
from inspector.plugin import Check
def find(messages, memory):
    raise ValueError("no surface")
CHECKS = [Check(code="toy-check", severity="note", title="T", sentence="S", matters="M", fix="F", find=find)]
"""


@pytest.mark.usefixtures("no_plugins_left")
def test_failures_are_shown_once_each(application: Application, qtbot: QtBot) -> None:
    loaded(plugin_file("toy", CODE))
    window = window_on(application, document_of(envelope("chat", {"text": "hello"})))
    qtbot.waitUntil(lambda: window.notices.notice("plugin-failed") is not None)
    notice = window.notices.notice("plugin-failed")
    assert notice is not None
    assert "check toy-check is switched off for this log: it raised ValueError: no surface." in notice.accessibleName()
    window.notices.dismiss("plugin-failed")
    guards.note_trips([Trip("plug-in toy, check toy-check", "again")])
    qtbot.wait(50)
    assert window.notices.notice("plugin-failed") is None
    guards.note_trips([Trip("plug-in toy, field toy.n", "it raised KeyError")])
    qtbot.waitUntil(lambda: window.notices.notice("plugin-failed") is not None)
