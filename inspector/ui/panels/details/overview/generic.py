"""Overview sections of any message: fields and envelope; also large messages, unreadable lines and gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.filters.strings import quote
from inspector.formats import registry
from inspector.formats.table import SPAN_KINDS
from inspector.present import formats
from inspector.present.envelope_facts import as_filter, as_json, envelope_facts, identifier
from inspector.present.facts import fact, value_facts, words_fact
from inspector.present.hex_rows import BYTES_AFTER, BYTES_BEFORE, error_offset, frame_in_line, head_bytes, hex_rows
from inspector.present.span_facts import TOLD, exception_facts, span_facts, within_facts
from inspector.present.subject import TEXT_KINDS, Subject
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.message_text import TEXT_KEYS
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import HEAD_BYTES
from inspector.ui.panels.details.findings import worst_finding_sections
from inspector.ui.panels.details.overview.texts import text_section
from inspector.ui.panels.details.page_builder import Sheet
from inspector.ui.panels.details.section import LinkText, Section

_MIN_TEXT_LENGTH = 60
"""Characters from which a text is shown as text, not as a value."""

_KNOWN_NAMESPACES = frozenset(
    {"mcp", "chat", "reasoning", "capability", "space", "system", "participant", "stream", "meup"}
)


def build_generic(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of any message: its text, then its fields."""
    subject = sheet.subject
    if subject.flags & Flag.LOG_ONLY:
        return [_payload_section(sheet, "Log line")]
    if not subject.kind and "error" in subject.payload:
        return [_refusal_section(sheet), *sheet.chain_section()]
    if subject.is_derived and subject.kind in SPAN_KINDS:
        return [*_span_sections(sheet), *sheet.chain_section()]
    sections: list[QWidget] = []
    if subject.kind and subject.kind.partition("/")[0] not in _KNOWN_NAMESPACES:
        sections.append(_unknown_kind(sheet))
    shown = next((key for key in TEXT_KEYS if isinstance(subject.payload.get(key), str)), None)
    prose = shown is not None and (len(subject.payload[shown]) > _MIN_TEXT_LENGTH or "\n" in subject.payload[shown])
    if shown is not None and prose:
        sections.append(text_section(sheet, subject.text, declared=subject.payload.get("format") == "markdown"))
    if not prose or len(subject.payload) > 1:
        sections.append(_payload_section(sheet, "Payload" if subject.kind else "Fields", skip=shown if prose else None))
    return [*sections, *sheet.chain_section()]


