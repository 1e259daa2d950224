"""Names of coding agent sessions: their title, else the first prompt."""

from __future__ import annotations

from typing_extensions import override

from inspector.document import session_titles
from inspector.present.wire_text import excerpt
from inspector.store.messages.capture import Capture


class ShownTitles(session_titles.SessionTitles):
    """Titles by space, safe to show."""

    @override
    def on_one_line(self, text: str) -> str:
        return excerpt(text, session_titles.MAX_TITLE)


def shown_session_title(capture: Capture) -> str:
    """Returns the name of a log's first session; "" for other logs. O(messages)."""
    return session_titles.title_among(ShownTitles(capture), capture)
