"""The message table as a user meets it: what rows say, expanding, following, holding still, filtering, copying."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.present.message_columns import Column
from inspector.ui.look.roles import Role
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.column_layout import layout_for
from inspector.ui.panels.messages.columns import Wanted
from inspector.ui.panels.messages.panel import MessagesPanel
from tests.builders import GrowingLog, envelope, lines_of, tool_call, tool_result
from tests.ui.panels.filtering import follow, matching, show_filter

RECORDS = [{"id": 200 + n, "title": f"Site visit {n}"} for n in range(15)]
TRANSIENT = {"context": {"lifecycle": "transient", "summary": "15 records (page 1)"}}
HINTS = {"contextHints": [{"tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
CONSUMED = {"context": {"consumed": True}}
COLLAPSED, CONSUMING = 3, 5
"""Messages of `loop`."""


def loop() -> list[dict[str, Any]]:
    """Hint, fetch, consume: the result at No. 4 collapses when No. 6 arrives."""
    step, fetch, store = tool_call("get_step"), tool_call("search", arguments={"page": 1}), tool_call("store")
    return [
        step, tool_result(step, "Steps", meta=HINTS),
        fetch, tool_result(fetch, json.dumps(RECORDS), meta=TRANSIENT),
        store, tool_result(store, "Stored 1 finding", meta=CONSUMED),
        envelope("chat", {"text": "done"}),
    ]  # fmt: skip


MakePanel = Callable[..., MessagesPanel]


class Live:
    """A live document fed line by line, as a gateway source feeds it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "live.jsonl"
        self.path.write_bytes(b"")
        self.document = CaptureDocument()
        self.document.follow_capture(self.path, name="demo")
        self.document.analysis.now_ns = 1
        self.panel: MessagesPanel | None = None
        self.document.observers.append(self)

    def messages_changed(self, changes: Any) -> None:
        if self.panel is not None:
            self.panel.apply_changes(changes)

    def say(self, *lines: Any) -> None:
        with self.path.open("ab") as file:
            file.write(lines_of(*lines))
        self.document.poll()


@pytest.fixture
def live(tmp_path: Path, make_panel: MakePanel) -> Live:
    made = Live(tmp_path)
    made.panel = make_panel(document=made.document)
    return made


def panel_of(live: Live) -> MessagesPanel:
    assert live.panel is not None
    return live.panel


def text(panel: MessagesPanel, row: int, column: Column = Column.MESSAGE) -> str:
    return str(panel.model.data(panel.model.index(row, column)))


def role(panel: MessagesPanel, row: int, what: Role) -> Any:
    return panel.model.data(panel.model.index(row, Column.MESSAGE), what)


def click(qtbot: QtBot, panel: MessagesPanel, place: QPoint) -> None:
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def chevron(panel: MessagesPanel, row: int) -> QPoint:
    rect = panel.view.visualRect(panel.model.index(row, Column.MESSAGE))
    return panel.view.painter.chevron_rect(rect).center()


