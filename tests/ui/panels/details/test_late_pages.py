"""Pages that arrive later than asked for, as from an engine behind a pipe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.engine.request import RequestError
from inspector.engine.requests import pages
from inspector.ui.document_client import DocumentClient
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.json_tree import JsonTree
from inspector.ui.panels.details.panel import EMPTY, DetailsPanel
from inspector.ui.panels.details.section import LinkText, Page
from inspector.ui.panels.details.text_block import TextView
from tests.builders import document_of, envelope
from tests.ui.engines import patch_engine
from tests.ui.find import child
from tests.ui.late_answers import delay_answers
from tests.ui.panels.details.panels import details_panel, wait_for_page


def chat(number: int) -> str:
    return "\n\n".join(f"said {number}, line {line}" for line in range(40))


@pytest.fixture
def document() -> Iterator[CaptureDocument]:
    made = document_of(*(envelope("chat", {"text": chat(number)}, context="why") for number in range(4)))
    yield made
    made.close()


@pytest.fixture
def panel(
    document: CaptureDocument, theme_controller: ThemeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> DetailsPanel:
    made = details_panel(document, theme_controller)
    delay_answers(monkeypatch, child(made, DocumentClient))
    qtbot.addWidget(made)
    made.resize(340, 400)
    made.show()
    return made


def text(panel: DetailsPanel) -> str:
    return child(panel.pages["Overview"], TextView, "chatText").toPlainText()


def test_the_last_page_stays_until_the_next_one_arrives(panel: DetailsPanel) -> None:
    panel.show_message(0)
    wait_for_page(panel)
    panel.show_message(1)
    assert panel.message == 1
    assert text(panel).startswith("said 0")
    assert "No. 1" in panel.head.second_line
    wait_for_page(panel)
    assert text(panel).startswith("said 1")
    assert "No. 2" in panel.head.second_line


def test_another_selection_cancels_the_pending_page(panel: DetailsPanel) -> None:
    shown: list[str] = []
    panel.latest.answered.connect(lambda page: shown.append(page.head.second_line))
    for message in range(4):
        panel.show_message(message)
    wait_for_page(panel)
    assert len(shown) == 1
    assert text(panel).startswith("said 3")


def test_a_page_is_scrolled_once_it_arrives(panel: DetailsPanel, document: CaptureDocument) -> None:
    panel.show_message(0)
    panel.scroll_to(60)
    assert panel.scrolled == 60
    wait_for_page(panel)
    QApplication.processEvents()
    page = panel.pages["Overview"]
    assert isinstance(page, Page)
    assert page.verticalScrollBar().value() == panel.scrolled == 60
    panel.show_context(document.analysis.contexts.spaces[0], MAIN)
    panel.show_message(0)
    wait_for_page(panel)
    assert panel.scrolled == 0


def test_a_place_replaces_a_message_with_its_tabs_at_once(panel: DetailsPanel, document: CaptureDocument) -> None:
    panel.show_message(0)
    wait_for_page(panel)
    panel.show_context(document.analysis.contexts.spaces[0], MAIN)
    assert panel.tabs.isVisible()
    wait_for_page(panel)
    assert not panel.tabs.isVisible()
    assert panel.head.name == "main"
    panel.show_message(2)
    assert panel.head.name == "main"
    wait_for_page(panel)
    assert panel.tabs.isVisible()


def test_a_selected_value_is_found_again_on_another_tab(panel: DetailsPanel, qtbot: QtBot) -> None:
    panel.show_message(0)
    panel.show_tab("Tree")
    wait_for_page(panel)
    tree = child(panel.pages["Tree"], JsonTree, "jsonTree")
    qtbot.waitUntil(lambda: tree.model() is not None)
    tree.choose(["payload", "text"])
    panel.show_tab("Raw")
    wait_for_page(panel)
    raw = child(panel.pages["Raw"], QPlainTextEdit, "rawText")
    qtbot.waitUntil(lambda: raw.textCursor().hasSelection())
    assert raw.textCursor().selectedText().startswith('"said 0')


def test_the_page_of_a_hit_scrolls_to_it(panel: DetailsPanel, qtbot: QtBot) -> None:
    panel.lights.show_find(lambda text: [(0, 7)] if text.startswith("Context") else [])
    panel.show_message(0)
    panel.scroll_to_hit()
    wait_for_page(panel)
    page = panel.pages["Overview"]
    assert isinstance(page, Page)
    qtbot.waitUntil(lambda: page.verticalScrollBar().value() > 0)


def test_a_page_that_cannot_be_shown_leaves_no_page_of_another_message(
    panel: DetailsPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.show_message(0)
    wait_for_page(panel)

    def fail(*_asked: object) -> None:
        raise RequestError("The log has changed.")

    with monkeypatch.context() as changed:
        patch_engine(changed, pages, "require_message", fail)
        panel.show_message(1)
        qtbot.waitUntil(lambda: panel.empty.isVisible())
    assert panel.empty.text() == "The log has changed."
    assert not panel.pages["Overview"].isVisible()
    assert not panel.head.isVisible()
    panel.show_message(2)
    wait_for_page(panel)
    assert not panel.empty.isVisible()
    assert text(panel).startswith("said 2")
    panel.show_message(None)
    assert panel.empty.text() == EMPTY


def test_the_menu_copies_json_from_the_engine(panel: DetailsPanel) -> None:
    panel.show_message(1)
    wait_for_page(panel)
    link = child(panel.pages["Overview"], LinkText, "copyAs")
    menu = next(menu for menu in link.children() if menu.objectName() == "copyAsMenu")
    menu.actions()[0].trigger()  # type: ignore[attr-defined]
    assert "said 1, line 3" in QApplication.clipboard().text()
