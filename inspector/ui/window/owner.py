"""Protocol of the application as the windows see it: opens and counts windows.

Keeps the layers below free of imports of the application.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from inspector.ui.debug.developer import ProgramServices
from inspector.ui.services import Services

if TYPE_CHECKING:
    from inspector.engine.start_files import UnsavedCapture
    from inspector.ui.features.version_check import VersionCheck
    from inspector.ui.window.tabbed_windows import TabbedWindows

W = TypeVar("W")


class WindowOwner(ProgramServices, Services, Protocol[W]):
    """Opens windows of type W and keeps the objects that they share."""

    windows: list[W]
    """The open windows."""
    tabs: TabbedWindows
    """The windows with tabs."""
    versions: VersionCheck
    """Newer versions of the program."""
    notice: str
    """First notice in every window, or ""."""

    def new_window(self, opening: str = "", *, beside: W | None = None, alone: bool = False) -> W:
        """Opens and shows a new tab or window, on the start page or while a document loads.

        Args:
            opening: name of the document that is about to be shown.
            beside: the document whose window gets the tab; by default the one in front.
            alone: opens a window also if documents open in tabs.
        """
        ...

    def window_closing(self, window: W) -> None: ...

    def window_closed(self, window: W) -> None:
        """Removes a window. The last one ends the application."""
        ...

    def unsaved(self) -> list[UnsavedCapture]:
        """Returns the unsaved captures of earlier runs."""
        ...

    async def quit(self) -> None:
        """Closes every window, unless the user cancels a question about an unsaved capture."""
        ...
