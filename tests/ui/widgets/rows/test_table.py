"""Tables: keys, menus of rows that change meanwhile, and the cost of zoom, density and font."""

from __future__ import annotations

import enum

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.present.rows import Cell
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel


class Column(enum.IntEnum):
    NAME = 0
    SQUARE = 1


class Squares(TableModel[int]):
    """Numbers and their squares.

    Attributes:
        made: number of cells made.
    """

    columns = Column
    titles = ("Number", "Square")
    made = 0

    @override
    def key_of(self, one: int) -> int:
        return one

    @override
    def in_order(self, rows: list[int], column: Column, *, descending: bool) -> list[int]:
        return sorted(rows, reverse=descending)

    @override
    def text(self, one: int, column: Column) -> str:
        return str(one if column is Column.NAME else one * one)

    @override
    def cell(self, one: int, column: Column) -> Cell:
        self.made += 1
        return super().cell(one, column)


def table_of(count: int, themes: ThemeController, qtbot: QtBot) -> TableView:
    model = Squares(Column.NAME)
    model.take_rows(list(range(count)))
    view = TableView(model, themes, None, name="squares", widths={Column.SQUARE: "888,888"})
    model.setParent(view)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    QApplication.processEvents()
    return view


@pytest.mark.parametrize("work", ["zoom", "density", "font"])
def test_a_change_of_look_costs_the_same_at_any_length(
    theme_controller: ThemeController, qtbot: QtBot, work: str
) -> None:
    made: list[int] = []
    for count in (10, 1_000_000):
        view = table_of(count, theme_controller, qtbot)
        resized = QSignalSpy(view.verticalHeader().sectionResized)
        view.table.made = 0  # type: ignore[attr-defined] - of Squares
        if work == "zoom":
            theme_controller.set_zoom(1.2)
        elif work == "density":
            theme_controller.set_density("comfortable")
        else:
            view.setFont(QFont(view.font().family(), 17))
        QApplication.processEvents()
        made.append(view.table.made)  # type: ignore[attr-defined] - as above
        assert resized.count() == 0, "rows are not resized one by one"
        assert view.verticalHeader().sectionSize(count - 1) == view.rowHeight(0)
        theme_controller.set_zoom(1)
        theme_controller.set_density("compact")
        view.hide()
    assert max(made) < 100, "visible rows alone, painted a few times"


def test_home_and_end_go_to_the_first_and_last_row(theme_controller: ThemeController, qtbot: QtBot) -> None:
    view = table_of(40, theme_controller, qtbot)
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.currentIndex().row() == 39
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.currentIndex().row() == 0


def test_copy_in_a_menu_copies_the_row_for_which_it_was_opened(theme_controller: ThemeController, qtbot: QtBot) -> None:
    view = table_of(3, theme_controller, qtbot)
    menu = view.menu_for(0)
    view.table.take_rows([7], anew=True)
    menu.actions()[-1].trigger()
    assert QGuiApplication.clipboard().text() == "2\t4"
    view.table.take_rows([], anew=True)
    menu.actions()[-1].trigger()
    assert QGuiApplication.clipboard().text() == "2\t4"
    menu.deleteLater()
