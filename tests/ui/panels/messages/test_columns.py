"""Columns of the message table as a user chooses them, what its rows are sorted by, and what its times count from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QMenu, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from inspector.engine.requests.views import SortRows
from inspector.present.message_columns import Column, TimeColumn
from inspector.settings import Table, TableColumn
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.column_layout import layout_for
from inspector.ui.panels.messages.columns import ChosenColumns, Wanted
from inspector.ui.panels.messages.columns_dialog import ColumnsDialog
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.widgets.rows.view import RowsView
from tests.builders import GrowingLog, envelope, received, tool_call, tool_result
from tests.ui.held_requests import hold_requests, limit_blocks
from tests.ui.local_client import LocalClient
from tests.ui.panels.filtering import follow, matching, show_filter
from tests.ui.slow_answers import answer_slowly

FIRST_FIELD = len(Column)
MINUS = "\N{MINUS SIGN}"
MakePanel = Callable[..., MessagesPanel]


def chats(*said: Any, **more: Any) -> list[dict[str, Any]]:
    return [envelope("chat", {"text": one}, **more) for one in said]


def text(panel: MessagesPanel, row: int, column: int = Column.MESSAGE) -> str:
    return str(panel.model.data(panel.model.index(row, column)))


def column_texts(panel: MessagesPanel, column: int = Column.MESSAGE) -> list[str]:
    return [text(panel, row, column) for row in range(panel.model.rowCount())]


def titles(panel: MessagesPanel) -> list[str]:
    """Heads of the columns shown, from left to right."""
    heads = panel.view.heads
    order = [heads.logicalIndex(place) for place in range(heads.count())]
    return [
        str(panel.model.headerData(column, Qt.Orientation.Horizontal))
        for column in order
        if not panel.view.isColumnHidden(column)
    ]


def click_head(qtbot: QtBot, panel: MessagesPanel, column: int) -> None:
    heads = panel.view.heads
    place = QPoint(heads.sectionViewportPosition(column) + heads.sectionSize(column) // 2, heads.height() // 2)
    qtbot.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=place)


def choose(menu: QMenu, name: str) -> None:
    next(action for action in menu.actions() if action.objectName() == name).trigger()
    menu.deleteLater()


def chosen_by(blocker: Any) -> Table:
    """What `table_changed` carried."""
    return blocker.args[0]


# Columns


def test_any_field_and_payload_value_can_be_a_column(make_panel: MakePanel) -> None:
    call = tool_call("search", arguments={"page": 2, "token": "s3cret"})
    panel = make_panel(call, tool_result(call, "found"), *chats("hello"))
    for name in ("tool", "payload.params.arguments.page", "payload.params.arguments.token", "latency"):
        panel.add_column(name)
    found = [[text(panel, row, FIRST_FIELD + n) for row in range(3)] for n in range(3)]
    assert found == [["search", "search", ""], ["2", "", ""], ["••••••••", "", ""]]
    assert titles(panel)[-5:] == [
        "Tool", "payload.params.arguments.page", "payload.params.arguments.token", "Message", "Latency"
    ]  # fmt: skip


def test_a_value_is_masked_for_the_name_beside_it(make_panel: MakePanel) -> None:
    def pair(name: str) -> dict[str, Any]:
        return envelope(payload={"env": [{"name": name, "value": "correct horse"}]})

    panel = make_panel(pair("API_KEY"), pair("MOTTO"))
    panel.add_column("payload.env.0.value")
    assert [text(panel, row, FIRST_FIELD) for row in range(2)] == ["••••••••", "correct horse"]
    menus = [panel.view.menu.build(row, FIRST_FIELD) for row in range(2)]
    assert ["filter.and" in [action.objectName() for action in menu.actions()] for menu in menus] == [False, True]
    for menu in menus:
        menu.deleteLater()


@pytest.mark.in_process("watches reads of records")
def test_a_column_reads_only_rows_on_screen_and_a_screen_around(
    make_panel: MakePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = make_panel(*chats(*map(str, range(400))))
    asked: list[int] = []
    assert isinstance(panel.client, LocalClient)
    capture = panel.client.document.capture
    payload = capture.records.payload
    panel.add_column("payload.text")
    monkeypatch.setattr(capture.records, "payload", lambda message: asked.append(message) or payload(message))
    panel.view.verticalScrollBar().setValue(200 * 24)
    panel.view.viewport().grab()
    page = panel.view.viewport().height() // 24 + 1
    assert asked
    assert min(asked) >= 200 - page
    assert max(asked) <= 200 + 2 * page


def test_a_time_too_wide_for_its_column_stays_in_it(make_panel: MakePanel) -> None:
    """A clock that was set sixty years on gives times of ten places."""
    pictures: list[QImage] = []
    for second in ("2026-01-05T09:00:01.000Z", "2086-01-05T09:00:01.000Z"):
        panel = make_panel(*chats("a", ts="2026-01-05T09:00:00.000Z"), *chats("b", ts=second))
        heads = panel.view.heads
        left, width = heads.sectionViewportPosition(Column.NUMBER), heads.sectionSize(Column.NUMBER)
        pictures.append(panel.view.viewport().grab(QRect(left, 24, width, 24)).toImage())
    assert pictures[0] == pictures[1], "painted over the number"


def test_hostile_values_are_one_safe_line(make_panel: MakePanel) -> None:
    panel = make_panel(*chats("<b>a</b>\n\u202eb"), envelope("chat", {"text": {"a": ["x" * 999]}}))
    panel.add_column("payload.text")
    assert text(panel, 0, FIRST_FIELD) == "<b>a</b> ⟨U+202E⟩b"
    assert len(text(panel, 1, FIRST_FIELD)) <= 300


def test_a_changed_value_is_read_again(make_panel: MakePanel) -> None:
    log = GrowingLog()
    call = tool_call("search")
    log.write(call)
    panel = make_panel(document=log.document)
    panel.add_column("answered")
    assert text(panel, 0, FIRST_FIELD) == ""
    for changes in log.write(tool_result(call, "found")):
        follow(panel, changes)
    assert text(panel, 0, FIRST_FIELD) == "2"


def test_the_head_shows_hides_and_removes(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*chats("a", context="why"))
    with qtbot.waitSignal(panel.table_changed):
        choose(panel.view.head_menu.build(Column.KIND), "columns.hide")
    choose(panel.view.head_menu.build(-1), "columns.show.size")
    panel.add_column("payload.text")
    assert titles(panel) == ["", "No.", "Time", "From → To", "Context", "payload.text", "Message", "Size"]
    choose(panel.view.head_menu.build(FIRST_FIELD), "columns.hide")
    assert "text" not in titles(panel)
    choose(panel.view.head_menu.build(-1), "columns.default")
    assert titles(panel) == ["", "No.", "Time", "From → To", "Kind", "Context", "Message"]


def test_dragged_columns_stay_where_they_are_put(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*chats("a", context="why"))
    heads = panel.view.heads
    with qtbot.waitSignal(panel.table_changed) as changed:
        heads.moveSection(heads.visualIndex(Column.CONTEXT), 1)
    assert chosen_by(changed).columns[0].name == "context"
    panel.resize(900, 300)
    assert titles(panel)[:3] == ["", "Context", "No."]
    assert heads.visualIndex(Column.GUTTER) == 0


def test_a_dragged_width_is_kept_at_any_zoom(
    make_panel: MakePanel, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = make_panel(*chats("a"), size=(900, 300))
    heads = panel.view.heads
    before = heads.sectionSize(Column.FROM_TO)
    edge = heads.sectionViewportPosition(Column.FROM_TO) + heads.sectionSize(Column.FROM_TO) - 1
    with qtbot.waitSignal(panel.table_changed):
        qtbot.mousePress(heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(edge, 10))
        qtbot.mouseMove(heads.viewport(), QPoint(edge + 30, 10))
        qtbot.mouseRelease(heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(edge + 30, 10))
    width = panel.view.columnWidth(Column.FROM_TO)
    assert width == before + 30
    theme_controller.set_zoom(1.5)
    assert panel.view.columnWidth(Column.FROM_TO) == round(width * 1.5)
    choose(panel.view.head_menu.build(Column.FROM_TO), "columns.width")
    assert panel.view.columnWidth(Column.FROM_TO) != round(width * 1.5)


def test_many_columns_make_the_table_wider_and_stepping_moves_none(make_panel: MakePanel) -> None:
    panel = make_panel(*chats(*map(str, range(30))))
    for name in ("tool", "payload.text", "id", "source"):
        panel.add_column(name)
    across = panel.view.horizontalScrollBar()
    assert across.maximum() > 0
    across.setValue(9)
    panel.go_to(0)
    panel.step(1)
    panel.go_to(29)
    assert across.value() == 9
    panel.view.viewport().grab()


def test_the_settings_bring_columns_back(make_panel: MakePanel, qtbot: QtBot) -> None:
    first, second = make_panel(*chats("a")), make_panel(*chats("a"))
    with qtbot.waitSignal(first.table_changed) as changed:
        first.add_column("payload.text")
    table = Table.model_validate_json(chosen_by(changed).model_dump_json())
    second.set_table(table)
    assert titles(second) == titles(first)


def test_names_no_field_has_are_left_out() -> None:
    columns = ChosenColumns([TableColumn(name="gone"), TableColumn(name="size", shown="yes"), TableColumn(name="size")])
    names = [column.name for column in columns.columns]
    assert names == ["no", "time", "from-to", "kind", "context", "message", "latency", "size"]


def test_contexts_without_messages_need_no_column(make_panel: MakePanel) -> None:
    start = envelope("reasoning/start", {"message": "Why"}, id="why")
    outside = make_panel(received(start), *chats("a"))
    assert outside.view.isColumnHidden(Column.CONTEXT)
    inside = make_panel(received(start), received(envelope("reasoning/thought", {"message": "So"}, context="why")))
    assert not inside.view.isColumnHidden(Column.CONTEXT)


def test_a_column_asked_for_stays_in_a_narrow_table() -> None:
    columns = ChosenColumns([TableColumn(name="context", shown="yes"), TableColumn(name="size", shown="yes")])
    layout = layout_for(400, wanted=columns.wanted)
    assert layout.shows(Column.CONTEXT)
    assert layout.shows(Column.SIZE)
    assert not layout.shows(Column.LATENCY)


def test_a_cell_of_a_field_finds_its_message(make_panel: MakePanel) -> None:
    call = tool_call("search", arguments={"page": 2})
    panel = make_panel(call, tool_result(call, "found"), *chats('with "quotes"', to=["x", "y"]))
    for name in ("tool", "payload.params.arguments.page", "to", "ts", "answered"):
        panel.add_column(name)
    for column in range(FIRST_FIELD, len(panel.model.columns)):
        for message in range(3):
            menu = panel.view.menu.build(message, column)
            names = [action.objectName() for action in menu.actions()]
            shown = next(a for a in menu.actions() if a.objectName() == "filterExpression").text()
            assert "filter.and" in names
            assert message in matching(panel, shown.replace("&&", "&"))
            menu.deleteLater()


# Sorting


def test_clicking_a_head_sorts_turns_round_and_gives_up(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(*chats("ccc", "a", "bbbb"), size=(1100, 300))
    click_head(qtbot, panel, Column.SIZE)
    assert column_texts(panel) == ["bbbb", "ccc", "a"]
    head = panel.model.headerData(Column.SIZE, Qt.Orientation.Horizontal, Qt.ItemDataRole.AccessibleTextRole)
    assert head == "Size, sorted, largest first"
    click_head(qtbot, panel, Column.SIZE)
    assert column_texts(panel) == ["a", "ccc", "bbbb"]
    click_head(qtbot, panel, Column.SIZE)
    assert column_texts(panel) == ["ccc", "a", "bbbb"]
    click_head(qtbot, panel, Column.NUMBER)
    assert column_texts(panel, Column.NUMBER) == ["3", "2", "1"]


def test_sorting_keeps_the_selected_message_in_its_place(make_panel: MakePanel) -> None:
    panel = make_panel(*chats(*(f"say {n * 37 % 100:03d}" for n in range(100))))
    panel.go_to(50)
    row = panel.model.rows.row_of(50)
    assert row is not None
    before = panel.view.rowViewportPosition(row)
    panel.sorter.sort("text")
    assert column_texts(panel) == sorted(column_texts(panel))
    assert panel.current_message() == 50
    after = panel.model.rows.row_of(50)
    assert after is not None
    assert panel.view.rowViewportPosition(after) == before
    assert panel.view.selectionModel().selectedRows()[0].row() == after
    panel.step(1)
    assert text(panel, after + 1) == f"say {int(text(panel, after)[4:]) + 1:03d}"
    panel.sorter.clear()
    assert text(panel, 0) == "say 000"


def test_expansion_survives_sorting(make_panel: MakePanel, qtbot: QtBot) -> None:
    meta = {"context": {"lifecycle": "transient", "summary": "2 records"}}
    hints = {"contextHints": [{"tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
    step, fetch, store = tool_call("get_step"), tool_call("search"), tool_call("store")
    panel = make_panel(
        step, tool_result(step, "Steps", meta=hints), fetch, tool_result(fetch, "one\ntwo", meta=meta),
        store, tool_result(store, "Stored", meta={"context": {"consumed": True}}), *chats("z", "a"),
    )  # fmt: skip
    assert panel.model.expand(3)
    panel.sorter.sort("no", True)
    row = panel.model.rows.row_of(3)
    assert row is not None
    assert [panel.model.message_at_row(row + part) for part in range(3)] == [(3, 0), (3, 1), (3, 2)]
    assert panel.model.rowCount() == 8 + panel.model.rows.part_count(3)
    panel.view.viewport().grab()
    panel.go_to(2)
    qtbot.waitUntil(lambda: panel.view.selection.chain.rail.mark(2) is not None)
    rail = panel.view.selection.chain.rail
    marks = [rail.mark(panel.model.message_at_row(r)[0]) for r in range(panel.model.rowCount())]
    assert any(mark is not None and mark.member for mark in marks)
    assert panel.model.collapse(3)


def live_panel(make_panel: MakePanel, log: GrowingLog) -> MessagesPanel:
    panel = make_panel(document=log.document)
    panel.follow(True)
    return panel


def say(panel: MessagesPanel, log: GrowingLog, *said: str) -> None:
    for changes in log.write(*chats(*said)):
        follow(panel, changes)


def test_what_comes_while_sorted_stands_below_until_it_is_sorted_in(make_panel: MakePanel, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(*chats("c", "a", "b"))
    panel = live_panel(make_panel, log)
    panel.sorter.sort("text", True)
    assert not panel.following
    say(panel, log, "d", "aa")
    assert column_texts(panel) == ["c", "b", "a", "d", "aa"]
    assert panel.view.pill.isVisible()
    assert panel.view.pill.text() == "Sorted; 2 new below"
    panel.view.verticalScrollBar().setValue(panel.view.verticalScrollBar().maximum())
    panel.go_to_last()
    assert not panel.following
    qtbot.mouseClick(panel.view.pill, Qt.MouseButton.LeftButton)
    assert column_texts(panel) == ["d", "c", "b", "aa", "a"]
    assert not panel.view.pill.isVisible()


def test_following_returns_to_the_order_of_arrival(make_panel: MakePanel) -> None:
    log = GrowingLog()
    log.write(*chats("c", "a", "b"))
    panel = live_panel(make_panel, log)
    panel.sorter.sort("text")
    panel.follow(True)
    assert panel.following
    say(panel, log, "0")
    assert column_texts(panel) == ["c", "a", "b", "0"]


def test_another_filter_is_sorted_too(make_panel: MakePanel) -> None:
    panel = make_panel(*chats("c", "a", "b"))
    panel.sorter.sort("text")
    show_filter(panel, "no != 2")
    assert column_texts(panel) == ["b", "c"]
    show_filter(panel, "")
    assert column_texts(panel) == ["a", "b", "c"]


def test_a_long_sort_says_how_far_it_is_and_can_be_given_up(
    make_panel: MakePanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "QUIET_S", 0.0)
    panel = make_panel(*chats(*(str(n % 7) for n in range(3000))))
    assert text(panel, 1) == "1"
    limit_blocks(monkeypatch, 64)
    release = hold_requests(monkeypatch, SortRows)
    answer_slowly(monkeypatch, panel.client)
    panel.sorter.sort("payload.text")
    assert panel.sorter.busy
    qtbot.waitUntil(panel.view.pill.isVisible)
    assert panel.view.pill.text().startswith("Sorting by text, ")
    assert text(panel, 1) == "1"
    qtbot.keyClick(panel.view, Qt.Key.Key_Escape)
    assert not panel.sorter.busy
    assert not panel.view.pill.isVisible()
    panel.sorter.sort("text")
    qtbot.waitUntil(lambda: panel.view.heads.progress is not None)
    release()
    qtbot.waitUntil(lambda: not panel.sorter.busy)
    qtbot.waitUntil(lambda: text(panel, 1) == "0")
    assert panel.view.heads.progress is None


def test_what_the_rows_go_by_is_seen(make_panel: MakePanel) -> None:
    panel = make_panel(*chats("a", "b"))
    assert panel.view.isColumnHidden(Column.SIZE)
    panel.sorter.sort("size")
    assert not panel.view.isColumnHidden(Column.SIZE)
    panel.sorter.clear()
    assert panel.view.isColumnHidden(Column.SIZE)


@pytest.mark.parametrize("setting", ["light", "dark"])
def test_the_heads_are_painted_in_both_themes(
    make_panel: MakePanel, theme_controller: ThemeController, setting: Any
) -> None:
    theme_controller.set_setting(setting)
    panel = make_panel(*chats("a"))
    panel.view.heads.show_progress((Column.MESSAGE, 0.5))
    before = panel.view.heads.grab().toImage()
    colors = {before.pixelColor(x, y).name() for x in range(before.width()) for y in range(before.height())}
    assert theme_controller.theme.color("surface.base").name() in colors
    assert theme_controller.theme.color("accent.ring").name() in colors
    panel.sorter.sort("text")
    assert panel.view.heads.grab().toImage() != before


# Times


def timed(*seconds: float) -> list[dict[str, Any]]:
    return [envelope("chat", {"text": "x"}, ts=f"2026-01-05T09:00:{s:06.3f}Z") for s in seconds]


def test_times_count_from_what_was_chosen(make_panel: MakePanel) -> None:
    panel = make_panel(*timed(0, 1.5, 4))
    assert column_texts(panel, Column.TIME) == ["0.000", "1.500", "4.000"]
    panel.choose_time("previous")
    assert column_texts(panel, Column.TIME) == ["", "1.500", "2.500"]
    show_filter(panel, "no != 2")
    assert column_texts(panel, Column.TIME) == ["", "4.000"]
    show_filter(panel, "")
    panel.choose_time("clock")
    assert all(time.endswith(("00.000", "01.500", "04.000")) for time in column_texts(panel, Column.TIME))
    panel.choose_time("start")
    assert column_texts(panel, Column.TIME)[2] == "4.000"


def test_a_message_can_be_what_times_count_from(make_panel: MakePanel) -> None:
    panel = make_panel(*timed(0, 1.5, 4))
    choose(panel.view.menu.build(1, Column.MESSAGE), "reference")
    assert column_texts(panel, Column.TIME) == [f"{MINUS}1.500", "0.000", "2.500"]
    assert "Since 2" in titles(panel)
    panel.sorter.sort("time", True)
    panel.choose_time("previous")
    assert column_texts(panel, Column.TIME) == ["", f"{MINUS}2.500", f"{MINUS}1.500"]


def test_times_without_a_chosen_message_count_from_the_first(make_panel: MakePanel) -> None:
    panel = make_panel(*timed(0, 2))
    panel.choose_time("mark")
    assert panel.model.times.mode == "start"
    panel.set_table(Table(time="mark"))
    assert column_texts(panel, Column.TIME) == ["0.000", "2.000"]
    assert isinstance(panel.model.times, TimeColumn)


# The dialog


@pytest.fixture
def dialog(make_panel: MakePanel, qtbot: QtBot, theme_controller: ThemeController) -> ColumnsDialog:
    panel = make_panel(*timed(0, 1, 2))
    made = ColumnsDialog(theme_controller, panel, ["payload.text"], panel)
    made.open()
    qtbot.waitUntil(made.isVisible)
    return made


def panel_of(dialog: ColumnsDialog) -> MessagesPanel:
    panel = dialog.parent()
    assert isinstance(panel, MessagesPanel)
    return panel


def test_the_dialog_adds_moves_and_removes_by_keyboard(dialog: ColumnsDialog, qtbot: QtBot) -> None:
    panel = panel_of(dialog)
    name, rows = dialog.findChild(QLineEdit, "columnsField"), dialog.findChild(RowsView, "columnsList")
    assert name is not None
    assert rows is not None
    qtbot.keyClicks(name, "payload.text")
    qtbot.keyClick(name, Qt.Key.Key_Return)
    assert "payload.text" in titles(panel)
    up = dialog.findChild(QToolButton, "columnsUp")
    assert up is not None
    for _ in range(5):
        qtbot.keyClick(up, Qt.Key.Key_Space)
    assert titles(panel)[:2] == ["", "payload.text"]
    remove = dialog.findChild(QToolButton, "columnsRemove")
    assert remove is not None
    qtbot.keyClick(remove, Qt.Key.Key_Space)
    assert "text" not in titles(panel)
    rows.select_row(3)
    qtbot.keyClick(rows, Qt.Key.Key_Space)
    assert "Kind" not in titles(panel)


def test_the_dialog_says_what_is_wrong_with_a_name(dialog: ColumnsDialog, qtbot: QtBot) -> None:
    name, add = dialog.findChild(QLineEdit, "columnsField"), dialog.findChild(QPushButton, "columnsAdd")
    told = dialog.findChild(QLabel, "columnsFieldHelp")
    assert name is not None
    assert add is not None
    assert told is not None
    qtbot.keyClicks(name, "tol")
    qtbot.mouseClick(add, Qt.MouseButton.LeftButton)
    assert "tool" in told.text()
    qtbot.keyClicks(name, "x")
    assert "payload" in told.text()


def test_the_dialog_sorts_and_chooses_times(dialog: ColumnsDialog, qtbot: QtBot) -> None:
    panel = panel_of(dialog)
    order, times = dialog.findChild(QComboBox, "columnsSort"), dialog.findChild(QComboBox, "columnsTime")
    assert order is not None
    assert times is not None
    order.setFocus()
    qtbot.keyClick(order, Qt.Key.Key_End)
    assert column_texts(panel, Column.NUMBER) == ["3", "2", "1"]
    qtbot.keyClick(order, Qt.Key.Key_Home)
    assert column_texts(panel, Column.NUMBER) == ["1", "2", "3"]
    times.setFocus()
    qtbot.keyClick(times, Qt.Key.Key_Down)
    qtbot.keyClick(times, Qt.Key.Key_Down)
    assert column_texts(panel, Column.TIME) == ["", "1.000", "1.000"]


# Room for Message


def test_columns_of_fields_leave_message_its_room() -> None:
    wanted = Wanted(fields={FIRST_FIELD: 120})
    for width in range(500, 1900, 7):
        layout = layout_for(width, wanted=wanted)
        taken = sum(layout.widths.values())
        assert layout.message >= 120, width
        assert layout.widths[FIRST_FIELD] >= 72, width
        assert taken + layout.message == width or layout.message == 120, width
    assert 72 <= layout_for(690, wanted=wanted).widths[FIRST_FIELD] < 120


def test_a_column_of_a_field_drives_no_other_out_of_the_usual_window() -> None:
    before = layout_for(717)
    for count in (1, 2):
        layout = layout_for(717, wanted=Wanted(fields={FIRST_FIELD + n: 120 for n in range(count)}))
        assert set(before.widths) <= set(layout.widths)
        assert sum(layout.widths.values()) + layout.message == 717
    assert not layout_for(500, wanted=Wanted(fields={FIRST_FIELD: 120})).shows(Column.CONTEXT)


def test_the_menu_says_which_way_is_which(make_panel: MakePanel) -> None:
    panel = make_panel(envelope("chat", {"text": "hello"}))
    said = {
        column: [action.text() for action in panel.view.head_menu.build(column).actions()[:2]]
        for column in (Column.KIND, Column.TIME, Column.SIZE)
    }
    assert said == {
        Column.KIND: ["A to Z", "Z to A"],
        Column.TIME: ["Earliest first", "Latest first"],
        Column.SIZE: ["Smallest first", "Largest first"],
    }
    assert (
        layout_for(720, wanted=Wanted(fields={FIRST_FIELD: 120}, widths={FIRST_FIELD: 120})).widths[FIRST_FIELD] == 120
    )


def test_the_head_of_a_payload_value_is_its_path_and_its_tooltip_too(make_panel: MakePanel) -> None:
    panel = make_panel(tool_call("search", arguments={"page": 1}))
    panel.add_column("payload.params.arguments.page")
    path = "payload.params.arguments.page"
    assert panel.model.headerData(FIRST_FIELD, Qt.Orientation.Horizontal) == path
    tip = panel.model.headerData(FIRST_FIELD, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert path in str(tip)


def test_sorted_by_something_else_a_chain_has_rings_and_no_line(make_panel: MakePanel, qtbot: QtBot) -> None:
    call = tool_call("search")
    panel = make_panel(*chats("a"), call, *chats("b"), tool_result(call, "done"))
    panel.go_to(1)
    qtbot.waitUntil(lambda: panel.view.selection.chain.rail.mark(1) is not None)
    joined = panel.view.selection.chain.rail.mark(2)
    assert joined is not None
    assert joined.above
    panel.sorter.sort("kind")
    marks = {message: panel.view.selection.chain.rail.mark(message) for message in range(4)}
    assert [message for message, mark in marks.items() if mark is not None] == [1, 3]
    assert not any(mark.above or mark.below for mark in marks.values() if mark is not None)
    panel.sorter.clear()
    again = panel.view.selection.chain.rail.mark(2)
    assert again is not None
    assert again.above


def test_kinds_in_their_order_show_what_it_goes_by(make_panel: MakePanel) -> None:
    panel = make_panel(tool_call("search"), envelope("chat", {"text": "hello"}))
    drawn: list[str] = []
    paints = panel.view.paints
    draw = paints.draw

    def note(*args: Any, **more: Any) -> int:
        drawn.append(args[5])
        return draw(*args, **more)

    with patch.object(paints, "draw", note):
        panel.view.viewport().grab()
        assert "mcp/" not in drawn
        panel.sorter.sort("kind")
        panel.view.viewport().grab()
        assert "mcp/" in drawn


def test_the_current_cell_is_gone_to_by_keys_and_seen(make_panel: MakePanel, qtbot: QtBot) -> None:
    panel = make_panel(tool_call("search"), envelope("chat", {"text": "hello"}, context="why"))
    view = panel.view
    view.go_to(1)
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    before = view.viewport().grab().toImage()
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    cell = view.currentIndex()
    assert cell.column() == Column.KIND
    assert view.selection.current == 1
    ring = view.visualRect(cell).topLeft() + QPoint(20, 1)
    assert view.viewport().grab().toImage().pixelColor(ring) != before.pixelColor(ring)
