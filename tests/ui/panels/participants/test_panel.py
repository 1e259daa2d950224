"""The participants: who is here, what they may do, how full they are."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QMenu

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.present import participant_words as words
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.participants.panel import EMPTY, ParticipantsPanel
from inspector.ui.widgets.labels import ElidingLabel
from inspector.ui.widgets.rows.model import RowsModel
from tests.builders import GrowingLog, document_of, envelope, received
from tests.ui.engines import client_of
from tests.ui.live import Live

SECOND = 1_000_000_000


def welcome(you: str, *others: str, capabilities: list[str] | None = None) -> dict[str, Any]:
    patterns = [{"kind": kind} for kind in capabilities or ["chat"]]
    payload = {
        "you": {"id": you, "capabilities": [{"kind": "mcp/response"}]},
        "participants": [{"id": name, "capabilities": patterns} for name in others],
    }
    return received(envelope("system/welcome", payload, sender="system:gateway", to=[you]))


def presence(event: str, name: str) -> dict[str, Any]:
    payload = {"event": event, "participant": {"id": name, "capabilities": [{"kind": "*"}]}}
    return received(envelope("system/presence", payload, sender="system:gateway"))


def said(name: str) -> dict[str, Any]:
    return received(envelope("chat", sender=name))


def status(name: str, tokens: Any, limit: Any) -> dict[str, Any]:
    payload = {"messages_in_context": 1, "tokens": tokens, "max_tokens": limit}
    return received(envelope("participant/status", payload, sender=name))


@pytest.fixture
def panel_of(qtbot, theme_controller: ThemeController):
    """Makes a shown panel of a document; its model is checked from then on, before anything changes."""
    panels, documents = [], []

    def make(document: CaptureDocument) -> ParticipantsPanel:
        client = client_of(document, theme_controller)
        panel = ParticipantsPanel(client, theme_controller)
        panels.append(panel)
        documents.append(document)
        qtbot.addWidget(panel)
        QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Warning, panel)
        panel.resize(212, 300)
        with qtbot.waitExposed(panel):
            panel.show()
        return panel

    yield make
    for document in documents:
        document.close()


def names(model: RowsModel) -> list[str]:
    return [model.spec(row).text for row in range(model.rowCount())]


def test_those_here_come_first_then_us_then_who_left(tmp_path, panel_of):
    live = Live(tmp_path, welcome("me", "gone", "mew"), presence("leave", "gone"), said("late"))
    known = live.document.analysis.participants.all
    known.is_us[known.find(live.document.analysis.contexts.spaces[0], "me")] = True
    panel = panel_of(live.document)
    assert names(panel.model) == ["mew", "late", "me", "gone"]
    assert panel.head.count() == "2 here"
    assert panel.source.row(2).is_us
    assert panel.source.space(2) == ""


def test_while_the_gateway_cannot_be_heard_nobody_is_said_to_be_here(panel_of):
    panel = panel_of(document_of(welcome("me", "mew")))
    panel.set_connected(False)
    assert panel.head.count() == "2 last seen"
    panel.set_connected(True)
    assert panel.head.count() == "2 here"


def test_a_narrow_pane_keeps_names_and_the_count(panel_of):
    panel = panel_of(document_of(welcome("me", "analyst"), status("analyst", 13_500, 32_000)))
    delegate, count = panel.view.delegate, panel.head.findChild(ElidingLabel)
    assert count is not None
    for width, spans, counted in ((212, 2, "2 here"), (150, 1, "2")):
        panel.resize(width, 300)
        row = next(row for row in range(panel.model.rowCount()) if panel.model.spec(row).text == "analyst")
        found = delegate.spans(panel.model.layout_of_rows, panel.model.spec(row), 0, QRect(0, 0, width, 36))
        assert (len(found), count.text()) == (spans, counted)
        assert "13.5k of 32k" in panel.model.spec(row).described


def test_many_messages_are_said_shortly_where_there_is_little_room(panel_of):
    source = panel_of(document_of(*(said("a") for _ in range(1_234)), said("b"))).source
    assert [source.row(row).line for row in (0, 1)] == ["1,234 messages", "1 message"]
    assert [source.row(row).short_line for row in (0, 1)] == ["1.2k messages", "1 message"]


def test_second_lines(panel_of):
    document = document_of(welcome("me", "mew", "gone"), presence("join", "boss"), presence("leave", "gone"), said("x"))
    panel = panel_of(document)
    model = panel.model
    lines = dict(zip(names(model), (panel.source.row(row).line for row in range(model.rowCount())), strict=True))
    assert lines == {
        "me": "listens only",
        "mew": "chat",
        "boss": "may do anything",
        "x": "1 message",
        "gone": lines["gone"],
    }
    assert lines["gone"].startswith("left at ")


@pytest.mark.parametrize(
    ("seconds", "said_as"),
    [(0, "left just now"), (12.7, "left 12 s ago"), (125, "left 2 min ago"), (7300, "left 2 h ago")],
)
def test_leaving_goes_by_the_clock_while_live(panel_of, seconds, said_as):
    document = document_of(welcome("me", "gone"), presence("leave", "gone"))
    panel = panel_of(document)
    left_ns = document.analysis.participants.all[document.analysis.contexts.spaces[0], "gone"].left_ns
    document.analysis.now_ns = left_ns + int(seconds * SECOND)
    panel.tick(document.analysis.now_ns)
    assert panel.source.row(1).line == said_as


def test_presence_dots(tmp_path, panel_of):
    live = Live(tmp_path, welcome("me", "mew", "gone"), presence("leave", "gone"), said("mew"), said("stranger"))
    analysis = live.document.analysis
    panel = panel_of(live.document)
    model, source = panel.model, panel.source
    mew = analysis.participants.all[analysis.contexts.spaces[0], "mew"]
    analysis.now_ns = mew.last_ns + 5 * SECOND
    source.described.drop()
    dots = dict(zip(names(model), (source.row(row).presence for row in range(model.rowCount())), strict=True))
    assert dots == {
        "me": "here",
        "mew": "here",
        "stranger": "not announced",
        "gone": "left",
    }
    analysis.now_ns = mew.last_ns + SECOND
    panel.tick(analysis.now_ns)
    assert source.row(names(model).index("mew")).presence == "speaking"


def test_who_comes_and_goes_moves_without_losing_the_selection(tmp_path, panel_of):
    live = Live(tmp_path, welcome("me", "a", "b", "c"))
    panel = panel_of(live.document)
    resets: list[bool] = []
    panel.model.modelReset.connect(lambda: resets.append(True))
    panel.view.setCurrentIndex(panel.model.index(names(panel.model).index("b"), 0))
    live.say(presence("leave", "b"), presence("join", "d"), presence("leave", "a"))
    panel.latest.request_now()
    assert names(panel.model) == ["me", "c", "d", "a", "b"]
    assert panel.source.row(panel.view.currentIndex().row()).name == "b"
    assert panel.head.count() == "3 here"
    assert not resets


def test_usage_and_gauge(panel_of):
    document = document_of(
        status("full", 18_800, 20_000), status("odd", 500, None), status("wrong", "many", True), status("none", 5, 0)
    )
    panel = panel_of(document)
    everyone = [panel.source.row(row) for row in range(panel.model.rowCount())]
    assert [one.usage for one in everyone][:3] == ["18.8k of 20k", "500 tokens", ""]
    assert [one.share for one in everyone] == [pytest.approx(0.94), None, None, None]
    panel.grab()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (950, "950"), (1000, "1k"), (15_432, "15.4k"), (20_000, "20k"), (999_960, "1M"), (1_250_000, "1.2M")],
)
def test_short_numbers(value, text):
    assert words.short_number(value) == text


def test_the_tooltip_tells_everything_as_plain_text(panel_of):
    document = document_of(welcome("me", "<b>x", capabilities=["chat", "mcp/\u202e*"]), said("<b>x"))
    model = panel_of(document).model
    tooltip = model.data(model.index(names(model).index("<b>x"), 0), Qt.ItemDataRole.ToolTipRole)
    assert "<b>" not in tooltip
    assert "1 message sent in demo" in tooltip
    assert "mcp/⟨U+202E⟩*" in tooltip


def test_mcp_participants_are_counted_without_presence(panel_of):
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    document = document_of({"t": 1.0, "dir": "client->server", "message": request})
    panel = panel_of(document)
    assert [(n, panel.source.row(r).line) for r, n in enumerate(names(panel.model))] == [
        ("client", "1 message"),
        ("server", "0 messages"),
    ]
    assert panel.head.count() == "2"


def test_the_menu_filters_by_sender_and_recipient(panel_of, qtbot):
    panel = panel_of(document_of(said('o"dd & co')))
    for place, field in ((0, "from"), (1, "to")):
        menu = panel.menu_for(0)
        ways = menu.findChildren(QMenu, "participantFilterMenu")[place]
        assert ways.title() == f'{field.capitalize()} o"dd && co'
        with qtbot.waitSignal(panel.filter_requested) as asked:
            next(way for way in ways.actions() if way.text() == "And this").trigger()
        assert asked.args == [f'{field} == "o\\"dd & co"', "and"]
        compile_filter(asked.args[0])
    panel.menu_for(0).actions()[-1].trigger()
    assert QGuiApplication.clipboard().text() == 'o"dd & co'


def test_enter_filters_by_the_sender(panel_of, qtbot):
    panel = panel_of(document_of(said("a"), said("b")))
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index(1, 0))
    with qtbot.waitSignal(panel.filter_requested) as asked:
        qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert asked.args == ['from == "b"', "replace"]


def test_the_same_name_in_two_spaces_is_told_apart(panel_of):
    document = document_of(said("a"), received(envelope(sender="a"), space_id="other"))
    panel = panel_of(document)
    assert [panel.source.space(row) for row in range(2)] == ["demo", "other"]


def test_empty(panel_of):
    panel = panel_of(GrowingLog().document)
    assert panel.view.accessibleDescription() == EMPTY
    assert panel.head.count() == ""
    panel.grab()


def test_accessibility_says_presence_and_usage(panel_of):
    document = document_of(welcome("me", "mew"), status("mew", 5_000, 20_000))
    model = panel_of(document).model
    described = model.data(model.index(names(model).index("mew"), 0), Qt.ItemDataRole.AccessibleDescriptionRole)
    assert described == "here, chat, 5k of 20k"


def test_picking_a_participant_says_who(qtbot, panel_of):
    panel = panel_of(document_of(welcome("me", "mew"), said("mew"), said("me")))
    view = panel.view
    place = view.visualRect(panel.model.index(1, 0)).center()
    with qtbot.waitSignal(panel.selected) as picked:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    space = panel.source.keys[1][0]
    assert picked.args == [(space, panel.source.row(1).name)]
    with qtbot.waitSignal(panel.selected) as picked:  # once more: the details may show a message by now
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(panel.selected) as picked:
        qtbot.keyClick(view, Qt.Key.Key_Up)
    assert picked.args == [(space, panel.source.row(0).name)]
    with qtbot.waitSignal(panel.selected) as picked:
        qtbot.keyClick(view, Qt.Key.Key_Space)
    with qtbot.waitSignal(panel.selected) as picked:
        menu = panel.menu_for(1)
        next(action for action in menu.actions() if action.text() == "Show in details").trigger()
    assert picked.args == [(space, panel.source.row(1).name)]
    with qtbot.assertNotEmitted(panel.selected):  # coming by Tab picks nobody
        view.clearSelection()
        view.setFocus(Qt.FocusReason.TabFocusReason)


def test_keys_lead_through_the_list_and_escape_selects_nobody(panel_of, qtbot):
    panel = panel_of(document_of(*(said(name) for name in ("ann", "bob", "cid", "dan"))))
    panel.view.setFocus()
    picked: list[str] = []
    panel.selected.connect(lambda key: picked.append(key[1]))
    for key in (Qt.Key.Key_End, Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_Left, Qt.Key.Key_B):
        qtbot.keyClick(panel.view, key)
    assert picked == ["dan", "ann", "bob", "dan", "bob"]
    qtbot.keyClick(panel.view, Qt.Key.Key_Escape)
    assert not panel.view.selectionModel().hasSelection()
    assert picked[-1] == "bob"


def test_a_row_says_what_was_granted_since(panel_of):
    granted = envelope("capability/grant", {"recipient": "mew", "capabilities": [{"kind": "mcp/proposal"}]}, id="g")
    document = document_of(welcome("me", "mew"), received(granted))
    panel = panel_of(document)
    row = names(panel.model).index("mew")
    assert panel.source.row(row).line == "chat, propose"
    tooltip = panel.model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "propose anything (granted, unconfirmed)" in tooltip
    revoked = envelope("capability/revoke", {"recipient": "mew", "grant_id": "g"})
    document = document_of(welcome("me", "mew"), received(granted), received(revoked))
    panel = panel_of(document)
    assert panel.source.row(names(panel.model).index("mew")).line == "chat"
