"""Large messages in the details: what is made again is not read again, and what is not shown is masked when copied."""

from __future__ import annotations

import re
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector.engine.requests import pages
from inspector.present import raw_text
from inspector.protocol.secrets.streamed_event_queue import mask_lines
from inspector.store.messages import piece_masks
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.raw_page import RawPage
from tests.builders import document_of, envelope, tool_call
from tests.streamed_secrets import SECRETS, acp_text
from tests.ui.panels.details.panels import details_panel, wait_for_page

SECRET = "Zq7secretvalue"


@pytest.fixture
def panel(theme_controller: ThemeController, qtbot: QtBot) -> DetailsPanel:
    middle = {"before": "x" * 200_000, "token": SECRET, "after": "y" * 200_000}
    made = details_panel(document_of(tool_call("grep", arguments=middle), envelope()), theme_controller)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.in_process("counts calls of the engine")
def test_a_payload_is_masked_once_however_often_its_page_is_made_again(
    panel: DetailsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    masked: list[Any] = []
    mask = pages.mask_secrets
    monkeypatch.setattr(pages, "mask_secrets", lambda value: (masked.append(value), mask(value))[1])
    panel.show_message(0)
    wait_for_page(panel)
    for hints in (True, False):
        panel.set_context_hints(hints)
        wait_for_page(panel)
    assert len(masked) == 1
    for message in (1, 0):
        panel.show_message(message)
        wait_for_page(panel)
    assert len(masked) > 1


def test_a_secret_in_the_part_that_raw_leaves_out_is_masked_when_copied(panel: DetailsPanel, qtbot: QtBot) -> None:
    panel.show_message(0)
    panel.show_tab("Raw")
    raw = panel.pages["Raw"]
    assert isinstance(raw, RawPage)
    qtbot.waitUntil(raw.secrets.isVisible)
    assert SECRET not in raw.text.toPlainText()
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    raw.copy.click()
    qtbot.waitUntil(lambda: len(clipboard.text()) > 400_000)
    assert SECRET not in clipboard.text()
    raw.secrets.click()
    raw.copy.click()
    qtbot.waitUntil(lambda: SECRET in clipboard.text())


_KEY = SECRETS[0][0]


def _answer_of_pieces(count: int) -> list[dict[str, Any]]:
    """A streamed answer of ACP, with a key in pieces at its beginning, in its middle and at its end."""
    pieces = [f" word {number}" for number in range(count)]
    for place in (count - 20, count // 2, 20):
        pieces[place:place] = [" ", *(_KEY[at : at + 4] for at in range(0, len(_KEY), 4))]
    return acp_text(pieces)


def _key_pieces(text: str) -> set[str]:
    return {_KEY[at : at + 4] for at in range(8, len(_KEY) - 4, 4)} & set(re.findall(r'"text": ?"([^"]{4})"', text))


def test_raw_masks_the_shown_lines_of_an_answer_alone_until_it_is_copied(
    theme_controller: ThemeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    masked: list[int] = []
    for module in (raw_text, piece_masks):
        monkeypatch.setattr(module, "mask_lines", lambda lines: (masked.append(len(lines)), mask_lines(lines))[1])
    panel = details_panel(document_of(*_answer_of_pieces(4_000)), theme_controller)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_message(0)
    masked.clear()
    panel.show_tab("Raw")
    raw = panel.pages["Raw"]
    assert isinstance(raw, RawPage)
    assert sum(masked) < 1_600
    assert _key_pieces(raw.text.toPlainText()) == set()
    assert "Secrets are masked." in raw.sentence.text()
    assert raw.secrets.isVisible()
    clipboard = QGuiApplication.clipboard()
    raw.copy.click()
    assert len(clipboard.text().splitlines()) == 4_000 + 3 * (1 + len(range(0, len(_KEY), 4)))
    assert _key_pieces(clipboard.text()) == set()
    raw.secrets.click()
    assert _key_pieces(raw.text.toPlainText())
    raw.copy.click()
    assert _key_pieces(clipboard.text())
