"""The one list: its model over a source, places of cells, keys, selection by key, and its cost at any length."""

from __future__ import annotations

from collections.abc import Hashable
from typing import get_args

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage, QPainter
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.present.rows import (
    AUTO,
    Bar,
    Cell,
    Check,
    Column,
    Dot,
    Gauge,
    Icon,
    Layout,
    ListedRows,
    Part,
    Pill,
    Row,
    Space,
    Spot,
    Spread,
    Swatch,
    Tag,
    Text,
    Track,
)
from inspector.present.states import StatePill
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.cells import CellPainter
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_KEY = Qt.Key
_LAYOUT = Layout(((Column(), Column(width=100, from_width=400), Column(width="88", font="number", right=True)),))


def row_of(key: str, *cells: Cell, selectable: bool = True) -> Row:
    return Row(key, (cells or ((Text(key),),),), key, selectable=selectable)


def listed(*keys: str) -> list[Row]:
    return [row_of(key) for key in keys]


class Numbered:
    """As many rows as asked for, which counts how many it made."""

    layout = Layout()

    def __init__(self, count: int) -> None:
        self.count, self.made = count, 0

    def __len__(self) -> int:
        return self.count

    def key_at(self, row: int) -> Hashable:
        return row

    def row_of(self, key: Hashable) -> int:
        return key if isinstance(key, int) and key < self.count else -1

    def spec(self, row: int) -> Row:
        self.made += 1
        return row_of(str(row))


@pytest.fixture
def model() -> RowsModel:
    return RowsModel(ListedRows(_LAYOUT, listed("ann", "bob", "cid", "dan")))


@pytest.fixture
def view(model: RowsModel, theme_controller: ThemeController, qtbot: QtBot) -> RowsView:
    view = RowsView(model, theme_controller, name="list", title="List")
    qtbot.addWidget(view)
    view.resize(300, 200)
    with qtbot.waitExposed(view):
        view.show()
    return view


def picked(view: RowsView) -> list[int]:
    found: list[int] = []
    view.picked.connect(lambda row, _clicked: found.append(row))
    return found


def test_rows_come_go_and_move_while_the_selected_one_stays(model: RowsModel, view: RowsView) -> None:
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, view)
    view.select("cid")
    for keys in (("dan", "ann", "eve", "cid"), ("cid", "ann"), ("ann", "bob", "cid", "dan", "eve"), ("cid",)):
        model.show_rows(_LAYOUT, listed(*keys))
        assert [model.index(row).data() for row in range(model.rowCount())] == list(keys)
        assert model.index(view.row).data() == view.selected == "cid"
    model.show_rows(_LAYOUT, [Row("cid", (), "renamed")])
    assert model.index(0).data() == "renamed"
    with model.changing():
        model.source.rows[:] = listed("x", "cid")  # type: ignore[attr-defined] - listed in advance
    assert view.row == 1


@pytest.mark.parametrize("count", [100, 600])
def test_the_top_row_stays_where_it_was_when_rows_come_above(model: RowsModel, view: RowsView, count: int) -> None:
    many = listed(*(f"row {n}" for n in range(count)))
    model.show_rows(_LAYOUT, many)
    view.verticalScrollBar().setValue(1_000)
    before = model.key_at(view.row_at(0))
    model.show_rows(_LAYOUT, [*listed("new", "newer"), *many])
    assert model.key_at(view.row_at(0)) == before


def test_keys_move_over_headings_and_letters_find_rows(model: RowsModel, view: RowsView) -> None:
    rows = [row_of("Names", selectable=False), *listed("ann", "bob"), row_of("More", selectable=False), row_of("cid")]
    model.show_rows(_LAYOUT, rows)
    view.setFocus()
    found = picked(view)
    for key in (_KEY.Key_Home, _KEY.Key_Down, _KEY.Key_Down, _KEY.Key_Up, _KEY.Key_End, _KEY.Key_Up, _KEY.Key_A):
        QTest.keyClick(view, key)
    assert found == [1, 2, 4, 2, 4, 2, 1]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(model.index(0)).center())
    assert (found[-1], view.row) == (1, 1)


