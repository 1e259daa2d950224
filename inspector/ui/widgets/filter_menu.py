"""Context menu actions on a value: filter by it in four ways, highlight it, or add its field as a column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget, QWidgetAction

from inspector.engine.requests.filters import check_text
from inspector.present.wire_text import safe_line
from inspector.ui.look import icons
from inspector.ui.widgets.labels import TextLabel

FilterMode = Literal["replace", "and", "or", "and_not", "highlight"]
"""Use of an expression: replace the filter, combine it with And, Or, And not, or highlight matching rows."""

MODES: tuple[tuple[FilterMode, str], ...] = (
    ("replace", "Filter by this"),
    ("and", "And this"),
    ("and_not", "And not this"),
    ("or", "Or this"),
)
"""Modes with their labels."""

AS_COLUMN = "Add as column"
HIGHLIGHT = "Highlight this"
_SHOWN = 60
_NOTHING = "No filter finds this value"
_ICON = 16
_BEHIND_ICONS, _BEHIND_NONE = 26, 6


def add_filter_actions(
    menu: QMenu,
    expression: str,
    on_filter: Callable[[str, str], object],
    on_column: Callable[[str], object] | None = None,
    *,
    column: str | None = None,
) -> None:
    """Adds the actions on a value to a menu; they are named `filter.<mode>` and `filter.column`.

    Args:
        menu: the menu.
        expression: filter that matches the value; "" or an invalid one disables the filter actions.
        on_filter: called with the expression and a `FilterMode`.
        on_column: called with the name of the field; None adds no column action.
        column: the field; None for the only field of the expression.
    """
    field = only_field(expression) if column is None else column
    usable = bool(expression.strip()) and check_text(expression).filter is not None
    menu.addAction(_Title(expression if usable else "", menu))
    for mode, words in MODES:
        action = _named(menu.addAction(words), f"filter.{mode}", partial(on_filter, expression, mode))
        action.setEnabled(usable)
    highlight = _named(menu.addAction(HIGHLIGHT), "filter.highlight", partial(on_filter, expression, "highlight"))
    highlight.setEnabled(usable)
    if on_column is not None and field:
        _named(menu.addAction(AS_COLUMN), "filter.column", partial(on_column, field))


class _Title(QWidgetAction):
    """Menu header with the expression that "this" refers to."""

    def __init__(self, expression: str, menu: QMenu) -> None:
        super().__init__(menu)
        shown = safe_line(expression, _SHOWN) if expression else _NOTHING
        self.setObjectName("filterExpression")
        self.setText(shown.replace("&", "&&"))
        self.setEnabled(False)
        line = QWidget(menu)
        line.setAccessibleName(shown)
        inside = self._inside = QHBoxLayout(line)
        inside.setContentsMargins(4, 5, 24, 5)
        menu.aboutToShow.connect(self._align)
        icon = QLabel(line)
        icon.setFixedWidth(_ICON)
        icon.setPixmap(icons.icon("filter").pixmap(_ICON, _ICON))
        inside.addWidget(icon)
        words = TextLabel(shown, variant="" if expression else "secondary", name="filterExpressionWords", parent=line)
        inside.addWidget(words, 1)
        self.setDefaultWidget(line)

    def _align(self) -> None:
        """Aligns the header with the texts of the actions, which leave room for icons if any has one."""
        menu = self.parent()
        assert isinstance(menu, QMenu)
        pictured = any(not action.icon().isNull() for action in menu.actions() if action is not self)
        self._inside.setSpacing(_BEHIND_ICONS if pictured else _BEHIND_NONE)


def only_field(expression: str) -> str:
    """Returns the field of an expression that reads a single one, else ""."""
    found = check_text(expression).filter
    return found.fields[0] if found is not None and len(found.fields) == 1 else ""


def _named(action: QAction, name: str, act: Callable[[], object]) -> QAction:
    action.setObjectName(name)
    action.triggered.connect(lambda *_checked: act())
    return action
