"""Panels alone, without the window around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.filters.compile import compile_filter
from inspector.filters.visible import VisibleRows
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.panel import MessagesPanel
from tests.builders import document_of


@pytest.fixture
def make_panel(qtbot: QtBot, theme_controller: ThemeController) -> Iterator[Callable[..., MessagesPanel]]:
    """Makes a shown table over log lines or a document, its model watched by Qt's own tester."""
    documents: list[CaptureDocument] = []

    def make(*lines: Any, document: CaptureDocument | None = None, size: tuple[int, int] = (727, 300)) -> MessagesPanel:
        document = document_of(*lines) if document is None else document
        documents.append(document)
        rows = VisibleRows(document.analysis)
        rows.apply_filter(compile_filter(""), None)
        panel = MessagesPanel(document, theme_controller, rows)
        QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
        qtbot.addWidget(panel)
        panel.resize(*size)
        panel.show()
        return panel

    yield make
    for document in documents:
        document.close()
