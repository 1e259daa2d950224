"""What a mark or comment is put on, and where in the window that is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QWidget

from inspector.analysis.marks import ContextTarget, Target
from inspector.present.subject import ContextPlace

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes

_COMMENT_UNDER = 3
"""The column of the table below which a comment is written: number and time stay in sight."""


def target_of(panes: Panes) -> Target | None:
    """What the user is on: the context or the row of the list that has the keyboard, else the current message."""
    focus = QApplication.focusWidget()
    place = panes.details.place
    if focus is not None and panes.marks.isAncestorOf(focus):
        return panes.marks.current
    if focus is not None and panes.contexts.isAncestorOf(focus) and panes.contexts.current is not None:
        return panes.contexts.current
    if isinstance(place, ContextPlace) and focus is not None and panes.details.isAncestorOf(focus):
        return ContextTarget(place.space, place.node)
    return panes.messages.current_message()


def place_of(panes: Panes, target: Target) -> tuple[QWidget, QRect]:
    """Where something with a note is seen: a rectangle of a widget."""
    if isinstance(target, ContextTarget):
        return panes.contexts.place_of(target) or (panes.details, QRect(0, 0, panes.details.width(), 0))
    view, row = panes.messages.view, panes.rows.row_of(target)
    area = view.viewport().rect()
    rect = QRect() if row is None else view.row_rect(row).intersected(area)
    if rect.isEmpty():
        rect = QRect(0, area.height() // 3, area.width(), 0)
    return view.viewport(), rect.adjusted(view.columnViewportPosition(_COMMENT_UNDER), 0, 0, 0)
