"""Entry point of sub-sessions: factories for the window. Imports the rest only when called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QDockWidget, QWidget

    from inspector.settings import Settings
    from inspector.ui.dialogs.questions import Asking
    from inspector.ui.dialogs.settings_dialog import SettingsPage
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.msp.editing import MspEditing
    from inspector.ui.msp.new_sessions import MspCreating
    from inspector.ui.msp.saving import MspSaving as MspSaving
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar


IMPORTED_AHEAD = ("inspector.ui.msp.editing",)
"""Modules that are slow to import, loaded before a document is opened."""

SUBSESSIONS, TITLE = "subsessions", "Sub-sessions"
"""Id and title of the settings page."""


def subsessions_page(themes: ThemeController, settings: Settings, parent: QWidget) -> SettingsPage:
    """Creates the page of the settings dialog. It edits the settings in place."""
    from inspector.ui.msp.settings_page import SubsessionsPage

    return SubsessionsPage(themes, settings, parent)


def edit_sessions(
    window: QWidget, shown: Shown, services: Services, requests: WindowRequests, notices: NoticeStack,
    status: StatusBar, history: UndoHistory, docks: Mapping[str, QDockWidget], asking: Asking, *,
    save: QAction, save_as: QAction, usual_folder: Callable[[], Path],
    show_instead: Callable[[DocumentClient], Panes | None],
) -> MspEditing:  # fmt: skip
    """Creates the feature that edits, saves and displays the sessions of one window.

    Args:
        window: parent of modal dialogs.
        shown: the displayed document.
        services: of the application.
        requests: requests to the window.
        notices: shows refused edits and errors.
        status: shows results of saving.
        history: receives each edit as an undo step.
        docks: by title.
        asking: asks before data is lost.
        save, save_as: the window's actions for saving.
        usual_folder: initial folder of the file dialog for a document without a file.
        show_instead: replaces the window's document by another projection with the same view state.
    """
    from inspector.ui.msp.editing import MspEditing
    from inspector.ui.msp.projection_update import MspFollowing
    from inspector.ui.msp.saving import MspSaving as MspSaving
    from inspector.ui.msp.view import MspView

    view = MspView(window, shown, services, services.theme, requests, notices, docks)
    saving = MspSaving(window, shown, services, requests, notices, status, asking, usual_folder=usual_folder)
    following = MspFollowing(shown, services, notices, saving, show_instead=show_instead, shown_again=view.mark_shown)
    return MspEditing(
        window, shown, services.theme, requests, notices, history, saving, view, following, services,
        save=save, save_as=save_as,
    )  # fmt: skip


def create_sessions(
    window: QWidget, themes: ThemeController, notices: NoticeStack, usual_folder: Callable[[], Path]
) -> MspCreating:
    """Creates the feature that makes new session documents. For the arguments see `edit_sessions`."""
    from inspector.ui.msp.new_sessions import MspCreating

    return MspCreating(window, themes, notices, usual_folder)
