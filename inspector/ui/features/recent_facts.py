"""Stores facts about the shown log for the recent entries of the start page."""

from __future__ import annotations

import contextlib

from inspector.engine.request import RequestError
from inspector.engine.requests.log_facts import RecentLogFacts
from inspector.settings import RecentFacts
from inspector.ui.docview.window_content import Shown
from inspector.ui.services import SettingsOwner


def save_recent_facts(shown: Shown, services: SettingsOwner) -> None:
    """Stores facts about the log for the recent entries, which do not read the file."""
    client, state = shown.client, shown.state
    path = shown.location.kept_file(state)
    if client is None or path is None or not state.messages:
        return
    settings, key = services.settings, shown.location.target(path.resolve())
    if key not in settings.recent_files:
        return
    with contextlib.suppress(RequestError):  # the engine has ended
        found = client.answer_now(RecentLogFacts())
        facts = RecentFacts(messages=found.messages, first_ns=found.first_ns, title=found.title)
        if settings.recent_facts.get(key) != facts:
            settings.remember_facts(key, facts)
            services.save_settings()
