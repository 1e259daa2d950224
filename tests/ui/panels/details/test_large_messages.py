"""Large messages in the details: what is made again is not read again, and what is not shown is masked when copied."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector.present import subject
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.raw_page import RawPage
from tests.builders import document_of, envelope, tool_call

SECRET = "Zq7secretvalue"


@pytest.fixture
def panel(theme_controller: ThemeController, qtbot: QtBot) -> DetailsPanel:
    middle = {"before": "x" * 200_000, "token": SECRET, "after": "y" * 200_000}
    made = DetailsPanel(document_of(tool_call("grep", arguments=middle), envelope()), theme_controller)
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_payload_is_masked_once_however_often_its_page_is_made_again(
    panel: DetailsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    masked: list[Any] = []
    mask = subject.mask_secrets
    monkeypatch.setattr(subject, "mask_secrets", lambda value: (masked.append(value), mask(value))[1])
    panel.show_message(0)
    panel.set_context_hints(True)
    panel.set_context_hints(False)
    assert len(masked) == 1
    panel.show_message(1)
    panel.show_message(0)
    assert len(masked) > 1


def test_a_secret_in_the_part_that_raw_leaves_out_is_masked_when_copied(panel: DetailsPanel) -> None:
    panel.show_message(0)
    panel.show_tab("Raw")
    raw = panel.pages["Raw"]
    assert isinstance(raw, RawPage)
    assert SECRET not in raw.text.toPlainText()
    assert raw.secrets.isVisible()
    clipboard = QGuiApplication.clipboard()
    raw.copy.click()
    assert len(clipboard.text()) > 400_000
    assert SECRET not in clipboard.text()
    raw.secrets.click()
    raw.copy.click()
    assert SECRET in clipboard.text()
