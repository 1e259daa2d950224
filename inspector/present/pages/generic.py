"""Overview sections of any message: fields and envelope; also large messages, unreadable lines and gaps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.filters.strings import quote
from inspector.formats import registry
from inspector.formats.table import SPAN_KINDS
from inspector.present import formats
from inspector.present.envelope_facts import as_filter, envelope_facts, identifier
from inspector.present.facts import fact, value_facts, words_fact
from inspector.present.hex_rows import BYTES_AFTER, BYTES_BEFORE, error_offset, frame_in_line, head_bytes, hex_rows
from inspector.present.pages.factories import chain_section, fact_card, facts_part, link_part, section_part, text_part
from inspector.present.pages.findings import worst_finding_sections
from inspector.present.pages.parts import CopyPart, Part
from inspector.present.pages.texts import text_section
from inspector.present.span_facts import TOLD, exception_facts, span_facts, within_facts
from inspector.present.subject import TEXT_KINDS, Subject
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.message_text import TEXT_KEYS
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import HEAD_BYTES

_MIN_TEXT_LENGTH = 60
"""Characters from which a text is shown as text, not as a value."""

_KNOWN_NAMESPACES = frozenset(
    {"mcp", "chat", "reasoning", "capability", "space", "system", "participant", "stream", "meup"}
)


def build_generic(subject: Subject) -> list[Part]:
    """Returns the sections of any message: its text, then its fields."""
    if subject.flags & Flag.LOG_ONLY:
        return [_payload_section(subject, "Log line")]
    if not subject.kind and "error" in subject.payload:
        return [_refusal_section(subject), *chain_section(subject)]
    if subject.is_derived and subject.kind in SPAN_KINDS:
        return [*_span_sections(subject), *chain_section(subject)]
    sections: list[Part] = []
    if subject.kind and subject.kind.partition("/")[0] not in _KNOWN_NAMESPACES:
        sections.append(_unknown_kind(subject))
    shown = next((key for key in TEXT_KEYS if isinstance(subject.payload.get(key), str)), None)
    prose = shown is not None and (len(subject.payload[shown]) > _MIN_TEXT_LENGTH or "\n" in subject.payload[shown])
    if shown is not None and prose:
        sections.append(text_section(subject.text, declared=subject.payload.get("format") == "markdown"))
    if not prose or len(subject.payload) > 1:
        label = "Payload" if subject.kind else "Fields"
        sections.append(_payload_section(subject, label, skip=shown if prose else None))
    return [*sections, *chain_section(subject)]


def _span_sections(subject: Subject) -> list[Part]:
    """Returns the sections of a span: facts, children, exceptions and attributes."""
    subject, label = subject, SPAN_KINDS[subject.kind].capitalize()
    sections: list[Part] = [
        section_part(label, facts_part(span_facts(subject), name="span", label=label, name_width=80))
    ]
    for rows, name, title in (
        (exception_facts(subject), "exceptions", "Exceptions"),
        (within_facts(subject), "within", "Within"),
        (value_facts(subject.payload, lines=8, skip=sorted(TOLD)), "payload", "Attributes"),
    ):
        if rows:
            sections.append(section_part(title, fact_card(rows, name=name, label=title, name_width=80)))
    return sections


def _payload_section(subject: Subject, label: str, skip: str | None = None) -> Part:
    payload = subject.payload
    nothing = "The payload is empty."
    if not payload and (raw := subject.capture.records.envelope(subject.message)) and isinstance(raw, Mapping):
        odd = raw.get("payload")
        nothing = "There is no payload." if odd is None else nothing
        if odd is not None and not isinstance(odd, Mapping):
            nothing = f"The payload is not an object: {value_text(mask_secrets(odd))[:400]}"
    rows = value_facts(payload, lines=8, skip=(skip,) if skip else ()) or [fact("", nothing, "dim", lines=4)]
    return section_part(label, fact_card(rows, name="payload", label=label, name_width=80))


def _unknown_kind(subject: Subject) -> Part:
    """Makes the section of an unknown kind: its namespace and the number of its messages."""
    namespace, slash, name = subject.kind.partition("/")
    if not kinds.can_stand_alone(name, subject.kind):
        namespace, slash = subject.kind, ""
    columns, strings = subject.capture.columns, subject.capture.strings
    below = f"kind like {quote(namespace + '/*')}" if slash else None
    rows = [fact("Namespace", safe_line(namespace, 200), "mono", filter=below)]
    if slash:
        rows.append(fact("Kind", safe_line(name, 200), "mono", filter=f"kind == {quote(subject.kind)}"))
    same = int(np.count_nonzero(columns["kind"] == strings.find(subject.kind)))
    rows.append(fact("Messages", f"{formats.number(same)} of this kind", "dim"))
    words = "No version of the protocol defines this kind; shown as received."
    if subject.is_derived:
        label = subject.capture.string("protocol", subject.message) or ""
        format_ = registry.format_named(label)
        program = format_.product if format_ is not None else "the program"
        words = f"Internal record of {program}, not part of the conversation."
    rows.append(fact("", words, "dim", lines=2))
    label = "Bookkeeping" if subject.is_derived else "Unknown kind"
    return section_part(label, facts_part(rows, name="unknownKind", label="Kind", name_width=80))


def _refusal_section(subject: Subject) -> Part:
    """Makes the section of a v0.0 or v0.1 gateway's refusal, which is no envelope (docs/protocols.md 2)."""
    payload = subject.payload
    rows = [fact("", value_text(payload["error"]), "bad", lines=4)]
    details = payload.get("details")
    if isinstance(details, str):
        rows.append(words_fact(details))
    rows += value_facts(payload, skip=("error", "details") if isinstance(details, str) else ("error",))
    rows.append(fact("", "It names no message, so the offending one is unknown.", "dim", lines=2))
    return section_part("Error", fact_card(rows, name="systemError", label="Error", name_width=80))


