"""UI tests: offscreen, always with the bundled faces, so that sizes are equal everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from inspector.ui import counting
from inspector.ui.theme import ThemeController


@pytest.fixture(autouse=True)
def no_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No window starts a process that counts tokens, unless a test lets it (`tests/ui/test_counting.py`)."""
    monkeypatch.setattr(counting, "START_MS", 3_600_000)


@pytest.fixture
def theme_controller(qapp: QApplication) -> Iterator[ThemeController]:
    """The light theme, applied to the test application; change it with `set_setting("dark")`."""
    controller = ThemeController(qapp, setting="light", bundled_fonts=True)
    yield controller
    controller.dispose()
