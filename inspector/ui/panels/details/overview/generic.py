"""Whatever has no overview of its own: its fields as names and values; and messages too large to decode here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.capture.heads import HEAD
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_secrets
from inspector.protocol.text import TEXT_KEYS
from inspector.ui.panels.details.facts import fact
from inspector.ui.panels.details.overview.chat import said_section
from inspector.ui.panels.details.sheet import Sheet, value_facts, words_fact
from inspector.ui.panels.details.subject import TEXT_KINDS, Subject

_LONG = 60
"""Characters of a text that is shown as text, not as a value."""

_KNOWN = frozenset({"mcp", "chat", "reasoning", "capability", "space", "system", "participant", "stream", "meup"})


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of any message: the text it says, if any, then its fields."""
    subject = sheet.subject
    if subject.flags & Flag.LOG_ONLY:
        return [_fields(sheet, "Log line")]
    if not subject.kind and "error" in subject.payload:
        return [_refusal(sheet), *sheet.chain_section()]
    sections: list[QWidget] = []
    if subject.kind and subject.kind.partition("/")[0] not in _KNOWN:
        sections.append(_unknown(sheet))
    shown = next((key for key in TEXT_KEYS if isinstance(subject.payload.get(key), str)), None)
    prose = shown is not None and (len(subject.payload[shown]) > _LONG or "\n" in subject.payload[shown])
    if shown is not None and prose:
        sections.append(said_section(sheet, subject.text, declared=subject.payload.get("format") == "markdown"))
    if not prose or len(subject.payload) > 1:
        sections.append(_fields(sheet, "Payload" if subject.kind else "Fields", skip=shown if prose else None))
    return [*sections, *sheet.chain_section()]


def _fields(sheet: Sheet, label: str, skip: str | None = None) -> QWidget:
    payload = sheet.subject.payload
    nothing = "The payload is empty."
    if not payload and (raw := sheet.subject.capture.envelope(sheet.subject.message)) and isinstance(raw, Mapping):
        odd = raw.get("payload")
        nothing = "There is no payload." if odd is None else nothing
        if odd is not None and not isinstance(odd, Mapping):
            nothing = f"The payload is no object: {value_text(mask_secrets(odd))[:400]}"
    rows = value_facts(payload, lines=8, skip=(skip,) if skip else ()) or [fact("", nothing, "dim", lines=4)]
    return sheet.section(label, sheet.fact_card(rows, name="payload", label=label, name_width=80))


def _unknown(sheet: Sheet) -> QWidget:
    """A kind of somebody's own: under which namespace it stands, and how many such messages there are."""
    subject = sheet.subject
    namespace, slash, name = subject.kind.partition("/")
    columns, strings = subject.capture.columns, subject.capture.strings
    below = f"kind like {quote(namespace + '/*')}" if slash else None
    rows = [fact("Namespace", plain(namespace, 200), "mono", filter=below)]
    if slash:
        rows.append(fact("Kind", plain(name, 200), "mono", filter=f"kind == {quote(subject.kind)}"))
    same = int(np.count_nonzero(columns["kind"] == strings.find(subject.kind)))
    rows.append(fact("Messages", f"{formats.number(same)} of this kind", "dim"))
    rows.append(fact("", "No version of the protocol has this kind; it is shown as it came.", "dim", lines=2))
    return sheet.section("A kind of its own", sheet.facts(rows, name="unknownKind", label="Kind", name_width=80))


def _refusal(sheet: Sheet) -> QWidget:
    """What gateways of v0.0 and v0.1 say about a message they cannot read: it is no envelope (docs/protocols.md 2)."""
    payload = sheet.subject.payload
    rows = [fact("", value_text(payload["error"]), "bad", lines=4)]
    details = payload.get("details")
    if isinstance(details, str):
        rows.append(words_fact(details))
    rows += value_facts(payload, skip=("error", "details") if isinstance(details, str) else ("error",))
    rows.append(fact("", "It names no message, so it is not known which one it is about.", "dim", lines=2))
    return sheet.section("Error", sheet.fact_card(rows, name="systemError", label="Error", name_width=80))


def too_large(sheet: Sheet) -> list[QWidget]:
    """How a message above 1 MB begins, and where the rest of it is (docs/design.md 7)."""
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