def chats(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [envelope("chat", {"text": f"say {n}"}) for n in range(start, start + count)]


# What rows say


def test_the_row_of_a_handshake_says_which_server_answered(make_panel: MakePanel) -> None:
    ask = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    info = {"name": "rune", "version": "0.105.1"}
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
    panel = make_panel(ask, {"jsonrpc": "2.0", "id": 0, "result": result})
    assert text(panel, 1, Column.MESSAGE) == "initialize:  rune 0.105.1, MCP 2025-11-25"
    nameless = make_panel(ask, {"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {"name": 5}}})
    assert text(nameless, 1, Column.MESSAGE).startswith("initialize:  name=5, ")


@pytest.mark.parametrize(
    ("line", "column", "shown"),
    [
        pytest.param(envelope(to=["a", "b", "c", "d"]), Column.FROM_TO, "lead → a, b +2", id="many receivers"),
        pytest.param(envelope(), Column.FROM_TO, "lead → everyone", id="everyone"),
        pytest.param(
            envelope("mcp/request", {"method": "tools/list"}), Column.MESSAGE, "tools/list  asks for the tools",
            id="method",
        ),
        pytest.param(envelope("mcp/request", {"method": "tools/list"}), Column.KIND, "request", id="quiet namespace"),
        pytest.param(envelope("stream/open", {"stream_id": "s-1"}), Column.KIND, "stream/open", id="namespace"),
        pytest.param(
            tool_call("write", arguments={"path": "/a", "n": 2, "token": "s3cret"}),
            Column.MESSAGE, "write  path=/a  n=2  token=••••••••", id="arguments, secret masked",
        ),
        pytest.param(
            envelope("reasoning/thought", {"reasoning": "hm", "action": "tool", "actionInput": {"tool": "fs/read"}}),
            Column.MESSAGE, "hm  → read", id="thought with its act",
        ),
        pytest.param(envelope("reasoning/conclusion", {}), Column.MESSAGE, "no message", id="empty conclusion"),
        pytest.param(envelope("chat", {"text": "a\u202e\nb"}), Column.MESSAGE, "a⟨U+202E⟩ b", id="hostile text"),
        pytest.param('{"protocol":"mew/v0.4","id":', Column.MESSAGE, '{"protocol":"mew/v0.4","id":', id="unreadable"),
        pytest.param(
            {"type": "join", "participantId": "me", "space": "demo", "token": "s3cret"},
            Column.MESSAGE, "me asks to join demo  token  ••••••••", id="join",
        ),
        pytest.param(
            envelope("system/join", {"participantId": "me", "token": "s3cret"}) | {"from": "me"},
            Column.MESSAGE, "me asks to join  token  ••••••••", id="join as an envelope",
        ),
        pytest.param(
            envelope("participant/request-status", {"fields": ["tokens"]}), Column.MESSAGE, "asks for tokens",
            id="a control in words",
        ),
        pytest.param(
            envelope("mcp/response", {"result": {"content": []}}), Column.MESSAGE, "empty result", id="empty result",
        ),
        pytest.param(
            envelope("stream/request", {"modes": ["text"]}), Column.MESSAGE, "asks for a stream, text",
            id="a stream asked for",
        ),
        pytest.param(envelope(context="a/b"), Column.CONTEXT, "a / b", id="context"),
        pytest.param(envelope("chat", {"text": 5}), Column.MESSAGE, '{"text":5}', id="odd payload"),
        pytest.param(envelope("chat", []), Column.MESSAGE, "no message", id="payload that is no object"),
    ],
)  # fmt: skip
def test_a_row_says(make_panel: MakePanel, line: Any, column: Column, shown: str) -> None:
    assert text(make_panel(envelope(), line), 1, column) == shown


def test_a_reasoning_context_is_shown_by_its_first_words(make_panel: MakePanel) -> None:
    start = envelope("reasoning/start", {"input": "Please write hello.txt"})
    panel = make_panel(start, envelope("reasoning/thought", context=start["id"]))
    assert text(panel, 1, Column.CONTEXT) == "Please write hello.txt"
    tip = panel.model.data(panel.model.index(1, Column.CONTEXT), Qt.ItemDataRole.ToolTipRole)
    assert start["id"] in str(tip)


def test_an_unreadable_row_says_why(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel('{"a":', envelope())
    accessible = panel.model.data(panel.model.index(0, Column.MESSAGE), Qt.ItemDataRole.AccessibleTextRole)
    assert "cut after 5 B" in str(accessible)
    assert role(panel, 0, Role.UNREADABLE) is True


def test_times_count_from_the_first_message(make_panel: MakePanel) -> None:
    panel = make_panel(envelope(ts="2026-01-05T09:00:00.000Z"), envelope(ts="2026-01-05T09:05:11.364Z"))
    assert text(panel, 1, Column.TIME) == "311.364"


def test_roles_nobody_serves_are_none(make_panel: MakePanel) -> None:
    panel = make_panel(envelope())
    assert panel.model.data(panel.model.index(0, 0), Qt.ItemDataRole.FontRole) is None
    assert panel.model.data(QModelIndex()) is None


def test_markup_from_the_wire_is_text_everywhere(make_panel: MakePanel) -> None:
    panel = make_panel(envelope("chat", {"text": "<img src=x>"}, sender="<b>me</b>"))
    for column in Column:
        tip = panel.model.data(panel.model.index(0, column), Qt.ItemDataRole.ToolTipRole)
        assert "<img" not in str(tip)
        assert "<b>" not in str(tip)


def test_a_message_above_a_megabyte_is_not_decoded(make_panel: MakePanel) -> None:
    panel = make_panel(envelope("chat", {"text": "x" * 1_100_000}))
    assert role(panel, 0, Role.KIND) == "chat"
    assert len(text(panel, 0)) < 600


# Badges and originals


def test_badges_are_off_until_asked_for(make_panel: MakePanel) -> None:
    panel = make_panel(*loop())
    assert role(panel, COLLAPSED, Role.BADGES) == ()
    panel.set_context_hints(True)
    assert role(panel, COLLAPSED, Role.BADGES) == ("collapsed",)
    assert role(panel, CONSUMING, Role.BADGES) == ("consumed",)


@pytest.mark.parametrize(
    ("filter_", "shown"),
    [
        ("badge", ("collapsed",)), ('badge != "consumed" || kind', ("collapsed",)), ("collapsed.by", ("collapsed",)),
        ("", ()), ("kind", ()),
    ],
)  # fmt: skip
def test_a_filter_that_asks_for_badges_shows_them(make_panel: MakePanel, filter_: str, shown: tuple[str, ...]) -> None:
    panel = make_panel(*loop())
    show_filter(panel, filter_)
    row = panel.model.rows.row_of(COLLAPSED)
    assert row is not None
    assert role(panel, row, Role.BADGES) == shown
    show_filter(panel, "")
    assert role(panel, COLLAPSED, Role.BADGES) == ()


def accessible(panel: MessagesPanel, row: int, column: Column = Column.MESSAGE) -> str:
    return str(panel.model.data(panel.model.index(row, column), Qt.ItemDataRole.AccessibleTextRole))


def test_the_end_of_a_row_says_what_became_of_it(make_panel: MakePanel) -> None:
    call = tool_call("grep", id="q", ts="2026-01-05T09:00:00.000Z")
    panel = make_panel(call, tool_result(call, ts="2026-01-05T09:00:00.250Z"), tool_call("rm"))
    panel.grab()
    assert "answered in 250 ms" in accessible(panel, 0)
    assert "waiting" in accessible(panel, 2)
    time = panel.model.index(0, Column.TIME)
    assert "Answered after 250 ms" in str(panel.model.data(time, Qt.ItemDataRole.ToolTipRole))
    shown = panel.grab().toImage()
    panel.set_states_shown(False)
    assert "answered" not in accessible(panel, 0)
    assert panel.grab().toImage() != shown


def test_a_collapsed_result_shows_its_summary_even_without_hints(make_panel: MakePanel) -> None:
    panel = make_panel(*loop())
    assert text(panel, COLLAPSED) == "15 records (page 1)"
    assert role(panel, COLLAPSED, Role.COLLAPSED) is True


def test_clicking_the_chevron_shows_the_original_in_place(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop(), size=(727, 700))
    click(qtbot, panel, chevron(panel, COLLAPSED))
    shown = [text(panel, COLLAPSED + 1 + n) for n in range(15)]
    assert shown[0].startswith("Original, read-only, ")
    assert shown[0].endswith("15 records, replaced by No. 6")
    assert shown[1:3] == ["id  title", "200  Site visit 0"]
    assert shown[-1] == "3 more records"
    assert text(panel, COLLAPSED + 16) == "store"
    assert panel.current_message() == COLLAPSED
    click(qtbot, panel, chevron(panel, COLLAPSED))
    assert panel.model.rowCount() == 7


def test_expanding_changes_no_badge(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop())
    panel.set_context_hints(True)
    panel.go_to(COLLAPSED)
    qtbot.keyClick(panel.view, Qt.Key.Key_Right)
    assert role(panel, COLLAPSED, Role.EXPANDED) is True
    assert role(panel, COLLAPSED, Role.BADGES) == ("collapsed",)


def test_arrow_keys_expand_walk_in_and_collapse(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop())
    panel.go_to(COLLAPSED)
    for _ in range(3):
        qtbot.keyClick(panel.view, Qt.Key.Key_Right)
    assert role(panel, panel.view.currentIndex().row(), Role.PART) == 1
    assert panel.current_message() == COLLAPSED
    qtbot.keyClick(panel.view, Qt.Key.Key_Left)
    assert panel.view.currentIndex().row() == COLLAPSED
    qtbot.keyClick(panel.view, Qt.Key.Key_Left)
    assert panel.model.rowCount() == 7


def test_a_text_original_keeps_its_lines(make_panel: MakePanel) -> None:
    lines = loop()
    lines[3]["payload"]["result"]["content"][0]["text"] = "first\n  second\u202e"
    panel = make_panel(*lines)
    assert panel.model.expand(COLLAPSED)
    assert [text(panel, COLLAPSED + n) for n in (2, 3)] == ["first", "  second⟨U+202E⟩"]


def test_the_links_of_an_original(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop(), size=(900, 700))
    panel.model.expand(COLLAPSED)
    line = panel.model.original(COLLAPSED).lines[0]
    painter = panel.view.painter
    rect = painter.block_rect(COLLAPSED + 1)
    links = {link.name: link.rect.center() for link in painter.originals.links(rect, line)}
    click(qtbot, panel, links["Copy"])
    assert json.loads(QGuiApplication.clipboard().text()) == RECORDS
    with qtbot.waitSignal(panel.open_details_requested) as opened:
        click(qtbot, panel, links["Open in details"])
    assert opened.args == [COLLAPSED]


def test_a_row_that_did_not_collapse_does_not_expand(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop())
    panel.go_to(0)
    qtbot.keyClick(panel.view, Qt.Key.Key_Right)
    assert panel.toggle_original() is False
    assert panel.model.rowCount() == 7


def test_rows_below_an_expanded_original_still_append(live: Live) -> None:
    live.say(*loop())
    panel = panel_of(live)
    panel.model.expand(COLLAPSED)
    live.say(*chats(3))
    assert text(panel, panel.model.rowCount() - 1) == "say 2"
    assert panel.model.rowCount() == 7 + 15 + 3


# Following and holding still


def test_at_the_bottom_new_rows_simply_come(live: Live, qtbot: QtBot) -> None:
    panel = panel_of(live)
    live.say(*chats(40))
    live.say(*chats(40, 40))
    bar = panel.view.verticalScrollBar()
    assert panel.following
    assert bar.value() == bar.maximum() > 0


def test_selecting_an_earlier_row_pauses_and_counts(live: Live, qtbot: QtBot) -> None:
    panel = panel_of(live)
    live.say(*chats(40))
    with qtbot.waitSignal(panel.follow_changed) as paused:
        click(qtbot, panel, QPoint(300, 40))
    assert paused.args == [False]
    value = panel.view.verticalScrollBar().value()
    with qtbot.waitSignal(panel.new_count) as counted:
        live.say(*chats(12, 40))
    assert counted.args == [12]
    assert panel.view.pill.isVisible()
    assert panel.view.pill.text() == "12 new"
    assert panel.view.verticalScrollBar().value() == value


def test_end_and_home_select_the_ends(live: Live, qtbot: QtBot) -> None:
    panel = panel_of(live)
    live.say(*chats(60))
    panel.go_to(30)
    for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier):
        qtbot.keyClick(panel.view, Qt.Key.Key_End, modifier)
        assert (panel.current_message(), panel.following) == (59, True)
        qtbot.keyClick(panel.view, Qt.Key.Key_Home, modifier)
        assert (panel.current_message(), panel.following) == (0, False)
        assert panel.view.verticalScrollBar().value() == 0
    qtbot.keyClick(panel.view, Qt.Key.Key_End)
    live.say(*chats(5))
    assert (panel.current_message(), panel.following) == (59, True)


def places(panel: MessagesPanel) -> list[int]:
    return [panel.view.columnViewportPosition(column) for column in Column]


def test_a_gap_moves_no_column(live: Live) -> None:
    panel = panel_of(live)
    live.say(*chats(5))
    before = places(panel)
    reason = "the connection was lost for 38.8 s. " + "The gateway went away without a word. " * 5
    live.say({"t": 1_900_000_000_000_000_000, "src": 0, "mark": "gap", "reason": reason}, *chats(2))
    assert places(panel) == before
    for column in (Column.FROM_TO, Column.TIME):
        tip = panel.model.data(panel.model.index(5, column), Qt.ItemDataRole.ToolTipRole)
        assert "went away" in str(tip)


def test_columns_keep_room_for_what_is_still_to_be_read(live: Live) -> None:
    panel = panel_of(live)
    panel.expect(0.001)
    live.say(*chats(40))
    before = places(panel)
    panel.expect(0.1)
    live.say(*chats(2_000))
    panel.expect(1.0)
    panel.view.columns.lay_out()
    assert places(panel) == before


@pytest.mark.parametrize("how", ["end", "pill"])
def test_end_and_the_pill_return_to_the_newest(live: Live, qtbot: QtBot, how: str) -> None:
    panel = panel_of(live)
    live.say(*chats(60))
    panel.view.verticalScrollBar().setValue(0)
    live.say(*chats(5))
    assert not panel.following
    if how == "end":
        qtbot.keyClick(panel.view, Qt.Key.Key_End)
    else:
        qtbot.mouseClick(panel.view.pill, Qt.MouseButton.LeftButton)
    bar = panel.view.verticalScrollBar()
    assert panel.following
    assert bar.value() == bar.maximum()
    assert not panel.view.pill.isVisible()


@pytest.mark.parametrize(("key", "begins"), [(Qt.Key.Key_Up, 59), (Qt.Key.Key_Down, 59)])
def test_while_it_follows_keys_begin_at_the_newest_message(live: Live, qtbot: QtBot, key: Qt.Key, begins: int) -> None:
    panel = panel_of(live)
    live.say(*chats(60))
    panel.view.setFocus()  # where Qt makes the first row the current one
    qtbot.keyClick(panel.view, key)
    assert panel.current_message() == begins
    bar = panel.view.verticalScrollBar()
    assert bar.value() == bar.maximum()


def test_with_nothing_selected_keys_begin_at_what_is_in_sight(make_panel: MakePanel, qtbot: QtBot) -> None:
    for key, offset in ((Qt.Key.Key_Down, 0), (Qt.Key.Key_Up, 9)):
        panel = make_panel(*chats(60))
        panel.view.setFocus()
        panel.view.verticalScrollBar().setValue(20 * 24)
        qtbot.keyClick(panel.view, key)
        assert abs((panel.current_message() or 0) - 20 - offset) <= 2


def test_a_log_does_not_follow_and_nothing_in_it_is_new(make_panel: MakePanel) -> None:
    panel = make_panel(*chats(60))
    assert not panel.following
    assert panel.view.verticalScrollBar().value() == 0
    assert not panel.view.pill.isVisible()


def test_a_filter_keeps_what_stands_at_the_top(make_panel: MakePanel) -> None:
    panel = make_panel(*(envelope("chat" if n % 2 else "system/x", {"text": f"say {n}"}) for n in range(200)))
    panel.view.verticalScrollBar().setValue(101 * 24 + 7)
    show_filter(panel, 'kind == "chat"')
    assert text(panel, panel.view.rowAt(0)) == "say 101"
    assert panel.view.rowViewportPosition(panel.view.rowAt(0)) == -7


def test_a_filter_keeps_the_current_message_and_its_place(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*(envelope("chat" if n % 2 else "system/x", {"text": f"say {n}"}) for n in range(200)))
    panel.go_to(121)
    y = panel.view.rowViewportPosition(121)
    with qtbot.assertNotEmitted(panel.current_changed):
        show_filter(panel, 'kind == "chat"')
    row = panel.model.rows.row_of(121)
    assert row is not None
    assert panel.current_message() == 121
    assert panel.view.currentIndex().row() == row
    assert panel.view.rowViewportPosition(row) == y


def test_a_current_message_that_is_filtered_out_gives_way_to_the_nearest(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*(envelope("chat" if n % 2 else "system/x") for n in range(50)))
    panel.go_to(20)
    with qtbot.waitSignal(panel.current_changed) as changed:
        show_filter(panel, 'kind == "chat"')
    assert changed.args == [21]


def test_a_late_change_that_adds_a_row_in_between_moves_nothing(live: Live) -> None:
    panel = panel_of(live)
    show_filter(panel, 'badge == "collapsed" || kind == "chat"')
    lines = loop()
    live.say(*chats(30), *lines[:4], *chats(30, 30))
    panel.go_to(50)
    panel.view.verticalScrollBar().setValue(45 * 24)
    top = text(panel, panel.view.rowAt(0))
    live.say(*lines[4:])
    assert panel.model.rows.row_of(33) is not None
    assert text(panel, panel.view.rowAt(0)) == top
    assert panel.current_message() == 50


def test_a_row_that_waits_is_painted_again_once_it_says_something_else(live: Live) -> None:
    panel = panel_of(live)
    waited = 12_000_000_000
    panel.model.clock_ns = lambda: int(live.document.capture.columns["time_ns"][0]) + waited
    live.say(tool_call("slow"), *chats(2))
    panel.grab()
    painter = panel.view.painter
    assert painter.waiting == {0: "waiting 12 s"}
    waited += 900_000_000
    painter.repaint_waiting()
    assert painter.waiting == {0: "waiting 12 s"}
    waited += 100_000_000
    painter.repaint_waiting()
    assert not painter.waiting, "asked for, and noted once it is painted"
    panel.grab()
    assert painter.waiting == {0: "waiting 13 s"}


def test_an_answer_repaints_its_request_alone(live: Live, qtbot: QtBot) -> None:
    panel = panel_of(live)
    request = tool_call("slow")
    panel.model.clock_ns = lambda: int(live.document.capture.columns["time_ns"][0]) + 400_000_000
    live.say(request, *chats(2))
    assert role(panel, 0, Role.WAITING) == "waiting 0.4 s"
    spans: list[tuple[int, int]] = []
    panel.model.dataChanged.connect(lambda first, last, _roles: spans.append((first.row(), last.row())))
    live.say(tool_result(request))
    assert spans == [(0, 0)]
    assert role(panel, 0, Role.WAITING) == ""


# Moving about


def test_stepping_goes_by_message_and_stops_at_the_ends(make_panel: MakePanel) -> None:
    panel = make_panel(*loop())
    panel.model.expand(COLLAPSED)
    panel.go_to(COLLAPSED)
    panel.step(1)
    assert panel.current_message() == COLLAPSED + 1
    panel.step(-1)
    panel.step(-10)
    assert panel.current_message() == 0


def test_going_to_a_hidden_message_changes_nothing(make_panel: MakePanel) -> None:
    panel = make_panel(*loop())
    show_filter(panel, 'kind == "chat"')
    assert panel.go_to(0) is False
    assert panel.current_message() is None


def test_a_far_message_comes_into_the_middle(make_panel: MakePanel) -> None:
    panel = make_panel(*chats(500))
    assert panel.go_to(300)
    height = panel.view.viewport().height()
    assert height // 4 < panel.view.rowViewportPosition(300) < 3 * height // 4


def test_enter_opens_the_details(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop())
    panel.go_to(2)
    with qtbot.waitSignal(panel.open_details_requested) as opened:
        qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert opened.args == [2]


def test_space_is_left_to_the_window(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*loop())
    panel.go_to(2)
    qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    assert panel.current_message() == 2


def test_the_chain_rail_joins_the_selected_ones_chain(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*chats(2), *loop()[2:4])
    panel.go_to(2)
    qtbot.waitUntil(lambda: bool(panel.view.selection.chain.rail))
    first, last = panel.view.selection.chain.rail.mark(2), panel.view.selection.chain.rail.mark(3)
    assert first is not None
    assert last is not None
    assert (first.selected, first.above, first.below) == (True, False, True)
    assert (last.member, last.above, last.below) == (True, True, False)
    assert panel.view.selection.chain.rail.mark(1) is None


# Filter and copy


@pytest.mark.parametrize(
    ("column", "second", "expression"),
    [
        (Column.NUMBER, False, "no == 3"),
        (Column.FROM_TO, False, 'from == "lead"'),
        (Column.FROM_TO, True, 'to == "files"'),
        (Column.KIND, False, 'kind == "mcp/request"'),
        (Column.CONTEXT, False, "!context"),
        (Column.MESSAGE, False, 'tool == "search"'),
    ],
)
def test_filter_by_the_value_under_the_pointer(
    make_panel: MakePanel, qtbot: QtBot, column: Column, second: bool, expression: str
) -> None:
    panel = make_panel(*loop())
    menu = panel.view.menu.build(2, column, second=second)
    actions = {action.objectName(): action for action in menu.actions()}
    with qtbot.waitSignal(panel.filter_requested) as asked:
        actions["filter.and"].trigger()
    assert asked.args == [expression, "and"]
    assert 2 in matching(panel, expression)
    menu.deleteLater()


@pytest.mark.parametrize("column", list(Column))
def test_every_cells_filter_finds_its_message(make_panel: MakePanel, column: Column) -> None:
    panel = make_panel(
        *loop(), envelope("chat", {"text": 'with "quotes"\nand lines'}, context='a/"b c"', to=["x", "y"])
    )
    for message in range(8):
        menu = panel.view.menu.build(message, column)
        copy = next((a for a in menu.actions() if a.objectName() == "copy.filter"), None)
        if copy is not None:
            copy.trigger()
            expression = QGuiApplication.clipboard().text()
            assert message in matching(panel, expression), expression
        menu.deleteLater()


def test_copying_masks_secrets(make_panel: MakePanel) -> None:
    panel = make_panel(tool_call("login", arguments={"password": "hunter2"}))
    panel.go_to(0)
    panel.copy("json")
    assert "hunter2" not in QGuiApplication.clipboard().text()
    assert "login" in QGuiApplication.clipboard().text()
    panel.copy("rows")
    assert "hunter2" not in QGuiApplication.clipboard().text()
    assert QGuiApplication.clipboard().text().split("\t")[0] == "1"


# Empty states


def test_nothing_matches_says_so_and_offers_a_way_out(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*chats(3))
    show_filter(panel, "no > 9")
    assert panel.empty.isVisible()
    assert panel.empty.text == "No message matches this filter. Clear the filter, or search all 3 messages."
    for name, signal in (
        ("clearFilterLink", panel.clear_filter_requested),
        ("searchAllLink", panel.search_all_requested),
    ):
        link = panel.empty.findChild(QPushButton, name)
        assert link is not None
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    show_filter(panel, "")
    assert not panel.empty.isVisible()


def test_the_current_message_comes_back_with_the_rows(make_panel: MakePanel) -> None:
    panel = make_panel(*chats(3))
    panel.go_to(1)
    show_filter(panel, "no > 9")
    assert panel.current_message() is None
    show_filter(panel, "")
    assert panel.current_message() == 1


def test_a_silent_connection_says_since_when(live: Live) -> None:
    panel = panel_of(live)
    panel.set_connected("demo", 0)
    assert panel.empty.text.startswith("Connected to demo. No messages since ")
    live.say(envelope())
    assert not panel.empty.isVisible()


# Looks


def test_columns_follow_the_room_there_is() -> None:
    at_1280, at_1700, at_1920 = (layout_for(width) for width in (778, 900, 1120))
    assert not at_1280.shows(Column.LATENCY)
    assert at_1700.widths[Column.FROM_TO] > at_1280.widths[Column.FROM_TO]
    assert at_1920.shows(Column.LATENCY)
    assert at_1920.shows(Column.SIZE)
    for layout, width in ((at_1280, 778), (at_1700, 900), (at_1920, 1120)):
        assert layout.message >= max(420, width * 0.41)
    assert layout_for(870, ends=400).widths[Column.FROM_TO] >= 150
    named = layout_for(730, ends=400)
    assert named.message == 420
    assert (named.widths[Column.FROM_TO], named.widths[Column.KIND]) == (95, 30)
    assert layout_for(730, wanted=Wanted(always=frozenset({Column.KIND}))).widths[Column.KIND] == 110
    assert layout_for(730, ends=90).widths[Column.FROM_TO] <= named.widths[Column.FROM_TO]
    assert not layout_for(480).shows(Column.CONTEXT)
    short = layout_for(900, ends=120, empty=frozenset({Column.CONTEXT}))
    assert short.widths[Column.FROM_TO] == 120
    assert short.widths[Column.KIND] == 132


def test_columns_with_nothing_in_them_leave_their_room_to_the_message(make_panel: MakePanel) -> None:
    live = GrowingLog()
    live.write(envelope("chat", {"text": "Hello"}))
    panel = make_panel(document=live.document, size=(1400, 300))
    view = panel.view
    assert view.isColumnHidden(Column.CONTEXT)
    assert view.isColumnHidden(Column.LATENCY)
    assert not view.isColumnHidden(Column.SIZE)
    before = view.columnWidth(Column.MESSAGE)
    for changes in live.write(envelope("chat", {"text": "Hello"}, context="why")):
        follow(panel, changes)
    assert not view.isColumnHidden(Column.CONTEXT)
    assert view.columnWidth(Column.MESSAGE) < before


@pytest.mark.parametrize("setting", ["light", "dark"])
def test_special_rows_are_painted_in_both_themes(
    make_panel: MakePanel, theme_controller: ThemeController, setting: Any
) -> None:
    theme_controller.set_setting(setting)
    gap = {"t": 1767603904000000000, "mark": "gap", "src": 0}
    panel = make_panel(*loop(), "broken", gap, envelope("chat", {"text": "\u202e"}), size=(800, 700))
    panel.set_context_hints(True)
    panel.model.expand(COLLAPSED)
    panel.go_to(COLLAPSED)
    image = panel.view.viewport().grab().toImage()
    colors = {QColor(image.pixel(1, y)).name() for y in range(image.height())}
    assert theme_controller.theme.color("surface.base").name() in colors
    assert theme_controller.theme.color("accent.ring").name() in colors


def test_zoom_scales_rows_and_keeps_the_top(make_panel: MakePanel, theme_controller: ThemeController) -> None:
    panel = make_panel(*chats(300))
    panel.view.verticalScrollBar().setValue(100 * 24)
    theme_controller.set_zoom(1.5)
    assert panel.view.rowHeight(0) == theme_controller.theme.metrics.row > 24
    assert text(panel, panel.view.rowAt(0)) == "say 100"
