"""Shows names of sessions of coding agents: their title, else the first prompt."""

from __future__ import annotations

from typing_extensions import override

from inspector.document import session_titles
from inspector.present.wire_text import excerpt
from inspector.store.messages.capture import Capture


class SessionTitles(session_titles.SessionTitles):
    """Titles by space, as labels show them."""

    @override
    def on_one_line(self, text: str) -> str:
        return excerpt(text, session_titles.LONGEST)


def title_of_session(capture: Capture) -> str:
    """The name of the session whose log this is, or of the first one in it; "" for other logs. O(messages)."""
    return session_titles.title_among(SessionTitles(capture), capture)
