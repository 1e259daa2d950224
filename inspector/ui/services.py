"""What the application gives to every window: settings, look, keyring, background tasks.

Features name the one of these they need; the application is all of them, and nothing below it imports it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.protocol.tool_aliases import ToolAliases
    from inspector.settings import Settings
    from inspector.settings.credentials import TokenStore
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.widgets.notice import NoticeStack


class SettingsChanges(QObject):
    """Tells every window what one of them has done to what all share.

    Signals:
        presets_changed(): presets were added, removed, moved or edited.
        filter_history_changed(): a filter was remembered, or all were forgotten.
        lists_restored(object): presets and highlight rules are what they were before a step, which is not another one.
    """

    presets_changed = Signal()
    filter_history_changed = Signal()
    lists_restored = Signal(object)


class SettingsOwner(Protocol):
    """Holds the settings of all windows."""

    settings: Settings
    """As stored; edited in place, then saved."""
    settings_changes: SettingsChanges
    """By which windows hear of what another one edits."""

    def save_settings(self) -> None:
        """Write the settings; a failure is said in the windows and changes nothing else."""
        ...

    def apply_settings(self, *, hints: bool = False) -> None:
        """The settings were edited: every window takes them over.

        Args:
            hints: context hints are among what was edited; windows with their own mind about them give it up.
        """
        ...


class TaskOwner(Protocol):
    """Runs things in the background."""

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run something in the background; it ends with the application at the latest."""
        ...


class Windows(Protocol):
    """All windows of the application, as far as a feature of one of them has to do with the others."""

    def documents(self) -> list[CaptureDocument]:
        """What windows show, without those on their start page."""
        ...

    def notices_of(self, own: NoticeStack) -> NoticeStack | None:
        """Where to say something late: `own` while its window is open, else another window's; None without windows."""
        ...

    def show_recents(self) -> None:
        """Every start page shows the recent files and connections as they are now."""
        ...

    def look_for_unsaved(self) -> None:
        """Show on every start page what is still not saved."""
        ...


class Services(SettingsOwner, TaskOwner, Windows, Protocol):
    """All that windows share."""

    theme: ThemeController
    tokens: TokenStore
    """The system keyring."""
    remembers: bool
    """Whether recents and settings are written to disk."""

    @property
    def tool_aliases(self) -> ToolAliases:
        """Which names mean the same tool."""
        ...
