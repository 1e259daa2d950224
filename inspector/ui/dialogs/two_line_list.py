"""Dialog lists with two lines per row: title and details."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from PySide6.QtCore import QAbstractListModel, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame
from typing_extensions import override

from inspector.present.wire_text import safe_line
from inspector.ui.dialogs.base_dialog import DialogList
from inspector.ui.dialogs.ordered_list import Index, RowDelegate
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController


class TwoLines(NamedTuple):
    """The texts of a row."""

    title: str
    aside: str
    """At the right of the title."""
    detail: str
    state: str
    """At the right of the second line, in the colour of active states."""


@runtime_checkable
class HasLines(Protocol):
    """A model whose rows have two lines."""

    def lines(self, row: int) -> TwoLines | None:
        """Returns the texts of a row, or None."""
        ...


class TwoLineDelegate(RowDelegate):
    """Draws rows of two lines. A long title is cut before the text beside it."""

    @override
    def sizeHint(self, option: object, index: Index) -> QSize:
        return QSize(120, round(self._themes.theme.metrics.control * 1.6))

    @override
    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        model = index.model()
        one = model.lines(index.row()) if isinstance(model, HasLines) else None
        if one is None:
            return
        zoom = paints.theme.zoom
        side = round(14 * zoom)
        left, right = box.x() + side, box.right() - side
        upper = QRect(box.x(), box.y() + round(3 * zoom), box.width(), box.height() // 2)
        lower = QRect(box.x(), upper.bottom() - round(2 * zoom), box.width(), box.height() // 2)
        width = paints.width("small", one.aside)
        room = right - max(width + side, round(128 * zoom)) - left
        paints.draw(painter, "body", "ink.primary", left, upper, one.title, room)
        paints.draw(painter, "small", "ink.secondary", right - width, upper, one.aside, width)
        state_width = paints.width("small", one.state) if one.state else 0
        paints.draw(painter, "small", "ink.tertiary", left, lower, one.detail, right - left - state_width - side)
        if one.state:
            paints.draw(painter, "small", "state.active", right - state_width, lower, one.state, state_width)


def two_line_list(
    themes: ThemeController, name: str, title: str, model: QAbstractListModel, frame: QFrame
) -> DialogList:
    """Returns a list of such rows."""
    view = DialogList(themes, name=name, title=title, model=model, parent=frame)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setItemDelegate(TwoLineDelegate(themes, view))
    return view


def looked_in(none: str, places: Iterable[Path]) -> str:
    """Returns the text of an empty list: a sentence and the searched places, one a line, home as ~."""
    home = Path.home()
    shown = (Path("~", place.relative_to(home)) if place.is_relative_to(home) else place for place in places)
    return "\n".join((none, "", "Searched places", *(safe_line(str(place), 300) for place in shown)))
