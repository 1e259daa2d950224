"""What a window needs of the application, which opens and counts windows; nothing below the application imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from inspector.ui.debug.developer import ProgramServices
from inspector.ui.services import Services

if TYPE_CHECKING:
    from inspector.store.files.capture_folder import Unsaved

W = TypeVar("W")


class WindowOwner(ProgramServices, Services, Protocol[W]):
    """Opens windows of the kind W, and keeps what they share."""

    windows: list[W]
    """Those that are open."""
    notice: str
    """What every window says first; "" for nothing."""

    def new_window(self, opening: str = "") -> W:
        """A new window, shown: on the start page, or on its way to a document.

        Args:
            opening: name of what will be shown in a moment.
        """
        ...

    def window_closing(self, window: W) -> None:
        """A window is about to close."""
        ...

    def window_closed(self, window: W) -> None:
        """Forget a window; the last one ends the application."""
        ...

    def unsaved(self) -> list[Unsaved]:
        """Captures that earlier runs did not save."""
        ...

    async def quit(self) -> None:
        """Close every window, unless somebody asked about an unsaved capture wants to stay."""
        ...
