"""Builds the one style sheet, for bars, tabs, headers, fields, buttons, menus; repolishes widgets.

No `::item` rules for rows and no sheets on single widgets (docs/design.md 9). A widget asks for one of the looks below
with the dynamic property `variant`, set before it is shown:

| widget | variant | look |
|---|---|---|
| QPushButton | (none) / default button / `link` | raised with edge / accent fill / accent text alone |
| QToolButton | (none) | 28 high, no edge, hover fill; `checked` shows in the icon's colour |
| QToolButton | `chip` | preset: 22 high pill; checked = wash, accent text, thin ring |
| QToolButton | `segment` | part of a segmented control; checked = wash |
| QToolButton | `small`, `status` | 20 high for pane heads and rows; small type for the status bar |
| QFrame | `card`, `list`, `field` | inset card; frame around a list, around an editor |
| QFrame | `notice`, `pill` | line under the tabs; floats over content |
| QFrame | `hair-h`, `hair-v` | a hairline |
| QWidget | `chrome`, `base`, `head` | plain surfaces; pane head with a hairline below |
| QLabel | `display`, `title`, `heading`, `strong`, `label`, `mono` | type |
| QLabel | `secondary`, `tertiary`, `small`, `hint`, `error` | quieter ink, smaller type, trouble |
| QTabBar | `underline` | detail tabs; without it, view tabs with an accent line on top |

A `field` frame shows focus with the property `focused` and trouble with `wrong` (both "true"); call
`repolish(widget)` after changing a property.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from PySide6.QtWidgets import QWidget

from inspector.base import paths
from inspector.ui.look.design_tokens import Metrics
from inspector.ui.look.fonts import Fonts

_SHEET = """
QToolTip { background: $raised; color: $ink; border: 1px solid $strong; padding: 3px 6px; }

QMainWindow, QDialog, QWidget[variant="chrome"] { background: $chrome; }
QWidget[variant="base"] { background: $base; }
QWidget[variant="head"] { background: $chrome; border: none; border-bottom: 1px solid $hair; }
QFrame[variant="card"] { background: $inset; border: 1px solid $hair; border-radius: ${r_card}px; }
QFrame[variant="list"] { background: $base; border: 1px solid $hair; border-radius: ${r_card}px; }
QFrame[variant="notice"] { background: $inset; border: none; border-bottom: 1px solid $hair; }
#viewFoot QFrame[variant="notice"] { border-bottom: none; border-top: 1px solid $hair; }
QFrame[variant="pill"] { background: $raised; border: 1px solid $strong; border-radius: ${r_pill}px; }
QFrame[variant="hair-h"] { background: $hair; border: none; max-height: 1px; min-height: 1px; }
QFrame[variant="hair-v"] { background: $hair; border: none; max-width: 1px; min-width: 1px; }
QFrame[variant="field"] { background: $input; border: 1px solid $strong; border-radius: ${r_field}px; padding: 1px; }
QFrame[variant="field"][focused="true"] { border: 2px solid $ring; padding: 0; }
QFrame[variant="field"][wrong="true"] { border: 1px solid $error; padding: 1px; }
QFrame[variant="field"] QLineEdit, QFrame[variant="field"] QPlainTextEdit {
  background: transparent; border: none; padding: 0; min-height: 0; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }

QLabel[variant="secondary"] { color: $ink2; }
QLabel[variant="tertiary"] { color: $ink3; }
QLabel[variant="small"] { color: $ink2; font-size: ${px_small}px; }
QLabel[variant="hint"] { color: $ink3; font-size: ${px_small}px; }
QLabel[variant="label"] { color: $ink2; font-size: ${px_small}px; font-weight: 600; }
QLabel[variant="strong"] { font-weight: 600; }
QLabel[variant="heading"] { font-size: ${px_heading}px; font-weight: 600; }
QLabel[variant="title"] { font-size: ${px_title}px; font-weight: 600; }
QLabel[variant="display"] { font-size: ${px_display}px; font-weight: 600; }
QLabel[variant="error"] { color: $error; }
QLabel[variant="mono"] { font-family: $mono; }

QMenuBar { background: $chrome; border: none; padding: 0 ${pad_field}px; min-height: ${menu_bar}px; }
QMenuBar::item { background: transparent; color: $ink; padding: 0 ${pad_menu}px; border-radius: ${r_mark}px; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $washdim; }
QMenu { background: $raised; color: $ink; border: 1px solid $strong; padding: 4px; icon-size: ${icon}px; }
QMenu::item { padding: ${unit}px ${menu_right}px ${unit}px ${menu_left}px; border-radius: ${r_mark}px;
  min-height: ${small_in}px; }
