"""Capability and space kinds: for whom, and what is given (+) or taken (-). Tokens of invitations are masked."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.protocol.participants import in_words, patterns
from inspector.ui.panels.details.facts import Fact, Ink, fact
from inspector.ui.panels.details.sheet import Sheet, value_facts
from inspector.ui.panels.details.words import MINUS
from inspector.ui.wire_text import plain

_TAKES = frozenset({"capability/revoke", "space/kick"})
_LISTS = ("capabilities", "initial_capabilities")
_WHO = ("recipient", "participant_id")
_MOST = 40


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a capability or space message."""
    subject = sheet.subject
    payload = subject.payload
    who = [key for key in _WHO if isinstance(payload.get(key), str)][:1]
    rows = [fact(key, plain(payload[key], 120), "strong", mono_name=True) for key in who]
    rows += value_facts(payload, skip=(*_LISTS, *_WHO))
    sections: list[QWidget] = []
    if rows:
        label = subject.kind.rpartition("/")[2].replace("-", " ").capitalize()
        sections.append(sheet.section(label, sheet.fact_card(rows, name="capabilityFacts", label=label, name_width=80)))
    listed = [p for key in _LISTS for p in patterns(payload.get(key))]
    if listed:
        sign = MINUS if subject.kind in _TAKES else "+"
        label = "Takes" if sign == MINUS else "Gives"
        sections.append(pattern_section(sheet, label, listed, sign=sign))
    return sections + sheet.chain_section()


def pattern_section(sheet: Sheet, label: str, listed: list[str], *, sign: str = "") -> QWidget:
    """Capability patterns, one a row, in mono; what they mean in words first."""
    ink: Ink = "mono"
    rows: list[Fact] = []
    words = in_words(listed)
    if not sign and words != ", ".join(listed):
        rows.append(fact("", words, "dim"))
    rows += [fact(sign, p, ink, middle=True, mono_name=True) for p in listed[:_MOST]]
    if len(listed) > _MOST:
        rows.append(fact("", f"{len(listed) - _MOST} more, see Tree", "dim"))
    facts = sheet.facts(rows, name="patterns", label=f"{label}: {words}", name_width=14 if sign else 0)
    return sheet.section(label, facts)
