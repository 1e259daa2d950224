"""Columns in a window: from a value's menu, from the menus, kept in the settings, the same in every window."""

from __future__ import annotations

from PySide6.QtCore import Qt

from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.panels.messages.columns_dialog import ColumnsDialog
from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import panes_of, story, window_on


def heads(window: MainWindow) -> list[str]:
    view = panes_of(window).messages.view
    order = [view.heads.logicalIndex(place) for place in range(view.heads.count())]
    model = panes_of(window).messages.model
    return [
        str(model.headerData(column, Qt.Orientation.Horizontal)) for column in order if not view.isColumnHidden(column)
    ]


def test_as_column_makes_one_in_every_window_and_is_remembered(application: Application) -> None:
    first, second = window_on(application, story()), window_on(application, story())
    panes_of(first).details.links.column_requested.emit("payload.text")
    assert "payload.text" in heads(first)
    assert heads(second) == heads(first)
    assert [column.name for column in application.settings.table.columns if column.shown == "yes"] == ["payload.text"]
    third = window_on(application, story())
    assert heads(third) == heads(first)
    panes_of(first).details.links.column_requested.emit("never heard of")
    assert heads(third) == heads(first)


def test_the_view_menu_chooses_times_and_order(application: Application) -> None:
    window = window_on(application, story())
    messages, actions = panes_of(window).messages, window.actions_by_id
    messages.go_to(3)
    actions["view.time_mark"].trigger()
    assert "Since 4" in heads(window)
    assert actions["view.time_mark"].isChecked()
    actions["view.time_previous"].trigger()
    assert "Interval" in heads(window)
    assert not actions["view.time_mark"].isChecked()
    actions["view.time_start"].trigger()
    assert "Time" in heads(window)
    messages.sorter.sort("no", True)
    assert messages.model.data(messages.model.index(0, Column.NUMBER)) == "9"
    actions["view.sort_clear"].trigger()
    assert messages.model.data(messages.model.index(0, Column.NUMBER)) == "1"
    actions["view.columns"].trigger()
    dialog = window.findChild(ColumnsDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.accept()


def test_follow_leaves_the_sorted_order(application: Application) -> None:
    window = window_on(application, story())
    messages = panes_of(window).messages
    messages.sorter.sort("no", True)
    window.actions_by_id["capture.follow"].trigger()
    assert messages.following
    assert messages.model.rows.sorted_by is None
    messages.sorter.sort("no", True)
    assert not window.actions_by_id["capture.follow"].isChecked()
