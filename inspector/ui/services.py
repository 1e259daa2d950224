"""Interfaces of the application's services: settings and their changes, tasks, windows; the usual folder.

Features declare the one they need. The application implements all of them, and no module below imports it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from inspector.base.targets import target_path

if TYPE_CHECKING:
    from inspector.engine.request import Request
    from inspector.protocol.tool_aliases import ToolAliases
    from inspector.settings import Settings
    from inspector.settings.credentials import TokenStore
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.widgets.notice import NoticeStack

AnswerT = TypeVar("AnswerT")


def usual_folder(owner: SettingsOwner) -> Path:
    """Returns the folder of the last opened or saved file, never the program's data folder."""
    recent = owner.settings.recent_files
    folder = target_path(recent[0]).parent if recent else Path.home()
    return folder if folder.is_dir() else Path.home()


class SettingsChanges(QObject):
    """Signals on changes of shared data, for all windows.

    Signals:
        presets_changed(): presets were added, removed, moved or edited.
        filter_history_changed(): a filter was added to the history, or the history was cleared.
        lists_restored(object): presets and highlight rules were restored by Undo, so it is not a new undo step.
    """

    presets_changed = Signal()
    filter_history_changed = Signal()
    lists_restored = Signal(object)


class SettingsOwner(Protocol):
    """Owner of the settings of all windows."""

    settings: Settings
    """As stored; edited in place, then saved."""
    settings_changes: SettingsChanges
    """Signals on edits in other windows."""

    def save_settings(self) -> None:
        """Writes the settings; a failure is only reported in the windows."""
        ...

    def apply_settings(self, *, hints: bool = False) -> None:
        """Applies edited settings to every window.

        Args:
            hints: context hints were edited, so overrides of single windows are dropped.
        """
        ...


class TaskOwner(Protocol):
    """Runs background tasks."""

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Runs a coroutine in the background; it is cancelled when the application ends."""
        ...


class Windows(Protocol):
    """All windows, for features that affect other windows."""

    def document_names(self, own: DocumentClient | None) -> list[str]:
        """Returns the names of the documents of all other windows, without start pages."""
        ...

    def notices_of(self, own: NoticeStack) -> NoticeStack | None:
        """Returns `own` while its window is open, else notices of another window; None without windows."""
        ...

    def show_recents(self) -> None:
        """Updates recent files and connections on every start page."""
        ...

    def look_for_unsaved(self) -> None:
        """Updates unsaved captures on every start page."""
        ...


class Services(SettingsOwner, TaskOwner, Windows, Protocol):
    """All services that windows share."""

    theme: ThemeController
    tokens: TokenStore
    """The system keyring."""
    remembers: bool
    """True if recents and settings are written to disk."""

    @property
    def tool_aliases(self) -> ToolAliases: ...

    def new_client(self, parent: QObject, stream: Path | None = None) -> DocumentClient:
        """Returns a client without a document; the parent owns it until it is shown.

        Args:
            parent: the owner.
            stream: the stream that the document reads, such as the standard input of this process.

        Raises:
            OSError: no engine can be started.
        """
        ...

    def warm_engine(self) -> None:
        """Starts an engine process for the next document, so that it is ready before a log is chosen."""
        ...

    def ask_spare(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object], failed: Callable[[], object]
    ) -> None:
        """Asks the engine for the next document a question about this machine. Calls one of both functions, later."""
        ...

    def load_plugins(self) -> None:
        """Loads the plug-ins that are switched on, unless this was done. Call it before a document is created."""
        ...
