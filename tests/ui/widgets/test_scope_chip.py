"""Tests of `inspector.ui.widgets.scope_chip` and `view_tabs`."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QTabBar, QToolButton
from pytestqt.qtbot import QtBot

from inspector.filters.visible import Reach
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.scope_chip import ScopeChip
from inspector.ui.widgets.view_tabs import ViewTabs
from tests.ui.find import child


@pytest.fixture
def tabs(theme_controller: ThemeController, qtbot: QtBot) -> ViewTabs:
    """A tab row with a scope chip at its end."""
    tabs = ViewTabs(theme_controller)
    qtbot.addWidget(tabs)
    tabs.set_corner(ScopeChip(theme_controller, tabs))
    tabs.resize(700, 30)
    tabs.show()
    return tabs


@pytest.fixture
def chip(tabs: ViewTabs) -> ScopeChip:
    """The chip in the row."""
    return child(tabs, ScopeChip)


def test_no_scope_no_chip(chip: ScopeChip) -> None:
    assert not chip.isVisible()


def test_a_scope_is_said(chip: ScopeChip) -> None:
    chip.show_scope("review-7 / fetch", Reach.BELOW)
    assert chip.isVisible()
    assert chip.words() == "review-7 / fetch, and below"
    chip.show_scope(["a / b", "c"], Reach.ONLY)
    assert chip.words() == "a / b / c, this one only"
    chip.show_scope("main", None)
    assert chip.words() == "main"
    assert not child(chip, QToolButton, "scopeReach").isVisible()
    chip.show_scope(None, None)
    assert not chip.isVisible()


def test_the_menu_offers_the_three_reaches(chip: ScopeChip, qtbot: QtBot) -> None:
    chip.show_scope("review-7", Reach.BELOW)
    qtbot.mouseClick(child(chip, QToolButton, "scopeReach"), Qt.MouseButton.LeftButton)
    menu = child(chip, QMenu, "scopeMenu")
    assert [(a.text(), a.isChecked()) for a in menu.actions()] == [
        ("and below", True), ("this one only", False), ("direct children", False),
    ]  # fmt: skip
    with qtbot.waitSignal(chip.reach_chosen) as chosen:
        menu.actions()[2].trigger()
    menu.close()
    assert chosen.args == [Reach.CHILDREN]


def test_the_cross_clears(chip: ScopeChip, qtbot: QtBot) -> None:
    chip.show_scope("review-7", Reach.BELOW)
    with qtbot.waitSignal(chip.cleared):
        qtbot.mouseClick(child(chip, QToolButton, "scopeClear"), Qt.MouseButton.LeftButton)


def test_a_long_path_leaves_room_for_the_tabs(tabs: ViewTabs, chip: ScopeChip) -> None:
    chip.show_scope(" / ".join(["a rather long label"] * 20), Reach.BELOW)
    assert chip.width() < tabs.width() - 100


def test_tabs_carry_counts(tabs: ViewTabs) -> None:
    tabs.set_count(1024)
    assert tabs.words() == ["Messages 1,024"]
    tabs.set_count(None)
    assert tabs.words() == ["Messages"]


def test_choosing_a_view_says_so(tabs: ViewTabs, qtbot: QtBot) -> None:
    tabs.add_view("Timeline")
    bar = child(tabs, QTabBar, "viewTabBar")
    with qtbot.waitSignal(tabs.view_chosen) as chosen:
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(1).center())
    assert chosen.args == ["Timeline"]
