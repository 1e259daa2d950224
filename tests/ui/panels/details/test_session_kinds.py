"""What the Overview says of rows that tell of sessions, and where a message of one may be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.text_block import TextView
from tests.builders import document_of
from tests.msp_samples import desk
from tests.ui.panels.details.panels import details_panel
from tests.ui.windows import bury

Show = Callable[[int], DetailsPanel]


@pytest.fixture
def show(qtbot: QtBot, theme_controller: ThemeController) -> Iterator[Show]:
    """A panel that shows the Overview of one row of the desk."""
    documents: list[CaptureDocument] = []

    def make(message: int) -> DetailsPanel:
        value: dict[str, Any] = desk()
        document = document_of(value["session"], *value["subsessions"])
        documents.append(document)
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.resize(360, 700)
        panel.show()
        panel.show_message(message)
        QApplication.processEvents()
        return panel

    yield make
    for document in documents:
        document.close()
    bury()


def said(panel: DetailsPanel, name: str) -> str:
    view = panel.pages["Overview"].findChild(FactsView, name)
    assert view is not None
    return " | ".join(f"{row.name}: {''.join(part.text for part in row.parts)}" for row in view.rows)


@pytest.mark.parametrize(
    ("row", "name", "words"),
    [
        (0, "subContext", ["Write a page", "Constraint: short"]),
        (0, "session", ["Session: m1", "Lists: s1"]),
        (3, "snapshot", ["Covers: messages 0 to 2"]),
        (4, "subsessionOpened", ["Sub-session: about s1", "Context: s1", "Recent messages: 2"]),
        (9, "subsessionClosed", ["Sub-session: about s2", "Context: s1/s2", "status: closed"]),
        (2, "chatMore", ["Visibility: global: everywhere", "model: m-1"]),
        (1, "chatMore", ["Visibility: main_only: in the main chat only"]),
        (7, "chatMore", ["Visibility: not stated"]),
    ],
)
def test_what_is_said(show: Show, row: int, name: str, words: list[str]) -> None:
    found = said(show(row), name)
    for part in words:
        assert part in found


def test_the_summary_can_be_read(show: Show) -> None:
    texts = [view.toPlainText() for view in show(9).pages["Overview"].findChildren(TextView)]
    assert any("Lord Kelvin" in text for text in texts)
