"""Requests about the selected message while a key is held: the first press is answered, then the last one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.ui import intervals
from inspector.ui.app.application import Application
from tests.builders import document_of, envelope, received
from tests.ui.windows import panes_of, window_on

_PRESSES = 60
_SECONDARY = ("ChainOfMessage", "DescribeMessage", "LocateMessage")


def _note_requests(monkeypatch: pytest.MonkeyPatch, client: type[Any], note: Callable[[str], object]) -> None:
    send = client.send_request

    def noted(client: Any, request: Any, *calls: Any) -> Any:
        note(type(request).__name__)
        return send(client, request, *calls)

    monkeypatch.setattr(client, "send_request", noted)


def test_the_rows_of_a_far_message_are_asked_for_before_its_details(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    panes = panes_of(window_on(application, document_of(*(received(envelope()) for _ in range(4_000)))))
    sent: list[str] = []
    _note_requests(monkeypatch, type(panes.client), sent.append)
    panes.go_to(3_000)
    assert sent[0] == "MessageRows"
    assert "DescribeMessage" in sent


def test_a_held_page_key_asks_about_the_first_and_the_last_message(
    application: Application, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(intervals, "REST_MS", 3_600_000)
    window = window_on(application, document_of(*(received(envelope()) for _ in range(4_000))))
    panes, sent = panes_of(window), Counter[str]()
    view = panes.messages.view
    view.selection.select_row(0)
    monkeypatch.setattr(intervals, "REST_MS", 0)
    view.selection.select_row(1)
    qtbot.waitUntil(lambda: panes.details.latest.is_current)
    _note_requests(monkeypatch, type(panes.client), lambda name: sent.update([name]))
    view.selection.select_row(2)
    assert [sent[name] for name in _SECONDARY] == [1, 1, 1]
    monkeypatch.setattr(intervals, "REST_MS", 3_600_000)
    for _ in range(_PRESSES):
        QTest.keyClick(view, Qt.Key.Key_PageDown)
        view.viewport().repaint()
    pages = view.selection.page_rows()
    assert panes.details.message == panes.messages.current_message() == 2 + _PRESSES * pages
    assert [sent[name] for name in _SECONDARY] == [1, 1, 1]
    assert sent["MessageRows"] <= _PRESSES
    monkeypatch.setattr(intervals, "REST_MS", 0)
    QTest.keyClick(view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: [sent[name] for name in _SECONDARY] == [2, 2, 2])
    assert view.selection.current == panes.details.message == 3 + _PRESSES * pages
