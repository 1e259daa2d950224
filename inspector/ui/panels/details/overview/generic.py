"""Whatever has no overview of its own: its fields as names and values; and messages too large to decode here."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.ui import formats
from inspector.ui.panels.details.facts import fact
from inspector.ui.panels.details.sheet import Sheet, value_facts, words_fact

_LABELS = {"participant": "Asks", "": "Fields"}


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of any message."""
    subject = sheet.subject
    rows = value_facts(subject.payload, lines=8) or [fact("", "The payload is empty.", "dim")]
    label = "Log line" if subject.flags & Flag.LOG_ONLY else _LABELS.get(subject.kind.partition("/")[0], "Payload")
    return [
        sheet.section(label, sheet.fact_card(rows, name="payload", label=label, name_width=80)),
        *sheet.chain_section(),
    ]


def too_large(sheet: Sheet) -> list[QWidget]:
    """What can be said of a message above 1 MB without decoding it."""
    size = formats.size(sheet.subject.size)
    words = (
        f"This message is {size}. Nothing above 1 MB is decoded here. Raw shows how it begins; the file has all of it."
    )
    card = sheet.fact_card([words_fact(words)], name="tooLarge", label="Large message")
    return [sheet.section("Large message", card), *sheet.chain_section()]
