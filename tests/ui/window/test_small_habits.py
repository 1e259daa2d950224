"""Small things of the window that other programs do: sorting, clearing, recent commands, short menus, examples."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of
from tests.ui.find import child
from tests.ui.windows import panes_of, window_on


def sorted_by(window: MainWindow) -> tuple[str, bool] | None:
    by = panes_of(window).rows.sorted_by
    return None if by is None else (by.field, by.descending)


def test_figures_are_sorted_with_the_largest_first(window: MainWindow) -> None:
    view = panes_of(window).messages.view
    for column, first in ((Column.SIZE, True), (Column.KIND, False)):
        name = view.messages.columns.sort_name(column)
        steps: list[tuple[str, bool] | None] = [(name, first), (name, not first), None]
        for expected in steps:
            view.heads.sectionClicked.emit(column)
            assert sorted_by(window) == expected


def test_clearing_leaves_no_text_that_is_not_applied(window: MainWindow) -> None:
    window.show()
    window.filter_bar.focus_editor()
    editor = child(window, QPlainTextEdit, "filterEditor")
    QTest.keyClicks(editor, "tool ==")
    window.actions_by_id["edit.clear_filter"].trigger()
    assert (window.filter_bar.text(), window.filter_bar.error()) == ("", None)
    panes_of(window).filter_state.apply_filter("tool")
    QTest.keyClicks(editor, " && error")
    window.actions_by_id["edit.clear_filter"].trigger()
    assert (window.filter_bar.text(), window.filter_bar.applied_text()) == ("", "")


def test_unreadable_lines_are_counted_only_where_there_are_some(application: Application) -> None:
    for lines, said in (((), ""), (("{torn",), "1 unreadable")):
        window = window_on(application, document_of('{"kind": "chat", "payload": {"text": "a"}, "from": "b"}', *lines))
        window.show()
        label = child(window, QWidget, "statusUnreadable")
        assert label.isVisible() is bool(said)
        assert said in label.accessibleName()


def test_the_palette_begins_with_what_was_done_lately_in_any_window(application: Application) -> None:
    first, other = (window_on(application, document_of()) for _ in range(2))
    for name in ("view.timeline", "edit.filter"):
        first.command_palette._run(name)
    found = other.command_palette.find("")[:3]
    assert [(line.id, line.group) for line in found[:2]] == [("edit.filter", "Recent"), ("view.timeline", "Recent")]
    assert found[2].group != "Recent"
    assert application.settings.recent_commands == ["edit.filter", "view.timeline"]


def test_of_equal_matches_the_one_done_lately_is_first(window: MainWindow) -> None:
    palette = window.command_palette
    names = [line.id for line in palette.find("zoom") if line.usable]
    assert names.index("view.zoom_in") < names.index("view.zoom_out")
    palette._run("view.zoom_out")
    palette._run("view.zoom_in")
    palette._run("view.zoom_out")
    names = [line.id for line in palette.find("font text") if line.usable]
    assert names.index("view.zoom_out") < names.index("view.zoom_in")


@pytest.mark.styled
def test_no_menu_is_higher_than_a_small_screen(window: MainWindow) -> None:
    window.show()
    for title, menu in window.menus.items():
        assert menu.sizeHint().height() < 770, title
        assert all(one.sizeHint().height() < 770 for one in menu.findChildren(QMenu)), title


def test_examples_of_queries_are_links(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    window.dock_row.bring_up("Query")
    panel = panes_of(window).made["query"]
    link = child(panel, LinkButton, "queryExample1")
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert "WHERE failed" in panel.editor.text()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not panel.is_running)  # type: ignore[attr-defined]
    assert not child(panel, QWidget, "queryExamples").isVisible()
