"""Why a call or a proposal was made, where the traffic itself does not say: the thought and the words it came after."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.analysis.thoughts import thought_before
from inspector.present import formats
from inspector.ui.panels.details.facts import Fact, Part
from inspector.ui.panels.details.sheet import Sheet, message_part, words_fact
from inspector.ui.panels.details.subject import Subject, text_of
from inspector.ui.panels.details.words import sender_of

_LOOKED_BACK = 1_000  # messages before a start
_MOST_CHATS = 50
_BY_TIME = "The message names no thought: this is the last one of its sender before it, in a reasoning that was open."


def thought_sections(sheet: Sheet) -> list[QWidget]:
    """What the sender of a tool call or proposal thought last before it; nothing where nobody was reasoning."""
    subject = sheet.subject
    thought = thought_before(subject.analysis, subject.message)
    if thought is None:
        return []
    began = subject.capture.string("kind", thought) == "reasoning/start"
    said = text_of(subject.capture, thought) or "Nothing was written."
    words = Part(f"{'Asked' if began else 'Thought'} in ")
    names = "  it names this tool" if _names(subject, thought) else ""
    where = Fact(
        "", (words, message_part(thought), Part(names, "dim")), tooltip=_BY_TIME, right=_before(subject, thought)
    )
    rows = [words_fact(said), where]
    return [sheet.section("Thought before", sheet.facts(rows, name="thoughtBefore", label="Thought before"))]


def said_before(subject: Subject) -> Fact | None:
    """The chat that says the very words a reasoning was begun with, where the start names no message itself."""
    asked = subject.text.strip()
    if not asked:
        return None
    capture, own = subject.capture, subject.message
    columns, low = capture.columns, max(0, own - _LOOKED_BACK)
    near = slice(low, own)
    chats = columns["kind"][near] == (capture.strings.find("chat") or -1)
    chats &= columns["space"][near] == columns["space"][own]
    chats &= columns["sender"][near] != columns["sender"][own]
    for row in (np.flatnonzero(chats)[::-1][:_MOST_CHATS] + low).tolist():
        to = capture.to(row)
        if (not to or subject.sender in to) and text_of(capture, row).strip() == asked:
            words = Part(f"{sender_of(capture, row)} said the same in ")
            tooltip = "The start names no message that asked for it: this one says the very same words."
            return Fact("", (words, message_part(row)), tooltip=tooltip, right=_before(subject, row))
    return None


def _before(subject: Subject, message: int) -> str:
    gap = subject.delta_ns(message)
    return f"{formats.duration(-gap)} before" if gap is not None and gap <= 0 else ""


def _names(subject: Subject, thought: int) -> bool:
    """Whether a thought says which tool comes next, as the released agent's do, and it is this call's."""
    step = subject.capture.payload(thought).get("actionInput")
    tool = step.get("tool") if isinstance(step, Mapping) else None
    return isinstance(tool, str) and bool(subject.target) and tool.rpartition("/")[2] == subject.target
