"""Tab order of a window: from the top left to the details and back.

Qt orders widgets by creation, and panes that are created and filled later do not keep that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QTabBar, QWidget

_BAR_LINES = 4
"""Lines of text, in height, below which an area is a bar with a single line of widgets."""


def step(window: QWidget, parts: Sequence[QWidget | None], forward: bool) -> bool:
    """Focuses the next or previous widget. Returns False if there is none.

    Args:
        window: root of the widgets.
        parts: areas of the window in tab order; widgets outside of them come last.
        forward: True for the next widget.
    """
    found = _ordered_widgets(window, [part for part in parts if part is not None])
    focus = QApplication.focusWidget()
    if not found or (len(found) == 1 and found[0] is focus):
        return False
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    here = found.index(focus) if focus in found else -1 if forward else 0
    found[(here + (1 if forward else -1)) % len(found)].setFocus(reason)
    return True


def _ordered_widgets(window: QWidget, parts: Sequence[QWidget]) -> list[QWidget]:
    """Returns all focusable widgets of a window, area by area."""
    places = {part: place for place, part in enumerate(parts)}
    held: list[list[QWidget]] = [[] for _ in range(len(parts) + 1)]
    # Not by `nextInFocusChain`: PySide treats each widget as a child of the one before it, and with that one's end
    # Python references to it are "already deleted", such as the actions of its menus.
    for widget in window.findChildren(QWidget):
        if _takes_keyboard(widget, window):
            part: QWidget | None = widget
            while part is not None and part not in places:
                part = part.parentWidget()
            held[len(parts) if part is None else places[part]].append(widget)
    for part, widgets in zip(parts, held, strict=False):
        # In a bar, later widgets may be left of earlier ones.
        if part.height() < _BAR_LINES * window.fontMetrics().height():
            widgets.sort(key=lambda one: one.mapTo(window, one.rect().topLeft()).x())
    return [widget for widgets in held for widget in widgets]


def _takes_keyboard(widget: QWidget, window: QWidget) -> bool:
    if not (widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled()):
        return False
    if widget.focusProxy() is not None or widget.window() is not window.window():
        return False
    return _is_seen(widget, window)


def _is_seen(widget: QWidget, window: QWidget) -> bool:
    """Returns True if a widget is visible in the window: Qt keeps covered docks and empty tab bars outside of it."""
    part: QWidget | None = widget
    while part is not None and part is not window:
        if isinstance(part, QDockWidget | QTabBar) and not part.isWindow():
            above = part.parentWidget()
            if above is not None and not above.rect().intersects(part.geometry()):
                return False
        part = part.parentWidget()
    return not isinstance(widget, QTabBar) or widget.count() > 0
