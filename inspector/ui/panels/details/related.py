"""Related: the whole causal chain, direct causes and effects, and who got the message."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.analysis.chain import MOST_STEPS, ChainStep, relation_word
from inspector.present import formats
from inspector.ui.panels.details.facts import Fact, fact
from inspector.ui.panels.details.sheet import Sheet
from inspector.ui.panels.details.words import plain

_MOST = 100
_MOST_DELIVERIES = 50


def sections(sheet: Sheet) -> list[QWidget]:
    """Sections of the page."""
    subject = sheet.subject
    made: list[QWidget] = []
    if len(subject.chain) > 1:
        body: list[QWidget] = [sheet.chain(took=True)]
        if len(subject.chain) >= MOST_STEPS:
            words = f"The {MOST_STEPS} messages of it that are nearest; further ones have chains of their own."
            body.append(sheet.facts([fact("", words, "dim", lines=2)], name="chainCut", label="More"))
        made.append(sheet.section("Causal chain", *body, action=sheet.alone_link()))
    else:
        alone = [fact("", "It names no message, and no message names it.", "dim", lines=2)]
        made.append(sheet.section("Causal chain", sheet.facts(alone, name="alone", label="Causal chain")))
    for label, rows in (("Direct causes", subject.causes), ("Direct effects", subject.effects)):
        if rows:
            steps = [ChainStep(m, relation_word(subject.analysis, m), subject.delta_ns(m)) for m in rows[:_MOST]]
            body = [sheet.chain(steps, label=label)]
            if len(rows) > _MOST:
                more = [fact("", f"{formats.number(len(rows) - _MOST)} more", "dim")]
                body.append(sheet.facts(more, name="moreLinks", label="More"))
            made.append(sheet.section(label, *body))
    made += _deliveries(sheet)
    return made


def _deliveries(sheet: Sheet) -> list[QWidget]:
    found = list(sheet.subject.capture.deliveries_of(sheet.subject.message))
    if not found:
        return []
    rows: list[Fact] = [
        fact(plain(d.participant or "somebody", 120), d.event, "bad" if d.event == "rejected" else "plain")
        for d in found[:_MOST_DELIVERIES]
    ]
    if len(found) > _MOST_DELIVERIES:
        rows.append(fact("", f"{formats.number(len(found) - _MOST_DELIVERIES)} more", "dim"))
    facts = sheet.facts(rows, name="deliveries", label="Deliveries")
    return [sheet.section(f"Deliveries, {len(found)}", facts, name="deliveriesSection")]