def _span_sections(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a span: facts, children, exceptions and attributes."""
    subject, label = sheet.subject, SPAN_KINDS[sheet.subject.kind].capitalize()
    sections: list[QWidget] = [
        sheet.section(label, sheet.facts(span_facts(subject), name="span", label=label, name_width=80))
    ]
    for rows, name, title in (
        (exception_facts(subject), "exceptions", "Exceptions"),
        (within_facts(subject), "within", "Within"),
        (value_facts(subject.payload, lines=8, skip=sorted(TOLD)), "payload", "Attributes"),
    ):
        if rows:
            sections.append(sheet.section(title, sheet.fact_card(rows, name=name, label=title, name_width=80)))
    return sections


def _payload_section(sheet: Sheet, label: str, skip: str | None = None) -> QWidget:
    payload = sheet.subject.payload
    nothing = "The payload is empty."
    if (
        not payload
        and (raw := sheet.subject.capture.records.envelope(sheet.subject.message))
        and isinstance(raw, Mapping)
    ):
        odd = raw.get("payload")
        nothing = "There is no payload." if odd is None else nothing
        if odd is not None and not isinstance(odd, Mapping):
            nothing = f"The payload is not an object: {value_text(mask_secrets(odd))[:400]}"
    rows = value_facts(payload, lines=8, skip=(skip,) if skip else ()) or [fact("", nothing, "dim", lines=4)]
    return sheet.section(label, sheet.fact_card(rows, name="payload", label=label, name_width=80))


def _unknown_kind(sheet: Sheet) -> QWidget:
    """Makes the section of an unknown kind: its namespace and the number of its messages."""
    subject = sheet.subject
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
    return sheet.section(label, sheet.facts(rows, name="unknownKind", label="Kind", name_width=80))


def _refusal_section(sheet: Sheet) -> QWidget:
    """Makes the section of a v0.0 or v0.1 gateway's refusal, which is no envelope (docs/protocols.md 2)."""
    payload = sheet.subject.payload
    rows = [fact("", value_text(payload["error"]), "bad", lines=4)]
    details = payload.get("details")
    if isinstance(details, str):
        rows.append(words_fact(details))
    rows += value_facts(payload, skip=("error", "details") if isinstance(details, str) else ("error",))
    rows.append(fact("", "It names no message, so the offending one is unknown.", "dim", lines=2))
    return sheet.section("Error", sheet.fact_card(rows, name="systemError", label="Error", name_width=80))


def too_large(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of a message above 1 MB: its head, and a link to save it (docs/design.md 7)."""
    subject = sheet.subject
    size, known = formats.size(subject.size), formats.size(HEAD_BYTES)
    save = sheet.link("Save as...", lambda: sheet.links.save_requested.emit(subject.message), name="saveLarge")
    words = f"This message has {size}; only the first {known} are decoded here. Save writes all of it."
    card = sheet.fact_card([words_fact(words)], name="tooLarge", label="Large message")
    sections: list[QWidget] = [sheet.section("Large message", card, action=save)]
    if subject.text:
        text = sheet.text(subject.text, name="largeText", label="Beginning", mono=not _is_prose(subject))
        sections.append(sheet.section("Beginning", text))
    elif subject.payload:
        rows = value_facts(subject.payload, lines=4)
        sections.append(sheet.section("Beginning", sheet.fact_card(rows, name="payload", label="Beginning")))
    return [*sections, *sheet.chain_section()]


def _is_prose(subject: Subject) -> bool:
    return subject.kind in TEXT_KINDS or subject.text[:1] not in ("{", "[")


def build_unreadable(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of an unreadable line (reason and bytes) or of a gap (reason)."""
    subject = sheet.subject
    reason = subject.capture.records.reason(subject.message) or ""
    if subject.flags & Flag.GAP:
        words = reason or "The connection was lost; messages may be missing here."
        crashed = bool(subject.flags & Flag.ERROR)
        title = "Server ended" if crashed else "Gap"
        card = sheet.fact_card([words_fact(words[:1].upper() + words[1:])], name="gap", label=title)
        found = worst_finding_sections(sheet) if crashed else []
        return [*found, sheet.section(title, card), _record_section(sheet)]
    place = error_offset(reason)
    frame = frame_in_line(subject)
    size = len(frame) if frame is not None else int(subject.capture.columns["length"][subject.message])
    rows = [words_fact(f"This line is {reason}." if reason else "This line cannot be read.")]
    if place is not None:
        rows.append(fact("", f"Byte {formats.number(place)} of {formats.number(size)}", "dim"))
    sections: list[QWidget] = [
        sheet.section("Position of the error", sheet.fact_card(rows, name="broke", label="Position of the error"))
    ]
    stop = (place or 0) + BYTES_AFTER
    data = head_bytes(subject, stop) if frame is None else frame[: max(stop, BYTES_BEFORE + BYTES_AFTER)]
    dump = hex_rows(data, place)
    label = "Bytes nearby" if place is not None else "First bytes"
    facts = sheet.facts(dump, name="bytes", label=label, name_width=40)
    return [*sections, sheet.section(label, facts), _record_section(sheet)]


def _record_section(sheet: Sheet) -> QWidget:
    facts = sheet.facts(envelope_facts(sheet.subject), name="envelopeFacts", label="Record")
    return sheet.section("Record", facts, name="envelope")


def envelope_section(sheet: Sheet) -> Section:
    """Makes the section of the envelope, with the "Copy as" menu in its head."""
    facts = sheet.facts(envelope_facts(sheet.subject), name="envelopeFacts", label="Envelope")
    copy = LinkText(sheet.themes, "Copy as", "copyAs")
    menu = copy_menu(sheet.subject, copy, lambda: sheet.links.save_requested.emit(sheet.subject.message))
    copy.clicked.connect(lambda: pop_up(menu, copy))
    return sheet.section("Envelope", facts, name="envelope", action=copy)


SAVE_AS = "Save message as..."
"""Writes the exact bytes, unmasked and complete."""


def copy_menu(subject: Subject, parent: QWidget, save: Callable[[], object]) -> QMenu:
    """Builds the "Copy as" menu; `save` asks for a file and writes the message's bytes to it."""
    menu = QMenu(parent)
    menu.setObjectName("copyAsMenu")
    clipboard = QGuiApplication.clipboard()
    by_json = menu.addAction("JSON")
    by_json.setEnabled(not subject.is_big)
    by_json.triggered.connect(lambda: clipboard.setText(as_json(subject)))
    by_id = menu.addAction("Id")
    found = identifier(subject)
    by_id.setEnabled(found is not None)
    by_id.triggered.connect(lambda: clipboard.setText(found or ""))
    menu.addAction("Filter").triggered.connect(lambda: clipboard.setText(as_filter(subject)))
    menu.addSeparator()
    saving = menu.addAction(SAVE_AS)
    saving.setObjectName("saveMessage")
    saving.triggered.connect(lambda: save())
    return menu


def pop_up(menu: QMenu, below: QWidget) -> None:
    """Opens a menu below the right end of a widget."""
    corner = below.mapToGlobal(QPoint(below.width(), below.height()))
    menu.popup(QPoint(corner.x() - menu.sizeHint().width(), corner.y()))
