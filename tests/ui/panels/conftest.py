"""Panels alone, without the window around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import ViewRows
from tests.builders import document_of
from tests.ui.engines import client_of


@pytest.fixture
def make_panel(qtbot: QtBot, theme_controller: ThemeController) -> Iterator[Callable[..., MessagesPanel]]:
    """Makes a shown table over log lines or a document, its model watched by Qt's own tester."""
    documents: list[CaptureDocument] = []

    def make(*lines: Any, document: CaptureDocument | None = None, size: tuple[int, int] = (727, 300)) -> MessagesPanel:
        document = document_of(*lines) if document is None else document
        documents.append(document)
        owner = QObject()
        client = client_of(document, owner)
        panel = MessagesPanel(client, theme_controller, ViewRows(client))
        owner.setParent(panel)
        QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
        qtbot.addWidget(panel)
        panel.resize(*size)
        panel.show()
        return panel

    yield make
    for document in documents:
        document.close()
