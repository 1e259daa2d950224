"""What features ask of the window they are in, without knowing it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class WindowRequests(QObject):
    """Asked by features, answered by the window.

    Signals:
        actions_changed(): what can be done now may be something else.
        counts_changed(): how many messages there are, or are shown, may have changed.
        title_changed(): the document has another name, or became saved or unsaved.
        clock_changed(): rates, states and waiting times are to be said anew now, not with the next second.
        center_requested(): the keyboard goes back to the view in the middle.
        start_requested(): nothing came of the document: back to the start page.
        close_requested(): close the window.
        replaced(): close the window; the one opened last shows the same, and takes its place on the screen.
        view_requested(str): show a view of the middle column, by its id.
        dock_requested(str): show a dock in front of those it lies on, by its title.
        pane_requested(str): give the keyboard to what is in a dock, by its title.
    """

    actions_changed = Signal()
    counts_changed = Signal()
    title_changed = Signal()
    clock_changed = Signal()
    center_requested = Signal()
    start_requested = Signal()
    close_requested = Signal()
    replaced = Signal()
    view_requested = Signal(str)
    dock_requested = Signal(str)
    pane_requested = Signal(str)
