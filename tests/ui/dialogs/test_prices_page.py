"""Prices are written down in the settings, or taken over from a list, and calls cost them at once."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.tokens.listed_prices import LISTED_DATE, listed_lines
from inspector.settings import Prices, Settings
from inspector.ui.dialogs.prices_page import PricesPage
from inspector.ui.look.theme import ThemeController
from tests.ui.find import child


def test_prices_are_edited_and_taken_over(qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path) -> None:
    settings = Settings(prices=Prices(lines=["a = 1 in"], dated="2026-10"))
    page = PricesPage(theme_controller, settings)
    qtbot.addWidget(page)
    edit, dated = child(page, QPlainTextEdit, "pricesLines"), child(page, QLineEdit, "pricesDated")
    assert (edit.toPlainText(), dated.text()) == ("a = 1 in", "2026-10")
    with qtbot.waitSignal(page.changed):
        edit.setPlainText("a = 2 in")
    assert settings.prices.lines == ["a = 2 in"]
    edit.setPlainText("a = ")
    assert settings.prices.lines == ["a = 2 in"], "what is no price is not in force"
    listed = tmp_path / "prices.json"
    listed.write_text(json.dumps({"m": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}}))
    page.take_over(listed)
    assert settings.prices == Prices(lines=["m = 1 in, 2 out"], dated="prices.json")
    listed.write_text("[]")
    page.take_over(listed)
    assert settings.prices.lines == ["m = 1 in, 2 out"]
    page.restore()
    assert (edit.toPlainText(), settings.prices) == ("", Prices())


def test_the_list_is_dated_and_may_be_left_out_or_copied(qtbot: QtBot, theme_controller: ThemeController) -> None:
    settings = Settings()
    page = PricesPage(theme_controller, settings)
    qtbot.addWidget(page)
    listed = child(page, QCheckBox, "pricesListed")
    assert listed.isChecked()
    assert LISTED_DATE in listed.accessibleDescription()
    listed.click()
    assert settings.prices == Prices(listed=False)
    child(page, QPushButton, "pricesCopy").click()
    assert settings.prices == Prices(listed=False, lines=listed_lines(), dated=LISTED_DATE)
