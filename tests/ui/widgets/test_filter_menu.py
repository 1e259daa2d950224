"""What the filter actions of a menu say they are about."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QMenu
from pytestqt.qtbot import QtBot

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_menu import add_filter_actions


def menu_of(qtbot: QtBot, expression: str) -> QMenu:
    menu = QMenu()
    qtbot.addWidget(menu)
    add_filter_actions(menu, expression, lambda *_: None)
    return menu


def title(menu: QMenu) -> QLabel:
    found = menu.findChild(QLabel, "filterExpressionWords")
    assert isinstance(found, QLabel)
    return found


def test_what_this_is_stands_above_as_clearly_as_the_actions(qtbot: QtBot, theme_controller: ThemeController) -> None:
    menu = menu_of(qtbot, 'kind == "chat"')
    menu.show()
    assert title(menu).text() == 'kind == "chat"'
    assert not menu.actions()[0].isEnabled()


def test_a_menu_without_a_filter_says_why_nothing_can_be_chosen(
    qtbot: QtBot, theme_controller: ThemeController
) -> None:
    menu = menu_of(qtbot, "")
    assert title(menu).text() == "No filter finds this value"
    assert not any(action.isEnabled() for action in menu.actions())
