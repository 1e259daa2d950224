"""Requests of features to their window, as signals."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class WindowRequests(QObject):
    """Signals emitted by features and handled by the window.

    Signals:
        actions_changed(): enable or disable actions.
        counts_changed(): the number of messages or of shown messages may have changed.
        title_changed(): the document's name or its unsaved state has changed.
        clock_changed(): refresh rates, states and waiting times now instead of with the next second.
        center_requested(): focus the view in the middle.
        start_requested(): opening failed; show the start page.
        close_requested(): close the window.
        replaced(): close the window; the last opened window takes its place on screen.
        view_requested(str): show a view of the middle column by its id.
        dock_requested(str): show a dock in front by its title.
        settings_requested(str): open a page of the settings by its id.
        pane_requested(str): focus the content of a dock by its title.
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
    settings_requested = Signal(str)
    pane_requested = Signal(str)
