"""Facts in the details: what does not fit is cut so that what a row leads to stays."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from inspector.present.facts import Fact, FactPart, fact, message_part
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView


def test_words_are_cut_before_what_they_lead_to(qtbot: QtBot, theme_controller: ThemeController) -> None:
    words = FactPart("Answered by a participant with a very long name indeed in 6 ms, ")
    view = FactsView(theme_controller, [Fact("", (words, message_part(25)))], name="state", label="State")
    qtbot.addWidget(view)
    view.resize(220, 40)
    view.show()
    asked: list[int] = []
    view.message_requested.connect(asked.append)
    line = view.visualRect(view.model().index(0, 0)).center().y()
    leading = [x for x in range(view.viewport().width()) if view.is_link(0, QPoint(x, line))]
    assert len(leading) > 20
    view.click_row(0, QPoint(leading[-1], line))
    assert asked == [25]


def test_a_long_name_is_cut_before_the_duration_behind_it(
    qtbot: QtBot, theme_controller: ThemeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = FactPart("Answered by mcp-filesystem-bridge-of-the-office"), FactPart(" after 6 ms: "), message_part(25)
    view = FactsView(theme_controller, [Fact("", parts)], name="state", label="State")
    qtbot.addWidget(view)
    view.resize(250, 40)
    view.show()
    shown: list[str] = []
    monkeypatch.setattr(view, "_paint_part", lambda _painter, _part, _box, text, _hovered: shown.append(text))
    view.grab()
    assert shown[0].startswith("Answered by")
    assert shown[0].endswith("…")
    assert shown[1:3] == [" after 6 ms: ", "No. 26"]
    shown.clear()
    tool = FactPart("a_tool_with_a_long_name_of_many_words", "mono")
    view.replace_rows([Fact("", (FactPart("Collapsed by "), message_part(108), FactPart("  "), tool))])
    view.grab()
    assert shown[:3] == ["Collapsed by ", "No. 109", "  "], "the gap before a tool stays"
    assert shown[3].endswith("…")


def test_a_menu_is_about_the_fact_for_which_it_was_opened(qtbot: QtBot, theme_controller: ThemeController) -> None:
    view = FactsView(theme_controller, [fact("path", "/a"), fact("size", "2")], name="facts", label="Facts")
    qtbot.addWidget(view)
    menu = QMenu(view)
    view.fill_menu(menu, 1)
    view.replace_rows([fact("path", "/a")])
    menu.actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == "2"
