"""What every context menu offers for a value: to filter by it in four ways, and to make a column of its field."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget, QWidgetAction

from inspector.filters import FilterError, compile_filter
from inspector.present.wire_text import plain
from inspector.ui.look import icons
from inspector.ui.widgets.labels import TextLabel

FilterMode = Literal["replace", "and", "or", "and_not", "highlight"]
"""How an expression joins the filter in force: alone, as one more condition, as an alternative, as one more
condition that hides it; or not at all: rows it holds for stand out."""

MODES: tuple[tuple[FilterMode, str], ...] = (
    ("replace", "Filter by this"),
    ("and", "And this"),
    ("and_not", "And not this"),
    ("or", "Or this"),
)
"""Modes with the words of the menu."""

AS_COLUMN = "As column"
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
    titled: bool = True,
) -> None:
    """Add the actions of a value to its menu; they are named `filter.<mode>` and `filter.column`.

    Args:
        menu: the menu.
        expression: what finds the value; "" or what does not compile leaves the four ways disabled.
        on_filter: called with the expression and a `FilterMode`.
        on_column: called with the name of the field; None offers no column.
        column: the field; by default the only one the expression reads.
        titled: say the expression above the actions.
    """
    field = only_field(expression) if column is None else column
    usable = _compiles(expression)
    if titled:
        menu.addAction(_Title(expression if usable else "", menu))
    for mode, words in MODES:
        action = _named(menu.addAction(words), f"filter.{mode}", partial(on_filter, expression, mode))
        action.setEnabled(usable)
    highlight = _named(menu.addAction(HIGHLIGHT), "filter.highlight", partial(on_filter, expression, "highlight"))
    highlight.setEnabled(usable)
    if on_column is not None and field:
        _named(menu.addAction(AS_COLUMN), "filter.column", partial(on_column, field))


class _Title(QWidgetAction):
    """Says what "this" is in the actions below it, as clearly as they are said."""

    def __init__(self, expression: str, menu: QMenu) -> None:
        super().__init__(menu)
        shown = plain(expression, _SHOWN) if expression else _NOTHING
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
        """Begin where the words of the other actions do, which make room for their icons where one has any."""
        menu = self.parent()
        assert isinstance(menu, QMenu)
        pictured = any(not action.icon().isNull() for action in menu.actions() if action is not self)
        self._inside.setSpacing(_BEHIND_ICONS if pictured else _BEHIND_NONE)


def only_field(expression: str) -> str:
    """The field an expression reads when it reads just one; "" otherwise."""
    try:
        fields = compile_filter(expression).fields
    except FilterError:
        return ""
    return next(iter(fields)) if len(fields) == 1 else ""


def _compiles(expression: str) -> bool:
    try:
        return bool(expression) and compile_filter(expression).expression is not None
    except FilterError:
        return False


def _named(action: QAction, name: str, act: Callable[[], object]) -> QAction:
    action.setObjectName(name)
    action.triggered.connect(lambda *_checked: act())
    return action