def test_an_empty_list_takes_keys(theme_controller: ThemeController, qtbot: QtBot) -> None:
    empty = RowsView(RowsModel(ListedRows(_LAYOUT)), theme_controller, name="list", title="List")
    qtbot.addWidget(empty)
    empty.set_empty_text("Nothing yet.")
    empty.show()
    found = picked(empty)
    for key in (_KEY.Key_Down, _KEY.Key_End, _KEY.Key_Return, _KEY.Key_Space, _KEY.Key_A):
        QTest.keyClick(empty, key)
    assert (found, empty.accessibleDescription()) == ([], "Nothing yet.")
    empty.grab()


def test_a_screen_reader_finds_a_list_with_its_rows(view: RowsView) -> None:
    reader = QAccessible.queryAccessibleInterface(view)
    assert reader.role() is QAccessible.Role.List
    assert [reader.child(n).text(QAccessible.Text.Name) for n in range(reader.childCount())] == [
        "ann", "bob", "cid", "dan",
    ]  # fmt: skip
    assert reader.child(1).rect().height() == view.row_height


@pytest.mark.parametrize("work", ["zoom", "density", "rows"])
def test_a_change_costs_the_same_at_any_length(theme_controller: ThemeController, qtbot: QtBot, work: str) -> None:
    made: list[int] = []
    for count in (20, 1_000_000):
        source = Numbered(count)
        model = RowsModel(source)
        view = RowsView(model, theme_controller, name="list", title="List")
        qtbot.addWidget(view)
        view.resize(300, 200)
        view.show()
        QApplication.processEvents()
        asked = [0]
        plain = RowsModel.index

        def index(*place: int, asked: list[int] = asked, plain: object = plain, model: RowsModel = model) -> object:
            asked[0] += 1
            return plain(model, *place)  # type: ignore[operator] - the model's own

        model.index = index  # type: ignore[method-assign] - counts calls
        source.made = 0
        if work == "zoom":
            theme_controller.set_zoom(1.2)
        elif work == "density":
            theme_controller.set_density("comfortable")
        else:
            with model.changing():
                source.count += 1
        QApplication.processEvents()
        assert view.verticalScrollBar().maximum() == source.count * view.row_height - view.viewport().height()
        made.append(source.made + asked[0])
        theme_controller.set_zoom(1)
        theme_controller.set_density("compact")
    assert max(made) < 100, "visible rows alone, painted a few times"


def test_cells_share_the_width_and_figures_are_never_cut(view: RowsView, model: RowsModel) -> None:
    wide = (Text("123,456,789", "number", elide="never"),)
    row = Row("a", (((Text("name " * 40),), (Text("left out"),), wide),), "a")
    box = view.visualRect(model.index(0))
    spans = view.delegate.spans(_LAYOUT, row, 0, box)
    assert len(spans) == 2, "the second column needs 400 pixels"
    name, figure = spans
    assert figure.left + figure.width == box.right() + 1 - 14
    assert figure.width > view.delegate.spans(_LAYOUT, None, 0, box)[1].width
    assert name.left == 14
    assert name.left + name.width < figure.left
    assert len(view.delegate.spans(_LAYOUT, row, 0, box.adjusted(0, 0, 200, 0))) == 3


def test_a_column_without_content_leaves_its_room(view: RowsView, model: RowsModel) -> None:
    layout = Layout(((Column(), Column(width=AUTO, right=True)),))
    box = view.visualRect(model.index(0))
    (alone,) = view.delegate.spans(layout, Row("a", (((Text("x"),), ()),), ""), 0, box)
    first, _second = view.delegate.spans(layout, Row("a", (((Text("x"),), (Text("9"),)),), ""), 0, box)
    assert alone.width == box.width() - 28 > first.width


