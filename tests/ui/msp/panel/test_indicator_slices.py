"""A long chat is looked at in slices before the figures are there; who wants to read waits for none."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.msp import figures, message_columns
from inspector.msp.document import SessionDocument
from inspector.settings import Settings
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.indicator import Indicator
from inspector.ui.msp.panel.token_counts import TokenCounts
from tests.ui.msp.panel.test_indicator import document_of, said
from tests.ui.msp.sessions import client_of
from tests.ui.slow_answers import answer_slowly


@pytest.fixture
def document(tmp_path: Path) -> SessionDocument:
    return document_of(tmp_path / "desk.json", [said(f"p{n}", f"message {n}") for n in range(9)])


@pytest.fixture
def indicator(
    document: SessionDocument, theme_controller: ThemeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Indicator:
    """One that takes in two messages at a time and has not begun."""
    monkeypatch.setattr(message_columns, "_BLOCK", 2)
    monkeypatch.setattr(figures, "_STEP_S", 0)
    client = client_of(document, theme_controller)
    answer_slowly(monkeypatch, client._client)
    found = Indicator(client, theme_controller, Settings(), TokenCounts(client))
    qtbot.addWidget(found, before_close_func=lambda widget: widget.stop())
    return found


def recent(indicator: Indicator) -> list[str | None]:
    assert indicator.merged is not None
    return [one.source.id for one in indicator.merged.order if one.layer == 3 and one.source is not None]


def test_figures_come_when_the_chat_was_looked_at(
    indicator: Indicator, document: SessionDocument, qtbot: QtBot
) -> None:
    indicator.show()
    indicator.show_subsession("units")
    assert indicator.merged is None
    qtbot.waitUntil(lambda: indicator.merged is not None)
    assert recent(indicator) == ["p6", "p7", "p8"]
    message = document.add_message(document.sessions[0], "user", "another")
    indicator.refresh()
    qtbot.waitUntil(lambda: recent(indicator) == ["p7", "p8", message.id])
    document.set_visibility(message, "main_only")
    indicator.refresh()
    qtbot.waitUntil(lambda: recent(indicator) == ["p6", "p7", "p8"])


def test_reading_waits_for_no_slice(indicator: Indicator, qtbot: QtBot) -> None:
    indicator.show()
    indicator.show_subsession("units")
    dialog = indicator.read()
    assert dialog is not None
    qtbot.addWidget(dialog)
    assert recent(indicator) == ["p6", "p7", "p8"]
