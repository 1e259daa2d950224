"""Details panels alone, without the window around them."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from inspector.document.document import CaptureDocument
from inspector.ui.document_client import DocumentClient
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.panel import DetailsPanel
from tests.ui.engines import client_of


def details_panel(document: CaptureDocument, themes: ThemeController) -> DetailsPanel:
    """Makes a panel with a client of its own."""
    owner = QObject()
    panel = DetailsPanel(client_of(document, owner), themes)
    owner.setParent(panel)
    return panel


def report_change(panel: DetailsPanel) -> None:
    """Reports a change of the document, and waits until the panel shows it."""
    client = panel.findChild(DocumentClient)
    assert client is not None
    client.changed.emit()
    wait_for_page(panel)


def wait_for_page(panel: DetailsPanel) -> None:
    """Waits until the panel shows the present page."""
    deadline = time.monotonic() + 20
    while not panel.latest.is_current:
        assert time.monotonic() < deadline, "The page is not shown."
        QApplication.processEvents()
        time.sleep(0.005)


def close_document(panel: DetailsPanel) -> None:
    """Ends the requests of a panel and closes its document, as its window does."""
    client = panel.findChild(DocumentClient)
    assert client is not None
    client.stop()
    client.document.close()
