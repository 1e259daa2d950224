"""Capability and space kinds: for whom, and what is given (+) or taken (-). Tokens of invitations are masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from inspector.present.wire_text import plain
from inspector.protocol.participants import in_words, patterns
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.panels.details.facts import Fact, Ink, Part, fact
from inspector.ui.panels.details.overview.capability_change import change_sections, effect_rows
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts
from inspector.ui.panels.details.subject import Subject
from inspector.ui.panels.details.words import MINUS

_TAKES = frozenset({"capability/revoke", "space/kick"})
_LISTS = ("capabilities", "initial_capabilities")
_WHO = ("recipient", "participant_id", "to")
_CHANGES = frozenset({"capability/grant", "capability/revoke"})
_MOST = 40


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a capability or space message."""
    subject = sheet.subject
    payload = subject.payload
    about = _about(payload)
    who = next((key for key in _WHO if isinstance(about.get(key), str)), None)
    name = str(about[who]) if who is not None else ""
    rows = [Fact("Participant", (Part(plain(name, 120), "strong"),), copy=name)] if name else []
    if subject.kind in _CHANGES and name:
        rows += effect_rows(sheet, name)
    rows += _grant_rows(subject, payload)
    rows += value_facts({**payload, **about}, skip=(*_LISTS, *_WHO, "grant", "grant_id"))
    sections: list[QWidget] = []
    if rows:
        label = subject.kind.rpartition("/")[2].replace("-", " ").capitalize()
        sections.append(sheet.section(label, sheet.fact_card(rows, name="capabilityFacts", label=label, name_width=80)))
    changed = change_sections(sheet, name) if subject.kind in _CHANGES and name else []
    listed = [p for key in _LISTS for p in patterns(about.get(key))]
    if listed and not changed:
        sign = MINUS if subject.kind in _TAKES else "+"
        label = "Takes" if sign == MINUS else "Gives"
        sections.append(pattern_section(sheet, label, listed, sign=sign))
    return sections + changed + sheet.chain_section()


def _about(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where the recipient and the capabilities stand: the MEUP v0.2 client wraps a grant."""
    inner = payload.get("grant")
    return inner if isinstance(inner, Mapping) else payload


def _grant_rows(subject: Subject, payload: Mapping[str, Any]) -> list[Fact]:
    """The grant that is taken back or acknowledged by its id, as a link where it was seen."""
    grant = payload.get("grant_id")
    if not isinstance(grant, str):
        return []
    seen = [row for row in subject.capture.find_id(grant) if subject.capture.string("kind", row) == "capability/grant"]
    if not seen:
        return [fact("Grant", f"{plain(grant, 120)}, never seen", "warn", copy=grant)]
    given = patterns(_about(subject.capture.payload(seen[-1])).get("capabilities"))
    words = (message_part(seen[-1]), Part("  "), Part(plain(mask_text(", ".join(given)), 200), "mono"))
    return [Fact("Grant", words, copy=grant)]


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
