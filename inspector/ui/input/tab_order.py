"""The round of the Tab key: from what stands at the top left of a window to the details and back.

Qt's own order is that in which widgets were made, which panes that are made and filled later do not keep.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QTabBar, QWidget

_BAR = 60


def step(window: QWidget, parts: Sequence[QWidget | None], forward: bool) -> bool:
    """Give the keyboard to the next widget of a window, or the one before; whether there is one.

    Args:
        window: all it holds takes part.
        parts: what it is made of, in the order of the round; what is in none of them comes last.
        forward: the next one.
    """
    found = _round(window, [part for part in parts if part is not None])
    focus = QApplication.focusWidget()
    if not found or (len(found) == 1 and found[0] is focus):
        return False
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    here = found.index(focus) if focus in found else -1 if forward else 0
    found[(here + (1 if forward else -1)) % len(found)].setFocus(reason)
    return True


def _round(window: QWidget, parts: Sequence[QWidget]) -> list[QWidget]:
    """Everything in a window that takes the keyboard, part by part."""
    places = {part: place for place, part in enumerate(parts)}
    held: list[list[QWidget]] = [[] for _ in range(len(parts) + 1)]
    # Not along `nextInFocusChain`: PySide takes each widget for a part of the one before it, and with that one's end
    # whatever is held of it is "already deleted", such as the actions of its menus.
    for widget in window.findChildren(QWidget):
        if _takes_keyboard(widget, window):
            part: QWidget | None = widget
            while part is not None and part not in places:
                part = part.parentWidget()
            held[len(parts) if part is None else places[part]].append(widget)
    for part, widgets in zip(parts, held, strict=False):
        if part.height() < _BAR:  # one line: what was put in later may stand before what was there
            widgets.sort(key=lambda one: one.mapTo(window, one.rect().topLeft()).x())
    return [widget for widgets in held for widget in widgets]


def _takes_keyboard(widget: QWidget, window: QWidget) -> bool:
    if not (widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled()):
        return False
    if widget.focusProxy() is not None or widget.window() is not window:
        return False
    return _is_seen(widget, window)


def _is_seen(widget: QWidget, window: QWidget) -> bool:
    """Whether it stands in the window: Qt keeps docks that lie below others, and tab bars nobody needs, beside it."""
    part: QWidget | None = widget
    while part is not None and part is not window:
        if isinstance(part, QDockWidget | QTabBar) and not part.isWindow():
            above = part.parentWidget()
            if above is not None and not above.rect().intersects(part.geometry()):
                return False
        part = part.parentWidget()
    return not isinstance(widget, QTabBar) or widget.count() > 0
