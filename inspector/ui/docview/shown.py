"""What one window shows: a document with its panes, or nothing yet."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.panes import Panes


class Shown(QObject):
    """The document of one window; features hold this, as the document is there later than they are.

    Attributes:
        document: what is shown; empty on the start page, and made then only when somebody asks (it brings numpy).
        panes: its panes; None on the start page.

    Signals:
        attached(Panes): these panes are shown from now on, for the first time or in place of others.
    """

    attached = Signal(object)

    panes: Panes | None = None

    @cached_property
    def document(self) -> CaptureDocument:
        """What the window shows."""
        from inspector.document.document import CaptureDocument

        return CaptureDocument()

    def show(self, document: CaptureDocument, panes: Panes) -> None:
        """Show another document; `attached` is for whoever brings it into the window to emit, once it is in place."""
        self.document, self.panes = document, panes
