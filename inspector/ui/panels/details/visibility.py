"""Where a message of a session may be seen, as a row of its overview."""

from __future__ import annotations

from inspector.protocol import msp
from inspector.protocol.payloads.outline import value_text
from inspector.ui.panels.details.facts import Fact, fact
from inspector.ui.panels.details.subject import Subject

_VISIBLE = {
    msp.MAIN_ONLY: "in the main chat only",
    msp.SUBSESSION_ONLY: "in its sub-session only",
    msp.GLOBAL: "everywhere",
}


def visibility_facts(subject: Subject) -> list[Fact]:
    """Where a message of a session may be seen; nothing of other messages."""
    if subject.capture.string("protocol", subject.message) != msp.PROTOCOL:
        return []
    value = subject.payload.get("visibility")
    if value is None or value == "":
        return [fact("Visibility", "none is written", "dim")]
    written = value_text(value)
    words = _VISIBLE.get(written) if isinstance(value, str) else None
    filter_ = f'visibility == "{written}"' if words else None
    shown = f"{written}: {words}" if words else written
    return [fact("Visibility", shown, "plain" if words else "warn", filter=filter_)]