QMenu::item:selected { background: $wash; }
QMenu::item:disabled { color: $disabled; }
QMenu QLabel#filterExpressionWords { color: $ink; font-weight: 600; }
QMenu::separator { height: 1px; background: $hair; margin: 4px 2px; }
QMenu::icon { padding-left: 6px; }
QMenu::indicator { width: ${icon}px; height: ${icon}px; left: 5px; }
QMenu::indicator:checked { image: $check_ink; }
QMenu::right-arrow { image: $chevron_right; width: ${icon_row}px; height: ${icon_row}px; right: 4px; }

QToolBar { background: $chrome; border: none; padding: 0 ${pad_field}px; spacing: ${unit}px; }
QToolBar#toolBar, QToolBar[variant="main"] { min-height: ${tool_bar}px; max-height: ${tool_bar}px; }
QToolBar#presetToolBar { padding: 0; spacing: 0; min-height: ${presets}px; max-height: ${presets}px; }
QToolBar::separator { background: $hair; width: 1px; margin: 10px 6px; }
QStatusBar { background: $chrome; border: none; border-top: 1px solid $hair; min-height: ${status_bar_in}px;
  font-size: ${px_small}px; color: $ink2; }
QStatusBar::item { border: none; }
QSizeGrip { image: none; width: 0; height: 0; }

QMainWindow::separator { background: $hair; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: $ring; }
QSplitter::handle { background: $hair; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: $ring; }
QDockWidget { color: $ink; font-weight: 600; border: none; }
QDockWidget::title { background: $chrome; padding: 7px ${pane}px; border-bottom: 1px solid $hair; }

QToolButton { background: transparent; color: $ink; border: 2px solid transparent; border-radius: ${r_button}px;
  padding: 0 ${unit}px; min-height: ${control_in}px; max-height: ${control_in}px; min-width: ${tool_in}px; }
QToolButton:hover { background: $washdim; }
QToolButton:pressed { background: $wash; }
QToolButton:focus { border-color: $ring; }
QToolButton:disabled { color: $disabled; }
QToolButton::menu-indicator { image: none; }
QToolButton[variant="chip"] { border: 1px solid transparent; border-radius: ${r_chip}px; padding: 0 ${pad_chip}px;
  min-height: ${chip_in}px; max-height: ${chip_in}px; min-width: 0; color: $ink2; }
QToolButton[variant="chip"]:hover { background: $washdim; color: $ink; }
QToolButton[variant="chip"]:checked { background: $wash; color: $accent; border-color: $ring; }
QToolButton[variant="chip"]:focus { border: 2px solid $ring; padding: 0 ${pad_chip_focus}px;
  min-height: ${chip_focus}px; max-height: ${chip_focus}px; }
QToolButton[variant="segment"] { border: 2px solid transparent; border-radius: ${r_mark}px; padding: 0 ${pad_segment}px;
  color: $ink2; min-height: ${segment_in}px; max-height: ${segment_in}px; }
QToolButton[variant="segment"]:checked { background: $wash; color: $accent; }
QToolButton[variant="segment"]:focus { border-color: $ring; }
QToolButton[variant="chip"]:disabled, QToolButton[variant="segment"]:disabled { color: $disabled; }
QToolButton[variant="small"] { min-height: ${small_in}px; max-height: ${small_in}px;
  min-width: ${small_in}px; padding: 0 1px; }
QToolButton[variant="status"] { min-height: ${small_in}px; max-height: ${small_in}px;
  min-width: 0; padding: 0 ${unit}px; border-width: 1px;
  border-radius: ${r_mark}px; color: $ink2; font-size: ${px_small}px; }
QToolButton[variant="link"], QPushButton[variant="link"] { background: transparent; color: $accent; padding: 0 2px;
  border: 1px solid transparent; border-radius: ${r_mark}px; min-height: 0; max-height: 9999px; min-width: 0;
  font-weight: 500; }
QPushButton[variant="link"][flush="true"] { margin-left: -3px; }
QPushButton[variant="link"]:hover, QToolButton[variant="link"]:hover { text-decoration: underline; }
QPushButton[variant="link"]:focus, QToolButton[variant="link"]:focus { border: 1px solid $ring; padding: 0 2px;
  min-height: 0; }

QPushButton { background: $raised; color: $ink; border: 1px solid $control; border-radius: ${r_button}px;
  padding: 0 ${pad_button}px; min-height: ${button_in}px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $washdim; }
QPushButton:focus { border: 2px solid $ring; padding: 0 ${pad_button_focus}px; min-height: ${control_in}px; }
QPushButton:default { background: $fill; color: $on; border-color: $fill; font-weight: 500; }
QPushButton:default:hover { background: $fill_hover; border-color: $fill_hover; }
QPushButton:default:focus { border-color: $ring; }
QPushButton:disabled { background: transparent; color: $disabled; border: 1px solid $hair; }

QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit[variant="field"], QTextEdit[variant="field"] {
  background: $input; color: $ink; border: 1px solid $control; border-radius: ${r_field}px; padding: 0 ${pad_field}px;
  selection-background-color: $wash; selection-color: $ink; }
QLineEdit, QComboBox, QAbstractSpinBox { min-height: ${button_in}px; }
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus, QPlainTextEdit[variant="field"]:focus {
  border: 2px solid $ring; padding: 0 ${pad_field_focus}px; }
QAbstractSpinBox { max-height: ${button_in}px; }
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { min-height: ${control_in}px; }
QLineEdit[variant="search"] { border-color: $strong; }
QLineEdit[variant="search"]:focus { border: 2px solid $ring; padding: 0 ${pad_field_focus}px; }
QLineEdit[wrong="true"] { border-color: $error; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { color: $disabled; border-color: $hair; }
QComboBox QLineEdit, QComboBox QLineEdit:focus, QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus {
  background: transparent; border: none; padding: 0; min-height: 0; }
QComboBox::drop-down { border: none; width: ${menu_right}px; }
QComboBox::down-arrow { image: $chevron_down; width: ${icon}px; height: ${icon}px; }
QComboBox::down-arrow:disabled { image: $chevron_down_off; }
QComboBox QAbstractItemView { background: $raised; color: $ink; border: 1px solid $strong; outline: none;
  selection-background-color: $wash; selection-color: $ink; padding: 3px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; background: transparent;
  width: ${small_in}px; }
QAbstractSpinBox::up-arrow { image: $chevron_up; width: ${icon_small}px; height: ${icon_small}px; }
QAbstractSpinBox::down-arrow { image: $chevron_down; width: ${icon_small}px; height: ${icon_small}px; }

QCheckBox, QRadioButton { spacing: ${section}px; min-height: ${check_high}px; color: $ink; }
QCheckBox:disabled, QRadioButton:disabled { color: $disabled; }
QCheckBox::indicator, QRadioButton::indicator {
  width: ${icon}px; height: ${icon}px; border: 1px solid $control; background: $input; }
QCheckBox::indicator { border-radius: ${r_mark}px; }
QRadioButton::indicator { border-radius: ${r_radio}px; }
QCheckBox::indicator:checked {
  background: $fill; border-color: $fill; image: $check_on; }
QCheckBox::indicator:indeterminate { background: $fill; border-color: $fill; image: $dash_on; }
QRadioButton::indicator:checked { background: $fill; border-color: $fill; image: $dot_on; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { background: transparent; border-color: $hair; }
QCheckBox::indicator:checked:disabled { image: $check_ink; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border: 2px solid $ring;
  width: ${check_focus}px; height: ${check_focus}px; }
QGroupBox { border: none; margin-top: ${section}px; padding-top: 8px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 0; color: $ink2; }

QTabWidget::pane { border: none; border-top: 1px solid $hair; }
QTabBar { background: $chrome; border: none; qproperty-drawBase: false; }
QTabBar::tab { background: $chrome; color: $ink2; border: none; border-top: 2px solid transparent;
  padding: 0 ${pane}px; min-height: ${tab_in}px; font-weight: 500; }
QTabBar::tab:hover { color: $ink; }
QTabBar::tab:selected { background: $base; color: $ink; border-top-color: $ring; }
QTabBar::tab:focus { color: $accent; }
QTabBar::tab:disabled { color: $disabled; }
QTabBar[variant="underline"] { background: $base; }
QTabBar[variant="underline"]::tab { background: transparent; border: none; border-bottom: 2px solid transparent;
  padding: 0 2px; margin-right: 10px; }
QTabBar[variant="underline"]::tab:selected { border-bottom-color: $ring; }
QTabBar::scroller { width: 40px; }
QTabBar QToolButton { background: $chrome; border-radius: 0; min-width: 14px; min-height: 18px; max-height: 9999px; }
QTabBar[variant="underline"] QToolButton { background: $base; }
QTabBar QToolButton[variant="status"] { background: transparent; }
QTabBar QToolButton::left-arrow { image: $chevron_left; }
QTabBar QToolButton::right-arrow { image: $chevron_right; }

QAbstractScrollArea { background: $base; border: none; }
QScrollArea[variant="bare"] { background: transparent; }
QAbstractItemView { outline: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QHeaderView { background: $base; border: none; }
QHeaderView::section { background: $base; color: $ink2; border: none; border-bottom: 1px solid $hair;
  padding: 0 ${cell}px; min-height: ${head_in}px; font-size: ${px_small}px; font-weight: 500; }
QHeaderView::section:hover { color: $ink; }
QTableCornerButton::section { background: $base; border: none; border-bottom: 1px solid $hair; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: ${bar}px; }
QScrollBar:horizontal { height: ${bar}px; }
QScrollBar::handle { background: $strong; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $control; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: $hair; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: $ring; border-radius: 2px; }
"""


def build_style_sheet(colors: Mapping[str, str], fonts: Fonts, metrics: Metrics, *, dark: bool) -> str:
    """Returns the sheet for one theme.

    Args:
        colors: token to "#rrggbb".
        fonts: source of type sizes.
        metrics: the grid.
        dark: use the images for dark themes.
    """
    values: dict[str, object] = {
        **_colors(colors),
        **_images("dark" if dark else "light"),
        **_sizes(fonts, metrics),
    }
    return Template(_SHEET).substitute(values)


def repolish(widget: QWidget) -> None:
    """Applies the sheet again after a change of a property that it depends on."""
    style = widget.style()
    # Qt evaluates selectors with properties only when it polishes a widget.
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def _colors(colors: Mapping[str, str]) -> dict[str, object]:
    return {
        "base": colors["surface.base"],
        "chrome": colors["surface.chrome"],
        "raised": colors["surface.raised"],
        "input": colors["surface.input"],
        "inset": colors["surface.inset"],
        "hover": colors["surface.hover"],
        "hair": colors["line.hair"],
        "strong": colors["line.strong"],
        "control": colors["line.control"],
        "ink": colors["ink.primary"],
        "ink2": colors["ink.secondary"],
        "ink3": colors["ink.tertiary"],
        "disabled": colors["ink.disabled"],
        "accent": colors["accent.text"],
        "fill": colors["accent.fill"],
        "fill_hover": colors["accent.ring"],
        "on": colors["accent.on"],
        "wash": colors["accent.wash"],
        "washdim": colors["accent.washdim"],
        "ring": colors["accent.ring"],
        "error": colors["severity.error"],
    }


def _images(scheme: str) -> dict[str, object]:
    def image(name: str, token: str) -> str:
        return f'url("{paths.resource("icons", "chrome", f"{name}-{token}-{scheme}.svg").as_posix()}")'

    return {
        "check_on": image("check", "accent.on"),
        "check_ink": image("check", "ink.secondary"),
        "dash_on": image("dash", "accent.on"),
        "dot_on": image("dot", "accent.on"),
        "chevron_down": image("chevron-down", "ink.secondary"),
        "chevron_down_off": image("chevron-down", "ink.disabled"),
        "chevron_up": image("chevron-up", "ink.secondary"),
        "chevron_left": image("chevron-left", "ink.secondary"),
        "chevron_right": image("chevron-right", "ink.secondary"),
    }


def _sizes(fonts: Fonts, metrics: Metrics) -> dict[str, object]:
    # Heights in a sheet exclude the border: a name that ends in _in is a height without it.
    # A name that ends in _focus is smaller, since the border of the focus is a pixel wider.
    return {
        "px_small": fonts.font("small").pixelSize(),
        "px_heading": fonts.font("heading").pixelSize(),
        "px_title": fonts.font("title").pixelSize(),
        "px_display": fonts.font("display").pixelSize(),
        "mono": ", ".join(f'"{family}"' for family in fonts.mono_families),
        "menu_bar": metrics.menu_bar,
        "tool_bar": metrics.tool_bar,
        "presets": metrics.presets,
        "status_bar_in": metrics.status_bar - 1,
        "pane": metrics.pane_padding,
        "unit": metrics.unit,
        "pad_menu": 2 * metrics.unit + 2,
        "pad_button": 4 * metrics.unit - 1,
        "pad_button_focus": 4 * metrics.unit - 2,
        "pad_field": 2 * metrics.unit,
        "pad_field_focus": 2 * metrics.unit - 1,
        "pad_chip": 2 * metrics.unit + 1,
        "pad_chip_focus": 2 * metrics.unit,
        "pad_segment": 3 * metrics.unit,
        "cell": metrics.cell_padding,
        "section": metrics.section_gap,
        "control_in": metrics.control - 4,
        "button_in": metrics.control - 2,
        "tool_in": metrics.control - 12,
        "segment_in": metrics.control - 6,
        "small_in": metrics.content_row - 2,
        "chip_in": metrics.chip - 2,
        "chip_focus": metrics.chip - 4,
        "tab_in": metrics.head - 3,
        "head_in": metrics.column_head - 1,
        "bar": metrics.scroll_bar,
        "icon": metrics.icon,
        "icon_row": metrics.icon_row,
        "icon_small": metrics.icon_gutter,
        "menu_left": metrics.icon + 10,
        "menu_right": 6 * metrics.unit,
        "check_high": metrics.content_row,
        "check_focus": metrics.icon - 2,
        "r_radio": metrics.icon // 2 + 1,
        "r_mark": metrics.radius_mark,
        "r_button": metrics.radius_button,
        "r_field": metrics.radius_field,
        "r_card": metrics.radius_card,
        "r_chip": metrics.chip // 2,
        "r_pill": metrics.control // 2,
    }