def too_large(subject: Subject) -> list[Part]:
    """Returns the sections of a message above 1 MB: its head, and a link to save it (docs/design.md 7)."""
    size, known = formats.size(subject.size), formats.size(HEAD_BYTES)
    save = link_part("Save as...", "save", subject.message, name="saveLarge")
    words = f"This message has {size}; only the first {known} are decoded here. Save writes all of it."
    card = fact_card([words_fact(words)], name="tooLarge", label="Large message")
    sections: list[Part] = [section_part("Large message", card, action=save)]
    if subject.text:
        text = text_part(subject.text, name="largeText", label="Beginning", mono=not _is_prose(subject))
        sections.append(section_part("Beginning", text))
    elif subject.payload:
        rows = value_facts(subject.payload, lines=4)
        sections.append(section_part("Beginning", fact_card(rows, name="payload", label="Beginning")))
    return [*sections, *chain_section(subject)]


def _is_prose(subject: Subject) -> bool:
    return subject.kind in TEXT_KINDS or subject.text[:1] not in ("{", "[")


def build_unreadable(subject: Subject) -> list[Part]:
    """Returns the sections of an unreadable line (reason and bytes) or of a gap (reason)."""
    reason = subject.capture.records.reason(subject.message) or ""
    if subject.flags & Flag.GAP:
        words = reason or "The connection was lost; messages may be missing here."
        crashed = bool(subject.flags & Flag.ERROR)
        title = "Server ended" if crashed else "Gap"
        card = fact_card([words_fact(words[:1].upper() + words[1:])], name="gap", label=title)
        found = worst_finding_sections(subject) if crashed else []
        return [*found, section_part(title, card), _record_section(subject)]
    place = error_offset(reason)
    frame = frame_in_line(subject)
    size = len(frame) if frame is not None else int(subject.capture.columns["length"][subject.message])
    rows = [words_fact(f"This line is {reason}." if reason else "This line cannot be read.")]
    if place is not None:
        rows.append(fact("", f"Byte {formats.number(place)} of {formats.number(size)}", "dim"))
    sections: list[Part] = [
        section_part("Position of the error", fact_card(rows, name="broke", label="Position of the error"))
    ]
    stop = (place or 0) + BYTES_AFTER
    data = head_bytes(subject, stop) if frame is None else frame[: max(stop, BYTES_BEFORE + BYTES_AFTER)]
    dump = hex_rows(data, place)
    label = "Bytes nearby" if place is not None else "First bytes"
    facts = facts_part(dump, name="bytes", label=label, name_width=40)
    return [*sections, section_part(label, facts), _record_section(subject)]


def _record_section(subject: Subject) -> Part:
    facts = facts_part(envelope_facts(subject), name="envelopeFacts", label="Record")
    return section_part("Record", facts, name="envelope")


def envelope_section(subject: Subject) -> Part:
    """Makes the section of the envelope, with the "Copy as" menu in its head."""
    facts = facts_part(envelope_facts(subject), name="envelopeFacts", label="Envelope")
    copy = CopyPart(
        message=subject.message, has_json=not subject.is_big, id=identifier(subject), filter=as_filter(subject)
    )  # fmt: skip
    return section_part("Envelope", facts, name="envelope", action=copy)