def test_a_click_toggles_the_box_alone(model: RowsModel, theme_controller: ThemeController, qtbot: QtBot) -> None:
    model.show_rows(Layout(), [Row("a", (((Check("off"), Text("a")),),), "a", checked=False)])
    view = RowsView(model, theme_controller, name="list", title="List", toggles="box")
    qtbot.addWidget(view)
    view.show()
    toggled: list[int] = []
    view.toggled.connect(lambda row, _alt: toggled.append(row))
    box = view.check_box(0)
    assert box is not None
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box.center() + QPoint(60, 0))
    assert toggled == []
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    QTest.keyClick(view, _KEY.Key_Space)
    assert toggled == [0, 0]
    assert model.index(0).data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Unchecked


def test_rows_in_the_users_order_move_by_key(theme_controller: ThemeController, qtbot: QtBot) -> None:
    model = RowsModel(ListedRows(_LAYOUT, listed("a", "b", "c")), reorders=True)
    view = RowsView(model, theme_controller, name="list", title="List", removes=True, in_dialog=True)
    qtbot.addWidget(view)
    view.show()
    view.select("b")
    moved: list[tuple[int, int]] = []
    removed: list[int] = []
    view.moved.connect(lambda row, target: moved.append((row, target)))
    view.removed.connect(removed.append)
    QTest.keyClick(view, _KEY.Key_Up, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(view, _KEY.Key_Down, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, _KEY.Key_Delete)
    assert (moved, removed) == ([(1, 0), (1, 2)], [1])
    height = view.row_height
    assert [view.place_at(QPoint(5, y)) for y in (1, height - 2, height + 2, 3 * height + 40)] == [0, 1, 1, 3]


PARTS: tuple[Part, ...] = (
    Text("text"), Text("found", lit=(0, 1)), Text("link", link=True), Icon("mark"), Dot("active"), Dot("left"),
    Tag("Ctrl+K"), Tag("3", side=15), Pill(StatePill("idle", "badge.collapsed", "ring")), Check("on"), Check("off"),
    Check("excluded"), Swatch("highlight.rose"), Spot("highlight.rose"), Track(0.5, "highlight.rose"),
    Spread((1, 0, 4)), Gauge(0.8), Bar(0.5),
)  # fmt: skip


def drawn(painter_of: CellPainter, part: Part, *, hovered: bool = False) -> QImage:
    image = QImage(120, 24, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter_of.hovered = hovered
    painter = QPainter(image)
    painter_of.paint_cell(painter, (part,), QRect(2, 2, 110, 20))
    painter.end()
    return image


def test_every_part_is_drawn_and_links_are_underlined_under_the_pointer(theme_controller: ThemeController) -> None:
    assert {type(part) for part in PARTS} == {*get_args(Part)} - {Space}
    cells = CellPainter(theme_controller)
    blank = drawn(cells, Space(10))
    for part in PARTS:
        assert drawn(cells, part) != blank, part
        linked = isinstance(part, Text) and part.link
        assert (drawn(cells, part, hovered=True) != drawn(cells, part)) is linked, part


def test_a_text_takes_what_others_leave(theme_controller: ThemeController) -> None:
    cells = CellPainter(theme_controller)
    long, count = Text("word " * 60), Text("12,345", "count", elide="never")
    row = QImage(200, 24, QImage.Format.Format_ARGB32)
    row.fill(0)
    painter = QPainter(row)
    cells.paint_cell(painter, (long, count), QRect(0, 0, 200, 24))
    painter.end()
    alone = QImage(200, 24, QImage.Format.Format_ARGB32)
    alone.fill(0)
    painter = QPainter(alone)
    cells.paint_cell(painter, (count,), QRect(0, 0, 200, 24), right=True)
    painter.end()
    width = cells.natural_width((count,))
    start = next(x for x in range(200) if any(row.pixel(x, y) for y in range(24)))
    assert start < 5
    right_end = [x for x in range(200) if any(row.pixel(x, y) for y in range(24))][-1]
    assert 200 - width <= right_end < 200, "the figure is whole"
    assert right_end <= [x for x in range(200) if any(alone.pixel(x, y) for y in range(24))][-1]
