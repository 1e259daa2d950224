"""Whatever has no overview of its own: its fields as names and values; and messages too large to decode here."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.capture.heads import HEAD
from inspector.ui import formats
from inspector.ui.panels.details.facts import fact
from inspector.ui.panels.details.sheet import Sheet, value_facts, words_fact
from inspector.ui.panels.details.subject import TEXT_KINDS, Subject

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
    """How a message above 1 MB begins, and where the rest of it is (design.md 7)."""
    subject = sheet.subject
    size, known = formats.size(subject.size), formats.size(HEAD)
    save = sheet.link("Save as...", lambda: sheet.links.save_requested.emit(subject.message), name="saveLarge")
    words = f"This message is {size}, of which the first {known} are decoded here. Saving it writes every byte."
    card = sheet.fact_card([words_fact(words)], name="tooLarge", label="Large message")
    sections: list[QWidget] = [sheet.section("Large message", card, action=save)]
    if subject.text:
        text = sheet.text(subject.text, name="largeText", label="How it begins", mono=not _is_prose(subject))
        sections.append(sheet.section("How it begins", text))
    elif subject.payload:
        rows = value_facts(subject.payload, lines=4)
        sections.append(sheet.section("How it begins", sheet.fact_card(rows, name="payload", label="How it begins")))
    return [*sections, *sheet.chain_section()]


def _is_prose(subject: Subject) -> bool:
    return subject.kind in TEXT_KINDS or subject.text[:1] not in ("{", "[")
