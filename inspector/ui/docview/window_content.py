"""Content of a window (a document with its panes, the runs of a survey, nothing), and its observers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from inspector.ui.docview.location import DocumentLocation

if TYPE_CHECKING:
    from inspector.base.slices import SlicedWork
    from inspector.engine.document_state import DocumentState
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.panels.runs.page import RunsPage


class Shown(QObject):
    """The content of one window. Features hold this object because they exist before the document.

    Attributes:
        client: the client of the document; None on the start page.
        panes: its panes; None on the start page.
        location: the document's file.
        runs: the page of a survey, or None.

    Signals:
        attached(Panes): these panes are shown now.
        closing(): the window closes; no feature writes or reports any more.
    """

    attached = Signal(object)
    closing = Signal()

    client: DocumentClient | None = None
    panes: Panes | None = None
    runs: RunsPage | None = None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.location = DocumentLocation()

    @property
    def state(self) -> DocumentState:
        """The state of the document; that of an empty one on the start page."""
        if self.client is not None:
            return self.client.state
        from inspector.engine.document_state import DocumentState

        return DocumentState()

    def show(self, client: DocumentClient, panes: Panes) -> None:
        """Stores a new document. The caller emits `attached` when its panes are in place."""
        self.client, self.panes = client, panes


class ShowsDocuments(Protocol):
    """Brings documents into one window."""

    async def prepare(self) -> None:
        """Creates the parts for a document while input events are handled, so that it appears sooner."""
        ...

    def showing(self, client: DocumentClient) -> SlicedWork[Panes]:
        """Shows a document in steps that let the event loop run. Each step paints one part."""
        ...
