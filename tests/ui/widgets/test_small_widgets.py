"""Tests of segments, fields and the sparkline."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QLineEdit, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import FieldColumn, RecentEdit, SecretEdit
from inspector.ui.widgets.segmented import LEAST_WIDTH, SegmentedControl
from inspector.ui.widgets.status_button import paint_sparkline
from tests.ui.find import child


def test_segments_choose_by_click_and_by_arrow(theme_controller: ThemeController, qtbot: QtBot) -> None:
    control = SegmentedControl(
        theme_controller, (("a", "One"), ("b", "Two"), ("c", "Three")), name="choice", label="Choice"
    )
    qtbot.addWidget(control)
    control.show()
    assert control.value() == "a"
    with qtbot.waitSignal(control.chosen) as chosen:
        qtbot.mouseClick(child(control, QToolButton, "choice_b"), Qt.MouseButton.LeftButton)
    assert chosen.args == ["b"]
    with qtbot.waitSignal(control.chosen) as chosen:
        qtbot.keyClick(control, Qt.Key.Key_Right)
    assert chosen.args == ["c"]
    with qtbot.assertNotEmitted(control.chosen):
        qtbot.keyClick(control, Qt.Key.Key_Right)
        control.set_value("a")
    assert control.value() == "a"
    assert {button.width() for button in control.findChildren(QToolButton)} == {LEAST_WIDTH}


def test_a_secret_is_dots_until_its_eye_is_pressed(theme_controller: ThemeController, qtbot: QtBot) -> None:
    field = SecretEdit(theme_controller, name="secret")
    qtbot.addWidget(field)
    field.show()
    qtbot.keyClicks(field, "hush")
    assert "hush" not in field.displayText()
    qtbot.mouseClick(field.button, Qt.MouseButton.LeftButton)
    assert field.displayText() == "hush"
    assert field.button.accessibleName() == "Hide the token"


def test_recent_field_opens_its_menu_with_a_key(theme_controller: ThemeController, qtbot: QtBot) -> None:
    field = RecentEdit(theme_controller, name="where")
    qtbot.addWidget(field)
    field.show()
    assert not field.button.isVisible()
    field.set_entries(["one & only", "two"])
    qtbot.keyClick(field, Qt.Key.Key_Down)
    menu = child(field, QMenu, "whereMenu")
    assert menu.isVisible()
    with qtbot.waitSignal(field.picked) as picked:
        menu.actions()[1].trigger()
    menu.close()
    assert picked.args == [1]


def test_trouble_takes_the_place_of_help(theme_controller: ThemeController, qtbot: QtBot) -> None:
    field = QLineEdit()
    column = FieldColumn(field, name="line", help_text="help")
    qtbot.addWidget(column)
    column.say_trouble("wrong")
    assert column.error_text() == "wrong"
    assert field.property("wrong") == "true"
    assert field.accessibleDescription() == "wrong"
    column.say_trouble("")
    assert column.error_text() == ""
    assert field.accessibleDescription() == "help"


def test_sparkline_paints_high_values_high() -> None:
    image = QImage(60, 12, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    paint_sparkline(painter, QRectF(0, 0, 60, 12), [0, 0, 0, 9, 9, 9], QColor("black"))
    painter.end()

    def height(x: int) -> int:
        return min(range(12), key=lambda y: QColor(image.pixel(x, y)).lightness())

    assert height(5) > height(55)
