"""Tests of `inspector.ui.look.theme` and the style sheet."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenuBar,
    QPushButton,
    QStyle,
    QStyleOptionFrame,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.ui.look.design_tokens import COLORS
from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.widgets.form import CheckField
from tests.ui.find import child


def test_apply_sets_fusion_palette_font_and_sheet(theme_controller: ThemeController, qapp: QApplication) -> None:
    theme = theme_controller.theme
    assert qapp.palette().color(QPalette.ColorRole.Base) == theme.color("surface.base")
    assert qapp.font().family() == "Inter"
    assert qapp.styleSheet() == theme.style_sheet()


def test_changing_the_setting_says_so_once(theme_controller: ThemeController, qtbot: QtBot) -> None:
    with qtbot.waitSignal(theme_controller.changed):
        theme_controller.set_setting("dark")
    assert theme_controller.theme.dark
    with qtbot.assertNotEmitted(theme_controller.changed):
        theme_controller.set_setting("dark")


def test_density_and_zoom_make_a_new_theme(theme_controller: ThemeController) -> None:
    theme_controller.set_density("comfortable")
    assert theme_controller.theme.metrics.row == 28
    theme_controller.set_zoom(9.0)
    assert theme_controller.theme.zoom == 2.0


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
@pytest.mark.usefixtures("qapp")
def test_style_sheet_names_no_colour_outside_the_tokens(dark: bool) -> None:
    sheet = Theme(dark=dark, bundled_fonts=True).style_sheet()
    known = {pair[0 if dark else 1] for pair in COLORS.values()}
    assert set(re.findall(r"#[0-9a-fA-F]{6}", sheet)) <= known
    assert "$" not in sheet


@pytest.mark.usefixtures("qapp")
def test_style_sheet_has_no_rules_for_rows() -> None:
    sheet = Theme(dark=False, bundled_fonts=True).style_sheet()
    assert set(re.findall(r"(\w+)::item", sheet)) <= {"QMenuBar", "QMenu", "QStatusBar", "aboutTable"}


@pytest.mark.usefixtures("qapp")
def test_high_contrast_strengthens_quiet_ink() -> None:
    theme = Theme(dark=False, high_contrast=True, bundled_fonts=True)
    assert theme.color("ink.tertiary") == theme.color("ink.secondary")


def test_controls_have_the_grids_heights(theme_controller: ThemeController, qtbot: QtBot) -> None:
    metrics = theme_controller.theme.metrics
    chip, tool = QToolButton(), QToolButton()
    chip.setText("Main only")
    tool.setText("Open")
    chip.setProperty("variant", "chip")
    sized: list[tuple[QWidget, int]] = [
        (QPushButton("Connect"), metrics.control),
        (QLineEdit(), metrics.control),
        (tool, metrics.control),
        (chip, metrics.chip),
        (QMenuBar(), metrics.menu_bar),
    ]
    for widget, _height in sized:
        qtbot.addWidget(widget)
        repolish(widget)
    heights = [min(widget.sizeHint().height(), widget.maximumHeight()) for widget, _height in sized]
    assert heights == [height for _widget, height in sized]


def test_unknown_names_are_told(theme_controller: ThemeController) -> None:
    theme = theme_controller.theme
    with pytest.raises(KeyError):
        theme.color("surface.nowhere")
    assert theme.family_color("nowhere") == theme.color("family.unknown")


def test_menu_titles_fit_the_menu_bar(theme_controller: ThemeController, qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    bar = window.menuBar()
    actions = [bar.addMenu(title).menuAction() for title in ("File", "Edit", "View")]
    window.resize(600, 400)
    window.show()
    assert bar.height() == theme_controller.theme.metrics.menu_bar
    assert all(bar.rect().contains(bar.actionGeometry(action)) for action in actions)


def test_boxes_and_arrows_grow_with_the_zoom(theme_controller: ThemeController, qtbot: QtBot) -> None:
    field = CheckField("Show it", "And why.", name="shown")
    qtbot.addWidget(field)
    box, words = field.box, child(field, QLabel, "shownHelp")
    of = QStyle.PixelMetric.PM_IndicatorWidth
    once, indent = box.style().pixelMetric(of, None, box), words.contentsMargins().left()
    theme_controller.set_zoom(2.0)
    assert box.style().pixelMetric(of, None, box) == 2 * once - 2  # its edge stays as thin
    assert words.contentsMargins().left() > 1.8 * indent


@pytest.mark.parametrize("made", [QPushButton, QToolButton, QLineEdit], ids=lambda kind: kind.__name__)
def test_the_room_beside_words_grows_with_the_zoom(
    theme_controller: ThemeController, qtbot: QtBot, made: type[QPushButton | QToolButton | QLineEdit]
) -> None:
    """At 200 % words stood as close to the edge as at 100 %."""
    widget = made()
    qtbot.addWidget(widget)
    widget.setText("Close the window")
    widget.show()
    once = beside_words(widget)
    theme_controller.set_zoom(2.0)
    assert beside_words(widget) > 1.6 * once


def beside_words(widget: QPushButton | QToolButton | QLineEdit) -> int:
    if not isinstance(widget, QLineEdit):
        return widget.sizeHint().width() - widget.fontMetrics().horizontalAdvance(widget.text())
    option = QStyleOptionFrame()
    widget.initStyleOption(option)
    return widget.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, widget).x()
