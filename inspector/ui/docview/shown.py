"""What one window shows: a document with its panes, the runs of a survey, or nothing yet."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from inspector.ui.docview.location import DocumentLocation

if TYPE_CHECKING:
    from inspector.base.slices import Steps
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.panes import Panes
    from inspector.ui.panels.runs.page import RunsPage


class Shown(QObject):
    """The document of one window; features hold this, as the document is there later than they are.

    Attributes:
        document: what is shown; empty on the start page, and made then only when somebody asks (it brings numpy).
        panes: its panes; None on the start page.
        location: where the document lies.
        runs: the page of a survey, which has no document; None without one.

    Signals:
        attached(Panes): these panes are shown from now on, for the first time or in place of others.
        closing(): the window closes; nothing more is written or said for it.
    """

    attached = Signal(object)
    closing = Signal()

    panes: Panes | None = None
    runs: RunsPage | None = None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location = DocumentLocation()

    @cached_property
    def document(self) -> CaptureDocument:
        """What the window shows."""
        from inspector.document.document import CaptureDocument

        return CaptureDocument()

    def show(self, document: CaptureDocument, panes: Panes) -> None:
        """Show another document; `attached` is for whoever brings it into the window to emit, once it is in place."""
        self.document, self.panes = document, panes


class ShowsDocuments(Protocol):
    """Brings documents into one window."""

    async def prepare(self) -> None:
        """Make what a document needs, while keys and clicks come through; what is shown afterwards is there sooner."""
        ...

    def showing(self, document: CaptureDocument) -> Steps[Panes]:
        """Show a document, in steps between which the loop may turn: what is seen of it is painted a part a step."""
        ...
