"""Markdown as the window renders it: fast with large tables, code wrapped, escaped bars plain."""

from __future__ import annotations

import time

import pytest
from PySide6.QtGui import QFont, QTextDocument, QTextTable
from PySide6.QtWidgets import QTextBrowser

from inspector.ui.look.rendered_markdown import render_markdown
from inspector.ui.look.theme import ThemeController


def test_a_table_of_many_rows_is_laid_out_once(theme_controller: ThemeController) -> None:
    browser = QTextBrowser()
    browser.resize(600, 400)
    browser.show()
    rows = "".join(f"| `field{row}` | **number** {row} | words of a row |\n" for row in range(300))
    began = time.process_time()
    render_markdown(browser.document(), "| a | b | c |\n|---|---|---|\n" + rows, theme_controller.theme)
    assert browser.document().size().height() > 300
    assert time.process_time() - began < 4, "laid out at every cell it takes a minute"


def test_escaped_bars_are_bars_also_in_code(theme_controller: ThemeController) -> None:
    document = QTextDocument()
    render_markdown(document, "| a |\n|---|\n| `x \\| y` or \\| |\n", theme_controller.theme)
    assert "x | y or |" in document.toPlainText()


def test_bold_text_is_no_heavier_than_the_fonts(theme_controller: ThemeController) -> None:
    document = QTextDocument()
    render_markdown(document, "| head |\n|---|\n| **bold** |\n\n**strong** words", theme_controller.theme)
    block, weights = document.begin(), set[int]()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            weights.add(place.fragment().charFormat().fontWeight())
            place += 1
        block = block.next()
    assert max(weights) == QFont.Weight.DemiBold


@pytest.mark.parametrize("before", ["words", "```\ncode\n```", "> quoted"])
def test_the_first_cell_of_a_table_is_like_the_others(theme_controller: ThemeController, before: str) -> None:
    document = QTextDocument()
    render_markdown(document, before + "\n\n| client | file |\n|---|---|\n| `a` | b |\n", theme_controller.theme)
    table = next(frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable))
    blocks = [table.cellAt(0, column).firstCursorPosition().block() for column in range(2)]
    assert [block.text() for block in blocks] == ["client", "file"]
    assert {block.begin().fragment().charFormat().fontWeight() for block in blocks} == {QFont.Weight.DemiBold}


def test_long_lines_of_code_wrap(theme_controller: ThemeController) -> None:
    browser = QTextBrowser()
    browser.resize(300, 200)
    browser.show()
    render_markdown(browser.document(), "```\n" + "word " * 60 + "\n```\n", theme_controller.theme)
    assert browser.horizontalScrollBar().maximum() == 0
