"""Content of a window (a document with its panes, the runs of a survey, nothing), and its observers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from inspector.ui.docview.location import DocumentLocation

if TYPE_CHECKING:
    from inspector.base.slices import SlicedWork
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.panes import Panes
    from inspector.ui.panels.runs.page import RunsPage


class Shown(QObject):
    """The content of one window. Features hold this object because they exist before the document.

    Attributes:
        document: the document; an empty one on the start page, created on first use because it imports numpy.
        panes: its panes; None on the start page.
        location: the document's file.
        runs: the page of a survey, or None.

    Signals:
        attached(Panes): these panes are shown now.
        closing(): the window closes; no feature writes or reports any more.
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
        from inspector.document.document import CaptureDocument

        return CaptureDocument()

    def show(self, document: CaptureDocument, panes: Panes) -> None:
        """Stores a new document. The caller emits `attached` when its panes are in place."""
        self.document, self.panes = document, panes


class ShowsDocuments(Protocol):
    """Brings documents into one window."""

    async def prepare(self) -> None:
        """Creates the parts for a document while input events are handled, so that it appears sooner."""
        ...

    def showing(self, document: CaptureDocument) -> SlicedWork[Panes]:
        """Shows a document in steps that let the event loop run. Each step paints one part."""
        ...
