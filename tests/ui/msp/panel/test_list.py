"""The list of sub-sessions: rows, nesting, order, what is open, tokens that fill in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.engine.requests.msp_sessions import Order
from inspector.msp.document import SessionDocument
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.list import NONE_OPEN, SubsessionList
from inspector.ui.msp.panel.token_counts import TokenCounts
from inspector.ui.panels.details.section import SegmentButton, Segments
from tests.ui.find import child
from tests.ui.msp.sessions import client_of


def sub(name: str, parent: str, status: str, said: list[str], **more: Any) -> dict[str, Any]:
    """A sub-session."""
    messages = [{"id": f"{name}{place}", "role": "user", "content": text} for place, text in enumerate(said)]
    return {
        "subsession_id": name, "parent_session_id": parent, "label": name, "status": status, "messages": messages,
        **more,
    }  # fmt: skip


SUBS = [
    sub("units", "m1", "open", ["what is a kelvin?"], created_at="2026-01-05T09:00:00Z"),
    sub("charts", "m1", "closed", ["one", "two", "three"], summary="Palette agreed\nand more",
        closed_at="2026-01-05T09:00:00Z"),
    sub("zones", "units", "open", ["and", "which", "zone, by the way, should be taken for the hall?"]),
    sub("csv", "m1", "discarded", ["import"], closed_at="2026-01-05T09:00:00Z"),
]  # fmt: skip


@pytest.fixture
def document(tmp_path: Path) -> SessionDocument:
    path = tmp_path / "desk.json"
    path.write_text(json.dumps([{"session_id": "m1", "messages": []}, *SUBS]))
    return SessionDocument.read([path])


@pytest.fixture
def listed(document: SessionDocument, theme_controller: ThemeController, qtbot: QtBot) -> SubsessionList:
    client = client_of(document, theme_controller)
    found = SubsessionList(client, theme_controller, TokenCounts(client))
    qtbot.addWidget(found, before_close_func=lambda widget: widget.stop())
    found.resize(216, 400)
    found.show()
    return found


def which(listed: SubsessionList) -> dict[str, SegmentButton]:
    return child(listed, Segments, "subsessionsShown").buttons


def labels(listed: SubsessionList) -> list[str]:
    return [listed.source.line(row).label for row in range(len(listed.source))]


def test_rows_stand_below_what_they_are_nested_in(listed: SubsessionList, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(listed.model)
    assert labels(listed) == ["units", "zones", "charts", "csv"]
    assert listed.source.listed.depths == [0, 1, 0, 0]
    line = listed.source.line(2)
    assert (line.mark, line.count, line.about) == ("concluded", 3, "Palette agreed and more")
    assert line.age.startswith("closed ")
    assert line.age.endswith(" ago")
    assert listed.source.line(3).about == "No summary, messages kept for the record"
    heard = listed.model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert heard.startswith("zones, open, nested, level 2, ")


def test_tokens_fill_in(listed: SubsessionList, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: listed.counts.counting)
    assert listed.source.line(0).tokens == "… tokens"
    listed.counts.count_here()
    qtbot.waitUntil(lambda: listed.source.line(0).tokens == "6 tokens")


def test_open_only_and_other_orders(listed: SubsessionList, qtbot: QtBot) -> None:
    qtbot.mouseClick(which(listed)["Open"], Qt.MouseButton.LeftButton)
    assert labels(listed) == ["units", "zones"]
    qtbot.mouseClick(which(listed)["All"], Qt.MouseButton.LeftButton)
    actions = {action.data(): action for action in listed.menu.actions()}
    actions[str(Order.MESSAGES)].trigger()
    assert labels(listed) == ["charts", "units", "zones", "csv"]
    actions[str(Order.CHAT)].trigger()
    assert labels(listed) == ["units", "zones", "charts", "csv"]


def test_keys_choose_and_what_is_chosen_stays(listed: SubsessionList, document: SessionDocument, qtbot: QtBot) -> None:
    listed.mark("units")
    with qtbot.waitSignal(listed.chosen) as chosen:
        qtbot.keyClick(listed.view, Qt.Key.Key_Down)
    assert chosen.args == ["zones"]
    document.open_subsession(document.sessions[0], "new one")
    listed.refresh()
    assert listed.view.selected == "zones"
    assert len(listed.source) == 5


def test_what_is_shown_is_listed(listed: SubsessionList, qtbot: QtBot) -> None:
    qtbot.mouseClick(which(listed)["Open"], Qt.MouseButton.LeftButton)
    listed.mark("csv")
    assert "csv" in labels(listed)


def test_empty_words(tmp_path: Path, theme_controller: ThemeController, qtbot: QtBot) -> None:
    path = tmp_path / "desk.json"
    path.write_text(json.dumps([{"session_id": "m1"}, sub("a", "m1", "closed", [])]))
    client = client_of(SessionDocument.read([path]), theme_controller)
    listed = SubsessionList(client, theme_controller, TokenCounts(client))
    qtbot.addWidget(listed)
    which(listed)["Open"].click()
    assert listed.view.empty_text == NONE_OPEN
    listed.stop()


def test_what_is_not_counted_is_not_said_to_be_on_its_way(listed: SubsessionList, qtbot: QtBot) -> None:
    assert listed.source.line(0).tokens == "… tokens"
    listed.counts.set_wanted(False)
    qtbot.waitUntil(lambda: "token" not in listed.model.spec(0).spoken)
    assert "token" not in listed.model.spec(0).spoken + listed.model.spec(0).tip
