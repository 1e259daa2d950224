"""A list in a dialog whose rows have two lines each: what something is, and what else is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from PySide6.QtCore import QAbstractListModel, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame
from typing_extensions import override

from inspector.present.wire_text import plain
from inspector.ui.dialogs.dialog import DialogList
from inspector.ui.dialogs.ordered_list import Index, RowDelegate
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController


class TwoLines(NamedTuple):
    """What a row says."""

    title: str
    aside: str
    """At the right of the title."""
    below: str
    state: str
    """At the right of the second line, in the colour of what is active."""


@runtime_checkable
class HasLines(Protocol):
    """A model whose rows have two lines."""

    def lines(self, row: int) -> TwoLines | None:
        """What a row says; None where there is none."""
        ...


class TwoLineDelegate(RowDelegate):
    """Draws such rows; a title is cut where it would meet what stands beside it."""

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
        paints.draw(painter, "small", "ink.tertiary", left, lower, one.below, right - left - state_width - side)
        if one.state:
            paints.draw(painter, "small", "state.active", right - state_width, lower, one.state, state_width)


def two_line_list(
    themes: ThemeController, name: str, title: str, model: QAbstractListModel, frame: QFrame
) -> DialogList:
    """A list of such rows."""
    view = DialogList(themes, name=name, title=title, model=model, parent=frame)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setItemDelegate(TwoLineDelegate(themes, view))
    return view


def looked_in(none: str, places: Iterable[Path]) -> str:
    """Why such a list is empty: a sentence, then where was looked, a place a line, the user's own folder as ~."""
    home = Path.home()
    shown = (Path("~", place.relative_to(home)) if place.is_relative_to(home) else place for place in places)
    return "\n".join((none, "", "Looked in", *(plain(str(place), 300) for place in shown)))
