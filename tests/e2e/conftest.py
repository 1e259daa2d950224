"""End-to-end tests: windows in this process open documents on their messages."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def lands_on_messages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents open on their messages, which most tests are about. Other tests import no Qt."""
    if "qapp" in request.fixturenames:
        from inspector.ui.docview import center
        from inspector.ui.docview.panel import MESSAGES

        monkeypatch.setattr(center, "first_view", lambda _settings: MESSAGES)
